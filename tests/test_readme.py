"""The README shows what happens: its examples are run, and their output is compared."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from remit.config import parse_settings

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(*args: str) -> str:
    """What a command prints into a pipe, run at the project's root."""
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    result = subprocess.run(
        [sys.executable, *args], cwd=ROOT, env=env, capture_output=True, encoding="utf-8", check=False
    )
    assert result.stderr == ""
    return result.stdout


def smooth(text: str) -> str:
    """A text without what differs from run to run: sessions and seconds."""
    return re.sub(r"\d+(\.\d)? s\b", "0.2 s", re.sub(r"sess_\d+_\w{6}", "sess_1_abcdef", text))


def test_the_first_example_stands_near_the_top_and_prints_what_it_shows(tmp_path: Path) -> None:
    command, _, shown = blocks("console")[0].partition("\n")
    assert README[: README.index(shown) + len(shown)].count("\n") < 30
    shutil.copytree(ROOT / "examples" / "agents", tmp_path / "examples" / "agents")
    args = [sys.executable, "-m", *shlex.split(command.removeprefix("$ "))]
    env = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")} | {"NO_COLOR": "1"}
    ran = subprocess.run(args, cwd=tmp_path, env=env, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 1
    assert smooth(ran.stdout).rstrip() == smooth(shown).rstrip()


def test_the_check_example_prints_what_it_shows() -> None:
    [block] = [block for block in blocks("console") if block.startswith("$ remit check examples")]
    command, _, shown = block.partition("\n")
    assert run("-m", "remit", *command.removeprefix("$ remit ").split()).rstrip() == shown.rstrip()


def test_the_lint_example_prints_what_it_shows() -> None:
    [block] = [block for block in blocks("console") if block.startswith("$ remit lint")]
    command, _, shown = block.partition("\n")
    assert run("-m", "remit", *command.removeprefix("$ remit ").split(), "--no-cache").rstrip() == shown.rstrip()


def test_the_session_with_tasks_goes_as_it_shows(tmp_path: Path) -> None:
    [block] = [block for block in blocks("console") if block.startswith("$ remit task new")]
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR", "REMIT_ROOT")}
    said = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        result = subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=tmp_path, env=env, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")  # fmt: skip
        said.append(f"$ {command}\n{result.stdout}")
    assert "".join(said) == block


def test_the_settings_that_are_shown_are_settings() -> None:
    delegation, referee, _, lint = blocks("toml")
    settings = parse_settings(lint).lint
    assert (settings.ignore, settings.fail_on) == (("AGT137",), "error")
    told = parse_settings(delegation).delegation
    assert (told.delegate.runner, told.limits.running, told.budget.max_usd) == ("claude", 8, 5.0)
    assert told.lifecycle["audit"].like == "review"
    assert parse_settings(referee).delegation.referee.hold == ("general-purpose",)


def test_the_python_example_runs() -> None:
    delegating, source = blocks("python")
    compile(delegating, "README.md", "exec")
    assert run("-c", source).splitlines() == [
        "True accepted completed",
        "plan specs/118_rate_limits/plans/implementation-001.md",
    ]


def test_every_command_that_is_shown_exists() -> None:
    known = run("-m", "remit", "--help")
    shown = set(re.findall(r"(?:^\$ |`)remit ([a-z]+)", README, re.MULTILINE))
    assert shown == set(re.findall(r"^  ([a-z]+)  ", known, re.MULTILINE))
    assert not [command for command in shown if not re.search(rf"^  {command}  ", known, re.MULTILINE)]
