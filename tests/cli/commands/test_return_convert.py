"""`remit return convert`, as its users meet it."""

import json
import re

import pytest
from inline_snapshot import snapshot

from remit.runs import check_message
from tests.support.commands import Inside, Remit
from tests.support.message_files import ESCAPING, GOOD, PROSE, SESSION, write_message
from tests.support.return_samples import entry, hyper, line, sentence
from tests.support.screen_text import smooth


def test_the_result_goes_to_one_stream_and_the_losses_to_the_other(remit: Remit) -> None:
    conversion = check_message.convert(GOOD, to="hyper")
    ended = remit("return", "convert", remit.write("a.md", GOOD), "--to", "hyper")
    assert ended.code == 0
    assert ended.text == conversion.text + "\n"
    told = ended.err.decode().splitlines()
    assert "warning[CNV001]: session_id has no place in the target format" in told
    assert sum(line.startswith("warning[CNV") for line in told) == len(conversion.diagnostics)
    assert [line for line in told if line.startswith("  = help: ")]


def test_the_result_is_accepted_in_its_own_format(remit: Remit) -> None:
    converted = remit("return", "convert", "--to", "hyper", text=GOOD)
    assert converted.code == 0
    assert remit("check", "--format", "hyper", text=converted.out).code == 0


def test_what_the_target_requires_can_be_given(inside: Inside) -> None:
    hyper = inside.write("hyper.md", check_message.convert(GOOD, to="hyper").text)
    ended = inside("return", "convert", hyper, "--to", "standard")
    assert ended.code == 1
    told = ended.err.decode()
    assert "error[CNV003]: session_id is required and not known\n  = help: Give it with --session.\n" in told
    assert told.endswith("✗ the result is not a valid return in standard\n")
    assert json.loads(ended.out)["status"] == "completed"

    known = ("--session", SESSION, "--depth", "1", "--path", "orchestrator, researcher")
    ended = inside("return", "convert", hyper, "--to", "standard", *known)
    assert ended.code == 0
    assert json.loads(ended.out)["metadata"]["delegation_path"] == ["orchestrator", "researcher"]


def test_nothing_is_said_where_nothing_is_lost(inside: Inside) -> None:
    ended = inside("return", "convert", inside.write("a.md", GOOD), "--to", "standard")
    assert (ended.code, ended.err) == (0, b"")
    assert json.loads(ended.out) == check_message.check(GOOD).payload


def test_the_day_of_an_entry_can_be_given(inside: Inside) -> None:
    ended = inside("return", "convert", inside.write("a.md", GOOD), "--to", "manifest", "--date", "2026-01-05")
    assert ended.out.count(b"\n") == 1
    assert json.loads(ended.out)["date"] == "2026-01-05"


def test_a_source_that_is_not_accepted_is_not_converted(inside: Inside) -> None:
    ended = inside("return", "convert", inside.write("a.md", ESCAPING), "--to", "hyper")
    assert (ended.code, ended.out) == (1, b"")
    told = ended.err.decode()
    assert told.startswith("✗ a.md: invalid · standard · 1 error\n\nerror[RET050]: ")
    assert "\n --> a.md:8:32\n" in told
    assert told.endswith("\n\nNothing was converted, because the source isn't accepted.\n")


def test_json_holds_the_text_the_object_and_the_losses(inside: Inside) -> None:
    conversion = check_message.convert(GOOD, to="hyper")
    ended = inside("return", "convert", inside.write("a.md", GOOD), "--to", "hyper", "--json")
    assert (ended.code, ended.err) == (0, b"")
    answer = json.loads(ended.out)
    assert list(answer) == ["text", "payload", "accepted", "diagnostics"]
    assert (answer["text"], answer["payload"], answer["accepted"]) == (conversion.text, conversion.payload, True)
    assert [finding["code"] for finding in answer["diagnostics"]] == [each.code for each in conversion.diagnostics]
    assert {finding["filename"] for finding in answer["diagnostics"]} == {"a.md"}


def test_json_of_a_refused_source_says_why(inside: Inside) -> None:
    ended = inside("return", "convert", inside.write("a.md", PROSE), "--to", "hyper", "--json")
    assert (ended.code, ended.err) == (1, b"")
    answer = json.loads(ended.out)
    assert (answer["accepted"], [finding["code"] for finding in answer["diagnostics"]]) == (False, ["RET001"])


def test_a_converted_return_is_safe_to_look_at_and_says_the_same(inside: Inside) -> None:
    source = write_message(summary="One \\u009b2J. Two \u202e日本.")
    ended = inside("return", "convert", inside.write("a.md", source), "--to", "standard")
    assert ended.code == 0
    assert "One \\u009b2J. Two \\u202e日本." in ended.text
    assert json.loads(ended.out)["summary"] == "One \x9b2J. Two \u202e日本."


KNOWN = {
    "session_id": ("--session", SESSION),
    "agent_type": ("--agent", "researcher"),
    "agent_name": ("--agent", "researcher"),
    "delegation_depth": ("--depth", "1"),
    "delegation_path": ("--path", "orchestrator,researcher"),
    "execution_time_ms": ("--duration", "4.8"),
    "id": ("--date", "2026-01-05"),
    "date": ("--date", "2026-01-05"),
    "file": ("--findings-file", "2026-01-05_queues.md"),
}
"""What a conversion may not know, and the option that says it."""
SILENT = write_message().replace('"duration_seconds": 12,', "")
FAILED = {
    "status": "failed",
    "summary": "The queue did not answer. Nothing was written.",
    "artifacts": [],
    "metadata": json.loads(GOOD[GOOD.index("{") : GOOD.rindex("}") + 1])["metadata"],
    "errors": [{"type": "timeout", "message": "No answer", "recoverable": True, "recommendation": "Try later"}],
}
SOURCES = {
    "standard": [GOOD, SILENT, json.dumps(FAILED)],
    "hyper": [check_message.convert(GOOD, to="hyper").text, json.dumps(hyper({"/artifacts": [], "/next_steps": []}))],
    "manifest": [line(entry()), line(entry({"/status": "blocked", "/needs_followup": ["BLOCKED:no access"]}))],
}


def put(inside: Inside, format: str, text: str) -> tuple[str, ...]:
    """Write a return as its format sends it, with its file; what to give a command so that it is found."""
    if format != "manifest":
        return (inside.write(f"{format}.md", text),)
    payload = json.loads(text)
    (inside.folder / payload["file"]).parent.mkdir(exist_ok=True)
    inside.write(payload["file"], "# Notes\n")
    return inside.write("reply.md", sentence(payload["status"])), "--manifest", inside.write("MANIFEST.jsonl", text)


@pytest.mark.parametrize(
    ("source", "target", "text"),
    [
        (source, target, text)
        for source in SOURCES
        for target in SOURCES
        if source != target
        for text in SOURCES[source]
    ],
)
def test_every_pair_of_formats_can_be_converted(inside: Inside, source: str, target: str, text: str) -> None:
    """C3 C5 C6: whoever gives what the complaints ask for gets a return that `remit check` accepts."""
    command = ("return", "convert", *put(inside, source, text), "--format", source, "--to", target)
    bare = inside(*command)
    missing = re.findall(
        r"error\[CNV003\]: (\w+) is required and not known\n  = help: Give it with (--[\w-]+)\.", bare.err.decode()
    )
    assert bare.code == (1 if missing else 0)
    assert all(KNOWN[name][0] == option for name, option in missing)
    given = inside(*command, *(part for option in dict.fromkeys(KNOWN[name] for name, _ in missing) for part in option))
    assert given.code == 0, given.err.decode()
    assert inside("check", *put(inside, target, given.text), "--format", target).code == 0


@pytest.mark.parametrize("value", ["-1", "1,5", "nan", "inf", "1e3", "", ".5", "1.2.3", "٣", "4s", "9" * 30])
def test_a_duration_that_is_no_number_of_seconds_is_told(inside: Inside, value: str) -> None:
    ended = inside("return", "convert", inside.write("a.md", SILENT), "--to", "hyper", f"--duration={value}")
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint == f"'{value}' is not a duration; give it in seconds, such as 90 or 4.8"


def test_a_file_that_is_not_there_is_one_sentence(inside: Inside) -> None:
    ended = inside("return", "convert", "none.md", "--to", "hyper")
    assert (ended.code, ended.out) == (2, b"")
    assert smooth(ended.complaint) == snapshot(
        "'none.md' can't be read: no such file or directory; check the path and its permissions"
    )
