"""The journal: all files of a change, or none of them, wherever it is interrupted."""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

import pytest

from remit.errors import EditedError, StorageError
from remit.ledger import journal
from remit.ledger.events import load_events
from remit.ledger.home import Home
from remit.ledger.journal import FileChange, finish_interrupted, has_unfinished, write_together
from tests.support.kill_points import run_and_die
from tests.support.sample_sizes import choose

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OLD, NEW = (b"old one", b"old two"), (b"new one", b"new two")
CHANGES = [FileChange(name, old, new) for name, old, new in zip(("one", "two"), OLD, NEW, strict=True)]


def make_home(folder: Path) -> Home:
    (folder / "one").write_bytes(OLD[0])
    (folder / "two").write_bytes(OLD[1])
    home = Home(str(folder))
    assert home.ledger is not None
    return home


def read_both(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "one").read_bytes(), (folder / "two").read_bytes()


def change(folder: Path) -> None:
    write_together(Home(str(folder)), CHANGES, kind="test")


def finish(folder: Path) -> None:
    finish_interrupted(Home(str(folder)))


def list_waiting(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / ".remit" / "pending").iterdir())


FIRST: dict[str, int] = {}
"""The step that leaves it so: whoever needs it once more begins there."""


def interrupt_after_intent(folder: Path) -> None:
    """Leave a change that is written down, and not begun."""
    for step in range(FIRST.get("step", 1), 100):
        home = make_home(folder)
        home.close()
        assert run_and_die(partial(change, folder), at=step)
        home = Home(str(folder))
        if has_unfinished(home):
            assert read_both(folder) == OLD
            FIRST["step"] = step
            return
        home.close()
    raise AssertionError("no step left an unfinished change")


def test_files_change_together(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    write_together(home, [*CHANGES, FileChange("new/three", None, b"3")], kind="test")
    assert read_both(tmp_path) == NEW
    assert (tmp_path / "new" / "three").read_bytes() == b"3"
    assert not has_unfinished(home)
    assert list_waiting(tmp_path) == []


def test_nothing_to_change_leaves_the_files_alone(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    before = (tmp_path / "one").stat()
    write_together(home, [FileChange("one", OLD[0], OLD[0])], kind="test")
    after = (tmp_path / "one").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.slow
@pytest.mark.thorough
def test_wherever_it_is_killed_the_files_agree_again(tmp_path: Path) -> None:
    ends = set()
    for step in range(1, 200):
        folder = tmp_path / str(step)
        folder.mkdir()
        make_home(folder).close()
        killed = run_and_die(partial(change, folder), at=step)
        home = Home(str(folder))
        finish_interrupted(home)
        assert read_both(folder) in {OLD, NEW}
        assert not has_unfinished(home)
        home.close()
        ends.add(read_both(folder))
        if not killed:
            break
    assert step > 8, "it was killed at fewer places than there are"
    assert ends == {OLD, NEW}


@pytest.mark.slow
@pytest.mark.thorough
def test_to_be_killed_while_finishing_is_no_harm(tmp_path: Path) -> None:
    fired = 0
    (tmp_path / "as it was").mkdir()
    interrupt_after_intent(tmp_path / "as it was")
    for step in range(1, 200, choose(2, 1)):
        folder = tmp_path / str(step)
        shutil.copytree(tmp_path / "as it was", folder)
        assert has_unfinished(Home(str(folder)))
        killed = run_and_die(partial(finish, folder), at=step)
        home = Home(str(folder))
        finish_interrupted(home)
        assert read_both(folder) == NEW
        fired += killed
        if not killed:
            break
    assert fired > 2


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """The one that follows was edited before the true one was replaced: the change never happened."""
    interrupt_after_intent(tmp_path)
    (tmp_path / "two").write_bytes(b"edited by hand")
    home = Home(str(tmp_path))
    found = finish_interrupted(home)
    assert [(each.kind, each.finished, each.left_alone) for each in found] == [("test", False, ("two",))]
    assert read_both(tmp_path) == (OLD[0], b"edited by hand")
    assert not has_unfinished(home)


def test_where_the_true_file_was_replaced_the_others_follow_but_for_what_was_edited(tmp_path: Path) -> None:
    interrupt_after_intent(tmp_path)
    (tmp_path / "one").write_bytes(NEW[0])
    (tmp_path / "two").write_bytes(b"edited by hand")
    home = Home(str(tmp_path))
    found = finish_interrupted(home)
    assert [(each.finished, each.left_alone) for each in found] == [(True, ("two",))]
    assert read_both(tmp_path) == (NEW[0], b"edited by hand")


def test_a_true_file_that_was_edited_ends_the_change(tmp_path: Path) -> None:
    interrupt_after_intent(tmp_path)
    (tmp_path / "one").write_bytes(b"edited by hand")
    home = Home(str(tmp_path))
    found = finish_interrupted(home)
    assert [(each.finished, each.left_alone) for each in found] == [(False, ("one",))]
    assert read_both(tmp_path) == (b"edited by hand", OLD[1])


def test_what_cannot_be_prepared_changes_nothing(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError) as caught:
        write_together(home, [*CHANGES, FileChange("file/inside", None, b"x")], kind="test")
    assert "can't be written" in caught.value.message
    assert read_both(tmp_path) == OLD
    assert not has_unfinished(home)
    assert list_waiting(tmp_path) == []


def test_a_change_is_told_once_it_is_done_also_by_who_finishes_it(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    write_together(home, CHANGES, kind="test", details={"number": 1})
    assert [(event.kind, event.details) for event in load_events(home.ledger)] == [("test", {"number": 1})]
    home.close()
    interrupt_after_intent(tmp_path)
    home = Home(str(tmp_path))
    before = len(load_events(home.ledger))
    finish_interrupted(home)
    assert [event.kind for event in load_events(home.ledger)][before:] == ["test"]


def test_where_not_even_the_first_file_can_be_replaced_nothing_has_happened(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (tmp_path / "one").unlink()
    (tmp_path / "one").mkdir()  # a file cannot take a folder's place, whoever asks
    with pytest.raises(StorageError) as caught:
        write_together(home, CHANGES, kind="test")
    assert "will finish it" not in caught.value.hint
    assert not has_unfinished(home)
    assert (tmp_path / "two").read_bytes() == OLD[1]
    assert list_waiting(tmp_path) == []
    assert load_events(home.ledger) == []


def test_a_change_that_was_begun_is_left_to_be_finished(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (tmp_path / "two").unlink()
    (tmp_path / "two").mkdir()
    with pytest.raises(StorageError, match="the next remit command then finishes"):
        write_together(home, [CHANGES[0], FileChange("two", None, NEW[1])], kind="test")
    assert has_unfinished(home)
    (tmp_path / "two").rmdir()
    assert finish_interrupted(home) == [("test", True, ())]
    assert read_both(tmp_path) == NEW


def test_an_own_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".remit").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="is a symbolic link"):
        Home(str(tmp_path)).make_folder()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def edit_after(monkeypatch: pytest.MonkeyPatch, name: str, action: Callable[[], object]) -> list[str]:
    """Let a user do something right after a step of the journal was done for the first time; what was done then."""
    fired: list[str] = []
    step = getattr(journal, name)

    def do(*given: object, **more: object) -> object:
        told = step(*given, **more)
        if not fired:
            fired.append(name)
            action()
        return told

    monkeypatch.setattr(journal, name, do)
    return fired


@pytest.mark.parametrize("step", ["_stage", "_sync_waiting", "_write_intent"])
@pytest.mark.parametrize("name", ["one", "two"])
def test_a_file_that_a_user_edits_before_it_is_replaced_keeps_the_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, name: str
) -> None:
    home = make_home(tmp_path)
    fired = edit_after(monkeypatch, step, lambda: (tmp_path / name).write_bytes(b"edited by hand"))
    with pytest.raises(EditedError, match=f"'{name}' was edited while Remit was writing it"):
        write_together(home, CHANGES, kind="test")
    assert fired == [step]
    wanted = {"one": OLD[0], "two": OLD[1], name: b"edited by hand"}
    assert read_both(tmp_path) == (wanted["one"], wanted["two"])
    assert not has_unfinished(home)
    assert list_waiting(tmp_path) == []
    assert [event.kind for event in load_events(home.ledger)] == []


def test_an_edit_between_two_renames_takes_the_first_one_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_home(tmp_path)

    def edit() -> None:
        assert (tmp_path / "new").read_bytes() == b"0", "the first file was not replaced yet"
        (tmp_path / "two").write_bytes(b"edited by hand")

    fired = edit_after(monkeypatch, "move_if_unchanged", edit)
    (tmp_path / "one").chmod(0o640)
    with pytest.raises(EditedError, match="'two'"):
        write_together(home, [FileChange("new", None, b"0"), *CHANGES], kind="test")
    assert fired
    assert read_both(tmp_path) == (OLD[0], b"edited by hand")
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o640
    assert not (tmp_path / "new").exists()
    assert not has_unfinished(home)
    assert list_waiting(tmp_path) == []


def take_back(folder: Path) -> None:
    """A change that is taken back, because the second file is edited when the first one is replaced."""
    with pytest.MonkeyPatch.context() as patch:
        edit_after(patch, "move_if_unchanged", lambda: (folder / "two").write_bytes(b"edited by hand"))
        with pytest.raises(EditedError):
            change(folder)


@pytest.mark.slow
def test_wherever_it_is_killed_an_edit_survives(tmp_path: Path) -> None:
    """Where the change happened to the true file alone, whoever comes next is told what was left alone."""
    ends = set()
    for step in range(1, 200):
        folder = tmp_path / str(step)
        folder.mkdir()
        make_home(folder).close()
        killed = run_and_die(partial(take_back, folder), at=step)
        was_edited = read_both(folder)[1] == b"edited by hand"
        home = Home(str(folder))
        found = finish_interrupted(home)
        one, two = read_both(folder)
        assert two == b"edited by hand" if was_edited else (one, two) in {OLD, NEW}
        assert one != NEW[0] or not was_edited or found[0].left_alone == ("two",)
        assert not has_unfinished(home)
        home.close()
        ends.add((one, two))
        if not killed:
            break
    assert (OLD[0], b"edited by hand") in ends
    assert (NEW[0], b"edited by hand") in ends, "it was never killed between the two renames"
