"""`remit lint` and `remit lint --fix`: every option and output format, on real files, in real repositories."""

import gzip
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic_sarif.model import (  # type: ignore[import-untyped] # the schema, as models
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog,
)

from remit.model import Diagnostic, Fix, TextEdit, TextSpan
from remit.views import explanations
from remit.views.sarif import MAX_RESULTS, MAX_TEXT, shape_sarif
from tests.support.agent_graphs import WORKSPACES, write_agent
from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, STANDARD, change
from tests.support.commands import Inside, Remit, load, put
from tests.support.git_command import git
from tests.support.screen_text import smooth

CONTEXT = ("docs/context/index.md", "docs/context/return-format.md", "docs/context/plans.md")
STANDARD_PATH = "agents/planner.md"
TWICE = change("timeout: 1800\n", "timeout: 1800\ntimeout: 1800\n")
"""One error, with an unsafe fix."""
UNQUOTED = "---\nname: a\ndescription: Use it when: it fails\n---\n\nYou work.\n"
"""One error at line 3, with a safe fix; in Claude Code's folder."""
UNQUOTED_PATH = ".claude/agents/a.md"
FIXED = UNQUOTED.replace("Use it when: it fails", '"Use it when: it fails"')


def make_clean(remit: Remit) -> None:
    """A workspace without a fault."""
    for name in CONTEXT:
        put(remit, name, "text\n")
    put(remit, STANDARD_PATH, STANDARD)
    put(remit, CLAUDE_PATH, CLAUDE)


def make_faulty(remit: Remit) -> None:
    make_clean(remit)
    put(remit, UNQUOTED_PATH, UNQUOTED)


@pytest.mark.conforms("001-54")
def test_a_project_of_the_standard_lints_clean(inside: Inside) -> None:
    """D11: conforming files in the folder that the standard names, and in Claude Code's; exit code 0."""
    for name in CONTEXT:
        put(inside, name, "text\n")
    put(inside, ".opencode/agent/subagents/planner.md", STANDARD)
    put(inside, ".claude/agents/scout.md", STANDARD.replace('"planner"', '"scout"'))
    ended = inside("lint")
    assert (ended.code, ended.err) == (0, b"")
    assert [line[:12] for line in ended.text.splitlines() if line.startswith(("note", "warning", "error"))] == [
        "note[AGT069]"  # Claude Code has no setting for the temperature
    ]


def only(code: str) -> tuple[str, ...]:
    return ("--select", code, "--output-format", "concise")


# Exit codes


def test_a_clean_workspace_is_0_and_one_line(remit: Remit) -> None:
    """The standard's own good example must not fail (R1.23, C17)."""
    make_clean(remit)
    ended = remit("lint")
    assert (ended.code, ended.text, ended.err) == (0, snapshot("✓ 2 files: no problems\n"), b"")


def test_a_finding_is_1(remit: Remit) -> None:
    make_faulty(remit)
    ended = remit("lint")
    assert (ended.code, ended.err) == (1, b"")
    assert "error[AGT004]" in ended.text


def test_an_empty_workspace_is_0_and_says_where_agents_are_looked_for(remit: Remit) -> None:
    ended = remit("lint")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text == snapshot(
        "no agent files found in .claude/agents, .opencode/agent, .codex/agents, agents; name a file or a folder\n"
    )
    listed = remit("lint", "--json")
    assert (listed.code, json.loads(listed.out)["items"], json.loads(listed.err)["note"]) == (0, [], ended.text.strip())
    assert not (remit.folder / ".remit").exists()


def test_files_of_an_agents_folder_that_are_no_agents_are_named(inside: Inside) -> None:
    """With an agent beside it such a file has lost its frontmatter; alone it may be a page of a program."""
    put(inside, "agents/x.md", "text\n")
    ended = inside("lint")
    assert ended.code == 0
    assert ended.text.startswith("no agent files found: 'agents/x.md' has no frontmatter, which an agent file ")
    assert "'agents/x.md' has no frontmatter" in json.loads(inside("lint", "--json").err)["note"]
    put(inside, "agents/z.md", "text\n")
    assert "'agents/x.md' and 1 other have no frontmatter" in inside("lint").text
    assert "none: 'agents/x.md' has no frontmatter" in inside("doctor").text
    put(inside, "agents/y.md", UNQUOTED)
    ended = inside("lint", *only("AGT002"))
    assert ended.code == 1
    assert "agents/x.md:1:1: AGT002" in ended.text


@pytest.mark.parametrize("options", [("--output-format", "sarif"), ("--output-format", "github"), ("--statistics",)])
def test_a_program_hears_beside_its_answer_that_nothing_was_looked_at(options: tuple[str, ...], inside: Inside) -> None:
    ended = inside("lint", *options)
    assert (ended.code, ended.out) == (0, inside("lint", *options, "--no-cache").out)
    assert ended.err.startswith(b"note: no agent files found in .claude/agents, ")
    assert json.loads(inside("lint", "--json").err)["note"].startswith("no agent files found in ")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("missing.md", "'missing.md' can't be read: no such file or directory; check the path"),
        ("--select ZZZ", "there is no rule 'ZZZ'; remit explain lists them all"),
        ("--select AGT04X", "there is no rule 'AGT04X'; did you mean 'AGT04"),
        ("--select AGT004,,GRF", "'AGT004,,GRF' has an empty code in it; write it like AGT122,GRF"),
        ("--ignore RET011", "there is no rule 'RET011'; "),
        ("--extend-select nope", "there is no rule 'nope'; "),
        ("--fail-on grave", "there is no severity 'grave'; available: error, warning, note"),
        ("--fail-on eror", "there is no severity 'eror'; did you mean 'error'?"),
        ("--output-format xml", "there is no output format 'xml'; available: full, concise, json, github, sarif"),
        ("--unsafe-fixes", "--unsafe-fixes needs --fix or --diff; add one of them"),
        ("--watch --fix", "can't combine --watch with --fix or --diff; leave one of them out"),
        ("--watch --diff", "can't combine --watch with --fix or --diff; leave one of them out"),
        ("--baseline none/known.json", "'none/known.json' can't be written: no such file or directory; "),
        ("--zzz", "there is no option --zzz; see 'remit lint --help'"),
    ],
)
def test_what_does_not_fit_is_2_and_one_line(args: str, sentence: str, inside: Inside) -> None:
    make_faulty(inside)
    ended = inside("lint", *args.split())
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint.startswith(sentence)


@pytest.mark.parametrize("option", ["--select", "--ignore", "--baseline", "--fail-on"])
def test_an_empty_option_is_told(option: str, inside: Inside) -> None:
    make_clean(inside)
    assert inside("lint", option, "").code == 2


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 1), ("note", 1)])
def test_what_is_grave_enough_to_fail_can_be_chosen(level: str, code: int, inside: Inside) -> None:
    for name, text in WORKSPACES["GRF006"].bad.items():
        put(inside, name, text)
    ended = inside("lint", "--fail-on", level, *only("GRF006"))
    assert ended.code == code
    assert "GRF006 warning" in ended.text, "it is told all the same"
    assert ("✓" in ended.text) is (code == 0)


# Which files


def test_one_file_is_linted_with_the_graph_of_all(inside: Inside) -> None:
    for name, text in WORKSPACES["GRF001"].bad.items():
        put(inside, name, text)
    ended = inside("lint", "agents/a.md", *only("GRF001"))
    assert ended.text.startswith("agents/a.md:")
    assert "a → b → c → a" in ended.text
    assert "1 file: 1 error" in ended.text
    assert inside("lint", "agents/b.md", *only("GRF001")).code == 0


def test_from_a_folder_below_the_whole_workspace_is_linted(remit: Remit) -> None:
    git(remit.folder, "init", "-q")
    make_faulty(remit)
    assert "AGT004" in remit("lint", cwd=remit.folder / "docs").text


def test_a_root_can_be_named_by_the_environment(remit: Remit, tmp_path_factory: pytest.TempPathFactory) -> None:
    make_faulty(remit)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert "AGT004" in remit("lint", cwd=elsewhere, env={"REMIT_ROOT": str(remit.folder)}).text
    assert remit("lint", env={"REMIT_ROOT": "missing"}).code == 2


# Output formats


def test_full_shows_the_line_with_carets(remit: Remit) -> None:
    make_faulty(remit)
    text = remit("lint", "--select", "AGT004").text
    assert text.startswith("error[AGT004]: ")
    assert f"--> {UNQUOTED_PATH}:3:" in text
    assert "3 | description: Use it when: it fails" in text
    assert "^" in text
    assert "= see: remit explain AGT004" in text
    assert text.endswith("✗ 3 files: 1 error\n1 can be fixed with `remit lint --fix`.\n")


def test_concise_is_a_line_each(inside: Inside) -> None:
    make_faulty(inside)
    first, *rest = inside("lint", *only("AGT004")).text.splitlines()
    assert first.startswith(f"{UNQUOTED_PATH}:3:")
    assert " AGT004 error " in first
    assert first.endswith(" [*]")
    assert rest == ["✗ 3 files: 1 error", "1 can be fixed with `remit lint --fix`."]


def test_json_is_a_list_of_findings_with_the_names_that_other_linters_use(inside: Inside) -> None:
    make_faulty(inside)
    ended = inside("lint", "--select", "AGT004", "--json")
    assert ended.code == 1
    [finding] = load(ended)["items"]
    assert finding["filename"] == UNQUOTED_PATH
    assert finding["code"] == "AGT004"
    assert finding["message"].startswith("the frontmatter isn't valid YAML")
    assert (finding["location"]["row"], finding["end_location"]["row"]) == (3, 3)
    assert finding["fix"] == {
        "applicability": "safe",
        "message": finding["fix"]["message"],
        "edits": [
            {
                "content": '"Use it when: it fails"',
                "location": {"row": 3, "column": 14},
                "end_location": {"row": 3, "column": 35},
            }
        ],
    }
    assert set(finding) == {
        "code", "message", "filename", "location", "end_location", "fix",
        "severity", "hint", "pointer",
    }  # fmt: skip


def test_json_of_a_clean_workspace_is_an_empty_list(inside: Inside) -> None:
    make_clean(inside)
    ended = inside("lint", "--json")
    assert (ended.code, json.loads(ended.out)["items"], ended.err) == (0, [], b"")


def test_github_gets_an_annotation_for_each(inside: Inside) -> None:
    make_faulty(inside)
    ended = inside("lint", "--select", "AGT004", "--output-format", "github")
    assert ended.code == 1
    [line] = ended.text.splitlines()
    assert line.startswith(f"::error file={UNQUOTED_PATH},line=3,col=")
    assert ",title=AGT004::the frontmatter isn't valid YAML%" not in line
    assert "title=AGT004::the frontmatter isn't valid YAML: " in line


def test_hostile_names_and_texts_are_shown_harmlessly(inside: Inside) -> None:
    put(inside, ".claude/agents/\x1b[31m\n::error::x.md", "---\nname: \x1b]0;x\x07\n---\n")
    for output_format in ("full", "concise", "github"):
        text = inside("lint", "--output-format", output_format).text
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\n::error::x" not in text
    assert load(inside("lint", "--json"))["items"]
    SarifLog.model_validate(load(inside("lint", "--output-format", "sarif")))


# SARIF


def test_sarif_is_valid(inside: Inside) -> None:
    make_faulty(inside)
    for name, text in (WORKSPACES["GRF001"].bad | WORKSPACES["GRF003"].bad).items():
        put(inside, name, text)
    ended = inside("lint", "--output-format", "sarif")
    assert (ended.code, ended.err) == (1, b"")
    log = load(ended)
    SarifLog.model_validate(log)
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "remit"
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        [location] = result["locations"]
        assert not location["physicalLocation"]["artifactLocation"]["uri"].startswith("/")
    levels = [result["level"] for result in run["results"]]
    assert levels == sorted(levels, key=("error", "warning", "note").index)
    [broken] = [result for result in run["results"] if result["ruleId"] == "AGT004"]
    [fix] = broken["fixes"]
    [replacement] = fix["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == '"Use it when: it fails"'


def test_a_broken_log_would_be_noticed() -> None:
    """The models are the schema: what it forbids is refused."""
    good = shape_sarif({}, version="1.0.0", explain={})
    SarifLog.model_validate(good)
    broken: list[dict[str, Any]] = [{**good, "more": 1}, {**good, "version": "3"}, {"runs": []}]
    for bad in broken:
        with pytest.raises(ValueError, match="validation error"):
            SarifLog.model_validate(bad)


def test_sarif_of_a_clean_workspace_is_an_empty_run(inside: Inside) -> None:
    make_clean(inside)
    log = load(inside("lint", "--output-format", "sarif"))
    SarifLog.model_validate(log)
    assert log["runs"][0]["results"] == []


@pytest.mark.slow
@pytest.mark.thorough
def test_of_thirty_thousand_findings_the_gravest_fit_into_the_limits_of_code_scanning() -> None:
    known = {each.code: each for each in explanations.explain_all()}
    codes = [code for code in known if code.startswith(("AGT", "GRF"))]
    place, long = TextSpan(3, 1, 3, 9), "\udcff" * 3_000
    fix = Fix("safe", "m" * 5_000, (TextEdit(0, 1, "x", place),))
    findings = tuple(
        Diagnostic(codes[at % len(codes)], ("note", "warning", "error")[at % 3], f"{at} {long}", "Do.",
                   "", place, fix)
        for at in range(30_000)
    )  # fmt: skip
    log = shape_sarif({"a b/ü\udcff#?.md": findings, "/outside/b.md": findings[:5]}, version="1.0.0", explain=known)
    SarifLog.model_validate(log)
    text = json.dumps(log).encode()
    [run] = log["runs"]
    assert len(run["results"]) == MAX_RESULTS == 5_000
    assert {result["level"] for result in run["results"]} == {"error"}
    assert len(gzip.compress(text)) < 10 * 1024 * 1024
    for result in run["results"]:
        assert len(result["message"]["text"]) <= MAX_TEXT == 1_000
        assert len(result["fixes"][0]["description"]["text"]) <= 1_000
    for each in run["tool"]["driver"]["rules"]:
        assert len(each["properties"]["tags"]) <= 10
        for part in ("shortDescription", "fullDescription", "help"):
            assert 0 < len(each[part]["text"]) <= 1_000
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert uris <= {"a%20b/%C3%BC%FF%23%3F.md", "file:///outside/b.md"}


def test_where_the_log_is_cut_it_is_told(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.views.sarif.MAX_RESULTS", 1)
    put(inside, ".claude/agents/x.md", "no frontmatter\n<role>\n")
    put(inside, ".claude/agents/y.md", "no frontmatter\n")
    ended = inside("lint", "--output-format", "sarif")
    assert len(json.loads(ended.out)["runs"][0]["results"]) == 1
    assert ended.err == b"note: the log contains only the most severe diagnostics: 1 of 2\n"


# Selection


def test_rules_can_be_selected_added_and_left_out(inside: Inside) -> None:
    make_faulty(inside)
    for name, text in WORKSPACES["GRF001"].bad.items():
        put(inside, name, text)

    def codes(*args: str) -> set[str]:
        return {finding["code"] for finding in load(inside("lint", "--json", *args))["items"]}

    assert {"AGT004", "GRF001"} <= codes()
    assert codes("--select", "GRF001,AGT004") == {"AGT004", "GRF001"}
    assert codes("--select", "grf001") == {"GRF001"}
    assert codes("--select", "GRF001", "--extend-select", "AGT004") == {"AGT004", "GRF001"}
    assert "GRF001" not in codes("--ignore", "GRF")
    assert {"GRF001"} == codes("--select", "GRF001", "--ignore", "GRF")


def test_an_ignore_in_the_file_silences_its_line_and_an_unused_one_is_told(inside: Inside) -> None:
    """C17."""
    put(inside, UNQUOTED_PATH, UNQUOTED.replace("it fails", "it fails # remit: ignore[AGT004]"))
    assert inside("lint", *only("AGT004")).code == 0
    put(inside, CLAUDE_PATH, f"{CLAUDE}\n<!-- remit: ignore[AGT004] -->\n")
    assert "IGN001" in inside("lint", *only("IGN")).text


def test_statistics_count_by_code(inside: Inside) -> None:
    make_faulty(inside)
    put(inside, ".claude/agents/b.md", UNQUOTED.replace("name: a", "name: b"))
    ended = inside("lint", "--select", "AGT004", "--statistics")
    assert (ended.code, ended.text) == (1, snapshot("2  AGT004  [*]  frontmatter-syntax\n"))
    assert load(inside("lint", "--select", "AGT004", "--statistics", "--json"))["items"] == [
        {"code": "AGT004", "name": "frontmatter-syntax", "count": 2, "fix": "safe"}
    ]
    assert inside("lint", "--select", "GRF", "--statistics").out == b""


# Settings


@pytest.mark.parametrize(("file", "head"), [("remit.toml", "[lint"), ("pyproject.toml", "[tool.remit.lint")])
def test_a_workspace_has_settings(inside: Inside, file: str, head: str) -> None:
    make_faulty(inside)
    put(inside, "vendor/agents/x.md", "---\nname: [\n---\n")
    put(inside, ".claude/agents/b.md", UNQUOTED.replace("name: a", "name: b"))
    assert "vendor" in inside("lint", *only("AGT004")).text
    put(
        inside,
        file,
        f"""{head}]
exclude = ["vendor"]
select = ["AGT004", "GRF"]
fail-on = "error"
{head}.per-file-ignores]
".claude/agents/b.md" = ["agt004"]
{head}.severity]
AGT004 = "warning"
""",
    )
    ended = inside("lint", "--output-format", "concise")
    assert ended.code == 0, "a warning is not grave enough here"
    assert [line.split(":")[0] for line in ended.text.splitlines() if " AGT004 warning " in line] == [UNQUOTED_PATH]
    assert "vendor" not in ended.text
    assert inside("lint", "--fail-on", "warning").code == 1


def test_settings_may_name_a_retired_code(inside: Inside) -> None:
    make_clean(inside)
    put(inside, "remit.toml", '[lint]\nignore = ["AGT153"]\n[lint.severity]\nAGT159 = "error"\n')
    assert inside("lint").code == 0
    assert "This rule is retired." in inside("explain", "agt153").text


def test_the_command_line_goes_before_the_settings(inside: Inside) -> None:
    make_faulty(inside)
    put(inside, "remit.toml", '[lint]\nignore = ["AGT004"]\nextend-select = ["GRF"]\n')
    assert inside("lint", *only("AGT004")).code == 1
    assert "AGT004" not in inside("lint", "--output-format", "concise").text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[lint]\nselect = ["ZZZ"]\n', "there is no rule 'ZZZ'"),
        ('[lint]\nselect = [""]\n', "there is no rule ''"),
        ('[lint.severity]\nZZZ = "note"\n', "there is no rule 'ZZZ'"),
        ('[lint.per-file-ignores]\n"*" = ["ZZZ"]\n', "there is no rule 'ZZZ'"),
        ("[lint\n", "the configuration isn't valid TOML"),
        ("[lint]\nbaseline = '../known.json'\n", "is outside of the workspace"),
        ("[lint]\nbaseline = '/known.json'\n", "is outside of the workspace"),
    ],
)
def test_settings_that_cannot_be_followed_are_told(inside: Inside, text: str, sentence: str) -> None:
    make_clean(inside)
    put(inside, "remit.toml", text)
    ended = inside("lint")
    assert ended.code == 2
    assert sentence in ended.complaint


# Fixing


def test_fix_puts_right_what_is_safe(inside: Inside) -> None:
    make_faulty(inside)
    put(inside, STANDARD_PATH, TWICE)
    ended = inside("lint", "--fix", "--select", "AGT004,AGT005", "--output-format", "concise")
    assert (inside.folder / UNQUOTED_PATH).read_text() == FIXED
    assert (inside.folder / STANDARD_PATH).read_text() == TWICE
    assert ended.code == 1, "what is not safe is left"
    first, *rest = ended.text.splitlines()
    assert " AGT005 error " in first
    assert rest == [
        "1 diagnostic fixed in 1 file.",
        "✗ 3 files: 1 error",
        "1 can be fixed with `remit lint --fix --unsafe-fixes`.",
    ]


def test_unsafe_fixes_go_further(inside: Inside) -> None:
    make_faulty(inside)
    put(inside, STANDARD_PATH, TWICE)
    ended = inside("lint", "--fix", "--unsafe-fixes", "--select", "AGT004,AGT005")
    assert ended.code == 0
    assert ended.text == snapshot("2 diagnostics fixed in 2 files.\n✓ 3 files: no problems\n")
    assert (inside.folder / STANDARD_PATH).read_text() == STANDARD


def test_fix_is_short_for_lint_with_it(inside: Inside) -> None:
    make_faulty(inside)
    assert inside("lint", "--fix", "--select", "AGT004").code == 0
    assert (inside.folder / UNQUOTED_PATH).read_text() == FIXED
    put(inside, STANDARD_PATH, TWICE)
    assert inside("lint", "--fix", "--select", "AGT005").code == 1
    assert inside("lint", "--fix", "--select", "AGT005", "--unsafe-fixes", STANDARD_PATH).code == 0
    assert (inside.folder / STANDARD_PATH).read_text() == STANDARD


def test_fixing_twice_is_fixing_once(inside: Inside) -> None:
    make_faulty(inside)
    put(inside, STANDARD_PATH, TWICE)
    for name, text in (WORKSPACES["GRF003"].bad | write_agent("lonely")).items():
        put(inside, name, text)
    put(inside, ".claude/agents/c.md", "# no frontmatter\n\n<role>\n")

    def take() -> dict[str, bytes]:
        files = [file for file in inside.folder.rglob("*.md") if file.is_file()]
        return {str(file): file.read_bytes() for file in files}

    before = take()
    for options in ((), ("--unsafe-fixes",)):
        inside("lint", "--fix", *options)
        once = take()
        times = {name: Path(name).stat().st_mtime_ns for name in once}
        inside("lint", "--fix", *options)
        assert take() == once
        assert {name: Path(name).stat().st_mtime_ns for name in once} == times, "what is right is not written again"
    assert take() != before


def test_a_fix_of_one_agent_s_file_may_come_from_the_graph_of_all(inside: Inside) -> None:
    for name, text in WORKSPACES["GRF003"].bad.items():
        put(inside, name, text)
    assert inside("lint", "--fix", "--unsafe-fixes", "--select", "GRF003").code == 0
    assert (inside.folder / "agents/a.md").read_text() == (WORKSPACES["GRF003"].fixed or {})["agents/a.md"]


def test_bytes_elsewhere_stay_what_they_are(inside: Inside) -> None:
    """Line breaks, a byte order mark, bytes that are no text, no line break at the end."""
    before = b"\xef\xbb\xbf" + UNQUOTED.replace("\n", "\r\n").encode() + b"caf\xe9\x1b\x0c\xe2\x80\xa8 end"
    put(inside, UNQUOTED_PATH, before)
    inside("lint", "--fix", "--select", "AGT004")
    after = (inside.folder / UNQUOTED_PATH).read_bytes()
    assert after == before.replace(b"Use it when: it fails", b'"Use it when: it fails"')


def test_permissions_and_links_stay_what_they_are(inside: Inside) -> None:
    put(inside, "shared/a.md", UNQUOTED)
    (inside.folder / "shared/a.md").chmod(0o640)
    (inside.folder / ".claude/agents").mkdir(parents=True)
    (inside.folder / UNQUOTED_PATH).symlink_to("../../shared/a.md")
    assert inside("lint", "--fix", "--select", "AGT004").code == 0
    assert (inside.folder / UNQUOTED_PATH).is_symlink()
    assert (inside.folder / "shared/a.md").read_text() == FIXED
    assert (inside.folder / "shared/a.md").stat().st_mode & 0o777 == 0o640


def test_a_link_out_of_the_workspace_is_not_written_through(
    inside: Inside, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "a.md"
    outside.write_text(UNQUOTED)
    (inside.folder / ".claude/agents").mkdir(parents=True)
    (inside.folder / UNQUOTED_PATH).symlink_to(outside)
    ended = inside("lint", "--fix", "--select", "AGT004")
    assert ended.code == 1
    assert outside.read_text() == UNQUOTED


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written_is_told(inside: Inside) -> None:
    make_faulty(inside)
    folder = (inside.folder / UNQUOTED_PATH).parent
    folder.chmod(0o500)
    try:
        ended = inside("lint", "--fix", "--no-cache")
    finally:
        folder.chmod(0o700)
    assert ended.code == 2
    assert "can't be written: permission denied" in ended.complaint


def test_a_cache_with_other_edits_in_it_does_not_change_a_file(inside: Inside) -> None:
    """A fix is worked out on the very text that it changes."""
    make_faulty(inside)
    inside("lint")
    cache = inside.folder / ".remit/cache/lint.json"
    forged = cache.read_text().replace('\\"Use it when: it fails\\"', "evil")
    assert forged != cache.read_text()
    cache.write_text(forged)
    inside("lint", "--fix", "--select", "AGT004")
    assert (inside.folder / UNQUOTED_PATH).read_text() == FIXED


# Diff


@pytest.mark.slow
def test_a_diff_changes_nothing_and_git_applies_it(remit: Remit) -> None:
    git(remit.folder, "init", "-q")
    make_faulty(remit)
    put(remit, STANDARD_PATH, TWICE)
    crlf = b"\xef\xbb\xbf" + UNQUOTED.replace("name: a", "name: b").replace("\n", "\r\n").encode() + b"\x1b\x0c end"
    put(remit, ".claude/agents/b.md", crlf)
    files = [UNQUOTED_PATH, STANDARD_PATH, ".claude/agents/b.md"]
    before = {name: (remit.folder / name).read_bytes() for name in files}
    options = ("--unsafe-fixes", "--select", "AGT004,AGT005")
    for command in (("lint", "--diff", *options), ("lint", "--fix", "--diff", *options)):
        ended = remit(*command)
        assert ended.code == 1
        assert ended.err == b"3 diagnostics in 3 files would be fixed.\n"
        assert {name: (remit.folder / name).read_bytes() for name in files} == before
    git(remit.folder, "apply", data=ended.out)
    applied = {name: (remit.folder / name).read_bytes() for name in files}
    for name, data in before.items():
        (remit.folder / name).write_bytes(data)
    assert remit("lint", "--fix", *options).code == 0
    assert {name: (remit.folder / name).read_bytes() for name in files} == applied
    assert applied != before


def test_a_diff_of_nothing_is_0(inside: Inside) -> None:
    make_clean(inside)
    ended = inside("lint", "--diff")
    assert (ended.code, ended.out, ended.err) == (0, b"", b"0 diagnostics in 0 files would be fixed.\n")


def test_a_diff_tells_of_what_only_unsafe_fixes_would_change(inside: Inside) -> None:
    put(inside, ".claude/agents/a.md", "---\nname: a\ndescription: Plans it\nmodel: sonet\n---\n\nPlan.\n")
    assert "1 can be fixed with `remit lint --fix --unsafe-fixes`" in inside("lint").text
    told = inside("lint", "--fix", "--diff").err.decode()
    assert told == snapshot("0 diagnostics in 0 files would be fixed, 1 more with --unsafe-fixes.\n")
    told = inside("lint", "--fix", "--diff", "--unsafe-fixes").err.decode()
    assert told == snapshot("1 diagnostic in 1 file would be fixed.\n")


def test_a_diff_in_colour_is_for_eyes(remit: Remit) -> None:
    put(remit, UNQUOTED_PATH, UNQUOTED.replace("\n", "\r\n"))
    shown = remit("lint", "--fix", "--diff", "--select", "AGT004", env={"FORCE_COLOR": "1"}).text
    assert '\x1b[1;32m+description: "Use it when: it fails"' in shown
    assert "\r" not in shown


def test_a_diff_on_a_terminal_without_colour_is_escaped_too(remit: Remit) -> None:
    put(remit, UNQUOTED_PATH, UNQUOTED.replace("it fails", "it \x9b31m fails"))
    master, slave = os.openpty()
    with remit.start("lint", "--fix", "--diff", "--select", "AGT", stdout=slave, env={"NO_COLOR": "1"}) as process:
        process.communicate(timeout=20)
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert "<U+009B>31m" in shown
    assert "\x9b" not in shown


def test_a_name_with_a_line_break_adds_no_line_to_the_patch(inside: Inside) -> None:
    put(inside, ".claude/agents/a\n+++ b\n.md", UNQUOTED)
    out = inside("lint", "--fix", "--diff", "--select", "AGT004").text
    assert out.count("\n+++ ") == 1


def test_a_diff_makes_no_baseline_and_shortens_none(inside: Inside) -> None:
    make_faulty(inside)
    inside("lint", "--diff", "--baseline", "known.json")
    assert not (inside.folder / "known.json").exists()
    inside("lint", "--baseline", "known.json")
    before = (inside.folder / "known.json").read_bytes()
    inside("lint", "--diff", "--baseline", "known.json")
    assert (inside.folder / "known.json").read_bytes() == before


# Baselines


def load_baseline(remit: Remit, name: str = "known.json") -> dict[str, dict[str, int]]:
    files: dict[str, dict[str, int]] = json.loads((remit.folder / name).read_text())["files"]
    return files


def test_a_baseline_is_made_once_and_only_shrinks(inside: Inside) -> None:
    """C17: a baseline that only shrinks."""
    make_faulty(inside)
    options = ("--baseline", "known.json", *only("AGT004,AGT005"))
    made = inside("lint", *options)
    assert (made.code, made.text) == (
        0,
        snapshot("known.json was created with 1 diagnostic.\n✓ 3 files: no problems\n"),
    )
    known = inside("lint", *options)
    left_out = "1 diagnostic ignored: listed in the baseline.\n✓ 3 files: no problems\n"
    assert (known.code, known.text) == (0, left_out)

    put(inside, STANDARD_PATH, TWICE)
    grown = inside("lint", *options)
    assert grown.code == 1
    assert " AGT005 " in grown.text
    assert "AGT004" not in grown.text
    assert list(load_baseline(inside)) == [UNQUOTED_PATH], "it never grows"

    put(inside, UNQUOTED_PATH, UNQUOTED.replace("---\nname", "---\n\n\nname"))
    assert "AGT004" not in inside("lint", *options).text, "its line has only moved"

    put(inside, UNQUOTED_PATH, FIXED)
    shrunk = inside("lint", *options)
    assert "known.json now has 0 diagnostics." in shrunk.text
    assert load_baseline(inside) == {}
    put(inside, UNQUOTED_PATH, UNQUOTED)
    assert " AGT004 " in inside("lint", *options).text, "what is gone and comes back is new"


def test_a_baseline_keeps_what_was_not_looked_at_and_forgets_removed_files(inside: Inside) -> None:
    make_faulty(inside)
    put(inside, ".claude/agents/b.md", UNQUOTED.replace("name: a", "name: b"))
    put(inside, STANDARD_PATH, TWICE)
    inside("lint", "--baseline", "known.json")
    before = load_baseline(inside)
    assert {UNQUOTED_PATH, ".claude/agents/b.md", STANDARD_PATH} <= set(before)
    inside("lint", "--baseline", "known.json", STANDARD_PATH)
    inside("lint", "--baseline", "known.json", "--select", "GRF")
    inside("lint", "--baseline", "known.json", "--ignore", "AGT004")
    assert load_baseline(inside) == before
    (inside.folder / ".claude/agents/b.md").unlink()
    ended = inside("lint", "--baseline", "known.json", UNQUOTED_PATH)
    assert set(load_baseline(inside)) == set(before) - {".claude/agents/b.md"}
    total = sum(sum(counts.values()) for counts in load_baseline(inside).values())
    assert f"known.json now has {total} diagnostics." in ended.text


def test_a_baseline_is_a_file(inside: Inside) -> None:
    make_faulty(inside)
    ended = inside("lint", "--baseline", ".")
    assert ended.code == 2
    assert ended.complaint == snapshot("the baseline '.' is a folder; name a file; a missing one is created")


def test_fixing_shortens_the_baseline(inside: Inside) -> None:
    make_faulty(inside)
    inside("lint", "--baseline", "known.json", "--select", "AGT004")
    ended = inside("lint", "--fix", "--baseline", "known.json", "--select", "AGT004")
    assert ended.code == 0
    assert load_baseline(inside) == {}


def test_a_baseline_in_the_settings_lies_at_the_root(remit: Remit) -> None:
    make_faulty(remit)
    put(remit, "remit.toml", '[lint]\nbaseline = ".remit-baseline.json"\n')
    assert remit("lint", cwd=remit.folder / "docs").code == 0
    assert load_baseline(remit, ".remit-baseline.json")
    assert not (remit.folder / "docs/.remit-baseline.json").exists()
    assert remit("lint").code == 0


def test_a_baseline_that_cannot_be_read_is_no_empty_one(inside: Inside) -> None:
    make_faulty(inside)
    put(inside, "known.json", "[]")
    ended = inside("lint", "--baseline", "known.json")
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        "known.json isn't a baseline; remove it, and run the command once with --baseline to create it again"
    )
    (inside.folder / "link.json").symlink_to("nowhere/known.json")
    assert inside("lint", "--baseline", "link.json").code == 2


# The cache


def test_the_answer_is_the_same_with_and_without_the_cache(inside: Inside) -> None:
    make_faulty(inside)
    for name, text in WORKSPACES["GRF001"].bad.items():
        put(inside, name, text)
    without = inside("lint", "--json", "--no-cache")
    assert not (inside.folder / ".remit").exists()
    assert inside("lint", "--json") == without
    assert (inside.folder / ".remit/cache/lint.json").exists()
    assert inside("lint", "--json") == without


# Watching


class Watcher:
    """`remit lint --watch` as a process; its output as it comes."""

    def __init__(self, remit: Remit, *args: str) -> None:
        self.file = remit.folder / "out.txt"
        with self.file.open("wb") as out:
            self.process = remit.start("lint", "--watch", *args, stdout=out, stderr=subprocess.STDOUT)

    def wait_for(self, sign: str, *, times: int = 1) -> str:
        """Wait until a text was said so many times; all that was said."""
        deadline = time.monotonic() + 20
        while (text := self.file.read_text()).count(sign) < times:
            assert time.monotonic() < deadline, text
            assert self.process.poll() is None, text
            time.sleep(0.05)
        return text

    def end(self) -> int:
        """Interrupt it, as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


@pytest.mark.slow
def test_watching_lints_again_whenever_a_file_changes_until_it_is_interrupted(remit: Remit) -> None:
    make_clean(remit)
    watcher = Watcher(remit, *only("AGT004"))
    try:
        assert "AGT004" not in watcher.wait_for("watching 2 files; press Ctrl-C to stop")
        put(remit, UNQUOTED_PATH, UNQUOTED)
        assert f"{UNQUOTED_PATH}:3:" in watcher.wait_for("watching 3 files")
        put(remit, UNQUOTED_PATH, FIXED)
        watcher.wait_for("✓ 3 files: no problems")
        put(remit, "remit.toml", "[lint\n")
        watcher.wait_for("error: ")
        put(remit, "remit.toml", '[lint]\nexclude = [".claude"]\n')
        text = watcher.wait_for("watching 1 file;")
        assert text.count("error: ") == 1, "it is told once"
    finally:
        code = watcher.end()
    assert code == 130
    assert "Traceback" not in watcher.file.read_text()


def test_a_round_of_watching_is_a_lint(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    make_clean(inside)
    changes = [(UNQUOTED_PATH, UNQUOTED), ("remit.toml", "[lint\n"), None, ("remit.toml", "")]

    def change_something(seconds: float) -> None:
        assert seconds < 2
        if not changes:
            raise KeyboardInterrupt
        if (named := changes.pop(0)) is not None:
            put(inside, *named)

    monkeypatch.setattr(time, "sleep", change_something)
    ended = inside("lint", "--watch", *only("AGT004"))
    assert ended.code == 130
    assert [line[:1] for line in ended.text.splitlines()] == ["✓", ".", "✗", "1", ".", "✗", "1"]
    err = ended.err.decode().splitlines()
    assert [line.partition(";")[0] for line in err if line.startswith("watching")] == [
        "watching 2 files",
        *["watching 3 files"] * 2,
    ]
    assert len(err) == 5, "what is in the way is told once"


def test_watching_what_is_not_there_ends_at_once(remit: Remit) -> None:
    ended = remit("lint", "--watch", "missing.md")
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot("'missing.md' can't be read: no such file or directory; check the path")


# Many files


def test_many_files_are_linted_by_all_processors_with_one_answer(remit: Remit) -> None:
    for number in range(120):
        put(remit, f".claude/agents/a{number}.md", UNQUOTED.replace("name: a", f"name: a{number}"))
    cold = remit("lint", "--json")
    assert len([each for each in load(cold)["items"] if each["code"] == "AGT004"]) == 120
    assert remit("lint", "--json") == cold


def test_in_ci_no_baseline_is_made(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    put(inside, ".claude/agents/a.md", "---\nname: a\n---\n")
    monkeypatch.setenv("CI", "true")
    ended = inside("lint", "--baseline", "knwon.json")
    assert (ended.code, ended.out) == (2, b"")
    assert smooth(ended.complaint) == snapshot(
        "there is no baseline 'knwon.json', and none is created in CI; create it locally, and commit it"
    )
    assert not (inside.folder / "knwon.json").exists()
