"""`remit findings reindex`, `stats` and `export`, as their users meet them."""

import csv
import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.support.commands import Inside
from tests.support.manifest_entries import ENTRY, make_line

LINES = make_line() + make_line(id="b-2026-01-20", date="2026-01-20", title="=1+1 | <b>") + "bad\n" + make_line()


@pytest.fixture
def workspace(inside: Inside, tmp_path: Path) -> Inside:
    """A workspace with a manifest that has something wrong with it."""
    (tmp_path / ".git").mkdir()
    inside.write("MANIFEST.jsonl", LINES)
    return inside


def test_the_index_is_made_anew(workspace: Inside) -> None:
    assert workspace("findings", "reindex").text == snapshot("✓ MANIFEST.jsonl: 3 entries, 1 line that can't be read\n")
    told = json.loads(workspace("findings", "reindex", "--json").text)
    assert told == {"manifest": "MANIFEST.jsonl", "lines": 4, "entries": 3, "bad_lines": 1}


def test_a_manifest_in_numbers(workspace: Inside) -> None:
    assert workspace("findings", "stats").text == snapshot(
        "entries      3 on 4 lines\n"
        "from         2026-01-19 to 2026-01-20\n"
        "statuses     3 complete\n"
        "pending      3\n"
        "actionable   3\n"
        "topics       auth (3)\n"
        "duplicates   auth-2026-01-19 (2 times)\n"
        "bad lines    1; for details, run: remit findings validate\n"
    )
    told = json.loads(workspace("findings", "stats", "--json").text)
    assert (told["entries"], told["statuses"], told["doubled_ids"]) == (3, {"complete": 3}, {"auth-2026-01-19": 2})


def test_a_last_line_that_is_cut_off_is_told(workspace: Inside) -> None:
    workspace.write("MANIFEST.jsonl", make_line() + make_line(id="x")[:-1])
    assert workspace("findings", "stats").text.startswith("entries      2 on 2 lines\n")
    workspace.write("MANIFEST.jsonl", make_line() + make_line(id="x")[:-9])
    ended = workspace("findings", "stats")
    assert ended.text.startswith("entries      1 on 1 line\n")
    assert ended.text.endswith("last line    cut off; for details, run: remit findings validate\n")
    assert b"line 2 isn't a valid entry" in workspace("findings", "export").err


def test_entries_are_exported_as_json(workspace: Inside) -> None:
    listed = json.loads(workspace("findings", "export").text)
    assert [entry["line"] for entry in listed] == [2, 4, 1]
    assert listed[2] == {"line": 1, **ENTRY}
    assert json.loads(workspace("findings", "export", "--topic", "none", "--json").text) == []


def test_entries_are_exported_as_csv_that_is_no_formula(workspace: Inside) -> None:
    rows = list(csv.DictReader(workspace("findings", "export", "--format", "csv").text.splitlines(keepends=True)))
    assert [row["id"] for row in rows] == ["b-2026-01-20", "auth-2026-01-19", "auth-2026-01-19"]
    assert rows[0]["title"] == "'=1+1 | <b>"
    assert rows[0]["key_findings"].split("\n") == ENTRY["key_findings"]
    assert rows[0]["actionable"] == "true"


def test_entries_are_exported_as_a_table(workspace: Inside) -> None:
    lines = workspace("findings", "export", "--format", "md", "--since", "2026-01-20").text.splitlines()
    assert lines[2].startswith(
        "| 2026-01-20 | complete | b-2026-01-20 | =1+1 \\| \\<b\\> | Use sessions on the server.<br>"
    )
    assert len(lines) == 3


def test_an_export_goes_to_a_file_as_a_whole(workspace: Inside) -> None:
    assert workspace("findings", "export", "-o", "out.json").text == "✓ out.json written\n"
    assert len(json.loads((workspace.folder / "out.json").read_text())) == 3
    ended = workspace("findings", "export", "-o", "no/such/out.json")
    assert (ended.code, ended.complaint.startswith("'no/such/out.json' can't be written")) == (2, True)


def test_an_unknown_format_is_answered_with_the_one_meant(workspace: Inside) -> None:
    assert workspace("findings", "export", "--format", "jsn").complaint == snapshot(
        "there is no format 'jsn'; did you mean 'json'?"
    )


def test_many_entries_come_in_parts_and_all_of_them(workspace: Inside) -> None:
    workspace.write("MANIFEST.jsonl", "".join(make_line(id=f"e{number}") for number in range(1201)))
    listed = json.loads(workspace("findings", "export").text)
    assert [entry["line"] for entry in listed] == list(range(1201, 0, -1))
