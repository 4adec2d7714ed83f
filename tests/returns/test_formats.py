"""The formats: three spellings of one return, each read and written without loss."""

import pytest

from remit.errors import UsageError
from remit.model import Artifact, Return
from remit.returns.formats import FORMATS, HYPER, MANIFEST, STANDARD, get_format
from remit.returns.formats.hyper import clip
from remit.returns.formats.manifest import is_task_id, write_reason
from tests.support.return_samples import DROP, ISSUED, Payload, alter, entry, fault, hyper, standard, stopped

SAME: dict[str, list[Payload]] = {
    "standard": [
        standard(),
        standard({"/errors": DROP, "/metadata/duration_seconds": DROP}),
        standard({"/session_id": ISSUED, "/metadata/session_id": DROP}),
        standard({"/session_id": ISSUED}),
        standard({"/next_steps": ["Run it", "Then review"]}),
        standard({"/next_steps": ""}),
        standard({"/next_steps": None, "/errors": None, "/metadata/duration_seconds": None}),
        standard({"/session_id": ISSUED, "/metadata/session_id": None, "/artifacts/0/summary": None}),
        standard({"/metadata/duration_seconds": 0.1 + 0.2, "/metadata/model": {"name": "x"}, "/notes": [1, None]}),
        stopped("failed", {"/errors/0/code": "MCP_CONNECTION_FAILED", "/errors/0/trace": ["a", "b"]}),
        stopped("blocked", {"/artifacts": [{"type": "research", "path": "a.md", "lines": 3}]}),
    ],
    "hyper": [
        hyper(),
        hyper({"/artifacts/0/words": 9, "/meta/model": "x", "/extra": None}),
        hyper({"/meta/status": "error", "/error": {"code": "E", "message": "m", "details": "d", "at": 3}}),
        hyper({"/meta/status": "partial"}),
        hyper({"/error": None}),
        hyper({"/meta/status": "partial", "/error": {"code": "E", "message": "m"}}),
        hyper({"/artifacts": [], "/next_steps": [], "/meta/execution_time_ms": 0.5}),
    ],
    "manifest": [
        entry(),
        entry({"/needs_followup": DROP, "/topics": DROP, "/linked_tasks": DROP}),
        entry({"/needs_followup": None, "/topics": None, "/linked_tasks": None}),
        entry({"/status": "blocked", "/needs_followup": ["BLOCKED:no access", "T7"], "/agent": "x"}),
        entry({"/status": "partial", "/needs_followup": [], "/key_findings": []}),
    ],
}


@pytest.mark.parametrize(("name", "payload"), [(name, payload) for name in SAME for payload in SAME[name]])
def test_reading_and_writing_the_same_dialect_loses_nothing(name: str, payload: Payload) -> None:
    """C2 C3 C6: the raw word, the place of the session id, the form of next_steps and unknown keys come back."""
    return_format = FORMATS[name]
    assert return_format.write(return_format.read(payload)) == payload


def test_statuses_mean_the_same_four_things() -> None:
    """C3: one canonical four, and the raw word beside it."""
    words = {
        (name, word): status
        for name, return_format in FORMATS.items()
        for word, status in return_format.statuses.items()
    }
    assert words == {
        ("standard", "completed"): "completed",
        ("standard", "partial"): "partial",
        ("standard", "failed"): "failed",
        ("standard", "blocked"): "blocked",
        ("hyper", "complete"): "completed",
        ("hyper", "partial"): "partial",
        ("hyper", "error"): "failed",
        ("manifest", "complete"): "completed",
        ("manifest", "partial"): "partial",
        ("manifest", "blocked"): "blocked",
    }
    returned = HYPER.read(hyper())
    assert (returned.status, returned.word, returned.format) == ("completed", "complete", "hyper")


def test_what_standard_says_is_read_into_the_canon() -> None:
    """R0 C5 C6: kinds, milliseconds, lists, and the session id from its place."""
    payload = standard({"/artifacts/0/type": "report", "/next_steps": "Run it", "/metadata/phase_count": 3})
    returned = STANDARD.read(payload)
    assert returned.artifacts == (
        Artifact("research", payload["artifacts"][0]["path"], "Plan in 3 phases", None, "report", {}),
    )
    assert (returned.session_id, returned.agent, returned.depth) == (ISSUED, "planner", 1)
    assert returned.path == ("orchestrator", "plan", "planner")
    assert returned.duration_ms == 312_000
    assert returned.next_steps == ("Run it",)
    assert returned.metadata == {"phase_count": 3}


def test_the_session_id_is_read_at_either_place() -> None:
    """C2: read both, write metadata."""
    top = STANDARD.read(standard({"/session_id": ISSUED, "/metadata/session_id": DROP}))
    assert top.session_id == ISSUED
    assert STANDARD.write(top._replace(form={}))["metadata"]["session_id"] == ISSUED


@pytest.mark.parametrize(
    ("error_type", "code"),
    [("timeout", "TIMEOUT"), ("validation", "VALIDATION_FAILED"), ("tool_unavailable", "TOOL_UNAVAILABLE"),
     ("build_error", "BUILD_ERROR"), ("permission", "REFUSED"), ("weather", "UNKNOWN_ERROR")],
)  # fmt: skip
def test_an_error_without_a_code_gets_the_one_of_its_type(error_type: str, code: str) -> None:
    """R2.16 C6: derived, marked so, and not written back."""
    payload = stopped("failed", {"/errors": [fault({"/type": error_type})]})
    [read] = STANDARD.read(payload).errors
    assert (read.code, set(read.derived)) == (code, {"code"})
    assert "code" not in STANDARD.write(STANDARD.read(payload))["errors"][0]


def test_a_foreign_code_is_kept() -> None:
    """R2.16: the list is open."""
    [read] = STANDARD.read(stopped("failed", {"/errors/0/code": "DISK_FULL"})).errors
    assert (read.code, read.derived) == ("DISK_FULL", frozenset())


def test_hyper_errors_are_completed_and_marked_as_derived() -> None:
    """C22: execution, not recoverable, the first next step."""
    [read] = HYPER.read(hyper({"/meta/status": "error", "/error": {"code": "E", "message": "It broke"}})).errors
    assert (read.type, read.recoverable, read.recommendation) == ("execution", False, "Move the limit into one setting")
    assert read.derived == {"type", "recoverable", "recommendation"}


def test_a_hyper_partial_has_an_error_that_its_next_steps_explain() -> None:
    """C22: derived as a whole, and not written back."""
    returned = HYPER.read(hyper({"/meta/status": "partial"}))
    [read] = returned.errors
    assert read.message == "Move the limit into one setting"
    assert "message" in read.derived
    assert "error" not in HYPER.write(returned)


def test_hyper_has_a_summary_in_the_canon() -> None:
    """R3: what it says of its files, else its error, else its next step."""
    assert HYPER.read(hyper()).summary == "Where upload sizes are limited."
    failed = hyper({"/artifacts": [], "/meta/status": "error", "/error": {"code": "E", "message": "It broke"}})
    assert HYPER.read(failed).summary == "It broke."
    assert HYPER.read(hyper({"/artifacts": []})).summary == "Move the limit into one setting."
    long = HYPER.read(hyper({"/artifacts/0/summary": "word " * 200})).summary
    assert len(long) <= 400
    assert long.endswith("…")


def test_what_a_manifest_entry_says_is_read_into_the_canon() -> None:
    """R4.7 C21: a reason is an error, a task id is not."""
    payload = entry({"/status": "blocked", "/needs_followup": ["T312", "BLOCKED: no access"]})
    returned = MANIFEST.read(payload)
    assert returned.status == "blocked"
    assert [artifact.path for artifact in returned.artifacts] == [payload["file"]]
    assert [read.message for read in returned.errors] == ["no access"]
    assert returned.next_steps == ("T312", "BLOCKED: no access")
    assert MANIFEST.read(entry()).errors == ()


@pytest.mark.parametrize("text", ["T312", "#7", "42", "PROJ-12", "3.1"])
def test_a_task_id_is_told_from_a_reason(text: str) -> None:
    """C21: both may stand in needs_followup."""
    assert is_task_id(text)
    assert write_reason(text) == text
    assert write_reason(f"waits for {text}") == f"BLOCKED:waits for {text}"
    assert write_reason("BLOCKED:no access") == "BLOCKED:no access"


@pytest.mark.parametrize("name", FORMATS)
def test_paths_are_found_whatever_the_rest_looks_like(name: str) -> None:
    """R0.6: a wrong shape does not hide what is claimed."""
    return_format = FORMATS[name]
    broken: list[Payload] = [{}, {"artifacts": None, "file": 3}, {"artifacts": [3, {}, {"path": 1}]}]
    assert [return_format.paths(payload) for payload in broken] == [[], [], []]
    good = {"standard": standard, "hyper": hyper, "manifest": entry}[name]()
    [(pointer, path)] = return_format.paths(good)
    assert alter(good, {pointer: "other"}) != good
    assert path in str(good)


def test_a_dialect_is_looked_up_by_name() -> None:
    assert get_format("hyper") is HYPER
    with pytest.raises(UsageError, match="did you mean 'standard'"):
        get_format("standart")


def test_the_status_word_is_read_from_its_place() -> None:
    assert HYPER.word({"meta": {"status": "complete"}}) == "complete"
    assert HYPER.word({"meta": []}) is None
    assert STANDARD.word({}) is None


def test_a_text_is_shortened_at_a_word() -> None:
    assert clip("short", 10) == "short"
    assert clip("one two three", 10) == "one two…"


def test_a_return_without_details_can_be_written_in_any_dialect() -> None:
    """What is not known is left out, never made up."""
    bare = Return("completed", "Done. It works.")
    assert STANDARD.write(bare) == {
        "status": "completed",
        "summary": "Done. It works.",
        "artifacts": [],
        "metadata": {},
    }
    assert "agent_name" not in HYPER.write(bare)["meta"]
    assert "file" not in MANIFEST.write(bare)
