"""The examples: each sample message gives the verdict it is there for, and the demonstration goes as it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import remit
from tests.support.paths import ROOT

MESSAGES = ROOT / "examples" / "messages"
WORKSPACE = MESSAGES / "workspace"

VERDICTS: dict[str, tuple[str, str | None, list[str]]] = {
    # name: outcome, format, codes of errors
    "standard-completed": ("accepted", "standard", []),
    "standard-partial": ("accepted", "standard", []),
    "hyper-markers": ("accepted", "hyper", []),
    "manifest-sentence": ("accepted", "manifest", []),
    "thinking-then-return": ("accepted", "standard", []),
    "repaired-comma-and-comment": ("repaired", "standard", []),
    "prose-only": ("missing", None, ["RET001"]),
    "cut-off": ("malformed", "standard", ["RET005"]),
    "two-returns": ("ambiguous", "standard", ["RET008"]),
    "unfilled-template": ("degenerate", "standard", ["RET011"]),
    "escaping-path": ("invalid", "standard", ["RET050"]),
    "missing-artifact": ("invalid", "standard", ["RET051"]),
}


def check(name: str) -> remit.Verdict:
    return remit.check((MESSAGES / f"{name}.md").read_bytes(), root=WORKSPACE)


def test_every_sample_has_a_verdict() -> None:
    assert sorted(VERDICTS) == sorted(file.stem for file in MESSAGES.glob("*.md"))


@pytest.mark.parametrize("name", VERDICTS)
def test_a_sample_gives_its_verdict(name: str) -> None:
    """R0 R3 R4: accepted, repaired, and every way of being refused that needs no further evidence."""
    expected, format, errors = VERDICTS[name]
    verdict = check(name)
    codes = {finding.code for finding in verdict.diagnostics if finding.severity == "error"}
    assert (verdict.name, verdict.format) == (expected, format)
    assert set(errors) <= codes
    assert bool(codes) is not verdict.accepted


@pytest.mark.parametrize("name", [name for name, (verdict, _, _) in VERDICTS.items() if verdict == "accepted"])
def test_an_accepted_sample_has_nothing_to_be_said_about_it(name: str) -> None:
    assert check(name).diagnostics == ()


def test_the_repaired_sample_names_its_repairs() -> None:
    assert {repair.kind for repair in check("repaired-comma-and-comment").repairs} == {"trailing_comma", "comment"}


def test_the_refused_samples_show_every_outcome_but_one() -> None:
    """C16: told apart; `fabricated` needs more evidence than a message and its files."""
    verdicts = {verdict for verdict, _, _ in VERDICTS.values()}
    assert verdicts == {"accepted", "repaired", "missing", "malformed", "ambiguous", "degenerate", "invalid"}


@pytest.mark.slow
def test_the_demonstration_goes_as_it_says(tmp_path: Path) -> None:
    """R1.30 R2.7 R0.12: a task goes from research to done, past an agent that lies and one that hangs."""
    demo = [sys.executable, str(ROOT / "examples" / "demo.py"), str(tmp_path)]
    played = subprocess.run(demo, capture_output=True, encoding="utf-8", check=False, timeout=240)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "error[FABRICATED]" in played.stdout
    assert "error[TIMEOUT]" in played.stdout
    assert "task 1 was PARTIAL and is COMPLETED" in played.stdout
    assert played.stdout.count("task 1 phase ") == 3
    assert "Traceback" not in played.stderr


@pytest.mark.slow
def test_the_orchestrator_decides_by_what_comes_back(tmp_path: Path) -> None:
    """R2.14: what is unproven beside others is asked again, one that lies costs no other, and a partial goes on."""
    program = [sys.executable, str(ROOT / "examples" / "orchestrator.py"), "--folder", str(tmp_path)]
    played = subprocess.run(program, capture_output=True, encoding="utf-8", check=False, timeout=240)
    assert played.returncode == 0, played.stdout + played.stderr
    told = played.stdout
    counts = [told.count(f"researcher: {word}") for word in ("partial (unproven)", "completed", "failed")]
    # the liar's first claim is unproven if others were still at work, and false if it ran alone on a busy machine
    assert counts in ([3, 2, 1], [2, 2, 2])
    assert told.count("FABRICATED") == counts[2]
    assert "2 of 3 were answered" in told
    assert told.index("implementer: partial") < told.index("Go on from what is there: checks.md")
    assert told.index("Go on from") < told.index("implementer: completed")
    todo = (tmp_path / "wattlog" / "specs" / "TODO.md").read_text("utf-8")
    assert "- **Status**: [COMPLETED]" in todo[todo.index("### 2. ") :]


@pytest.mark.slow
@pytest.mark.thorough
def test_the_examples_of_agents_go_the_second_time_as_the_first(tmp_path: Path) -> None:
    """A reader tries what a page shows again, and in another order."""
    examples, kinds = ROOT / "examples", ("short", "review")
    programs = ["agents/honest.py", *(f"answers.py {kind}" for kind in kinds)]
    told = [_run_agent(tmp_path, f"{examples}/{program}") for program in programs for _ in range(2)]
    assert [(each.returncode, each.stdout.splitlines()[:1]) for each in told if "completed" not in each.stdout] == []
    lied = _run_agent(tmp_path, f"{examples}/agents/liar.py").stdout
    assert "error[FABRICATED]: cache-report.md doesn't exist" in lied


def _run_agent(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "remit", "run", "Look into it", "--command", f"{sys.executable} {program}"]
    return subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=60)


def test_every_example_is_in_the_readme() -> None:
    """And every path that the tables name is there."""
    folder = ROOT / "examples"
    text = (folder / "README.md").read_text("utf-8")
    named = set(re.findall(r"^\| (?:`([\w/.-]+)`|\[([\w-]+)\])", text, re.MULTILINE))
    paths = {first or second for first, second in named}
    assert [path for path in paths if not (folder / path).exists()] == []
    there = {each.name for each in folder.iterdir()} - {"README.md", "harnesses.py", "__pycache__"}
    assert there == {path.partition("/")[0] for path in paths}
    assert "examples/harnesses.py" in text
    programs = {f"{name}/{each.name}" for name in ("agents", "python_agents") for each in (folder / name).glob("*.py")}
    assert programs <= paths
