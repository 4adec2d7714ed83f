"""`data`: when it has to be there, which of several returns counts, and what Remit fills in for a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from remit.data_schema import DataSchema
from remit.model import Expectation, Verdict
from remit.returns import check
from tests.support.return_samples import DROP, ISSUED, fenced, hyper, marked, standard, stopped

SCHEMA = DataSchema({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]})
KNOWN = Expectation(ISSUED, data=SCHEMA, fills=True)
FILLED = {f"/metadata/{name}": DROP for name in ("agent_type", "delegation_depth", "delegation_path")}
FILLED["/metadata/duration_seconds"] = DROP


def judge(text: str, known: Expectation = KNOWN) -> Verdict:
    return check(text, expectation=known)


def list_codes(verdict: Verdict) -> list[str]:
    return [each.code for each in verdict.diagnostics if each.severity == "error"]


@pytest.mark.parametrize("status", ["partial", "failed", "blocked"])
def test_work_that_is_not_completed_may_have_no_data_but_no_wrong_data(status: str) -> None:
    assert judge(fenced(stopped(status))).accepted
    wrong = judge(fenced(stopped(status, {"/data": {"count": "two"}})))
    assert list_codes(wrong) == ["RET111"]
    assert "leave data out" in wrong.diagnostics[0].hint


def test_null_is_a_value() -> None:
    known = Expectation(ISSUED, data=DataSchema({"type": ["object", "null"]}))
    assert judge(fenced(standard({"/data": None})), known).accepted


def test_a_return_in_hyper_has_data_beside_meta() -> None:
    assert judge(marked(hyper({"/data": {"count": 1}}))).accepted
    assert list_codes(judge(marked(hyper()))) == ["RET110"]


def test_the_placeholder_of_the_instructions_is_no_data() -> None:
    known = Expectation(ISSUED, data=DataSchema({"type": "string"}))
    verdict = judge(fenced(standard({"/data": "<a value that fits the schema of data below>"})), known)
    assert verdict.name == "degenerate"


def test_damaged_data_is_repaired_like_the_rest() -> None:
    text = fenced(standard({"/data": {"count": 1}})).replace('"count": 1', "count: 1,")
    verdict = judge(text)
    assert verdict.name == "repaired"
    assert verdict.payload is not None
    assert verdict.payload["data"] == {"count": 1}


def test_data_that_is_cut_off_is_missing() -> None:
    whole = json.dumps(standard())[:-1] + ', "data": {"count": 1, "rest": ["a", "b'
    assert list_codes(judge(f"```json\n{whole}")) == ["RET110"]


def test_two_returns_with_different_data_contradict_each_other() -> None:
    one, two = (fenced(standard({"/data": {"count": count}})) for count in (1, 2))
    assert judge(f"{one}\n{two}").name == "ambiguous"
    assert judge(f"{one}\n{one}").accepted
    assert judge(f"{one}\n{two}", Expectation(ISSUED)).accepted  # without a schema, data is the agent's own key


def test_a_return_that_corrects_wrong_data_counts() -> None:
    wrong, right = (fenced(standard({"/data": {"count": count}})) for count in ("two", 2))
    verdict = judge(f"{wrong}\nCorrected:\n{right}")
    assert verdict.accepted
    assert verdict.payload is not None
    assert verdict.payload["data"] == {"count": 2}


def test_hostile_data_is_judged_in_time() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = {"x": deep}
    data: Any
    for data in (deep, {"count": "x" * 500_000}, {f"k{n}": n for n in range(15_000)}, [[]] * 15_000):
        assert list_codes(judge(fenced(standard({"/data": data})))) == ["RET111"]


@pytest.mark.parametrize(("kind", "severity"), [("review", "warning"), ("research", "warning"), ("planning", "error")])
def test_a_review_may_hand_back_its_data_alone(kind: str, severity: str) -> None:
    known = KNOWN._replace(kind=kind)
    verdict = judge(fenced(standard({"/artifacts": [], "/data": {"count": 1}})), known)
    assert [(each.code, each.severity) for each in verdict.diagnostics] == [("RET055", severity)]
    without = judge(fenced(standard({"/artifacts": []})), known._replace(data=None))
    assert list_codes(without) == ["RET055"]


# --- what Remit fills in -----------------------------------------------------------------------------------------------


def test_in_a_run_the_return_needs_only_its_session_id() -> None:
    changes = {**FILLED, "/data": {"count": 1}}
    assert judge(fenced(standard(changes))).diagnostics == ()
    top = standard({"/metadata": DROP, "/session_id": ISSUED, "/data": {"count": 1}})
    assert judge(fenced(top)).diagnostics == ()
    assert judge(
        marked(hyper({"/meta/agent_name": DROP, "/meta/execution_time_ms": DROP, "/data": {"count": 1}}))
    ).accepted


def test_null_is_filled_in_too() -> None:
    changes = dict.fromkeys(FILLED) | {"/data": {"count": 1}}
    verdict = judge(fenced(standard(changes)))
    assert verdict.diagnostics == ()
    assert verdict.returned is not None
    assert dict(verdict.returned.metadata) == {}


def test_what_is_there_and_wrong_is_reported_as_before() -> None:
    known = KNOWN._replace(agent="planner", depth=1)
    changes = {"/metadata/agent_type": "other", "/metadata/delegation_depth": "1", "/data": {"count": 1}}
    found = {(each.code, each.severity) for each in judge(fenced(standard(changes)), known).diagnostics}
    assert found == {("RET043", "warning"), ("RET021", "error")}
    named = judge(marked(hyper({"/meta/agent_name": "other", "/data": {"count": 1}})), known)
    assert list_codes(named) == ["RET043"]


def test_outside_of_a_run_all_fields_are_asked_for() -> None:
    found = [each.code for each in check(fenced(standard(FILLED))).diagnostics]
    assert found == ["RET027"] * 4
    assert list_codes(check(marked(hyper({"/meta/execution_time_ms": DROP})))) == ["RET020"]


def test_the_session_id_is_needed_unless_a_ticket_identifies_the_run() -> None:
    bare = fenced(standard({"/metadata": DROP, "/data": {"count": 1}}))
    assert judge(bare).name == "missing" or list_codes(judge(bare)) == ["RET020"]
    assert judge(bare, KNOWN._replace(by_ticket=True)).diagnostics == ()
    other = fenced(standard({"/metadata/session_id": "sess_1735460684_a1b2c3", "/data": {"count": 1}}))
    assert judge(other, KNOWN._replace(by_ticket=True)).name == "missing"
