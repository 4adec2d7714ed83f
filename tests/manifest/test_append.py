"""Appending: one line in one write, under the lock, with an id that nobody else has."""

import errno
import json
import multiprocessing
import os
import random
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from remit.errors import BusyError, InputError, StorageError, UsageError
from remit.ledger.home import MANIFEST, Home
from remit.manifest.entries import FIELDS
from remit.model import ArtifactFacts, Diagnostic
from remit.returns.manifest_lines import MAX_LINE_BYTES
from remit.storage import locks
from remit.storage.files import append_line
from tests.support.kill_points import run_and_die
from tests.support.manifest_entries import ENTRY, make_entry, make_line
from tests.support.manifest_workspace import ManifestWorkspace, replace, rewrite_in_place
from tests.support.sample_sizes import choose

DAY = "2026-01-20"


def make_given(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """What somebody wants to add, without what is made for it."""
    return make_entry(without=("id", "file"), **changes)


def load(file: Path) -> list[dict[str, Any]]:
    """Every line of a manifest, which must all be entries."""
    data = file.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def test_an_entry_gets_id_and_file_and_stands_on_one_line(place: ManifestWorkspace) -> None:
    """R4.2, R4.7."""
    added = place.appender.add(make_given(), day=DAY)
    assert added.accepted
    assert added.diagnostics == ()
    assert load(place.file) == [{**ENTRY, "id": "authentication-2026-01-19", "file": "2026-01-19_authentication.md"}]
    assert list(load(place.file)[0]) == list(FIELDS)


def test_the_day_and_the_topic_can_be_given(place: ManifestWorkspace) -> None:
    added = place.appender.add(make_entry(without=("id", "file", "date")), day=DAY, slug="who-are-you")
    assert (added.fields["id"], added.fields["file"]) == ("who-are-you-2026-01-20", "2026-01-20_who-are-you.md")


def test_a_file_that_is_named_gives_the_topic(place: ManifestWorkspace) -> None:
    added = place.appender.add(make_entry(without=("id",), file="out/2026-01-19_jwt.md"), day=DAY)
    assert (added.fields["id"], added.fields["file"]) == ("jwt-2026-01-19", "out/2026-01-19_jwt.md")


def test_a_second_one_on_a_topic_and_day_gets_a_number(place: ManifestWorkspace) -> None:
    """R4.9."""
    found = [place.appender.add(make_given(), day=DAY).fields for _ in range(4)]
    assert [each["id"].removeprefix("authentication-2026-01-19") for each in found] == ["", "-2", "-3", "-4"]
    assert found[3]["file"] == "2026-01-19_authentication-4.md"


def test_an_id_that_is_given_is_kept_and_numbered_where_it_is_taken(place: ManifestWorkspace) -> None:
    ids = [place.appender.add(make_entry(id=each), day=DAY).fields["id"] for each in ("x-2026-01-19-2", *["own"] * 2)]
    assert ids == ["x-2026-01-19-2", "own", "own-2"]
    assert place.appender.add(make_entry(id="x-2026-01-19-2"), day=DAY).fields["id"] == "x-2026-01-19-3"


def test_ids_that_others_wrote_are_taken_wherever_they_stand(place: ManifestWorkspace) -> None:
    """By Remit, by another program, on a last line that is not ended, and after the file was replaced."""
    place.put("own", "own-2")
    assert place.other().appender.add(make_entry(id="own"), day=DAY).fields["id"] == "own-3"
    place.put("own-4")
    assert place.appender.add(make_entry(id="own"), day=DAY).fields["id"] == "own-5"
    place.write(make_line(id="own-6")[:-1])
    assert place.appender.add(make_entry(id="own"), day=DAY).fields["id"] == "own-7"
    place.write(make_line(id="fresh"))
    assert place.appender.add(make_entry(id="fresh"), day=DAY).fields["id"] == "fresh-2"
    place.file.rename(place.file.with_suffix(".old"))
    place.put("fresh", "fresh-2", "fresh-3")
    assert place.appender.add(make_entry(id="fresh"), day=DAY).fields["id"] == "fresh-4"


@pytest.mark.parametrize("change", [rewrite_in_place, replace])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_file_that_is_another_one_is_looked_at_before_an_id_is_called_free(
    place: ManifestWorkspace, change: Callable[[Path, bytes], None], *, is_known: bool
) -> None:
    """As git, or an editor that writes in place, leaves it: the same length, also the same inode, other ids."""
    place.put("bb", "same")
    place.index.catch_up()
    if is_known:
        place.appender.add(make_entry(id="cc"), day=DAY)
    size = place.file.stat().st_size
    change(place.file, place.file.read_bytes().replace(b'"bb"', b'"qq"'))
    assert place.file.stat().st_size == size
    added = place.appender.add(make_entry(id="qq"), day=DAY)
    assert added.fields["id"] == "qq-2"
    assert place.other().appender.add(make_entry(id="bb"), day=DAY).fields["id"] == "bb"


def test_a_torn_line_is_ended_first(place: ManifestWorkspace) -> None:
    place.put("a")
    place.write('{"id": "torn')
    place.appender.add(make_entry(id="b"), day=DAY)
    lines = place.file.read_text().splitlines()
    assert lines[1] == '{"id": "torn'
    assert json.loads(lines[2])["id"] == "b"
    entry = place.find("b")
    assert entry is not None
    assert entry.line == 3


def test_an_entry_with_an_error_is_refused_with_all_findings_and_nothing_is_written(place: ManifestWorkspace) -> None:
    added = place.appender.add(make_given(status="done", key_findings=["One. Two."], actionable="yes"), day=DAY)
    assert not added.accepted
    assert {finding.severity for finding in added.diagnostics} == {"error", "warning"}
    assert not place.file.exists()


def test_an_entry_without_a_title_is_refused_by_the_rules(place: ManifestWorkspace) -> None:
    added = place.appender.add(make_entry(without=("id", "file", "title")), day=DAY)
    assert not added.accepted
    assert any("title" in finding.message for finding in added.diagnostics)


def test_blocked_without_a_reason_is_refused_and_with_one_it_is_marked(place: ManifestWorkspace) -> None:
    """R4.12, R4.13, C21."""
    refused = place.appender.add(make_given(status="blocked", needs_followup=[""]), day=DAY)
    assert [finding.code for finding in refused.diagnostics] == ["RET088"]
    added = place.appender.add(make_given(status="blocked", needs_followup=["no access"]), day=DAY)
    assert added.fields["needs_followup"] == ["BLOCKED:no access"]


def test_a_findings_file_that_is_not_there_keeps_the_entry_out(place: ManifestWorkspace) -> None:
    """R4.10, R4.14."""
    appender = place.make_appender(inspect=lambda path: ArtifactFacts(path, "missing"))
    added = appender.add(make_given(), day=DAY)
    assert "RET089" in [finding.code for finding in added.diagnostics]
    assert not place.file.exists()


def test_the_file_is_made_before_the_line_and_only_if_the_line_can_be(place: ManifestWorkspace) -> None:
    appender = place.make_appender(inspect=lambda path: ArtifactFacts(path, "missing"))
    seen: list[tuple[str, bool]] = []

    def prepare(fields: Mapping[str, Any]) -> Iterable[Diagnostic]:
        seen.append((fields["file"], place.file.exists()))
        return ()

    assert not appender.add(make_given(status="done"), day=DAY, prepare=prepare, makes_file=True).accepted
    assert seen == []
    assert appender.add(make_given(), day=DAY, prepare=prepare, makes_file=True).accepted
    assert seen == [("2026-01-19_authentication.md", False)]


def test_an_error_about_the_findings_file_keeps_the_entry_out(place: ManifestWorkspace) -> None:
    wrong = Diagnostic("MAN014", "error", "left", "fill")
    added = place.appender.add(make_given(), day=DAY, prepare=lambda _: (wrong,))
    assert (added.accepted, added.diagnostics, place.file.exists()) == (False, (wrong,), False)


def test_folders_are_made_with_the_first_entry(tmp_path: Path) -> None:
    """S7."""
    place = ManifestWorkspace(tmp_path / "a" / "b")
    place.home = Home(str(tmp_path))
    place.appender = place.make_appender()
    assert place.appender.add(make_given(), day=DAY).offset == 0
    assert len(load(place.file)) == 1
    place.close()


def test_a_title_without_a_letter_asks_for_a_slug(place: ManifestWorkspace) -> None:
    with pytest.raises(UsageError, match="no letter"):
        place.appender.add(make_given(title="認証"), day=DAY)
    assert place.appender.add(make_given(title="認証"), day=DAY, slug="auth").accepted


def test_an_entry_that_is_too_long_is_refused(place: ManifestWorkspace) -> None:
    added = place.appender.add(make_given(title="x" * MAX_LINE_BYTES), day=DAY)
    assert [finding.code for finding in added.diagnostics] == ["MAN001"]
    assert not place.file.exists()


def test_a_pipe_in_place_of_the_manifest_is_not_waited_for(place: ManifestWorkspace) -> None:
    os.mkfifo(place.file)
    with pytest.raises(InputError, match="isn't a file"):
        place.appender.add(make_given(), day=DAY)


def test_another_writer_is_waited_for_and_then_told(place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.05)
    held = place.home.lock(MANIFEST)
    with held, pytest.raises(BusyError, match=r"manifest\.lock"):
        place.other().appender.add(make_given(), day=DAY)
    assert place.appender.add(make_given(), day=DAY).accepted


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("call", ["write", "fsync", "open"])
def test_a_disk_that_fails_is_told_and_nothing_is_left(
    place: ManifestWorkspace, monkeypatch: pytest.MonkeyPatch, number: int, call: str
) -> None:
    place.put("a")
    before = place.file.read_bytes()
    place.index.catch_up()
    real: Callable[..., Any] = getattr(os, call)
    failed: list[str] = []

    def fail(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - as the call has it
        if call == "open" and args[0] != str(place.file):
            return real(*args, **options)
        failed.append(call)
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(StorageError, match="can't be written") as caught:
            place.appender.add(make_given(), day=DAY)
    assert failed
    assert caught.value.hint
    assert place.file.read_bytes() == before
    assert place.appender.add(make_given(), day=DAY).accepted


@pytest.mark.slow
def test_killed_at_any_step_the_manifest_has_the_entry_or_not(tmp_path: Path) -> None:
    """And the next one can be added."""
    verdicts = set()
    for at in range(1, 200):
        root = tmp_path / str(at)
        root.mkdir()
        (root / "MANIFEST.jsonl").write_text(make_line(id="a"))

        def act(root: Path = root) -> None:
            ManifestWorkspace(root).appender.add(make_entry(id="b"), day=DAY)

        died = run_and_die(act, at=at)
        ids = [entry["id"] for entry in load(root / "MANIFEST.jsonl")]
        assert ids in (["a"], ["a", "b"])
        verdicts.add((died, len(ids)))
        after = ManifestWorkspace(root)
        assert after.appender.add(make_entry(id="c"), day=DAY).accepted
        assert [entry["id"] for entry in load(root / "MANIFEST.jsonl")] == [*ids, "c"]
        after.close()
        if not died:
            break
    assert (True, 1) in verdicts
    assert (False, 2) in verdicts


def add_many(root: str, writer: int, count: int) -> None:
    """What one process adds: entries on one topic, of all lengths."""
    place = ManifestWorkspace(Path(root))
    draw = random.Random(writer)  # noqa: S311 - a fixed choice, not a secret
    for number in range(count):
        size = int(10 ** draw.uniform(0, 5))
        title = f"{writer}/{number} " + "x" * size
        assert place.appender.add(make_entry(id="same", title=title), day=DAY).accepted
        if draw.random() < 0.1:
            place.index.rebuild() if draw.random() < 0.1 else place.index.catch_up()
    place.close()


def write_raw(root: str, writer: int, count: int) -> None:
    """What one process writes: lines of 1 byte to 1 MB."""
    home = Home(root)
    draw = random.Random(writer)  # noqa: S311 - a fixed choice, not a secret
    for number in range(count):
        size = int(10 ** draw.uniform(0, 6)) if number % 20 == 0 else int(10 ** draw.uniform(0, 4))
        line = f"{writer}/{number}:".encode() + b"x" * size
        with home.lock(MANIFEST):
            append_line(f"{root}/MANIFEST.jsonl", line)


def run_writers(work: Callable[[str, int, int], None], root: Path, writers: int, count: int) -> None:
    """Run processes at the same time, each of which must end well."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work, args=(str(root), writer, count)) for writer in range(writers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * writers


@pytest.mark.slow
def test_many_writers_lose_nothing_tear_nothing_and_share_no_id(tmp_path: Path) -> None:
    writers, count = 16, choose(8, 40)
    run_writers(add_many, tmp_path, writers, count)
    entries = load(tmp_path / "MANIFEST.jsonl")
    titles = {entry["title"].partition(" ")[0] for entry in entries}
    assert titles == {f"{writer}/{number}" for writer in range(writers) for number in range(count)}
    assert len(entries) == writers * count
    assert {entry["id"] for entry in entries} == {"same", *(f"same-{n}" for n in range(2, writers * count + 1))}
    place = ManifestWorkspace(tmp_path)
    assert place.index.catch_up().lines == writers * count
    for line, entry in enumerate(entries, 1):
        found = place.find(entry["id"])
        assert found is not None
        assert found.line == line
    place.close()


@pytest.mark.slow
@pytest.mark.thorough
def test_many_writers_of_lines_up_to_a_megabyte(tmp_path: Path) -> None:
    writers, count = 32, choose(20, 60)
    run_writers(write_raw, tmp_path, writers, count)
    lines = (tmp_path / "MANIFEST.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    heads = [line.partition(b":")[0].decode() for line in lines]
    assert sorted(heads) == sorted(f"{writer}/{number}" for writer in range(writers) for number in range(count))
    assert all(set(line.partition(b":")[2]) == {ord("x")} for line in lines)


# What stays open between two entries


def test_an_entry_is_added_without_the_ledger(place: ManifestWorkspace) -> None:
    place.put("own")
    ids = [place.appender.add(make_entry(id="own"), day=DAY).fields["id"] for _ in range(3)]
    assert ids == ["own-2", "own-3", "own-4"]
    assert not os.path.exists(place.home.ledger_file)  # noqa: PTH110 - a path as text


def test_an_id_on_the_first_line_is_known_behind_a_mark_of_the_encoding(place: ManifestWorkspace) -> None:
    place.write(b"\xef\xbb\xbf", make_line(id="own"))
    assert place.appender.add(make_entry(id="own"), day=DAY).fields["id"] == "own-2"


@pytest.mark.parametrize("gone", ["manifest", "lock", "locks", "all"])
def test_what_is_removed_or_exchanged_between_two_entries_is_noticed(place: ManifestWorkspace, gone: str) -> None:
    place.appender.add(make_entry(id="own"), day=DAY)
    old = place.file.with_name("old")
    folder = place.file.parent / ".remit"
    if gone == "manifest":
        place.file.rename(old)
    elif gone == "lock":
        (folder / "locks/manifest.lock").unlink()
    else:
        shutil.rmtree(folder / "locks" if gone == "locks" else folder)
    assert place.appender.add(make_entry(id="own"), day=DAY).fields["id"] == ("own" if gone == "manifest" else "own-2")
    assert [each["id"] for each in load(place.file)] == (["own"] if gone == "manifest" else ["own", "own-2"])
    assert not old.exists() or len(load(old)) == 1

    def add(_: object) -> tuple[Diagnostic, ...]:
        with pytest.raises(BusyError), locks.hold_lock(str(folder / "locks/manifest.lock"), seconds=0.01):
            pass
        held.append(gone)
        return ()

    held: list[str] = []
    assert place.appender.add(make_entry(id="last"), day=DAY, prepare=add).accepted
    assert held


def test_a_manifest_exchanged_while_an_entry_is_judged_gets_the_entry(place: ManifestWorkspace) -> None:
    place.appender.add(make_entry(id="a"), day=DAY)

    def exchange(_: object) -> tuple[Diagnostic, ...]:
        replace(place.file, make_line(id="other").encode())
        return ()

    assert place.appender.add(make_entry(id="b"), day=DAY, prepare=exchange).accepted
    assert [each["id"] for each in load(place.file)] == ["other", "b"]
    assert place.appender.add(make_entry(id="other"), day=DAY).fields["id"] == "other-2"


def test_the_lock_is_held_until_the_line_is_written_whatever_is_opened_to_read(place: ManifestWorkspace) -> None:
    place.put("a")
    held: list[str] = []

    def look(fields: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
        with locks.try_lock(str(place.file.parent / ".remit/locks/manifest.lock")) as is_free:
            assert not is_free
        held.append(fields["id"])
        return ()

    for each in "bcd":
        place.appender.add(make_entry(id=each), day=DAY, prepare=look)
        replace(place.file, place.file.read_bytes())
        place.find(each)
    assert held == ["b", "c", "d"]
