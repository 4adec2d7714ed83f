"""A state.json that is no JSON, recovered."""

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import InputError
from remit.workspace.tasks.recover import MAX_BRACKETS, MAX_BYTES, Recovered, recover_state
from remit.workspace.tasks.salvage import MAX_PIECES, salvage
from remit.workspace.tasks.state import parse_state
from tests.workspace.tasks.samples import COMPLETED, PROJECTS, STATE, TODO, make_state

RICH = make_state(
    _schema_version="1.1",
    active_projects=[
        {
            **PROJECTS[0],
            "artifacts": [{"path": "specs/12/plan.md", "type": "plan"}],
            "note": 'ä "quoted" \\ \u2028 {[}]',
        },
        PROJECTS[1],
    ],
    unknown={"keep": [1, None, True, -1.5e3]},
)
RICH = json.dumps(json.loads(RICH), indent=2, ensure_ascii=False) + "\n"


def recover(text: str | bytes, todo: str | None = None) -> Recovered:
    """Recover, and make sure that the result is a state.json."""
    recovered = recover_state(text if isinstance(text, bytes) else text.encode(), todo=todo)
    state = parse_state(recovered.text)
    assert state.broken is None
    if recovered.told:
        kept = list_kept(recovered)
        counted = [sentence for sentence in recovered.told if sentence.endswith((" is there", " are there"))]
        many = len(set(kept))
        assert counted in ([], ["1 task is there" if many == 1 else f"{many:,} tasks are there"])
        assert state.next_number is not None
        assert state.next_number.number > max(kept, default=0)
    return recovered


def list_kept(recovered: Recovered) -> list[int]:
    """The numbers of the tasks that are in it."""
    return [task.number for task in parse_state(recovered.text).tasks]


def has_lost(recovered: Recovered) -> bool:
    """Whether it is told that tasks were lost."""
    return any(sentence.startswith("lost: ") for sentence in recovered.told)


def read(text: str) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(text)


def codes(recovered: Recovered) -> list[str]:
    return [finding.code for finding in recovered.findings]


def test_what_is_json_comes_back_as_it_is() -> None:
    assert recover(STATE) == (STATE, (), ())
    assert recover(RICH).text == RICH
    assert recover("\ufeff" + RICH).text == RICH


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_file_cut_at_any_byte_keeps_exactly_the_tasks_that_were_whole(ascii_only: bool) -> None:  # noqa: FBT001
    """S9: of the one that was cut, what is whole is kept only with its number and its status."""
    text = json.dumps(json.loads(RICH), indent=2, ensure_ascii=ascii_only) + "\n"
    data = text.encode()
    ends = [(task, *find_ends(data, task)) for task in [*json.loads(RICH)["active_projects"], *COMPLETED]]
    assert len({end for _, end, _ in ends}) == 3
    seen = set()
    for cut in range(len(data)):
        found = {}
        value = read(recover(data[:cut]).text)
        for task in value["active_projects"] + value.get("completed_projects", []):
            found[task["project_number"]] = task
        whole = {task["project_number"]: task for task, end, _ in ends if end <= cut}
        kept = {task["project_number"] for task, _, enough in ends if enough is not None and enough <= cut}
        assert found.keys() == whole.keys() | kept, cut
        for number, task in whole.items():
            assert found[number] == task, cut
        for number in found.keys() - whole.keys():
            original = next(task for task, _, _ in ends if task["project_number"] == number)
            assert is_part(found[number], original), cut
        seen.add((len(whole), len(found)))
    assert seen == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 3)}


def find_ends(data: bytes, task: dict[str, Any]) -> tuple[int, int | None]:
    """The offsets behind a task, and behind its status where it has one: its number stands before."""
    start = data.index(b'"project_number": %d' % task["project_number"])
    status = re.compile(rb'"status": "[a-z_]+"').search(data, start) if "status" in task else None
    closing = data.index(b"\n    }", start)
    return closing + len(b"\n    }"), None if status is None else status.end()


def is_part(found: object, whole: object) -> bool:
    """Whether everything that was found is in the whole, too, at its place."""
    if isinstance(found, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in found.items())
    if isinstance(found, list) and isinstance(whole, list):
        return len(found) <= len(whole) and all(map(is_part, found, whole))
    return found == whole


def test_a_file_cut_anywhere_gets_its_tasks_back_from_todo() -> None:
    for cut in range(0, len(STATE), 7):
        recovered = recover(STATE[:cut], TODO)
        assert {12, 13} <= set(list_kept(recovered))
        assert read(recovered.text)["next_project_number"] == 14
        statuses = {task["project_number"]: task["status"] for task in read(recovered.text)["active_projects"]}
        assert statuses == {12: "planned", 13: "not_started"}


def test_a_task_from_todo_has_the_fields_that_todo_gives() -> None:
    listed = TODO.replace("- **Effort**: 2 hours", "- **Effort**: 2 hours\n- **Language**: lean\n- **Secret**: x")
    recovered = recover("", listed)
    assert read(recovered.text)["active_projects"][0] == {
        "project_number": 12, "project_name": "export_button", "title": "Export button", "status": "planned",
        "priority": "high", "language": "lean", "effort": "2 hours", "description": "A button.",
    }  # fmt: skip
    assert codes(recovered) == ["SYN014", "SYN014"]
    assert "taken from TODO.md (line 9)" in recovered.findings[0].message


def test_a_task_that_lost_fields_gets_them_back_from_todo() -> None:
    recovered = recover(STATE[: STATE.index('"priority": "low"')], TODO)
    assert read(recovered.text)["active_projects"][1] == PROJECTS[1]


INDENTED = "\n".join(f"    {line}" for line in json.dumps(PROJECTS[0], indent=2).splitlines()).strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STATE + STATE, STATE),
        (STATE * 5, STATE),
        (STATE + "\0" * 5_000, STATE),
        (("\ufeff" + STATE).encode("utf-16"), STATE),
        (STATE.encode("utf-16-le"), STATE),
        (STATE.encode("utf-16-be"), STATE),
        (("\ufeff" + STATE).encode("utf-32"), STATE),
        (STATE.rstrip()[:-1], STATE),
        (STATE + "}", STATE),
        (STATE.replace('"high"', '"high",'), STATE),
        (STATE.replace("    },", "    }"), STATE),
        (STATE.replace('"planned",', '"planned"'), STATE),
        (STATE.replace('"planned",', '"planned",,'), STATE),
        (STATE.replace('"planned",', '"planned", // as of today'), STATE),
        (STATE.replace('"planned",', '"planned", # as of today'), STATE),
        (STATE.replace('"planned",', '/* { " */ "planned",'), STATE),
        (STATE.replace('"', "'"), STATE),
        (repr(json.loads(STATE)), STATE),
        (re.sub(r'"(\w+)":', r"\1:", STATE), STATE),
        (STATE.replace("  ],", "  ,", 1), STATE),
        (STATE.replace("    },", "    ,", 1), STATE),
        (STATE.replace("    },", "    }},", 1), STATE),
        ("\n".join(json.dumps(each, indent=2) for each in PROJECTS),
         make_state(completed_projects=None).replace(',\n  "completed_projects": null', "")),
        (json.dumps(PROJECTS), make_state(completed_projects=None)),
    ],
)  # fmt: skip
def test_what_is_wrong_around_the_tasks_loses_none(text: str | bytes, expected: str) -> None:
    recovered = recover(text)
    wanted = {key: value for key, value in read(expected).items() if value is not None}
    assert read(recovered.text) == wanted
    assert recovered.told
    assert not has_lost(recovered)


def test_what_is_whole_keeps_its_words_and_its_layout() -> None:
    odd = STATE.replace('"project_number": 12,', '"project_number":   12 ,\n\n').replace('"low"', '"l\\u006fw"')
    assert recover(odd.rstrip()[:-1]).text == odd
    assert recover(odd[: odd.rindex("]") + 1]).text == odd
    bare = json.dumps(PROJECTS[0], indent=2) + "\n" + json.dumps(PROJECTS[1], indent=2)
    assert INDENTED in recover(bare).text


@pytest.mark.parametrize("base", ["", '||||||| base\n      "status": "researched",\n'])
def test_both_sides_of_a_merge_are_joined(base: str) -> None:
    marked = STATE.replace(
        '      "status": "planned",\n',
        f'<<<<<<< HEAD\n      "status": "planned",\n{base}=======\n      "status": "implementing",\n'
        '      "last_updated": "2026-02-01",\n>>>>>>> other branch\n',
    )
    assert "<<<<<<<" in marked
    recovered = recover(marked)
    assert read(recovered.text)["active_projects"][0]["status"] == "implementing"
    assert list_kept(recovered) == [12, 13, 7]
    (finding,) = recovered.findings
    assert (finding.code, finding.place is not None and finding.place.line) == ("SYN016", 4)
    assert "implementing was kept, planned left out" in finding.message


def test_a_number_that_both_sides_of_a_merge_took_stays_with_both_tasks() -> None:
    ours, theirs = (json.dumps({"project_number": 14, "project_name": name, "status": "planned"}) for name in "ab")
    marked = STATE.replace("    {\n", f"<<<<<<< HEAD\n    {ours},\n=======\n    {theirs},\n>>>>>>> b\n    {{\n", 1)
    recovered = recover(marked)
    assert [task["project_name"] for task in read(recovered.text)["active_projects"]] == [
        "a", "export_button", "login_page", "b",
    ]  # fmt: skip
    assert read(recovered.text)["next_project_number"] == 15


def test_the_marks_of_a_merge_are_seen_whatever_ends_their_lines() -> None:
    both = STATE.replace('"planned"', '"planned"\n=======\n      "status": "blocked"\n>>>>>>> b')
    both = both.replace('      "status": "planned"', '<<<<<<< a\n      "status": "planned"', 1)
    assert "<<<<<<<" in both
    for text in (both, both.replace("\n", "\r\n")):
        recovered = recover(text)
        assert codes(recovered) == ["SYN016"]
        assert list_kept(recovered) == [12, 13, 7]


def test_a_merge_that_is_cut_off_loses_no_task() -> None:
    first, second = (json.dumps({"project_number": number, "status": "planned"}) for number in (14, 15))
    marked = STATE.replace("    {\n", f"<<<<<<< HEAD\n    {first},\n=======\n    {second},\n    {{\n", 1)
    assert marked != STATE
    assert list_kept(recover(marked)) == [14, 15, 12, 13, 7]


def test_two_states_are_joined_and_the_newer_version_is_kept() -> None:
    old = make_state(active_projects=[{**PROJECTS[0], "last_updated": "2026-03-01"}, PROJECTS[1]])
    new = make_state(
        next_project_number=20,
        active_projects=[{**PROJECTS[0], "status": "blocked", "last_updated": "2026-02-01"}],
        completed_projects=[{**PROJECTS[1], "status": "completed"}],
        more=1,
    )
    recovered = recover(old + new)
    value = read(recovered.text)
    assert value["active_projects"] == [{**PROJECTS[0], "last_updated": "2026-03-01"}]
    assert value["completed_projects"] == [*COMPLETED, {**PROJECTS[1], "status": "completed"}]
    assert (value["next_project_number"], value["more"]) == (20, 1)
    assert codes(recovered) == ["SYN016", "SYN016"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"export_button"', '"export_button', 6),
        ('"export_button"', '"exp\0\0\0\0\0\0', 6),
        ('"export_button"', "NaN", 6),
        ('"export_button"', "export_button", 6),
        ('"export_button"', "", 6),
    ],
)
def test_a_value_that_is_not_whole_is_left_out_alone(old: str, new: str, line: int) -> None:
    recovered = recover(STATE.replace(old, new))
    value = read(recovered.text)
    assert value["active_projects"] == [{k: v for k, v in PROJECTS[0].items() if k != "project_name"}, PROJECTS[1]]
    assert set(codes(recovered)) == {"SYN013", "SYN015"}
    left = next(finding for finding in recovered.findings if finding.code == "SYN013")
    assert left.message.startswith(f"line {line} could not be read")


def test_a_task_without_its_status_is_lost_and_told() -> None:
    recovered = recover(STATE.replace('"planned"', '"plan'))
    assert list_kept(recovered) == [13, 7]
    assert "lost: 12" in recovered.told
    assert any("lines 4 to 9" in finding.message for finding in recovered.findings if finding.code == "SYN013")
    assert not has_lost(recover(STATE.replace('"planned"', '"plan'), TODO))


def test_a_number_that_was_lost_is_not_given_again() -> None:
    recovered = recover('{"active_projects": [{"project_number": 30, "sta')
    assert "lost: 30" in recovered.told
    assert read(recovered.text)["next_project_number"] == 31


@pytest.mark.parametrize("text", ["", " \n", "\0" * 50, "nothing", "[1, 2]", "}", '"', "{", "<<<<<<< a\n"])
def test_of_nothing_an_empty_state_is_made(text: str) -> None:
    value = read(recover(text).text)
    assert value["next_project_number"] == 1
    assert [item for item in value["active_projects"] if isinstance(item, dict)] == []
    assert read(recover(text, TODO).text)["next_project_number"] == 14


def test_quotes_and_line_breaks_inside_a_text_are_kept() -> None:
    for odd in ('say "x" aloud', "two\nlines", "tab\there", "c:\\q"):
        text = STATE.replace("export_button", odd)
        assert read(recover(text).text)["active_projects"][0]["project_name"] == odd


TWO_IN_ONE = """\
{"next_project_number": 16, "active_projects": [
  {
    "project_number": 14,
    "project_name": "search_box",
    "status": "planned",
    "project_number": 15,
    "project_name": "dark_mode",
    "status": "planned",
    "note": {"kept": true}
  }
]"""


@pytest.mark.parametrize(
    "text", [TWO_IN_ONE, TWO_IN_ONE.replace('"planned",\n    "project', '"planned"\n    "project')]
)
def test_what_a_key_that_is_given_twice_has_hidden_is_told(text: str) -> None:
    """A merge that takes the lines of both sides makes one object of two tasks."""
    recovered = recover(text)
    assert read(recovered.text)["active_projects"] == [
        {"project_number": 15, "project_name": "dark_mode", "status": "planned", "note": {"kept": True}},
    ]  # fmt: skip
    assert recovered.text.count('"project_number"') == 1
    told = [(each.code, each.place and each.place.line, each.message.partition(": ")[2]) for each in recovered.findings]
    assert told == [
        ("SYN016", 3, "project_number 15 was kept, project_number 14 left out"),
        ("SYN016", 4, 'project_name "dark_mode" was kept, project_name "search_box" left out'),
    ]
    assert "lost: 14" in recovered.told
    back = recover(text, "### 14. Search box\n- **Status**: [PLANNED]\n")
    assert list_kept(back) == [15, 14]
    assert not has_lost(back)


def test_a_key_that_is_given_twice_in_one_object_is_no_end_of_the_file() -> None:
    """However often it is; what is not looked at stays as it is."""
    text = '{"active_projects": [{"project_number": 1, "status": "x", ' + '"a": 1, "a": 2, ' * 60_000 + '"b": 3}'
    recovered = recover(text)
    assert list_kept(recovered) == [1]
    assert recovered.text.count('"a"') == 120_000
    assert any("1 places more" in sentence or "1 place more" in sentence for sentence in recovered.told)
    few = recover(text.replace('"a": 1, "a": 2, ' * 60_000, '"a": 1, "a": 2, ' * 600))
    assert few.text.count('"a"') == 1
    assert len(few.findings) == 500
    assert any("100 places more" in sentence for sentence in few.told)


@pytest.mark.parametrize("data", [b"{" * (MAX_BYTES + 1), b"[]," * (MAX_BRACKETS + 1)])
def test_a_file_over_the_caps_is_refused_with_a_way_out(data: bytes) -> None:
    with pytest.raises(InputError, match=r"more than [0-9,]+ (?:bytes|brackets), too many") as caught:
        recover_state(data, todo=None)
    assert "git" in str(caught.value.hint)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bomb",
    ["[", "{}", '"', '{"a', '"\0\n', "/*", '"a":', "'", '"\\', "]}", '{"a": "b\n', "[" * 60 + "]" * 60, "<<<<<<< a\n"],
)
@pytest.mark.thorough
def test_no_text_takes_more_than_linear_time(bomb: str) -> None:
    assert MAX_PIECES <= 250_000
    took = []
    for size in (20_000, 160_000):
        start = time.process_time()
        recover(bomb * (size // len(bomb)))
        took.append(time.process_time() - start)
    assert took[1] < max(1, 30 * took[0])


@given(st.text(alphabet="{}[],:\"'\\/#*<>=| \n\0ab12", max_size=80), st.integers(0, len(RICH)), st.integers(0, 40))
def test_no_damage_breaks_it(noise: str, at: int, gone: int) -> None:
    recover(RICH[:at] + noise + RICH[at + gone :], TODO)
    salvage(noise)
    recover(noise)
