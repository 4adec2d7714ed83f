"""The command line as a process: how it starts, what it says of a line that does not fit, how it ends."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from inline_snapshot import snapshot

import remit as package
from remit.cli.group import root
from remit.commands import list_names
from tests.support.commands import Inside, Remit
from tests.support.message_files import ESCAPING, GOOD, PROSE
from tests.support.screen_text import smooth

# Help


@pytest.mark.parametrize("option", ["-h", "--help", "help"])
def test_help_names_every_command(option: str, inside: Inside) -> None:
    ended = inside(option)
    assert (ended.code, ended.err) == (0, b"")
    for command in list_names():
        assert re.search(rf"^  {command} +[A-Z].*\.$", ended.text, re.MULTILINE), command


def test_without_arguments_it_says_what_to_do_next(remit: Remit) -> None:
    ended = remit()
    assert (ended.code, ended.err) == (0, b"")
    assert "remit agent new research researcher" in ended.text
    assert ended.text.rstrip().endswith("list all commands")


@pytest.mark.parametrize(
    "command", ["check", "lint", "agent graph", "return convert", "return prompt", "return schema", "explain"]
)
def test_each_command_has_help(command: str, inside: Inside) -> None:
    ended = inside(*command.split(), "--help")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text.startswith(f"Usage: remit {command} ")
    assert "--json" in ended.text
    assert "--output-format" in ended.text


CHANGING = {"task new", "task start", "task done", "task block", "task link", "task archive", "findings link"}
"""Those that change tasks: they end as `task set-status` does."""


def list_commands(above: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    ctx = click.Context(above)
    for name in above.list_commands(ctx):
        command = above.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from list_commands(command, f"{name} ")
        else:
            yield f"{path}{name}", command


def test_each_command_says_what_its_exit_codes_mean() -> None:
    found = {name: " ".join((command.help or "").split()) for name, command in list_commands(root)}
    assert {name for name, text in found.items() if "Exit code" not in text} <= CHANGING
    as_run = {"resume", "retry"}
    silent = {name for name, text in found.items() if "2: " not in text.partition("Exit code")[2]} - as_run - CHANGING
    assert not silent, "every command may be unable to run"


@pytest.mark.parametrize("command", ["", "run", "task", "lint"])
def test_help_keeps_to_a_narrow_screen(command: str, inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = inside(*command.split(), "--help").text.splitlines()
    assert len(lines) > 10
    assert [line for line in lines if len(line) > 40 and " " in line.strip()] == []


@pytest.mark.parametrize("command", ["check", "task", "task new", "agent can"])
def test_help_is_also_a_word_before_a_command(command: str, inside: Inside) -> None:
    assert inside("help", *command.split()) == inside(*command.split(), "--help")
    assert inside("help", "chek").complaint == snapshot("there is no command 'chek'; did you mean 'remit check'?")


def test_the_version_is_that_of_the_package(remit: Remit) -> None:
    ended = remit("--version")
    assert (ended.code, ended.text, ended.err) == (0, f"remit {package.__version__}\n", b"")


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        ("remit ch", ["plain,check", "plain,checks"]),
        ("remit lin", ["plain,lint"]),
        ("remit return schema --j", ["plain,--json"]),
        ("remit chek --j", []),
        ("remit explain tru00", ["plain,TRU001", "plain,TRU002", "plain,TRU003"]),
    ],
)
def test_a_shell_is_helped_to_complete(words: str, answers: list[str], remit: Remit) -> None:
    env = {"_REMIT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ended = remit(env=env)
    assert (ended.code, ended.text.split(), ended.err) == (0, answers, b"")


GONE, CHECK = "can't be read: no such file or directory", "check the path and its permissions"

# A command line that does not fit: one line, what was meant, exit 2


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("install", "'remit hooks install'"), ("setup", "'remit init'"), ("delegate", "'remit run'"), ("start", "'remit run'"), ("stop", "'remit cancel'"),
        ("dashboard", "'remit serve --open'"), ("validate", "'remit check'"), ("list", "'remit ps'"), ("Agents", "remit agent"),
        ("version", "'remit --version'"),
    ],
)  # fmt: skip
def test_a_word_of_other_programs_is_answered_with_the_one_that_is_here(
    inside: Inside, word: str, command: str
) -> None:
    complaint = inside(word).complaint
    assert complaint.startswith(f"there is no command '{word}'; ")
    assert command in complaint


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        pytest.param("chek", "there is no command 'chek'; did you mean 'remit check'?", id="a command"),
        pytest.param(
            "zzz",
            "there is no command 'zzz'; see 'remit --help'",
            id="a command like none",
        ),
        pytest.param("help nope", "there is no command 'nope'; see 'remit --help'", id="help for none"),
        pytest.param("-v", "there is no option -v; did you mean --version?", id="the version's letter elsewhere"),
        pytest.param("lint -V", "there is no option -V; see 'remit lint --help'", id="that letter for a command"),
        pytest.param("--versoin", "there is no option --versoin; did you mean --version?", id="an option of none"),
        pytest.param("check --sesion x", "there is no option --sesion; did you mean --session?", id="an option"),
        pytest.param("check --zzz", "there is no option --zzz; see 'remit check --help'", id="an option like none"),
        pytest.param("check -x", "there is no option -x; see 'remit check --help'", id="a letter"),
        pytest.param(
            "check --output-format jsn", "there is no output format 'jsn'; did you mean 'json'?", id="a format"
        ),
        pytest.param(
            "check --output-format zzz",
            "there is no output format 'zzz'; available: full, concise, json, github",
            id="a format like none",
        ),
        pytest.param(
            "return schema --output-format github",
            "there is no output format 'github'; available: full, json",
            id="a format of another command",
        ),
        pytest.param("check a.md --format hypr", "there is no format 'hypr'; did you mean 'hyper'?", id="a format"),
        pytest.param(
            "return convert a.md --to standrd", "there is no format 'standrd'; did you mean 'standard'?", id="a target"
        ),
        pytest.param(
            "return prompt --format manifst",
            "there is no format 'manifst'; did you mean 'manifest'?",
            id="a format to instruct in",
        ),
        pytest.param(
            "return schema standart", "there is no schema 'standart'; did you mean 'standard'?", id="a schema"
        ),
        pytest.param("explain RET05O", "unknown code 'RET05O'; did you mean 'RET050'?", id="a code"),
        pytest.param(
            "check --session", "option '--session' requires an argument; see 'remit check --help'", id="no value"
        ),
        pytest.param(
            "return convert a.md", "--to FORMAT is missing; see 'remit return convert --help'", id="no target"
        ),
        pytest.param(
            "agent can planner bash ls",
            "there is no agent 'planner'; there are no agent files yet: `remit agent new` makes one",
            id="no agent",
        ),
        pytest.param(
            "run x --command true --timeout 0",
            "the timeout cannot be 0; give seconds, more than 0 and at most 1000000000: no agent runs without a limit",
            id="no time",
        ),
        pytest.param("agent can planner", "TOOL is missing; see 'remit agent can --help'", id="no tool"),
        pytest.param("return prompt", "--format FORMAT is missing; see 'remit return prompt --help'", id="no format"),
        pytest.param(
            "return convert a.md b.md --to hyper",
            "got unexpected extra argument (b.md); see 'remit return convert --help'",
            id="too much",
        ),
        pytest.param(
            "return convert a.md --to hyper --depth deep",
            "'deep' is not a depth; give a whole number from 0",
            id="a depth",
        ),
        pytest.param(
            "return convert a.md --to manifest --date 2026-02-30",
            "'2026-02-30' isn't a day; write it as YYYY-MM-DD",
            id="a day that there is not",
        ),
        pytest.param(
            "return prompt --format standard --path a,,b",
            "'a,,b' contains an empty name; write it like orchestrator,plan,planner",
            id="a path with a gap",
        ),
        pytest.param(
            "return prompt --format manifest --topic ../notes",
            "'../notes' isn't a topic; write it like upload-limits",
            id="a topic that leads elsewhere",
        ),
        pytest.param("explain --all RET001", "can't combine --all with CODE; leave one of them out", id="all and one"),
    ],
)
def test_a_line_that_does_not_fit_is_answered_in_one_sentence(args: str, sentence: str, inside: Inside) -> None:
    inside.write("a.md", GOOD)
    ended = inside(*args.split())
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint == sentence


@pytest.mark.parametrize(
    ("args", "code", "message", "hint"),
    [
        ("chek --json", "USAGE", "there is no command 'chek'", "did you mean 'remit check'?"),
        ("check --sesion x --json", "USAGE", "there is no option --sesion", "did you mean --session?"),
        (
            "return schema standart --output-format json",
            "USAGE",
            "there is no schema 'standart'",
            "did you mean 'standard'?",
        ),
        (
            "return schema standart --output-format=json",
            "USAGE",
            "there is no schema 'standart'",
            "did you mean 'standard'?",
        ),
        ("check gone.md --json", "INPUT_UNREADABLE", f"'gone.md' {GONE}", CHECK),
        ("findings validate gone.jsonl --json", "INPUT_UNREADABLE", f"'gone.jsonl' {GONE}", CHECK),
    ],
)
def test_a_program_that_asks_for_json_gets_the_error_as_json(
    args: str, code: str, message: str, hint: str, inside: Inside
) -> None:
    ended = inside(*args.split())
    assert ended.code == 2
    assert ended.error == {"code": code, "message": message, "hint": hint, "recoverable": False, "data": {}}


@pytest.mark.parametrize("args", ["return schema -- --json", "return schema json --output-format full"])
def test_who_does_not_ask_for_json_gets_a_sentence(args: str, inside: Inside) -> None:
    ended = inside(*args.split())
    assert ended.code == 2
    assert ended.complaint.startswith("there is no schema")


@pytest.mark.parametrize("option", ["--session", "--agent", "--format"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_option_without_a_value_is_not_taken_for_one(option: str, value: str, inside: Inside) -> None:
    """C1: a script whose variable is not set must not expect a session without a name."""
    ended = inside("check", inside.write("a.md", GOOD), option, value)
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint == f"{option} is empty; leave it out, or give a value"


@pytest.mark.parametrize("option", ["--root", "--manifest"])
def test_an_empty_path_is_not_the_current_folder(option: str, inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", GOOD), option, "")
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint == snapshot("a path is empty; leave the option out, or name a file or folder")


@pytest.mark.parametrize("topic", ["A", "a b", "a--b", "-a", "a-", "ä", "a/b", "", "a_b"])
def test_a_topic_is_a_part_of_a_file_name(topic: str, inside: Inside) -> None:
    """R4.1: an agent that obeys the instructions is accepted."""
    ended = inside("return", "prompt", "--format", "manifest", f"--topic={topic}")
    assert (ended.code, ended.complaint) == (2, f"'{topic}' isn't a topic; write it like upload-limits")


def test_of_a_long_word_both_ends_are_shown_and_what_to_do(inside: Inside) -> None:
    complaint = inside("return", "prompt", "--format", "standard", "--depth", "9" * 5000).complaint
    assert len(complaint) < 500
    assert complaint.startswith("'999")
    assert complaint.endswith("999' is not a depth; give a whole number from 0")


def test_a_complaint_is_in_colour_on_a_terminal_only(remit: Remit) -> None:
    assert smooth(remit("chek").complaint) == snapshot("there is no command 'chek'; did you mean 'remit check'?")
    ended = remit("chek", env={"FORCE_COLOR": "1"})
    assert ended.err.startswith(b"\x1b[1;31merror:\x1b[0m there is no command")


def test_what_was_typed_does_not_reach_the_terminal_raw(inside: Inside) -> None:
    assert smooth(inside("\x1b[31m\n").complaint) == snapshot(
        "there is no command '<U+001B>[31m<U+000A>'; see 'remit --help'"
    )


# Bugs

BREAK_EXCERPTS = (
    "import sys; sys.modules['remit.views.excerpt'] = None; sys.argv[0] = 'remit';from remit.cli import main; main()"
)


def test_a_bug_is_one_line_that_says_how_to_see_more(remit: Remit) -> None:
    ended = remit("check", remit.write("a.md", ESCAPING), prelude=("-c", BREAK_EXCERPTS))
    assert ended.code == 2
    assert ended.complaint.startswith("this is a bug: ModuleNotFoundError: ")
    assert "remit.views.excerpt" in ended.complaint
    assert ended.complaint.endswith("; set REMIT_DEBUG=1 for the traceback")


def test_with_debug_a_bug_shows_where_it_is(remit: Remit) -> None:
    env = {"REMIT_DEBUG": "1"}
    ended = remit("check", remit.write("a.md", ESCAPING), prelude=("-c", BREAK_EXCERPTS), env=env)
    assert ended.code == 2
    assert ended.err.startswith(b"Traceback (most recent call last):\n")
    assert b"\nerror: this is a bug: ModuleNotFoundError: " in ended.err


def test_debug_does_not_make_a_mistake_a_bug(remit: Remit) -> None:
    assert remit("chek", env={"REMIT_DEBUG": "1"}).complaint == snapshot(
        "there is no command 'chek'; did you mean 'remit check'?"
    )


# How it ends


def test_an_interrupt_ends_it_quietly(remit: Remit) -> None:
    name = remit.write("a.md", GOOD)
    with remit.start("check", name, "-", stdin=-1) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("✓ a.md".encode())  # it is past its start, and waits for us
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr
        assert process.stderr.read() == b""
        assert process.stdout.read() == b""


@pytest.mark.parametrize(
    ("args", "code"),
    [(("check", "good.md"), 0), (("check", "bad.md"), 1), (("check", "bad.md", "--json"), 1), (("--help",), 0),
     (("return", "schema", "standard"), 0), (("check", "none.md", "bad.md"), 2)],
)  # fmt: skip
def test_nobody_reading_is_no_error_and_changes_no_exit_code(args: tuple[str, ...], code: int, remit: Remit) -> None:
    remit.write("good.md", GOOD)
    remit.write("bad.md", ESCAPING)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = remit(*args, stdout=writing)
    finally:
        os.close(writing)
    assert ended.code == code
    assert b"Traceback" not in ended.err
    assert b"Broken" not in ended.err
    assert ended.err == b"" or args[1] == "none.md"


def test_a_reader_that_leaves_early_is_let_go(remit: Remit) -> None:
    names = [remit.write(f"{number}.md", PROSE) for number in range(400)]
    with remit.start("check", *names) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("✗ 0.md".encode())
        process.stdout.close()
        assert process.wait(timeout=30) == 1
        assert process.stderr
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("args", [("check", "a.md"), ("--help",), ("--version",)])
def test_output_that_cannot_be_written_is_an_error(args: tuple[str, ...], remit: Remit) -> None:
    remit.write("a.md", GOOD)
    with Path("/dev/full").open("wb") as full:
        ended = remit(*args, stdout=full)
    assert ended.code == 2
    assert ended.complaint == snapshot(
        "the output can't be written: no space left on device; make room, or send it somewhere else"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_json_that_cannot_be_written_is_an_error_in_json(remit: Remit) -> None:
    remit.write("a.md", GOOD)
    with Path("/dev/full").open("wb") as full:
        ended = remit("check", "a.md", "--json", stdout=full)
    assert ended.code == 2
    assert ended.error["message"] == "the output can't be written: no space left on device"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_complaint_that_cannot_be_written_still_has_its_exit_code(remit: Remit) -> None:
    with Path("/dev/full").open("wb") as full:
        assert remit("chek", stderr=full) == (2, b"", b"")


CLOSE = "import os, sys; os.close({}); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (ESCAPING, 1)])
def test_that_nobody_hears_complaints_is_no_error(text: str, code: int, remit: Remit) -> None:
    ended = remit("-m", "remit", "check", remit.write("a.md", text), prelude=("-c", CLOSE.format(2)))
    assert (ended.code, ended.err) == (code, b"")


@pytest.mark.parametrize("args", [("check", "a.md"), ("return", "schema", "standard"), ("--help",), ("status",)])
def test_an_answer_that_nobody_can_hear_is_an_error(args: tuple[str, ...], remit: Remit) -> None:
    remit.write("a.md", GOOD)
    ended = remit("-m", "remit", *args, prelude=("-c", CLOSE.format(1)))
    assert ended.code == 2
    assert ended.complaint == snapshot("standard output is closed; send it to a file, or to /dev/null")
