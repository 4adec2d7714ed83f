"""`remit check`, as its users meet it."""

import json
import os
import time
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.runs import check_message
from remit.terminal import is_visible
from tests.support.commands import Inside, Remit
from tests.support.message_files import ESCAPING, GOOD, PROSE, REPAIRED, SESSION, UNSURE, write_message
from tests.support.screen_text import smooth

FORMATS = ("full", "concise", "json", "github")
MEGABYTE = 1024 * 1024


def load_json(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """JSON as a strict reader takes it."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(data.decode("utf-8"), parse_constant=refuse)


# Verdicts and exit codes


def test_an_accepted_message_is_one_line(remit: Remit) -> None:
    ended = remit("check", remit.write("a.md", GOOD))
    assert (ended.code, ended.text, ended.err) == (0, snapshot("✓ a.md: accepted · standard · completed\n"), b"")


def test_a_refused_message_shows_the_line_and_what_to_do(remit: Remit) -> None:
    ended = remit("check", remit.write("a.md", ESCAPING))
    assert (ended.code, ended.err) == (1, b"")
    assert smooth(ended.text) == snapshot("""\
✗ a.md: invalid · standard · 1 error

error[RET050]: the path leaves the project with '..'
 --> a.md:8:32
  |
8 |     {"type": "report", "path": "../notes.md", "summary": "What was compared"}
  |                                ^^^^^^^^^^^^^
  |
  = help: Write the path relative to the project root.
  = see: remit explain RET050

""")


def test_a_repaired_message_says_what_was_repaired(inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", REPAIRED))
    assert ended.code == 0
    assert ended.text == snapshot("""\
✓ a.md: repaired · standard · completed
  = repaired: removed a comma before a closing bracket (line 18)
""")


def test_a_warning_is_shown_and_refuses_nothing(inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", UNSURE))
    assert ended.code == 0
    assert ended.text.startswith("✓ a.md: accepted · standard · completed · 1 warning\n\nwarning[RET042]: ")
    assert "\n  --> a.md:11:19\n" in ended.text


@pytest.mark.parametrize("text", [PROSE, ""], ids=["prose", "empty"])
def test_a_message_without_a_return_is_refused(text: str, inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", text))
    assert ended.code == 1
    assert ended.text.startswith("✗ a.md: missing · 1 error\n")
    assert "\n --> a.md\n  = help: " in ended.text


def test_several_messages_are_summed_up(remit: Remit) -> None:
    names = [remit.write("a.md", GOOD), remit.write("b.md", ESCAPING), remit.write("c.md", REPAIRED)]
    ended = remit("check", *names)
    lines = ended.text.split("\n")
    assert ended.code == 1
    assert [line for line in lines if line[:1] in ("✓", "✗")] == [
        "✓ a.md: accepted · standard · completed",
        "✗ b.md: invalid · standard · 1 error",
        "✓ c.md: repaired · standard · completed",
    ]
    assert lines[-2:] == snapshot(["3 messages: 1 accepted, 1 repaired, 1 not accepted (1 invalid)", ""])


def test_quiet_shows_only_what_is_not_accepted(inside: Inside) -> None:
    good, bad = inside.write("a.md", UNSURE), inside.write("b.md", ESCAPING)
    for form in ("full", "concise", "github"):
        ended = inside("check", "-q", good, bad, "--output-format", form)
        assert ended.code == 1
        assert "a.md" not in ended.text
        assert "b.md" in ended.text
        assert "messages:" not in ended.text
        assert inside("check", "-q", good, "--output-format", form) == (0, b"", b"")


# What is expected of the return


def test_the_session_that_was_issued_is_expected(inside: Inside) -> None:
    name = inside.write("a.md", GOOD)
    assert inside("check", name, "--session", SESSION).code == 0
    ended = inside("check", name, "--session", "sess_1767604210_other0")
    assert ended.code == 1
    assert "error[RET040]" in ended.text


def test_the_agent_that_was_asked_is_expected(inside: Inside) -> None:
    name = inside.write("a.md", GOOD)
    assert inside("check", name, "--agent", "researcher").text == snapshot("✓ a.md: accepted · standard · completed\n")
    assert "[RET043]" in inside("check", name, "--agent", "planner").text


def test_another_format_than_the_named_one_is_refused(inside: Inside) -> None:
    name = inside.write("a.md", GOOD)
    assert inside("check", name, "--format", "standard").code == 0
    assert inside("check", name, "--format", "hyper").code == 1


def test_with_a_root_artifacts_are_looked_up(inside: Inside) -> None:
    name = inside.write("a.md", GOOD)
    (inside.folder / "specs").mkdir()
    missing = inside("check", name, "--root", ".", "--json")
    inside.write("specs/report.md", "# Report\n")
    there = inside("check", name, "--root", ".", "--json")
    assert (missing.code, there.code) == (1, 0)
    evidence = [load_json(ended.out)["items"][0]["evidence"] for ended in (missing, there)]
    assert evidence == [
        [{"path": "specs/report.md", "state": "missing", "size_bytes": None}],
        [{"path": "specs/report.md", "state": "file", "size_bytes": 9}],
    ]


def test_a_manifest_answers_for_its_sentence(inside: Inside) -> None:
    name = inside.write("a.md", "Research complete. See MANIFEST.jsonl for summary.\n")
    entry = {
        "id": "queues-2026-01-05",
        "file": "2026-01-05_queues.md",
        "title": "Queues",
        "date": "2026-01-05",
        "status": "complete",
        "topics": ["queues"],
        "key_findings": ["One is fast.", "One is safe.", "One is both."],
        "actionable": True,
        "needs_followup": [],
        "linked_tasks": [],
    }
    assert inside("check", name).code == 1
    inside.write("MANIFEST.jsonl", json.dumps(entry) + "\n")
    inside.write("2026-01-05_queues.md", "# Queues\n\n## Summary\n\nThree were compared.\n")
    result = load_json(inside("check", name, "--manifest", "MANIFEST.jsonl", "--json").out)["items"][0]
    assert (result["accepted"], result["format"], result["payload"]) == (True, "manifest", entry)


# Where messages come from


@pytest.mark.parametrize("args", [(), ("-",)], ids=["no file", "a dash"])
def test_standard_input_is_read(args: tuple[str, ...], remit: Remit) -> None:
    ended = remit("check", *args, text=ESCAPING)
    assert ended.code == 1
    assert ended.text.startswith("✗ <stdin>: invalid · standard · 1 error\n")
    assert "\n --> <stdin>:8:32\n" in ended.text


def test_standard_input_stands_among_files(remit: Remit) -> None:
    ended = remit("check", remit.write("a.md", GOOD), "-", text=PROSE)
    assert ended.code == 1
    assert ended.text.startswith("✓ a.md: accepted")
    assert "✗ <stdin>: missing" in ended.text


def test_standard_input_is_read_once(inside: Inside) -> None:
    ended = inside("check", "-", "-")
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint == snapshot("standard input can be read only once; give - once")


def test_a_person_at_a_terminal_is_told_what_to_do(remit: Remit) -> None:
    keyboard, screen = os.openpty()
    try:
        ended = remit("check", stdin=screen)
    finally:
        os.close(keyboard)
        os.close(screen)
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint == snapshot("no message to read; name a file (remit check MESSAGE.md), or pipe a message in")


def test_standard_input_that_is_closed_is_not_read(remit: Remit) -> None:
    close_first = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    ended = remit("-m", "remit", "check", prelude=("-c", close_first))
    assert (ended.code, ended.complaint) == (2, snapshot("standard input is closed; name a FILE, or pipe a message in"))


def test_a_file_that_is_not_there_is_an_error_and_the_others_are_checked(remit: Remit) -> None:
    ended = remit("check", "none.md", remit.write("a.md", GOOD))
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        "'none.md' can't be read: no such file or directory; check the path and its permissions"
    )
    assert ended.text == snapshot(
        "✓ a.md: accepted · standard · completed\n2 messages: 1 accepted, 1 could not be read\n"
    )


NO_TEXT = [GOOD.encode("utf-16"), GOOD.encode("utf-16-le"), b"\x7fELF\2\1\1\0\xff"]


@pytest.mark.parametrize("data", NO_TEXT)
@pytest.mark.parametrize("options", [(), ("--root", ".")])
def test_of_what_is_no_text_that_is_said(inside: Inside, data: bytes, options: tuple[str, ...]) -> None:
    ended = inside("check", inside.write("a.md", data), *options)
    assert ended.code == 1
    assert "error[RET001]: the message has no return: it isn't UTF-8 text\n" in ended.text
    assert "help: Save it as UTF-8" in ended.text


def test_text_with_bytes_that_are_no_utf8_is_text(inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", "Das war früh".encode("latin-1")))
    assert "the message has no return\n" in ended.text


def test_a_file_that_cannot_be_read_outweighs_one_that_is_not_accepted(inside: Inside) -> None:
    assert inside("check", inside.write("a.md", PROSE), "none.md").code == 2


def test_a_folder_is_not_a_message(inside: Inside) -> None:
    (inside.folder / "notes").mkdir()
    ended = inside("check", "notes")
    assert (ended.code, ended.out) == (2, b"")
    assert smooth(ended.complaint) == snapshot("'notes' isn't a file; name a file, or - for standard input")


def test_a_pipe_that_lies_in_the_folder_is_refused_and_not_waited_for(remit: Remit) -> None:
    os.mkfifo(remit.folder / "pipe")
    ended = remit("check", "pipe")
    assert (ended.code, ended.out) == (2, b"")
    assert smooth(ended.complaint) == snapshot("'pipe' isn't a file; name a file, or - for standard input")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd")  # noqa: PTH110 - a question about the system
def test_a_pipe_that_the_shell_hands_over_is_read(remit: Remit) -> None:
    reading, writing = os.pipe()
    os.write(writing, GOOD.encode())
    os.close(writing)
    try:
        ended = remit("check", f"/dev/fd/{reading}", pass_fds=(reading,))
    finally:
        os.close(reading)
    assert (ended.code, ended.text) == (0, f"✓ /dev/fd/{reading}: accepted · standard · completed\n")


def test_one_root_that_is_not_there_is_told_once(inside: Inside) -> None:
    names = [inside.write("a.md", GOOD), inside.write("b.md", GOOD)]
    ended = inside("check", *names, "--root", "none")
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot("none isn't a folder; name the project's root folder")


def test_a_file_name_that_is_no_text_is_escaped(remit: Remit) -> None:
    (remit.folder / os.fsdecode(b"\xff\x1b.md")).write_text(GOOD)
    ended = remit("check", os.fsdecode(b"\xff\x1b.md"))
    assert (ended.code, ended.text) == (0, snapshot("✓ <U+DCFF><U+001B>.md: accepted · standard · completed\n"))
    ended = remit("check", "--json", os.fsdecode(b"\xff\x1b.md"))
    assert load_json(ended.out)["items"][0]["filename"] == "\ufffd\x1b.md"


# Output formats


def test_concise_is_a_line_for_each_finding_and_one_for_the_message(inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", ESCAPING), inside.write("b.md", PROSE), "--output-format", "concise")
    assert ended.code == 1
    assert smooth(ended.text) == snapshot("""\
a.md:8:32: RET050 error the path leaves the project with '..'
✗ a.md: invalid · standard · 1 error
b.md: RET001 error the message has no return
✗ b.md: missing · 1 error
2 messages: 2 not accepted (1 invalid, 1 missing)
""")


def test_github_is_an_annotation_for_each_finding(inside: Inside) -> None:
    (finding,) = check_message.check(ESCAPING).diagnostics
    ended = inside("check", inside.write("a,b.md", ESCAPING), "--output-format", "github")
    assert ended.code == 1
    assert ended.text == (
        f"::error file=a%2Cb.md,line=8,col=32,endLine=8,title=RET050::{finding.message}%0A{finding.hint}\n"
    )


def test_github_has_no_file_for_standard_input(remit: Remit) -> None:
    assert remit("check", "--output-format", "github", text=ESCAPING).text.startswith("::error title=RET050::")


def test_github_has_nothing_to_say_of_an_accepted_message(inside: Inside) -> None:
    assert inside("check", inside.write("a.md", GOOD), "--output-format", "github") == (0, b"", b"")


def test_json_is_one_object_for_all_messages(remit: Remit) -> None:
    (finding,) = check_message.check(ESCAPING).diagnostics
    ended = remit("check", "--json", remit.write("a.md", GOOD), remit.write("b.md", ESCAPING))
    assert ended.code == 1
    assert ended.out.count(b"\n") == 1
    answer = load_json(ended.out)
    first, second = answer.pop("items")
    assert answer == {"accepted": False, "total": 2}
    assert first["payload"]["metadata"]["session_id"] == SESSION
    assert {key: first[key] for key in first if key != "payload"} == {
        "filename": "a.md",
        "accepted": True,
        "verdict": "accepted",
        "format": "standard",
        "transport": "block",
        "status": "completed",
        "repairs": [],
        "diagnostics": [],
        "evidence": [],
    }
    assert second["diagnostics"] == [
        {
            "code": "RET050",
            "severity": "error",
            "message": finding.message,
            "hint": finding.hint,
            "pointer": "/artifacts/0/path",
            "filename": "b.md",
            "location": {"row": 8, "column": 32},
            "end_location": {"row": 8, "column": 45},
            "fix": None,
        }
    ]


def test_json_is_short_for_the_output_format(inside: Inside) -> None:
    name = inside.write("a.md", ESCAPING)
    assert inside("check", name, "--json") == inside("check", name, "--output-format", "json")


def test_json_of_what_cannot_be_read_is_not_accepted(inside: Inside) -> None:
    ended = inside("check", "none.md", "--json")
    assert (ended.code, load_json(ended.out)) == (2, {"accepted": False, "items": [], "total": 0})


# Hostile and huge

HOSTILE: dict[str, str | bytes] = {
    "ansi": write_message(path="../\x1b[31mred\x1b]0;title\x07\x9b2J"),
    "title": write_message(path="../\x1b[2Jred\x1b]0;title\x07\x9b2J"),
    "bidi": write_message(path="../\u202egnp.exe\u2066\u200b"),
    "nul": write_message(path="../a\0b"),
    "surrogates": write_message(path="../\\ud800", summary="Half \\udfff a pair. Two."),
    "not utf-8": write_message(path="../\udcff").encode("utf-8", "surrogateescape"),
    "utf-16": ESCAPING.encode("utf-16"),
    "crlf": ESCAPING.replace("\n", "\r\n"),
    "lone cr": ESCAPING.replace("\n", "\r"),
    "not a number": write_message(more=', "x": NaN'),
    "infinite": write_message(more=', "x": 1e999', path="../x"),
    "binary": bytes(range(256)) * 16,
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_of_a_hostile_message_reaches_the_terminal(name: str, form: str, inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", HOSTILE[name]), "--output-format", form)
    assert ended.code == 1
    assert ended.err == b""
    assert "a.md" in ended.text
    assert all(char == "\n" or is_visible(char) for char in ended.text)
    if form == "json":
        assert load_json(ended.out)["accepted"] is False


def test_a_sequence_is_shown_by_its_number(inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", HOSTILE["title"]))
    assert '"../<U+001B>[2Jred<U+001B>]0;title<U+0007><U+009B>2J"' in ended.text
    result = load_json(inside("check", "a.md", "--json").out)["items"][0]
    assert result["payload"]["artifacts"][0]["path"] == "../\x1b[2Jred\x1b]0;title\x07\x9b2J"


def test_lines_that_end_in_two_characters_are_counted_once(inside: Inside) -> None:
    ended = inside("check", inside.write("a.md", HOSTILE["crlf"]))
    assert "\n --> a.md:8:32\n" in ended.text
    assert '\n8 |     {"type": "report", "path": "../notes.md", "summary": "What was compared"}\n' in ended.text


def test_numbers_that_json_does_not_have_are_null(inside: Inside) -> None:
    for name in ("not a number", "infinite"):
        result = load_json(inside("check", inside.write("a.md", HOSTILE[name]), "--json").out)["items"][0]
        assert result["payload"]["metadata"]["x"] is None


def test_a_return_after_five_megabytes_is_found(remit: Remit) -> None:
    ended = remit("check", remit.write("a.md", "Reading on.\n" * (5 * MEGABYTE // 12) + GOOD))
    assert (ended.code, ended.text) == (0, snapshot("✓ a.md: accepted · standard · completed\n"))


def test_of_a_line_of_five_megabytes_only_a_part_is_shown(remit: Remit) -> None:
    text = write_message(summary="word " * MEGABYTE, path="../x").replace("\n  ", " ")
    started = time.monotonic()
    ended = remit("check", remit.write("a.md", text), env={"COLUMNS": "80"})
    assert time.monotonic() - started < 10
    assert ended.code == 1
    assert len(ended.out) < 10_000
    assert max(len(line) for line in ended.text.splitlines() if " | " in line[:6]) == 80


def test_a_message_that_is_too_big_is_refused_as_such(remit: Remit) -> None:
    ended = remit("check", remit.write("a.md", GOOD + "x" * (17 * MEGABYTE)), "--output-format", "concise")
    assert ended.code == 1
    assert "RET003" in ended.text


# Colour


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)
def test_colour_on_a_terminal(env: dict[str, str], coloured: bool, remit: Remit) -> None:  # noqa: FBT001 - a column
    keyboard, screen = os.openpty()
    try:
        ended = remit("check", remit.write("a.md", GOOD), stdout=screen, env=env)
        shown = os.read(keyboard, 4096)
    finally:
        os.close(keyboard)
        os.close(screen)
    assert ended.code == 0
    assert b"a.md" in shown
    assert (b"\x1b[" in shown) is coloured


def test_no_colour_into_a_pipe_unless_it_is_wanted(remit: Remit) -> None:
    name = remit.write("a.md", ESCAPING)
    assert b"\x1b" not in remit("check", name).out
    assert remit("check", name, env={"FORCE_COLOR": "1"}).out.startswith(b"\x1b[1;31m\xe2\x9c\x97\x1b[0m ")
    assert b"\x1b" not in remit("check", name, "--json", env={"FORCE_COLOR": "1"}).out


def test_json_on_a_terminal_is_indented(remit: Remit) -> None:
    keyboard, screen = os.openpty()
    try:
        remit("check", remit.write("a.md", PROSE), "--json", stdout=screen, env={"TERM": "xterm"})
        shown = os.read(keyboard, 65536)
    finally:
        os.close(keyboard)
        os.close(screen)
    assert shown.startswith(b'{\r\n  "accepted": false,\r\n')


def test_an_old_locale_gets_plain_signs(remit: Remit) -> None:
    ended = remit("check", remit.write("a.md", GOOD), env={"PYTHONIOENCODING": "ascii"})
    assert ended.out == b"+ a.md: accepted - standard - completed\n"
    ended = remit("check", remit.write("b.md", GOOD), "--json", env={"PYTHONIOENCODING": "ascii"})
    assert load_json(ended.out)["accepted"] is True


# What it costs

FORBIDDEN = ("difflib", "importlib.metadata", "rich", "shutil", "subprocess", "tempfile", "textwrap", "unicodedata")


def test_a_small_check_loads_nothing_that_it_does_not_need(remit: Remit) -> None:
    probe = (
        "import sys; sys.argv[0] = 'remit'; from remit.cli import run; code = run(sys.argv[1:]);"
        "print(*sorted(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    ended = remit("check", remit.write("a.md", GOOD), prelude=("-c", probe))
    loaded = set(ended.err.decode().split())
    assert ended.code == 0
    assert "remit.cli.commands.check" in loaded
    assert not loaded & {*FORBIDDEN, "remit.views.excerpt", "remit.cli.commands.convert", "remit.cli.commands.describe"}


def test_the_interpreter_is_the_one_under_test(remit: Remit) -> None:
    """What the other tests here rest on: the process runs this source, not an installed copy."""
    ended = remit("-c", "import remit.cli; print(remit.cli.__file__)", prelude=())
    assert ended.text.startswith(remit.env["PYTHONPATH"])


# --- data --------------------------------------------------------------------------------------------------------------


def test_a_schema_checks_the_data_of_a_message_outside_of_a_run(remit: Remit) -> None:
    schema = {"type": "object", "required": ["place"], "properties": {"place": {"format": "file-line"}}}
    file = remit.write("review.json", json.dumps(schema))
    remit.write("src.py", "a = 1\n")
    good = GOOD.replace('"status"', '"data": {"place": "src.py:1"}, "status"', 1)
    wrong = good.replace("src.py:1", "src.py:9")
    assert remit("check", remit.write("good.md", good), "--schema", file).code == 0
    assert remit("check", remit.write("wrong.md", wrong), "--schema", file).code == 0  # no folder to look it up in
    root = str(remit.folder)
    refused = remit("check", "wrong.md", "--schema", file, "--root", root, "--output-format", "json")
    (item,) = json.loads(refused.out)["items"]
    assert [each["pointer"] for each in item["diagnostics"] if each["code"] == "RET111"] == ["/data/place"]
    missing = remit("check", remit.write("none.md", GOOD), "--schema", file)
    assert (missing.code, "RET110" in missing.text) == (1, True)


def test_a_schema_that_is_none_is_refused(remit: Remit) -> None:
    message, file = remit.write("a.md", GOOD), remit.write("review.json", '{"type": "nope"}')
    ended = remit("check", message, "--schema", file)
    assert ended.code == 2
    assert b"isn't a JSON Schema" in ended.err
    assert b"hint: " in ended.err
    assert remit("check", message, "--schema", "nowhere.json").code == 2
