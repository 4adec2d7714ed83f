"""`remit findings`, as its users meet it."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from remit.manifest.findings_file import FindingsFile, render_findings_file
from remit.returns.manifest_lines import DIAGNOSTICS
from tests.support.commands import Inside, Remit
from tests.support.manifest_entries import FINDINGS_FILE, make_line
from tests.support.screen_text import smooth

BAD = make_line() + make_line() + "nonsense\n"
PAGE = render_findings_file(
    FindingsFile(
        "Authentication", "Sessions are safer. They cost less.", {"Costs": ["Less."]}, ["Use them."], ["The docs."]
    )
)


@pytest.fixture
def workspace(inside: Inside, tmp_path: Path) -> Inside:
    """A folder with the findings file of the good entry."""
    (tmp_path / ".git").mkdir()
    inside.write(FINDINGS_FILE, PAGE)
    return inside


def test_the_workspaces_manifest_is_found(workspace: Inside) -> None:
    assert workspace("findings", "validate").text == snapshot("no manifest found; name a file\n")
    workspace.write("MANIFEST.jsonl", make_line())
    ended = workspace("findings", "validate")
    assert (ended.code, ended.text, ended.err) == (0, snapshot("✓ 1 manifest: no problems\n"), b"")
    (workspace.folder / "claudedocs/agent-outputs").mkdir(parents=True)
    workspace.write("claudedocs/agent-outputs/MANIFEST.jsonl", "nonsense\n")
    assert workspace("findings", "validate").code == 1


def test_findings_are_shown_with_their_line(workspace: Inside) -> None:
    ended = workspace("findings", "validate", workspace.write("m.jsonl", BAD))
    assert ended.code == 1
    assert ended.text.startswith("error[MAN004]: the id auth-2026-01-19 is already used in line 1\n --> m.jsonl:2:7\n")
    assert "\n3 | nonsense\n  | ^\n" in ended.text
    assert ended.text.endswith("\n✗ 1 manifest: 2 errors\n")


def test_every_format_says_the_same(workspace: Inside) -> None:
    name = workspace.write("m.jsonl", BAD)
    concise = workspace("findings", "validate", name, "--output-format", "concise").text.split("\n")
    assert [line.partition(" ")[0] for line in concise[:2]] == ["m.jsonl:2:7:", "m.jsonl:3:1:"]
    listed = json.loads(workspace("findings", "validate", name, "--json").text)["items"]
    assert [(each["code"], each["location"]["row"]) for each in listed] == [("MAN004", 2), ("RET082", 3)]
    github = workspace("findings", "validate", name, "--output-format", "github").text
    assert github.startswith("::error file=m.jsonl,line=2,col=7,endLine=2,title=MAN004::")
    assert json.loads(workspace("findings", "validate", workspace.write("e.jsonl", ""), "--json").text)["items"] == []


def test_an_existing_manifest_is_checked_from_now_on_with_a_baseline(
    workspace: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D16 C17: old lines don't fail, new ones do, and the baseline only shrinks."""
    monkeypatch.delenv("CI", raising=False)
    old = f"{BAD}{make_line(id='other-2026-01-19', date='2026-02-30')}"
    workspace.write("MANIFEST.jsonl", old)
    workspace.write(FINDINGS_FILE, PAGE.replace("## Sources", "## Origins"))
    validate = ("findings", "validate", "--baseline", "known.json", "--output-format", "concise")
    made = workspace(*validate)
    assert (made.code, made.text) == (
        0,
        snapshot("known.json was created with 5 diagnostics.\n✓ 1 manifest: no problems\n"),
    )
    again = workspace(*validate)
    assert (again.code, again.text) == (
        0,
        snapshot("5 diagnostics ignored: listed in the baseline.\n✓ 1 manifest: no problems\n"),
    )
    assert workspace("findings", "validate", "--json").code == 1, "without the baseline all of it is told"

    workspace.write("MANIFEST.jsonl", f"{old}more nonsense\n")
    grown = workspace(*validate)
    assert (grown.code, grown.text.count("RET082"), "MANIFEST.jsonl:5:1: RET082" in grown.text) == (1, 1, True)
    kept = (workspace.folder / "known.json").read_bytes()
    assert workspace(*validate).code == 1, "the same line is new again: the baseline never grows"
    assert (workspace.folder / "known.json").read_bytes() == kept

    workspace.write(FINDINGS_FILE, PAGE)
    assert workspace("findings", "validate", "--no-files", "--baseline", "known.json").code == 1
    assert (workspace.folder / "known.json").read_bytes() == kept, "what isn't read isn't forgotten"
    workspace.write("MANIFEST.jsonl", old)
    assert workspace(*validate).text.startswith("known.json now has 4 diagnostics.\n")
    workspace.write(FINDINGS_FILE, PAGE.replace("## Sources", "## Origins"))
    assert FINDINGS_FILE in workspace(*validate).text, "what comes back is new"


def test_a_baseline_is_not_made_in_ci_nor_of_nothing(workspace: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    """D16: a misspelt name must not excuse everything."""
    workspace.write("MANIFEST.jsonl", BAD)
    monkeypatch.setenv("CI", "true")
    ended = workspace("findings", "validate", "--baseline", "known.json")
    assert (ended.code, "and none is created in CI" in ended.complaint) == (2, True)
    monkeypatch.delenv("CI")
    assert workspace("findings", "validate", "missing.jsonl", "--baseline", "known.json").code == 2
    assert not (workspace.folder / "known.json").exists()


def test_several_files_are_judged_and_one_that_cannot_be_read_is_told(workspace: Inside) -> None:
    good = workspace.write("good.jsonl", make_line())
    ended = workspace("findings", "validate", "missing.jsonl", good)
    assert (ended.code, ended.text) == (2, snapshot("✗ 2 manifests: 1 could not be read\n"))
    assert smooth(ended.complaint) == snapshot(
        "'missing.jsonl' can't be read: no such file or directory; check the path and its permissions"
    )
    os.mkfifo(workspace.folder / "pipe")
    assert smooth(workspace("findings", "validate", "pipe").complaint) == snapshot("'pipe' isn't a file; name a file")


def test_the_findings_file_is_looked_up_beside_the_manifest_and_at_the_root(workspace: Inside) -> None:
    (workspace.folder / "out").mkdir()
    workspace.write("out/MANIFEST.jsonl", make_line())
    assert workspace("findings", "validate", "out/MANIFEST.jsonl").code == 0
    (workspace.folder / FINDINGS_FILE).unlink()
    ended = workspace("findings", "validate", "out/MANIFEST.jsonl")
    assert (ended.code, ended.text.count("RET089"), ended.text.count("RET051")) == (1, 2, 0)
    (workspace.folder / "out" / FINDINGS_FILE).symlink_to("/etc/hostname")
    assert workspace("findings", "validate", "out/MANIFEST.jsonl").code == 1


def test_the_findings_files_are_judged_each_once_and_after_the_lines(workspace: Inside) -> None:
    """R4.6."""
    workspace.write("2026-01-19_thin.md", "# Thin\n\n## Summary\n\n{{SUMMARY}}\n")
    lines = [make_line(id=f"{name}-2026-01-19", file="2026-01-19_thin.md") for name in ("a", "b")]
    workspace.write("MANIFEST.jsonl", "".join((*lines, make_line(id="c-2026-01-19"), "nonsense\n")))
    listed = json.loads(workspace("findings", "validate", "--json").text)["items"]
    told = [(each["filename"], each["code"], each["location"]["row"]) for each in listed]
    assert told[0] == ("MANIFEST.jsonl", "RET082", 4)
    assert {name for name, _, _ in told[1:]} == {"2026-01-19_thin.md"}
    assert sorted(told_of[1:] for told_of in told[1:]) == [*[("MAN011", 1)] * 4, ("MAN013", 3), ("MAN014", 5)]
    assert "\n5 | {{SUMMARY}}\n" in workspace("findings", "validate").text
    assert workspace("findings", "validate", "--no-files").text.endswith("✗ 1 manifest: 1 error\n")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/etc/hostname"), None])
def test_what_is_no_findings_file_is_not_opened(workspace: Inside, make: Callable[[Path], None] | None) -> None:
    if make is not None:
        make(workspace.folder / "x.md")
    file = "x.md" if make is not None else "a\0b"
    workspace.write("MANIFEST.jsonl", make_line(file=file) + '{"file":"\\ud800"}\n' + "{" * 9000 + "\n")
    listed = json.loads(workspace("findings", "validate", "--json").text)["items"]
    assert {each["filename"] for each in listed} == {"MANIFEST.jsonl"}
    assert {"MAN010", "MAN011"}.isdisjoint(each["code"] for each in listed)


def test_a_findings_file_that_is_very_long_is_read_in_part(workspace: Inside) -> None:
    workspace.write(FINDINGS_FILE, PAGE + "x" * 2_000_000 + "\n\n{{LATE}}\n")
    workspace.write("MANIFEST.jsonl", make_line())
    assert workspace("findings", "validate").text == snapshot("✓ 1 manifest: no problems\n")


def test_the_workspaces_own_words_count(workspace: Inside) -> None:
    """C3."""
    workspace.write("MANIFEST.jsonl", make_line(status="researched"))
    assert workspace("findings", "validate").code == 1
    workspace.write("remit.toml", '[returns]\nstatus_words = {researched = "completed"}\n')
    assert workspace("findings", "validate").code == 0


def test_only_so_many_are_shown_at_length(workspace: Inside) -> None:
    ended = workspace("findings", "validate", workspace.write("m.jsonl", "nonsense\n" * 1200))
    assert ended.text.count("error[RET082]") == 50
    assert "… and 1150 more; --output-format concise shows them all\n" in ended.text
    assert len(json.loads(workspace("findings", "validate", "m.jsonl", "--json").text)["items"]) == 1200


@pytest.mark.parametrize("code", DIAGNOSTICS)
def test_every_code_is_explained(code: str, inside: Inside) -> None:
    text = inside("explain", code).text
    assert all(f"\n{word}: " in text for word in ("Why", "Bad", "Good"))


def test_the_group_says_what_it_has(inside: Inside) -> None:
    ended = inside("findings")
    assert ended.code == 0
    assert "validate" in ended.text
    assert inside("findings", "valdate").complaint == snapshot(
        "there is no command 'findings valdate'; did you mean 'remit findings validate'?"
    )


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (160_000_000, 160_000_000))
from remit.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a process to its limit")
@pytest.mark.thorough
def test_a_manifest_larger_than_memory_is_judged(remit: Remit) -> None:
    remit.write(FINDINGS_FILE, PAGE)
    with (remit.folder / "m.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(make_line(id=f"topic{number}-2026-01-19", title="x" * 4000) for number in range(50_000))
    assert (remit.folder / "m.jsonl").stat().st_size > 200_000_000
    ended = remit("findings", "validate", "m.jsonl", prelude=("-c", LIMITED))
    assert (ended.code, ended.text, ended.err) == (0, snapshot("✓ 1 manifest: no problems\n"), b"")
