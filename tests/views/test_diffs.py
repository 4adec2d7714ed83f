"""Diffs: what became of a file that an agent names, whatever is in it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from remit.errors import UsageError
from remit.views import diffs
from tests.support.git_command import git
from tests.support.ledger_rows import answer, make_repository, opened, run

if TYPE_CHECKING:
    from pathlib import Path

    from remit.schemas import DiffObject

SECRET = "ghp_" + "a1B2" * 9
LINES = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path, **{"old.md": LINES})


def show(root: Path, script: str, path: str, *paths: str) -> DiffObject:
    """The diff of a file after an agent has done something and claimed it."""
    session_id = run(root, f"{script}; {answer(path, *paths)}", reasks=0).session_id
    return look(root, session_id, path)


def look(root: Path, session_id: str, path: str) -> DiffObject:
    with opened(root) as home:
        return diffs.load_diff(home, session_id, path)


def list_changed(diff: DiffObject) -> list[str]:
    lines = [line for hunk in diff["hunks"] for line in hunk["lines"]]
    return [f"{line['kind']}{line['text']}" for line in lines if line["kind"] != " "]


def test_a_changed_file_is_shown_against_the_commit_at_dispatch(root: Path) -> None:
    before = git(root, "rev-parse", "HEAD").strip()
    diff = show(root, "sed -i 's/line 3$/other/; s/^line 25$//' old.md", "old.md")
    assert (diff["state"], diff["base"], diff["note"]) == ("diff", before, "")
    assert list_changed(diff) == ["-line 3", "+other", "-line 25", "+"]
    assert [hunk["header"][:9] for hunk in diff["hunks"]] == ["@@ -1,7 +", "@@ -23,7 "]
    assert not diff["truncated"]


def test_a_commit_that_the_agent_makes_hides_nothing(root: Path) -> None:
    commit = "git -c user.name=a -c user.email=a@b commit -qam two"
    assert list_changed(show(root, f"sed -i 1d old.md; {commit}", "old.md")) == ["-line 0"]


def test_a_new_file_is_shown_whole(root: Path) -> None:
    diff = show(root, "printf 'one\\n-- two\\n@@ three' > new.md", "new.md")
    assert diff["state"] == "new"
    assert list_changed(diff) == ["+one", "+-- two", "+@@ three"]


def test_lines_that_look_like_headings_are_lines(root: Path) -> None:
    script = "printf '@@ -1 +1 @@\\n--- a/x\\n+++ b/x\\n\\\\ No newline\\n' >> old.md"
    diff = show(root, script, "old.md")
    assert list_changed(diff) == ["+@@ -1 +1 @@", "+--- a/x", "++++ b/x", "+\\ No newline"]
    assert len(diff["hunks"]) == 1


def test_what_a_liar_claims_is_not_there(root: Path) -> None:
    diff = show(root, "true", "nowhere.md")
    assert (diff["state"], diff["hunks"]) == ("gone", [])
    assert "didn't exist before" in diff["note"]


def test_what_was_not_touched_is_the_same(root: Path) -> None:
    assert show(root, "true", "old.md")["state"] == "same"


def test_a_file_that_goes_is_shown_as_it_was(root: Path) -> None:
    session_id = run(root, f"echo x >> old.md; {answer('old.md')}").session_id
    (root / "old.md").unlink()
    diff = look(root, session_id, "old.md")
    assert diff["state"] == "gone"
    assert list_changed(diff)[0] == "-line 0"


def test_a_change_after_the_agent_ended_is_told(root: Path) -> None:
    session_id = run(root, f"echo by the agent >> old.md; {answer('old.md')}").session_id
    assert look(root, session_id, "old.md")["note"] == ""
    with (root / "old.md").open("a") as file:
        file.write("by somebody else\n")
    diff = look(root, session_id, "old.md")
    assert "changed after the agent ended" in diff["note"]
    assert list_changed(diff) == ["+by the agent", "+by somebody else"]


def test_what_is_no_text_is_not_shown(root: Path) -> None:
    diff = show(root, "printf 'a\\0b' > new.bin", "new.bin")
    assert (diff["state"], diff["hunks"]) == ("binary", [])


def test_a_huge_file_is_not_compared(root: Path) -> None:
    diff = show(root, f"head -c {diffs.MAX_BYTES + 1} /dev/zero | tr '\\0' x > big.md", "big.md")
    assert (diff["state"], diff["truncated"], diff["hunks"]) == ("diff", True, [])
    assert "limit for comparisons" in diff["note"]


def test_many_lines_are_cut(root: Path) -> None:
    diff = show(root, "seq 1 9000 > long.md", "long.md")
    assert diff["truncated"]
    assert sum(len(hunk["lines"]) for hunk in diff["hunks"]) == diffs.MAX_LINES - 1


def test_lines_that_are_all_alike_are_compared_in_time(root: Path) -> None:
    """What makes other ways of comparing take the square of the lines, and more."""
    (root / "alike.md").write_text("a\nb\n" * 60_000)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "two")
    session_id = run(root, f"seq 1 60000 | sed 's/.*/b\\na\\na/' > alike.md; {answer('alike.md')}").session_id
    begun = time.process_time()
    diff = look(root, session_id, "alike.md")
    assert diff["state"] == "diff"
    assert time.process_time() - begun < 5


def test_secrets_are_in_no_line(root: Path) -> None:
    diff = show(root, f"echo 'token = {SECRET}' >> old.md", "old.md")
    assert diff["state"] == "diff"
    assert SECRET not in str(diff)
    assert "[redacted" in str(diff)


def test_only_what_a_delegation_names_or_changed_is_shown(root: Path) -> None:
    (root / "private.md").write_text("nobody's business\n")
    session_id = run(root, f"echo stray > stray.md; echo x > made.md; {answer('made.md')}").session_id
    for path in ("private.md", "../private.md", "/etc/passwd", "made.md\0", ".git/config", ""):
        with pytest.raises(UsageError, match="neither names nor changed"):
            look(root, session_id, path)
    assert look(root, session_id, "stray.md")["state"] == "new"  # changed, and not named


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.md"])
def test_what_lies_outside_is_no_claim(root: Path, path: str) -> None:
    (root.parent / "outside.md").write_text("nobody's business\n")
    session_id = run(root, answer(path), reasks=0).session_id
    with pytest.raises(UsageError, match="neither names nor changed"):
        look(root, session_id, path)


@pytest.mark.parametrize("path", ["link.md", "pipe.md", ".git/config"])
def test_a_claim_leads_nowhere_else(root: Path, path: str) -> None:
    (root.parent / "outside.md").write_text("nobody's business\n")
    script = "ln -sf ../outside.md link.md; rm -f pipe.md; mkfifo pipe.md"
    session_id = run(root, f"{script}; {answer(path)}", reasks=0).session_id
    if path == "pipe.md":
        assert not os.path.isfile(root / path)  # noqa: PTH113 - a pipe
    diff = look(root, session_id, path)
    assert (diff["state"], diff["hunks"]) == ("unknown", [])
    assert diff["note"].startswith("It isn't a regular file of the workspace.")


def test_nothing_of_the_repository_is_executed(root: Path) -> None:
    ran = root / "ran"
    script = f"touch {ran}"
    (root / ".gitattributes").write_text("*.md diff=evil filter=evil\n")
    for key in ("diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "filter.evil.clean", "diff.external"):
        git(root, "config", key, f"sh -c '{script}' --")
    session_id = run(root, f"echo x >> old.md; {answer('old.md')}").session_id
    ran.unlink(missing_ok=True)
    assert list_changed(look(root, session_id, "old.md")) == ["+x"]
    assert not ran.exists()
    git(root, "diff", "--ext-diff")  # the fault is there: git itself would
    assert ran.exists()


def test_without_a_repository_the_file_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".remit").mkdir()
    session_id = run(tmp_path, f"echo x > new.md; {answer('new.md')}").session_id
    diff = look(tmp_path, session_id, "new.md")
    assert (diff["state"], diff["base"]) == ("unknown", None)
    assert diff["hunks"][0]["lines"] == [{"kind": " ", "text": "x"}]


def test_work_in_a_worktree_is_shown_where_it_was_done(root: Path) -> None:
    session_id = run(root, f"sed -i 1d old.md; {answer('old.md')}", worktree=True).session_id
    assert list_changed(look(root, session_id, "old.md")) == ["-line 0"]


def test_a_workspace_below_the_top_of_its_repository_is_compared_too(root: Path) -> None:
    below = root / "part"
    below.mkdir()
    (below / "remit.toml").write_text("")
    (below / "old.md").write_text("one\ntwo\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "two")
    session_id = run(below, f"sed -i 1d old.md; {answer('old.md')}").session_id
    assert list_changed(look(below, session_id, "old.md")) == ["-one"]
