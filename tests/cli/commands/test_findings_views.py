"""`remit findings show`, `find`, `list`, `pending` and `link`, as their users meet them."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.support.commands import Inside
from tests.support.manifest_entries import FINDINGS_FILE, make_line
from tests.support.screen_text import smooth
from tests.support.task_files import STATE, TODO

LINES = (
    make_line(id="old-2025-05-01", date="2025-05-01", title="Upload limits", topics=["storage"], needs_followup=[])
    + make_line(id="auth-2026-01-19", linked_tasks=["T12"], needs_followup=[])
    + make_line(
        id="new-2026-03-01", date="2026-03-01", status="blocked", needs_followup=["BLOCKED:no key"], title="Keys"
    )
)


@pytest.fixture
def workspace(inside: Inside, tmp_path: Path) -> Inside:
    """A workspace with three entries and some tasks."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    inside.write("specs/state.json", STATE)
    inside.write("specs/TODO.md", TODO)
    inside.write("MANIFEST.jsonl", LINES)
    inside.write(FINDINGS_FILE, "# Authentication\n")
    return inside


def list_ids(workspace: Inside, *words: str) -> list[str]:
    """The ids that a command lists."""
    ended = workspace("findings", *words, "--json")
    assert (ended.code, ended.err) == (0, b"")
    return [entry["id"].partition("-")[0] for entry in json.loads(ended.text)["items"]]


def test_entries_are_listed_in_columns_the_newest_first(workspace: Inside) -> None:
    ended = workspace("findings", "list")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text == snapshot(
        "2026-03-01  blocked   new-2026-03-01   Keys\n"
        "2026-01-19  complete  auth-2026-01-19  Authentication\n"
        "2025-05-01  complete  old-2025-05-01   Upload limits\n"
        "3 entries\n"
    )


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("list", "--topic", "Storage"), ["old"]),
        (("list", "--task", "12"), ["auth"]),
        (("list", "--status", "blocked"), ["new"]),
        (("list", "--since", "2026-01-01", "--until", "2026-02-01"), ["auth"]),
        (("list", "--no-actionable"), []),
        (("list", "uplo"), ["old"]),
        (("list", "sessions", "server", "--status", "complete"), ["auth", "old"]),
        (("list", "NEAR("), []),
        (("list", "--pending"), ["new"]),
        (("list", "--pending", "--topic", "storage"), []),
        (("list", "--limit", "1", "--page", "2"), ["auth"]),
    ],
)
def test_entries_are_chosen(workspace: Inside, words: tuple[str, ...], ids: list[str]) -> None:
    assert list_ids(workspace, *words) == ids


def test_pending_says_what_is_waited_for(workspace: Inside) -> None:
    assert workspace("findings", "list", "--pending").text.startswith(
        "2026-03-01  blocked   new-2026-03-01  Keys: BLOCKED:no key\n1 entry\n"
    )


def test_pages_are_told(workspace: Inside) -> None:
    assert workspace("findings", "list", "--limit", "2").text.endswith("2 entries, more with --page 2\n")
    assert workspace("findings", "list", "--limit", "2", "--page", "2").text.endswith("1 entry\n")
    assert workspace("findings", "list", "--page", "9").text == snapshot("no entries on page 9\n")
    assert json.loads(workspace("findings", "list", "--limit", "2", "--json").text)["next_cursor"] == "2"


def test_bad_lines_are_told_on_the_side(workspace: Inside) -> None:
    workspace.write("MANIFEST.jsonl", LINES + "bad\n[]\n")
    ended = workspace("findings", "list")
    assert (ended.code, ended.text.endswith("3 entries\n")) == (0, True)
    assert ended.err == b"note: lines 4, 5 aren't valid entries; for details, run: remit findings validate\n"


def test_an_entry_is_shown_with_all_that_belongs_to_it(workspace: Inside) -> None:
    ended = workspace("findings", "show", "auth-2026-01-19")
    assert (ended.code, ended.err) == (0, b"")
    assert smooth(ended.text) == snapshot("""\
auth-<date>  Authentication
complete, actionable, <date>, line 2
  - Use sessions on the server.
  - Drop the tokens.
  - Rotate the keys each month.
file:        2026-01-19_auth.md
topics:      auth
tasks:       T12
""")


def test_a_file_that_is_gone_is_told(workspace: Inside) -> None:
    (workspace.folder / FINDINGS_FILE).unlink()
    assert f"file:        {FINDINGS_FILE} (missing)\n" in workspace("findings", "show", "auth-2026-01-19").text


def test_a_link_is_seen_from_both_ends(workspace: Inside) -> None:
    """R4.9."""
    assert workspace("findings", "link", "13", "old-2025-05-01").code == 0
    assert "linked from: task 13\n" in workspace("findings", "show", "old-2025-05-01").text
    assert json.loads(workspace("findings", "show", "old-2025-05-01", "--json").text)["tasks"] == [13]
    assert json.loads(workspace("task", "show", "13", "--json").text)["linkedResearch"] == ["old-2025-05-01"]
    assert json.loads(workspace("task", "show", "12", "--json").text)["linkedResearch"] == ["auth-2026-01-19"]


def test_a_link_to_nothing_is_refused(workspace: Inside) -> None:
    ended = workspace("findings", "link", "13", "old-2025-05-02")
    assert ended.code == 2
    assert ended.complaint == snapshot("there is no entry 'old-2025-05-02'; did you mean 'old-2025-05-01'?")


def test_entries_that_share_an_id_are_told_and_shown_by_line(workspace: Inside) -> None:
    workspace.write("MANIFEST.jsonl", LINES + make_line(title="Again"))
    ended = workspace("findings", "show", "auth-2026-01-19")
    assert ended.text.startswith("auth-2026-01-19  Authentication\n")
    assert ended.err == b"note: line 4 has the same ID; to see it, use: --line N\n"
    assert workspace("findings", "show", "--line", "4").text.startswith("auth-2026-01-19  Again\n")
    assert json.loads(workspace("findings", "show", "auth-2026-01-19", "--json").text)["same_id"] == [4]


def test_an_entry_without_an_id_is_called_by_its_line(workspace: Inside) -> None:
    workspace.write("MANIFEST.jsonl", make_line(without=("id",)))
    assert workspace("findings", "list").text.startswith("2026-01-19  complete  line 1  Authentication\n")
    assert workspace("findings", "show", "--line", "1").text.startswith("line 1  Authentication\n")


def test_tasks_that_cannot_be_read_do_not_hide_the_entry(workspace: Inside) -> None:
    workspace.write("specs/state.json", "{")
    ended = workspace("findings", "show", "auth-2026-01-19")
    assert ended.code == 0
    assert ended.text.startswith("auth-2026-01-19  Authentication\n")
    assert ended.err.startswith(b"note: the tasks could not be read: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show",), "expected either ID or --line; give one of the two"),
        (("show", "a", "--line", "1"), "expected either ID or --line; give one of the two"),
        (("show", "zzz"), "there is no entry 'zzz'; remit findings list shows all entries"),
        (("show", "--line", "77"), "there is no entry on line 77; remit findings validate checks every line"),
        (("show", "--line", "x"), "'x' isn't a positive number; give a whole number from 1"),
        (("list", "!!"), "no word to search for; give words with letters or digits"),
        (
            ("list", "--limit", "5000"),
            "5000 entries per page are too many; give at most 1000, or use: remit findings export",
        ),
        (("list", "--manifest", "gone.jsonl"), "can't be read: no such file or directory"),
    ],
)
def test_what_does_not_fit_is_told(workspace: Inside, words: tuple[str, ...], sentence: str) -> None:
    ended = workspace("findings", *words)
    assert ended.code == 2
    assert sentence in ended.complaint


def test_a_workspace_without_a_manifest_says_how_to_begin(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    told = "this workspace has no manifest; remit findings add creates it with the first entry"
    for words in (("list",), ("show", "x"), ("stats",), ("reindex",), ("export",)):
        ended = inside("findings", *words)
        assert (ended.code, ended.complaint) == (2, told)


def test_hostile_entries_reach_the_screen_escaped(workspace: Inside) -> None:
    evil = "\x1b[31m\u202e\n"
    workspace.write("MANIFEST.jsonl", make_line(id=f"e{evil}", title=evil, status=evil, topics=[evil], date=evil))
    exports = (("export", "--format", "md"), ("export", "--format", "csv"))
    for words in (("list",), ("show", "--line", "1"), ("stats",), ("list", "sessions"), *exports):
        ended = workspace("findings", *words)
        assert ended.code == 0
        assert not {"\x1b", "\u202e"} & set(ended.text)
        assert "U+001B" in ended.text


def test_an_entry_on_a_last_line_that_is_not_ended_is_there_for_everybody(workspace: Inside) -> None:
    workspace.write("MANIFEST.jsonl", LINES + make_line(id="last-2026-04-01", date="2026-04-01", title="Unended")[:-1])
    assert json.loads(workspace("findings", "show", "last-2026-04-01", "--json").text)["line"] == 4
    assert list_ids(workspace, "list") == ["last", "new", "auth", "old"]
    assert list_ids(workspace, "list", "unended") == ["last"]
    assert '"last-2026-04-01"' in workspace("findings", "export").text
    assert "\nmanifest   4 entries, 2 pending\n" in workspace("status").text
    assert "MAN003" in workspace("findings", "validate").text


@pytest.mark.parametrize("with_ledger", [False, True])
def test_a_last_line_that_is_cut_off_is_told_everywhere(workspace: Inside, *, with_ledger: bool) -> None:
    if with_ledger:
        assert workspace("findings", "list").code == 0
    workspace.write("MANIFEST.jsonl", LINES + make_line(id="torn-2026-04-01")[:40])
    assert "\nmanifest   3 entries, 1 pending, 1 bad line\n" in workspace("status").text
    assert "1 line isn't an entry" in workspace("doctor").text
    for command in (
        ("list",),
        ("list", "--json"),
        ("list", "keys"),
        ("list", "--pending"),
        ("show", "auth-2026-01-19"),
    ):
        ended = workspace("findings", *command)
        assert (ended.code, ended.err) == (
            0,
            b"note: line 4 isn't a valid entry; for details, run: remit findings validate\n",
        )
    ended = workspace("findings", "show", "torn-2026-04-01")
    assert (ended.code, b"line 4 isn't a valid entry" in ended.err) == (2, True)
    assert "error[MAN002]" in workspace("findings", "validate").text


@pytest.mark.parametrize("with_ledger", [False, True])
def test_ids_that_a_merge_has_doubled_are_told(workspace: Inside, *, with_ledger: bool) -> None:
    if with_ledger:
        assert workspace("findings", "list").code == 0
    workspace.write("MANIFEST.jsonl", LINES + make_line(id="auth-2026-01-19", title="The other side"))
    assert ", 1 doubled id\n" in workspace("status").text
    assert "1 id is on several lines, so only the first line is found by its id" in workspace("doctor").text


COMMANDS = (
    ["list"],
    ["list", "x"],
    ["show", "x"],
    ["stats"],
    ["export"],
    ["validate"],
    ["list", "--pending"],
    ["reindex"],
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_giant_of_nothing_is_refused_and_not_read(workspace: Inside, words: list[str]) -> None:
    with (workspace.folder / "MANIFEST.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    ended = workspace("findings", *words)
    assert ended.code == 2
    assert "is 1,099,511,627,776 bytes long, but nearly all of it is a hole" in ended.complaint


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_link_that_leads_out_is_not_followed(workspace: Inside, words: list[str]) -> None:
    outside = workspace.folder.with_name(f"{workspace.folder.name}-outside")
    outside.write_text('{"secret": "of somebody else"}\n')
    (workspace.folder / "MANIFEST.jsonl").unlink()
    (workspace.folder / "MANIFEST.jsonl").symlink_to(outside)
    ended = workspace("findings", *words)
    assert ended.code == 2
    assert "leads out of the workspace" in ended.complaint
    assert "secret" not in ended.text


@pytest.mark.parametrize("words", [["show", "\udcff"], ["list", "--topic", "\udcff"], ["list", "--task", "\udcff"]])
def test_what_is_no_text_is_told_as_such(workspace: Inside, words: list[str]) -> None:
    ended = workspace("findings", *words)
    assert ended.code == 2
    assert "isn't valid UTF-8" in ended.complaint
