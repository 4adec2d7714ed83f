"""`remit findings add`, as its users meet it."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.cli.commands import findings
from tests.support.commands import Ended, Inside, Remit
from tests.support.manifest_entries import ENTRY, make_entry
from tests.support.screen_text import smooth

DEFAULT = "claudedocs/agent-outputs"
TODAY = datetime.now().astimezone().date().isoformat()
FINDINGS = ("--finding", "Cap uploads.", "--finding", "Ask the provider.", "--finding", "Warn users.")
GIVEN = ("--title", "Upload limits", *FINDINGS)


@pytest.fixture
def workspace(inside: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """An empty workspace. The day stays the same, even if the tests run across midnight."""
    monkeypatch.setattr(findings, "_today", lambda: TODAY)
    (tmp_path / ".git").mkdir()
    return inside


def add(remit: Remit, *options: str) -> Ended:
    """Add the entry on upload limits, with a findings file."""
    return remit("findings", "add", *GIVEN, "--write-file", *options)


def load(remit: Remit, name: str = f"{DEFAULT}/MANIFEST.jsonl") -> list[dict[str, Any]]:
    """The lines of a manifest."""
    return [json.loads(line) for line in (remit.folder / name).read_text().splitlines()]


def test_an_entry_has_the_day_of_the_local_clock(inside: Inside) -> None:
    (inside.folder / ".git").mkdir()
    before = datetime.now().astimezone().date().isoformat()
    assert add(inside).code == 0
    assert before <= load(inside)[0]["date"] <= datetime.now().astimezone().date().isoformat()


def test_the_first_entry_makes_the_manifest_and_its_file(workspace: Inside) -> None:
    """R4.1, R4.2, S7."""
    ended = add(workspace, "--topic", "storage", "--task", "12", "--summary", "Two have a cap. One has none.")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text.endswith(f"✓ upload-limits-{TODAY} added to {DEFAULT}/MANIFEST.jsonl: 2 warnings\n")
    assert load(workspace) == [
        {
            "id": f"upload-limits-{TODAY}",
            "file": f"{TODAY}_upload-limits.md",
            "title": "Upload limits",
            "date": TODAY,
            "status": "complete",
            "topics": ["storage"],
            "key_findings": ["Cap uploads.", "Ask the provider.", "Warn users."],
            "actionable": True,
            "needs_followup": [],
            "linked_tasks": ["12"],
        }
    ]
    page = (workspace.folder / DEFAULT / f"{TODAY}_upload-limits.md").read_text()
    assert page.startswith("# Upload limits\n\n## Summary\n\nTwo have a cap. One has none.\n\n## Findings\n")
    assert workspace("findings", "validate").text.endswith("✓ 1 manifest: 2 warnings\n")
    assert workspace("findings", "validate", "--no-files").text == snapshot("✓ 1 manifest: no problems\n")


def test_the_first_entry_needs_no_repository_and_no_workspace(inside: Inside) -> None:
    assert add(inside).code == 0
    assert [each["title"] for each in load(inside)] == ["Upload limits"]
    assert "1 entry" in inside("findings", "list").text


def test_a_page_of_remits_own_has_nothing_wrong_with_it_without_a_task(workspace: Inside) -> None:
    ended = add(
        workspace, "--summary", "Two have a cap. One has none.", "--recommendation", "Go.", "--source", "Their pages."
    )
    assert ended.text == f"✓ upload-limits-{TODAY} added to {DEFAULT}/MANIFEST.jsonl\n"
    assert workspace("findings", "validate").text == snapshot("✓ 1 manifest: no problems\n")


def test_without_its_file_an_entry_is_not_added_and_the_way_out_is_told(workspace: Inside) -> None:
    """R4.14."""
    ended = workspace("findings", "add", *GIVEN)
    assert ended.code == 1
    assert f"error[RET089]: the findings file '{TODAY}_upload-limits.md' doesn't exist or is empty\n" in ended.text
    assert "Give --write-file" in ended.text
    assert "checklist" not in ended.text  # which one, nobody who adds by hand could know
    assert not (workspace.folder / "claudedocs").exists()


def test_a_file_that_was_written_before_is_left_as_it_is_and_checked(workspace: Inside) -> None:
    (workspace.folder / DEFAULT).mkdir(parents=True)
    name = workspace.write(f"{DEFAULT}/{TODAY}_upload-limits.md", "# Title\n\n{{TASK_ID}}\n")
    ended = workspace("findings", "add", *GIVEN, "--json")
    told = json.loads(ended.text)
    assert (ended.code, told["added"]) == (1, False)
    assert ("MAN014", name, 3) in {
        (each["code"], each["filename"], each["location"] and each["location"]["row"]) for each in told["diagnostics"]
    }
    workspace.write(name, "# Title\n")
    assert workspace("findings", "add", *GIVEN).code == 0
    assert (workspace.folder / name).read_text() == "# Title\n"


@pytest.mark.parametrize("options", [(), ("--file", f"{TODAY}_upload-limits.md")])
def test_a_file_that_says_something_else_is_not_taken_for_the_one_to_write(
    workspace: Inside, options: tuple[str, ...]
) -> None:
    (workspace.folder / DEFAULT).mkdir(parents=True)
    name = workspace.write(f"{DEFAULT}/{TODAY}_upload-limits.md", "# Somebody else's\n")
    ended = add(workspace, *options)
    assert (ended.code, ended.text) == (2, "")
    assert ended.complaint.startswith(f"'{TODAY}_upload-limits.md' already exists with another text; leave")
    assert (workspace.folder / name).read_text() == "# Somebody else's\n"
    assert not (workspace.folder / DEFAULT / "MANIFEST.jsonl").exists()
    assert add(workspace, "--slug", "caps").code == 0


def test_a_file_of_an_attempt_that_was_cut_short_is_used(workspace: Inside) -> None:
    assert add(workspace).code == 0
    (workspace.folder / DEFAULT / "MANIFEST.jsonl").unlink()
    assert add(workspace).code == 0
    assert load(workspace)[0]["file"] == f"{TODAY}_upload-limits.md"


@pytest.mark.parametrize("way", ["checkout", "in place"])
def test_after_the_manifest_was_exchanged_an_id_in_it_is_taken(workspace: Inside, way: str) -> None:
    """Of the same length and, with some file systems, under the same inode."""
    manifest, page = workspace.folder / DEFAULT / "MANIFEST.jsonl", workspace.folder / DEFAULT / "2026-01-01_{}.md"
    words = ("--date", "2026-01-01", "--write-file", *FINDINGS)
    assert workspace("findings", "add", "--title", "Bb", *words).code == 0
    assert workspace("findings", "list").code == 0
    data = manifest.read_bytes().replace(b"bb", b"qq")
    Path(str(page).format("bb")).rename(str(page).format("qq"))
    if way == "checkout":
        manifest.unlink()
    manifest.write_bytes(data)
    ended = workspace("findings", "add", "--title", "Qq", *words, "--json")
    assert json.loads(ended.text)["id"] == "qq-2026-01-01-2"
    assert Path(str(page).format("qq-2")).read_text().startswith("# Qq\n")
    assert Path(str(page).format("qq")).read_text().startswith("# Bb\n")


def test_a_second_one_on_the_same_day_gets_a_number_and_a_file_of_its_own(workspace: Inside) -> None:
    """R4.9."""
    ids = [json.loads(add(workspace, "--json").text)["id"] for _ in range(3)]
    assert ids == [f"upload-limits-{TODAY}{end}" for end in ("", "-2", "-3")]
    assert sorted(os.listdir(workspace.folder / DEFAULT)) == [  # noqa: PTH208 - names
        *sorted(f"{TODAY}_upload-limits{end}.md" for end in ("", "-2", "-3")),
        "MANIFEST.jsonl",
    ]


def test_partial_and_blocked_say_why(workspace: Inside) -> None:
    """R4.12, R4.13, C21."""
    assert "RET088" in add(workspace, "--status", "blocked").text
    told = json.loads(
        add(workspace, "--status", "partial", "--followup", "no access", "--followup", "T9", "--json").text
    )
    assert told["entry"]["needs_followup"] == ["BLOCKED:no access", "T9"]


def test_options_choose_everything(workspace: Inside) -> None:
    options = ("--date", "2026-01-19", "--slug", "limits", "--no-actionable", "--manifest", "out/M.jsonl")
    ended = add(workspace, *options)
    assert ended.code == 0
    entry = load(workspace, "out/M.jsonl")[0]
    assert (entry["id"], entry["file"], entry["actionable"]) == ("limits-2026-01-19", "2026-01-19_limits.md", False)
    assert (workspace.folder / "out/2026-01-19_limits.md").is_file()


def test_the_settings_say_where(workspace: Inside) -> None:
    workspace.write("remit.toml", '[manifest]\npath = "log/M.jsonl"\noutput_dir = "log/pages"\n')
    assert add(workspace).code == 0
    assert load(workspace, "log/M.jsonl")[0]["file"] == f"log/pages/{TODAY}_upload-limits.md"
    assert (workspace.folder / f"log/pages/{TODAY}_upload-limits.md").is_file()
    assert workspace("findings", "show", f"upload-limits-{TODAY}").code == 0
    workspace.write("remit.toml", '[manifest]\noutput_dir = "pages"\n')
    add(workspace)
    assert load(workspace, "pages/MANIFEST.jsonl")[0]["file"] == f"{TODAY}_upload-limits.md"


def test_beside_another_task_system_its_folder_is_used(workspace: Inside) -> None:
    (workspace.folder / ".cleo").mkdir()
    add(workspace)
    assert len(load(workspace, ".cleo/agent-outputs/MANIFEST.jsonl")) == 1


@pytest.mark.parametrize("via_stdin", [False, True])
def test_an_entry_can_come_as_json(remit: Remit, *, via_stdin: bool) -> None:
    (remit.folder / ".git").mkdir()
    text = json.dumps(make_entry(without=("id", "linked_tasks"), taskId="T7"))
    source = "-" if via_stdin else remit.write("entry.json", text)
    ended = remit("findings", "add", "--entry", source, "--write-file", "--status", "partial", "--json", text=text)
    told = json.loads(ended.text)
    assert (ended.code, told["added"], told["id"]) == (0, True, ENTRY["id"])
    assert (told["entry"]["status"], told["entry"]["linked_tasks"]) == ("partial", ["T7"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nonsense", "the entry isn't valid JSON: "),
        ("[1]", "the entry isn't an object; "),
        ('{"title": "a", "title": "b"}', "the entry isn't valid JSON: "),
        ('{"title": "' + "x" * 1_100_000 + '"}', "the entry has more than 1,048,576 bytes; "),
    ],
)
def test_json_that_is_no_entry_is_told(workspace: Inside, text: str, sentence: str) -> None:
    ended = workspace("findings", "add", "--entry", workspace.write("e.json", text))
    assert ended.code == 2
    assert ended.complaint.startswith(sentence)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            (),
            "--title or --entry is missing; give --title TEXT, --finding TEXT (3 to 7 of them) and --write-file, or --entry",
        ),
        (("--title", "認証"), "can't make an id from the title"),
        (("--title", "x", "--slug", "A b"), "'A b' isn't a topic"),
        (("--title", "x", "--date", "today"), "'today' isn't a day"),
        (("--entry", "gone.json"), "'gone.json' can't be read"),
    ],
)
def test_a_command_line_that_does_not_fit_is_told(workspace: Inside, options: tuple[str, ...], sentence: str) -> None:
    ended = workspace("findings", "add", *options)
    assert ended.code == 2
    assert ended.complaint.startswith(sentence)


def test_a_manifest_that_leads_out_of_the_workspace_is_not_written_to(workspace: Inside, tmp_path: Path) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    outside.mkdir()
    (tmp_path / "MANIFEST.jsonl").symlink_to(outside / "M.jsonl")
    (outside / "M.jsonl").touch()
    assert smooth(add(workspace).complaint) == snapshot(
        "'<folder>/MANIFEST.jsonl' leads out of the workspace through a link; put the file itself there"
    )
    assert (outside / "M.jsonl").read_text() == ""
    (tmp_path / "MANIFEST.jsonl").unlink()
    (tmp_path / "claudedocs").symlink_to(outside)
    assert smooth(add(workspace).complaint) == snapshot(
        "'<folder>/claudedocs/agent-outputs/MANIFEST.jsonl' leads out of the workspace; name it with --manifest if it is meant"
    )
    assert sorted(path.name for path in outside.iterdir()) == ["M.jsonl"]


@pytest.mark.parametrize("file", ["../x.md", "/etc/x.md", "~/x.md"])
def test_a_findings_file_outside_is_refused(workspace: Inside, file: str) -> None:
    assert add(workspace, "--file", file).code == 1
    assert not (workspace.folder / DEFAULT).exists()


def test_a_link_in_place_of_the_findings_file_is_not_followed(workspace: Inside, tmp_path: Path) -> None:
    (tmp_path / DEFAULT).mkdir(parents=True)
    (tmp_path / DEFAULT / f"{TODAY}_upload-limits.md").symlink_to(tmp_path.with_name("elsewhere.md"))
    assert smooth(add(workspace).complaint).replace(TODAY, "<today>") == snapshot(
        "'<folder>/claudedocs/agent-outputs/<today>_upload-limits.md' isn't a valid path for a findings file; choose another with --file"
    )
    assert not tmp_path.with_name("elsewhere.md").exists()
    assert not (tmp_path / DEFAULT / "MANIFEST.jsonl").exists()


def test_hostile_text_reaches_the_screen_escaped(workspace: Inside) -> None:
    ended = add(workspace, "--file", "\x1b[31m/2026-01-19_a.md")
    assert ended.code == 1
    assert b"\x1b" not in ended.out


@pytest.mark.parametrize(
    "file",
    [".claude/agents/evil.md", "agents/evil.md", ".opencode/agent/evil.md", ".git/info/evil.md", "docs/AGENTS.md"],
)
def test_no_findings_file_is_made_where_it_decides_about_agents(workspace: Inside, file: str) -> None:
    ended = add(workspace, "--file", file)
    assert (ended.code, "isn't a valid path for a findings file" in ended.complaint) == (2, True)
    assert not (workspace.folder / file).exists()
