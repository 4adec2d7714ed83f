"""The GitHub Action: its steps run as GitHub would run them, without a network."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.support.paths import ROOT, SOURCE

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL, LINT, UPLOAD = ACTION["runs"]["steps"]
GOOD = "---\nname: tidy\ndescription: Tidies up.\n---\n\nTidy up.\n"
BAD = "---\nname: [tidy\ntool: Read\n---\n\nTidy up.\n"


class Ran(NamedTuple):
    """How a step ended."""

    code: int
    out: str
    outputs: dict[str, str]


def fill_in(text: str, inputs: dict[str, str]) -> str:
    """Replace the expressions in an action's text by their values."""
    known = {"github.action_path": str(ROOT), **{f"inputs.{name}": value for name, value in inputs.items()}}
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], text)


def run_step(step: dict[str, Any], workspace: Path, temp: Path, given: dict[str, str], **extra: str) -> Ran:
    """Run a step in a workspace, with the inputs as GitHub would set them."""
    inputs = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | given
    env = {name: fill_in(value, inputs) for name, value in step["env"].items()}
    output = temp / "outputs.txt"
    output.touch()
    ended = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=workspace,
        env={"PATH": os.environ["PATH"], "HOME": str(temp), "RUNNER_TEMP": str(temp), "GITHUB_OUTPUT": str(output),
             **env, **extra},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )  # fmt: skip
    assert (ended.stderr != "") is ended.stderr.startswith("error: "), ended.stderr
    lines = output.read_text("utf-8").splitlines()
    return Ran(ended.returncode, ended.stdout, dict(line.split("=", 1) for line in lines))


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    """A runner's folder in which Remit is installed already."""
    folder = tmp_path / "temp"
    (folder / "remit" / "bin").mkdir(parents=True)
    program = folder / "remit" / "bin" / "remit"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{SOURCE}" exec "{sys.executable}" -m remit "$@"\n', "utf-8")
    program.chmod(0o755)
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with a good agent and a bad one."""
    folder = tmp_path / "workspace"
    for name, text in ((".claude/agents/tidy.md", GOOD), ("more/agents with space/tidy.md", BAD)):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, "utf-8")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


@pytest.fixture
def lint(workspace: Path, temp: Path) -> Callable[..., Ran]:
    """Runs the step that lints; `_` in a name stands for `-`."""

    def run(**given: str) -> Ran:
        return run_step(LINT, workspace, temp, {name.replace("_", "-"): value for name, value in given.items()})

    return run


def test_the_inputs_are_these() -> None:
    wanted = {"paths", "select", "ignore", "baseline", "fail-on", "sarif-file"}
    assert wanted <= ACTION["inputs"].keys()
    assert ACTION["runs"]["using"] == "composite"
    for step in (INSTALL, LINT):
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input in a script would be run as a script"
        assert set(re.findall(r"INPUT_\w+", step["run"])) <= step["env"].keys()


def test_the_upload_is_asked_for() -> None:
    assert ACTION["inputs"]["upload-sarif"]["default"] == "false"
    assert "inputs.upload-sarif == 'true'" in UPLOAD["if"]
    assert UPLOAD["uses"].startswith("github/codeql-action/upload-sarif@")
    assert UPLOAD["with"]["sarif_file"] == ACTION["outputs"]["sarif-file"]["value"]


def test_what_is_good_passes(lint: Callable[..., Ran]) -> None:
    ran = lint(paths=".claude/agents\n\n")
    assert (ran.code, ran.outputs) == (0, {})
    assert "::error" not in ran.out


def test_what_is_bad_is_annotated_and_fails(lint: Callable[..., Ran]) -> None:
    ran = lint(paths="more/agents with space/tidy.md")
    assert ran.code == 1
    assert re.search(r"^::error file=more/agents with space/tidy\.md,line=\d", ran.out, re.MULTILINE)


@pytest.mark.slow
def test_sarif_is_written_where_it_is_wanted(lint: Callable[..., Ran], workspace: Path, temp: Path) -> None:
    ran = lint(paths="more", sarif_file="out.sarif")
    assert (ran.code, ran.outputs) == (1, {"sarif-file": "out.sarif"})
    assert json.loads((workspace / "out.sarif").read_text("utf-8"))["runs"][0]["results"]
    ran = lint(paths=".claude", upload_sarif="true")
    assert (ran.code, ran.outputs["sarif-file"]) == (0, f"{temp}/remit.sarif")
    assert json.loads((temp / "remit.sarif").read_text("utf-8"))["version"] == "2.1.0"


@pytest.mark.slow
@pytest.mark.thorough
def test_rules_and_severities_are_handed_on(lint: Callable[..., Ran]) -> None:
    codes = set(re.findall(r"title=(\w+)", lint(paths="more").out))
    assert codes
    assert lint(paths="more", ignore=",".join(codes)).code == 0
    only = lint(paths="more", select=min(codes))
    assert set(re.findall(r"title=(\w+)", only.out)) == {min(codes)}
    shown = lint(paths="more", select="AGT206")
    assert "::warning" in shown.out
    assert (shown.code, lint(paths="more", select="AGT206", fail_on="error").code) == (1, 0)
    assert lint(paths="more", fail_on="no such severity").code == 2


def test_a_baseline_is_not_made_in_passing(lint: Callable[..., Ran], workspace: Path, temp: Path) -> None:
    ran = lint(paths="more", baseline="known.json")
    assert ran.code == 2
    assert "::error" in ran.out
    assert not (workspace / "known.json").exists()
    make = [str(temp / "remit/bin/remit"), "lint", "more", "--baseline", "known.json"]
    here = {key: value for key, value in os.environ.items() if key != "CI"}  # where people work, not where this runs
    subprocess.run(make, cwd=workspace, env=here, capture_output=True, check=False)
    assert (workspace / "known.json").exists()
    assert lint(paths="more", baseline="known.json").code == 0


def test_a_path_is_never_an_option(lint: Callable[..., Ran], workspace: Path) -> None:
    before = (workspace / "more/agents with space/tidy.md").read_bytes()
    assert lint(paths="--fix\nmore").code == 2
    assert (workspace / "more/agents with space/tidy.md").read_bytes() == before


@pytest.mark.slow
@pytest.mark.thorough
def test_remit_is_installed_from_the_actions_own_folder(workspace: Path, tmp_path: Path) -> None:
    temp = tmp_path / "runner"
    temp.mkdir()
    # What an index would give is here already: pip is shown it, and kept from asking anybody else.
    offline = {"PYTHONPATH": sysconfig.get_path("purelib"), "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    action = tmp_path / "action"
    shutil.copytree(SOURCE, action / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, action / name)
    ran = run_step(INSTALL, workspace, temp, {"python": sys.executable}, ACTION_PATH=str(action), **offline)
    assert ran.code == 0, ran.out
    program = temp / "remit" / "bin" / "remit"
    env = {"PYTHONPATH": sysconfig.get_path("purelib")}
    ended = subprocess.run([program, "--version"], capture_output=True, text=True, env=env, check=True)
    assert ended.stdout.startswith("remit ")


def test_an_old_python_is_told(workspace: Path, tmp_path: Path) -> None:
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    old.chmod(0o755)
    ran = run_step(INSTALL, workspace, tmp_path, {"python": str(old)})
    assert ran.code == 2
    assert "3.11" in ran.out
    assert not (tmp_path / "remit").exists()
