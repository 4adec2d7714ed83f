"""`remit return prompt`, `remit return schema` and `remit explain`, as their users meet them."""

import json

import pytest

from remit.runs import check_message
from remit.views import explanations
from tests.support.commands import Inside, Remit
from tests.support.message_files import SESSION

# Schemas


@pytest.mark.parametrize("name", check_message.SCHEMAS)
def test_a_schema_is_printed_for_people_and_programs_alike(name: str, inside: Inside) -> None:
    ended = inside("return", "schema", name)
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text.startswith('{\n  "')
    assert json.loads(ended.out) == json.loads(json.dumps(check_message.schema(name)))
    assert inside("return", "schema", name, "--json") == ended


def test_without_a_name_the_schemas_are_listed(remit: Remit) -> None:
    ended = remit("return", "schema")
    assert (ended.code, ended.text) == (0, "standard\nhyper\nmanifest\nagent-file\n")
    assert json.loads(remit("return", "schema", "--json").out)["items"] == [
        "standard", "hyper", "manifest", "agent-file",
    ]  # fmt: skip


# Codes


def test_a_code_is_explained(remit: Remit) -> None:
    known = explanations.explain("RET011")
    ended = remit("explain", "RET011")
    assert (ended.code, ended.err) == (0, b"")
    head, empty, documentation = ended.text.split("\n", 2)
    assert head == f"RET011 · {known.name} · error · degenerate"
    assert empty == ""
    assert documentation == known.documentation + "\n"


def test_the_words_that_open_a_paragraph_stand_out(remit: Remit) -> None:
    shown = remit("explain", "RET011", env={"FORCE_COLOR": "1"}).text
    assert "\n\x1b[1mWhy:\x1b[0m " in shown
    assert "\n\x1b[1mBad:\x1b[0m " in shown


def test_the_code_of_a_loss_is_explained(inside: Inside) -> None:
    assert inside("explain", "CNV001").text.startswith("CNV001 · ")


def test_several_codes_are_explained_one_after_the_other(inside: Inside) -> None:
    text = inside("explain", "RET011", "RET012").text
    assert text.startswith("RET011 · ")
    assert "\n\n\nRET012 · " in text


def test_without_a_code_all_are_listed_a_line_each(inside: Inside) -> None:
    known = explanations.explain_all()
    lines = inside("explain").text.splitlines()
    assert [line.split()[:2] for line in lines] == [[each.code, each.name] for each in known]
    assert lines[-1].endswith(known[-1].documentation.splitlines()[0])


def test_all_codes_can_be_explained_at_once(inside: Inside) -> None:
    known = explanations.explain_all()
    text = inside("explain", "--all").text
    assert all(each.documentation in text for each in known)
    answer = json.loads(inside("explain", "--all", "--json").out)["items"]
    assert [each["code"] for each in answer] == [each.code for each in known]


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("BUSY", "Another process has held a lock for longer than Remit waits."),
        ("FABRICATED", "In a return: A claim in the return is false."),
        ("BUDGET_EXCEEDED", "When a run is not admitted: The budget of the call chain is used up."),
        ("KEY_TAKEN", "Over HTTP: Another request used this `Idempotency-Key`."),
    ],
)
def test_the_code_of_an_error_is_explained(code: str, meaning: str, inside: Inside) -> None:
    ended = inside("explain", code.lower())
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text.startswith(f"{code} · error-code · error\n\n")
    assert meaning in ended.text.splitlines()
    assert "not of a diagnostic" in ended.text


def test_the_beginning_of_a_code_lists_those_that_begin_so(inside: Inside) -> None:
    first, _, *lines = inside("explain", "ret").text.splitlines()
    assert first == "Codes that begin with RET:"
    assert [line.split()[0] for line in lines] == [
        each.code for each in explanations.explain_all() if each.code[:3] == "RET"
    ]
    assert inside("explain", "").code == 2


def test_json_of_a_code_is_one_object(inside: Inside) -> None:
    known = explanations.explain("RET011")
    assert json.loads(inside("explain", "RET011", "--output-format", "json").out) == {
        "code": "RET011",
        "name": known.name,
        "severity": "error",
        "verdict": "degenerate",
        "fix": None,
        "documentation": known.documentation,
    }


# Instructions


@pytest.mark.parametrize("format", ["standard", "hyper", "manifest"])
def test_instructions_are_printed_word_for_word(format: str, remit: Remit) -> None:
    ended = remit("return", "prompt", "--format", format)
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text == check_message.instructions(format).rstrip("\n") + "\n"


def test_instructions_are_filled_with_what_is_known(inside: Inside) -> None:
    args = ("--session", SESSION, "--agent", "planner", "--depth", "2", "--path", "orchestrator,plan,planner")
    text = inside("return", "prompt", "--format", "standard", *args).text
    known = {"session_id": SESSION, "agent": "planner", "depth": 2, "path": ("orchestrator", "plan", "planner")}
    assert text.rstrip("\n") == check_message.instructions("standard", **known).rstrip("\n")  # type: ignore[arg-type]
    assert SESSION in text


def test_instructions_for_a_manifest_take_topic_day_task_and_folder(inside: Inside) -> None:
    args = ("--topic", "queues", "--date", "2026-01-05", "--task", "T12", "--output-dir", "out")
    text = inside("return", "prompt", "--format", "manifest", *args).text
    for word in ("queues", "2026-01-05", "T12", "out/"):
        assert word in text


def test_json_of_instructions_holds_format_and_text(inside: Inside) -> None:
    answer = json.loads(inside("return", "prompt", "--format", "hyper", "--json").out)
    assert answer == {"format": "hyper", "text": check_message.instructions("hyper")}
