"""`remit` alone and `remit completion`: what is suggested and offered is what is there, and it works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from inline_snapshot import snapshot

from remit.cli.group import root
from remit.maintenance import next_steps
from tests.support.commands import Inside, Remit

AGENT = "---\nname: {name}\ndescription: Looks things up.\n---\n\nLook it up.\n"


def write(place: Remit | Inside, name: str, text: str) -> None:
    """Put a file into the folder, wherever in it."""
    (place.folder / name).parent.mkdir(parents=True, exist_ok=True)
    place.write(name, text)


def offer(remit: Remit, words: str) -> list[str]:
    """What a shell is offered after these words."""
    env = {"_REMIT_COMPLETE": "zsh_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    lines = remit(env=env).text.splitlines()
    return [f"{word}: {told}" for word, told in zip(lines[1::3], lines[2::3], strict=True)]


# What to do next


def test_agent_files_are_to_be_linted(inside: Inside) -> None:
    write(inside, ".claude/agents/one.md", AGENT.format(name="one"))
    assert "remit lint                                  check the agent file of this project" in inside().text
    write(inside, "agents/two.md", AGENT.format(name="two"))
    assert "check the 2 agent files of this project" in inside().text


def test_agents_are_found_where_lint_finds_them(inside: Inside) -> None:
    write(inside, "pkg/.claude/agents/one.md", AGENT.format(name="one"))
    write(inside, "vendor/agents/two.md", AGENT.format(name="two"))
    assert "check the 2 agent files of this project" in inside().text
    write(inside, "remit.toml", '[lint]\nexclude = ["vendor"]\n')
    assert "check the agent file of this project" in inside().text
    assert "✓ agents      1 in pkg/.claude/agents" in inside("doctor").text


def test_where_a_search_would_take_long_lint_is_to_do_it(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_steps, "_MAX_FILES", 1)
    write(inside, "pkg/.claude/agents/one.md", AGENT.format(name="one"))
    text = inside().text
    assert "find and check the agent files here" in text
    assert "first agent" not in text


def test_a_harness_that_is_there_is_suggested(
    inside: Inside, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = tmp_path_factory.mktemp("bin") / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    text = inside().text
    assert 'remit run "Fix the typo" --runner codex' in text
    assert "remit hooks install codex" in text


def test_a_first_remit_in_an_empty_folder_says_what_to_do_next(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert inside().text == (
        "Remit runs AI coding agents and verifies what they say they did.\n"
        "\n"
        "What you can do next in this folder:\n"
        "  remit agent new research researcher         write a first agent file\n"
        '  remit run "Fix the typo" --command PROGRAM  run any program as an agent and check its return\n'
        "  remit check MESSAGE.md                      check the final message of an agent\n"
        "  remit --help                                list all commands\n"
    )


def test_who_has_worked_here_sees_how_it_stands(inside: Inside) -> None:
    assert "remit status" not in inside().text
    inside("task", "new", "A task")
    assert "remit status" in inside().text


def test_a_ledger_that_cannot_be_read_is_no_reason_to_say_nothing(inside: Inside) -> None:
    write(inside, ".remit/ledger.db", "not a database")
    ended = inside()
    assert ended.code == 0
    assert "remit doctor" in ended.text


def test_settings_that_cannot_be_followed_are_told(inside: Inside) -> None:
    write(inside, "remit.toml", "[delegate\n")
    assert "remit doctor                                check what is wrong here" in inside().text


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_prose_keeps_to_the_width_of_the_screen(inside: Inside, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    write(inside, ".claude/agents/one.md", AGENT.format(name="one"))
    wide = {command: inside(*command).text for command in ((), ("doctor",), ("ps",))}
    monkeypatch.setenv("COLUMNS", str(columns))
    for command, text in wide.items():
        narrow = inside(*command).text
        lines = [line for line in narrow.splitlines() if not line.startswith("  remit ")]
        assert all(len(line) <= columns for line in lines), lines
        # The same is told; the doctor's disk is another each time.
        assert command == ("doctor",) or "".join(narrow.split()) == "".join(text.split())


# What a shell is offered


def test_a_shell_is_offered_agents(remit: Remit) -> None:
    for name in ("planner", "player", "writer"):
        write(remit, f".claude/agents/{name}.md", AGENT.format(name=name))
    write(remit, ".claude/agents/odd.md", AGENT.format(name="'pla $(touch gone)'"))
    assert offer(remit, "remit run pla") == ["planner: _", "player: _"]
    assert offer(remit, "remit run planner pla") == []


def test_a_shell_is_offered_tasks_with_their_titles(remit: Remit) -> None:
    remit("task", "new", "Limit uploads")
    remit("task", "new", "Odd title")
    state = remit.folder / "specs" / "state.json"
    state.write_text(state.read_text().replace("Odd title", "Odd \\u001b[31m title"))
    assert offer(remit, "remit task show ") == ["1: Limit uploads", "2: Odd <U+001B>[31m title"]


@pytest.mark.slow
def test_a_shell_is_offered_delegations(remit: Remit) -> None:
    remit("run", "Do it", "--command", "true")
    [offered] = offer(remit, "remit show sess")
    assert re.fullmatch(r"sess_\w+: true, failed", offered)


def test_where_nothing_is_there_nothing_is_offered(remit: Remit) -> None:
    assert [offer(remit, words) for words in ("remit show ", "remit run ", "remit task show ")] == [[], [], []]


FORMATS = "return prompt --format"


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("check --format", FORMATS),
        ("return convert --to", FORMATS),
        ("return prompt --format", FORMATS),
        ("run Do --return-format", FORMATS),
        ("run Do --runner", "run Do --runner"),
        ("return schema", "return schema"),
        ("lint --output-format", "lint --output-format"),
        ("agent build --to", "agent build --to"),
        ("hooks install", "hooks install"),
        ("hooks uninstall", "hooks uninstall"),
        ("agent new", "agent new"),
        ("agent new --profile", "agent new utility x --profile"),
        ("completion", "completion"),
    ],
)
def test_a_shell_is_offered_the_words_that_are_known(words: str, refused: str, inside: Inside) -> None:
    args = ["agent", "new", "¿", "x"] if words == "agent new" else [*refused.split(), "¿"]
    known = inside(*args).complaint.partition("available: ")[2].split(", ")
    offered = ShellComplete(root, {}, "remit", "_REMIT_COMPLETE").get_completions(words.split(), "")
    assert sorted(each.value for each in offered) == sorted(known)


def test_without_a_shell_one_is_to_be_named(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHELL", raising=False)
    ended = inside("completion")
    complaint = "can't detect the shell: SHELL is not set; name it: remit completion bash"
    assert (ended.code, ended.complaint) == (2, complaint)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_takes_what_it_is_given(inside: Inside) -> None:
    script = inside("completion", "bash").text
    ran = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\ncomplete -p remit"], capture_output=True, encoding="utf-8", check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == snapshot("complete -o nosort -F _remit_completion remit\n")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
@pytest.mark.parametrize("before", ["", "autoload -U compinit; compinit"])
def test_zsh_takes_what_it_is_given(before: str, inside: Inside, tmp_path: Path) -> None:
    script = inside("completion", "zsh").text
    ran = subprocess.run(
        ["zsh", "-f", "-c", f"{before}\n{script}\nprint $_comps[remit]"],
        capture_output=True, encoding="utf-8", check=False, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "_remit_completion\n", "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_takes_what_it_is_given(remit: Remit, tmp_path: Path) -> None:
    script = tmp_path / "remit.fish"
    script.write_text(remit("completion", "fish").text, encoding="utf-8")
    env = {**os.environ, "HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; complete -C 'remit findings va'"],
        capture_output=True, encoding="utf-8", check=False, env=env, cwd=remit.folder,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("validate\t")


@pytest.mark.parametrize(
    ("shell", "word"), [("zsh", "compdef _remit_completion remit"), ("fish", "complete --no-files")]
)
def test_other_shells_have_theirs(shell: str, word: str, inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    assert word in inside("completion", shell).text
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert inside("completion") == inside("completion", shell)


def test_a_shell_that_is_not_known_is_told(inside: Inside) -> None:
    ended = inside("completion", "zhs")
    assert (ended.code, ended.complaint) == (2, snapshot("there is no completion for 'zhs'; did you mean 'zsh'?"))
