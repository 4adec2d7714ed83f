"""The tortures of confinement in short, and that they would notice what they look for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.confine import find_level
from tests.support import protected_writes
from torture import confinement
from torture.confinement import Done, Told, read_tree, try_escapes, try_session, try_work, try_writes
from torture.ordinary import WORK, Work

if TYPE_CHECKING:
    from pathlib import Path

needs_kernel = pytest.mark.skipif(find_level().name != "full", reason="the kernel doesn't confine everything here")


def test_there_is_enough_ordinary_work() -> None:
    assert len({each.script for each in WORK if each.kind == "command" and not each.fails}) >= 50
    assert len([each for each in WORK if each.kind == "build"]) == 3
    assert len({each.name for each in WORK}) == len(WORK)


@needs_kernel
@pytest.mark.slow
def test_work_that_is_confined_is_as_bare_or_listed() -> None:
    told = [*try_work("git c")]
    assert {"git commit", "git config", "git cherry-pick", "the resulting tree"} <= {each.name for each in told}
    assert [each for each in told if each.bad] == []


@pytest.mark.slow
def test_the_users_own_session_works_as_without_hooks() -> None:
    told = [*try_session("git config")]
    assert [each.name for each in told] == ["git config", "the resulting tree"]
    assert [each for each in told if each.bad] == []


@needs_kernel
@pytest.mark.slow
def test_writes_and_escapes_are_tried() -> None:
    written, escaped = [*try_writes("> .mcp.json")], [*try_escapes("umount")]
    assert len(written) >= 2
    assert len(escaped) >= 8
    assert [each for each in (*written, *escaped) if each.bad] == []


@needs_kernel
@pytest.mark.slow
def test_a_script_that_gets_past_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place isn't in the profile any more."""
    rows = [{"script": "echo x > remit.toml"}, {"script": "echo x > a"}]
    monkeypatch.setattr(protected_writes, "ROWS", rows)
    monkeypatch.setattr(protected_writes.Workspaces, "list_protected", lambda _: [])
    told = [each for each in try_writes("") if each.name.startswith("own")]
    assert [each.bad for each in told] == ["it changed a protected place", "bare, it changes no protected place"]


@pytest.mark.parametrize(
    ("work", "confined", "bad"),
    [
        (Work("command", "x", "x"), Done("0", "a", ""), ""),
        (Work("command", "x", "x"), Done("0", "a", "a warning"), ""),
        (Work("command", "x", "x"), Done("1", "a", "why"), "it ends with 1 instead of 0: why"),
        (Work("command", "x", "x"), Done("0", "b", ""), "it says 'b' instead of 'a'"),
        (Work("command", "x", "x", varies=True), Done("0", "b", ""), ""),
        (Work("command", "x", "x", fails="it's known"), Done("1", "", "why"), ""),
        (Work("command", "x", "x", fails="it's known"), Done("0", "a", ""), "it works, and the guide says that it fails: it's known"),
    ],
)  # fmt: skip
def test_a_difference_is_noticed(work: Work, confined: Done, bad: str) -> None:
    assert confinement.compare(work, Done("0", "a", ""), confined) == bad
    assert Told("x", bad).bad == bad


def test_a_tree_that_differs_is_noticed(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "file").write_text("same")
        (tmp_path / name / ".git" / "index").write_text(name)
        (tmp_path / name / "link").symlink_to("file")
    one, other = tmp_path / "one", tmp_path / "other"
    assert read_tree(one) == read_tree(other)
    (other / "file").chmod(0o755)
    assert read_tree(one) != read_tree(other)
