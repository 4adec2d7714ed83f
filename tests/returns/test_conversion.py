"""Conversion between formats: the return comes through, and every loss is named."""

import json
import re
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from remit import check, convert
from remit.errors import UsageError
from remit.model import Diagnostic
from remit.returns import check as check_values
from remit.returns.conversion import KnownMetadata, convert_return, render_message
from remit.returns.formats import FORMATS, HYPER, MANIFEST
from remit.runs.check_message import Conversion
from tests.support.return_samples import (
    DROP,
    ISSUED,
    Changes,
    Payload,
    entry,
    fault,
    fenced,
    hyper,
    marked,
    sentence,
    standard,
    stopped,
)
from tests.support.return_strategies import entries, hypers, standards

PATH = ("orchestrator", "analyst")
PLAN = standard()["artifacts"][0]["path"]
TODAY = "2026-01-05"
EVERYTHING = {
    "session_id": ISSUED, "agent": "analyst", "depth": 1, "path": PATH, "today": TODAY, "duration_seconds": 4.8,
    "findings_file": f"{TODAY}_notes.md",
}  # fmt: skip
"""All that a caller can know and a source may not say."""


def to(target: str, payload: Payload, **known: object) -> Conversion:
    text = marked(payload) if "meta" in payload else fenced(payload)
    return convert(text, to=target, **known)  # type: ignore[arg-type]


def lineage(target: str, payload: Payload) -> Conversion:
    return to(target, payload, session_id=ISSUED, agent="analyst", depth=1, path=PATH, today=TODAY)


SOURCES: dict[str, Payload] = {
    "standard completed": standard({"/next_steps": "Run it", "/metadata/phase_count": 3}),
    "standard partial": stopped("partial", {"/artifacts": [{"type": "plan", "path": "a.md", "summary": "Half"}]}),
    "standard failed": stopped("failed", {"/errors": [fault({"/code": "E1"}), fault({"/message": "And then this"})]}),
    "standard blocked": stopped("blocked", {"/errors/0/details": "Waits for the key", "/errors/0/trace": "line 3"}),
    "standard extras": standard({"/notes": "kept", "/artifacts/0/lines": 30, "/metadata/model": "m"}),
    "hyper complete": hyper(),
    "hyper partial": hyper({"/meta/status": "partial"}),
    "hyper error": hyper(
        {"/meta/status": "error", "/error": {"code": "E", "message": "It broke halfway", "details": "d"}}
    ),
    "hyper extras": hyper({"/notes": "kept", "/artifacts/0/lines": 30, "/meta/model": "m"}),
}
PAIRS = [(name, target) for name in SOURCES for target in FORMATS if not name.startswith(target)]


@pytest.mark.parametrize(("name", "target"), PAIRS)
def test_a_converted_return_is_accepted_in_its_new_dialect(name: str, target: str) -> None:
    """C3 C5 C6: where the caller knows what the source does not say, the result is a good return."""
    result = lineage(target, SOURCES[name])
    if target == "manifest" and not SOURCES[name]["artifacts"]:
        assert not result.accepted  # no file, no entry: nothing is made up
        assert "/file" in [finding.pointer for finding in result.diagnostics if finding.code == "CNV003"]
        return
    assert result.accepted, result.diagnostics
    assert not [finding for finding in result.diagnostics if finding.severity == "error"]
    if target == "manifest":
        assert "\n" not in result.text
        assert json.loads(result.text) == result.payload
    else:
        assert check(result.text, format=target).payload == result.payload


@pytest.mark.parametrize(("name", "target"), PAIRS)
def test_whatever_does_not_come_through_is_named(name: str, target: str) -> None:
    """C3 C5 C6: each value of the source is in the result, or a finding names it."""
    source, result = SOURCES[name], lineage(target, SOURCES[name])
    if result.accepted:
        arrived = list(_walk(result.payload))
        assert not [
            leaf for leaf in _walk(source) if not _is_among(leaf, arrived) and not _is_told(leaf, result.diagnostics)
        ]


@pytest.mark.parametrize(("name", "target"), PAIRS)
def test_whatever_is_derived_is_named(name: str, target: str) -> None:
    """C22: each value of the result comes from the source or the caller, or a finding names it."""
    source, result = SOURCES[name], lineage(target, SOURCES[name])
    given = [*_walk(source), *_walk({"session_id": ISSUED, "delegation_depth": 1, "path": PATH, "date": TODAY})]
    assert not [
        leaf for leaf in _walk(result.payload) if not _is_among(leaf, given) and not _is_told(leaf, result.diagnostics)
    ]


@pytest.mark.parametrize("today", [None, TODAY])
def test_an_id_is_not_called_derived_where_it_is_not_known(today: str | None) -> None:
    payload, findings = convert_return(FORMATS["standard"].read(standard()), MANIFEST, KnownMetadata(today=today))
    told = next(finding.message for finding in findings if "were derived" in finding.message)
    assert ("id" in payload) is (told == "id, title, topics and actionable were derived") is (today is not None)


@pytest.mark.parametrize("target", ["standard", "hyper"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"/status": "blocked", "/needs_followup": ["BLOCKED:no access", "T7"], "/owner": "me"},
        {"/status": "partial", "/needs_followup": ["T7"]},
    ],
    ids=["complete", "blocked", "partial"],
)
def test_the_same_holds_for_an_entry_of_the_manifest(changes: Changes, target: str) -> None:
    """C21 C22: what an entry says comes through or is named, and so is what it does not say."""
    source = entry(changes)
    known = KnownMetadata(ISSUED, "analyst", 1, PATH, TODAY)
    payload, findings = convert_return(MANIFEST.read(source), FORMATS[target], known)
    given = [*_walk(source), *_walk(known._asdict()), ("/type", "research")]  # which is what entries are about
    arrived = list(_walk(payload))
    assert not [leaf for leaf in _walk(source) if not _is_among(leaf, arrived) and not _is_told(leaf, findings)]
    assert not [leaf for leaf in arrived if not _is_among(leaf, given) and not _is_told(leaf, findings)]


@given(source=standards() | hypers(), target=st.sampled_from([*FORMATS]))
def test_whatever_was_accepted_can_be_converted(source: Payload, target: str) -> None:
    """C3 C5 C6: given what the source does not say, the result is a good return in every format."""
    text = json.dumps(source)
    assume(check(text).accepted)
    result = convert(text, to=target, **EVERYTHING)  # type: ignore[arg-type]
    assert result.accepted, result.diagnostics


@given(source=entries(), target=st.sampled_from([*FORMATS]))
def test_whatever_entry_was_accepted_can_be_converted(source: Payload, target: str) -> None:
    """C21 C22: an entry of the manifest knows neither its agent nor how long it took."""
    verdict = check_values(sentence(source["status"]), manifest_tail=json.dumps(source))
    assume(verdict.accepted)
    assert verdict.returned is not None
    payload, findings = convert_return(
        verdict.returned, FORMATS[target], KnownMetadata(ISSUED, "analyst", 1, PATH, TODAY, 5)
    )
    assert "CNV003" not in [finding.code for finding in findings]
    message = render_message(payload, FORMATS[target])
    reply = sentence(source["status"]) if target == "manifest" else message
    assert check_values(reply, return_format=target, manifest_tail=message).accepted


def test_an_entry_without_agent_and_duration_names_the_options_that_give_them() -> None:
    """R3.1: neither can be made up."""
    payload, findings = convert_return(MANIFEST.read(entry()), HYPER, KnownMetadata())
    assert "execution_time_ms" not in payload["meta"]
    assert {finding.pointer: finding.hint for finding in findings if finding.code == "CNV003"} == {
        "/meta/agent_name": "Give it with --agent.",
        "/meta/execution_time_ms": "Give it with --duration.",
    }


@pytest.mark.parametrize(
    ("seconds", "written"), [(4.8, "4800"), (1.005, "1005"), (0, "0"), (0.0004, "0.4"), (90, "90000")]
)
def test_seconds_become_milliseconds_as_people_write_them(seconds: float, written: str) -> None:
    """C6: 1.005 times 1000 is not 1005 in every arithmetic."""
    result = to("hyper", standard({"/metadata/duration_seconds": DROP}), duration_seconds=seconds)
    assert f'"execution_time_ms": {written}\n' in result.text
    assert result.accepted


def test_a_duration_that_the_source_gives_is_kept() -> None:
    result = to("hyper", standard(), duration_seconds=1)
    assert result.payload["meta"]["execution_time_ms"] == 312_000


def test_a_return_without_files_becomes_an_entry_once_its_file_is_known() -> None:
    """R4.13: a blocked entry has its findings file too."""
    result = to("manifest", stopped("blocked"), today=TODAY)
    assert [finding.hint for finding in result.diagnostics if finding.pointer == "/file"] == [
        "Give it with --findings-file."
    ]
    given = to("manifest", stopped("blocked"), today=TODAY, findings_file="2026-01-05_cache.md")
    assert given.accepted
    assert given.payload["file"] == "2026-01-05_cache.md"
    kept = to("manifest", standard(), today=TODAY, findings_file="other.md")
    assert kept.payload["file"] == PLAN


def test_a_return_that_says_nothing_but_complete_says_so_elsewhere() -> None:
    """C11: `hyper` allows a return without files, steps and error."""
    silent = hyper({"/artifacts": [], "/next_steps": []})
    result = lineage("standard", silent)
    assert result.accepted
    assert result.payload["summary"] == "The agent analyst reports complete. It does not say more."
    assert "/summary" in [finding.pointer for finding in result.diagnostics]


def test_a_result_that_breaks_a_rule_says_which() -> None:
    """C16: nobody has to check it once more to learn what is wrong."""
    result = to("manifest", stopped("blocked"), today=TODAY, findings_file="../notes.md")
    assert not result.accepted
    assert [finding.code for finding in result.diagnostics if finding.severity == "error"] == ["RET050"]


def test_to_the_same_dialect_nothing_changes() -> None:
    for source in SOURCES.values():
        target = "hyper" if "meta" in source else "standard"
        result = to(target, source)
        assert (result.payload, result.diagnostics, result.accepted) == (source, (), True)


def test_gaps_are_filled_and_what_the_source_says_is_kept() -> None:
    """C2: the caller fills in; it does not overrule."""
    result = to("standard", hyper(), session_id=ISSUED, agent="somebody", depth=2, path=PATH)
    assert result.payload["metadata"]["agent_type"] == "analyst"
    assert result.payload["metadata"]["session_id"] == ISSUED
    assert result.payload["metadata"]["delegation_depth"] == 2


def test_what_is_required_and_not_known_is_an_error() -> None:
    """R0.7: a session id, a depth and a path cannot be made up."""
    result = to("standard", hyper())
    missing = {finding.pointer: finding.hint for finding in result.diagnostics if finding.code == "CNV003"}
    assert not result.accepted
    assert missing == {
        "/metadata/delegation_depth": "Give it with --depth.",
        "/metadata/delegation_path": "Give it with --path.",
        "/metadata/session_id": "Give it with --session.",
    }


def test_a_manifest_entry_becomes_a_return() -> None:
    """C21: the reason of a blocked entry is its error."""
    blocked = entry({"/status": "blocked", "/needs_followup": ["BLOCKED:no access"]})
    verdict = check_values(sentence("blocked"), manifest_tail=json.dumps(blocked))
    assert verdict.returned is not None
    assert verdict.returned.errors[0].message == "no access"


def test_to_manifest_the_entry_is_named_after_file_and_day() -> None:
    result = to("manifest", standard(), today=TODAY)
    assert result.payload["id"] == f"implementation-001-{TODAY}"
    assert result.payload["file"] == standard()["artifacts"][0]["path"]
    without = to("manifest", standard())
    assert {finding.pointer for finding in without.diagnostics if finding.code == "CNV003"} == {"/id", "/date"}


def test_a_source_that_is_refused_is_not_converted() -> None:
    """C16: the verdict says why."""
    result = to("hyper", standard({"/status": "success"}))
    assert (result.text, result.payload, result.accepted) == ("", {}, False)
    assert [finding.code for finding in result.diagnostics] == ["RET022"]
    assert result.verdict.name == "invalid"


@pytest.mark.parametrize("key", ["summary", "status", "metadata", "errors"])
def test_an_unknown_key_does_not_overwrite_what_the_target_means_by_it(key: str) -> None:
    """C3: a foreign key that has a meaning over there is named, not taken for it."""
    result = lineage("standard", hyper({f"/{key}": "something else"}))
    clean = lineage("standard", hyper())
    assert result.payload[key] == clean.payload[key] if key in clean.payload else key not in result.payload
    assert any(key in f"{finding.pointer} {finding.message}" for finding in result.diagnostics)


def test_a_duration_beyond_all_numbers_stays_a_number() -> None:
    """C6: seconds become milliseconds; what is written must be JSON."""
    result = to("hyper", standard({"/metadata/duration_seconds": 1e308}))
    assert "Infinity" not in result.text


def test_lines_inside_a_text_do_not_break_the_manifest_line() -> None:
    """R4.7: one line, whatever the texts hold."""
    result = to("manifest", standard({"/artifacts/0/summary": "One\u2028two\u0085three\x0cfour"}), today=TODAY)
    assert result.accepted


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean 'hyper'"):
        convert(fenced(standard()), to="hypre")


def test_an_artifact_without_a_summary_has_no_key_points_to_take() -> None:
    result = to("hyper", standard({"/artifacts/0/summary": DROP}))
    assert result.payload["artifacts"][0]["key_points"] == []
    kept = to("hyper", standard({"/artifacts/0/key_points": ["a", "b", "c"]}))
    assert kept.payload["artifacts"][0]["key_points"] == ["a", "b", "c"]


CANONICAL = {"agent_type": "agent", "agent_name": "agent", "duration_seconds": "duration",
             "execution_time_ms": "duration"}  # fmt: skip
"""Keys that a finding may call by the name that all formats share."""
WORDS = {word for return_format in FORMATS.values() for word in return_format.statuses}


def _walk(value: object, pointer: str = "") -> Iterator[tuple[str, object]]:
    """Every plain value, with its JSON Pointer."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, f"{pointer}/{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _walk(inner, f"{pointer}/{index}")
    else:
        yield pointer, value


def _key(pointer: str) -> str:
    return next(part for part in reversed(pointer.split("/")) if not part.isdigit())


def _is_among(leaf: tuple[str, object], others: list[tuple[str, object]]) -> bool:
    """Whether a value is there on the other side: a text anywhere, also in part; other values under the same key."""
    pointer, value = leaf
    if value in WORDS:
        return True  # every format spells its status in its own words
    if isinstance(value, str):
        return any(
            isinstance(other, str) and (value in other or (len(other) > 12 and other in value)) for _, other in others
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return any(other in (value, value * 1000, value / 1000) for _, other in others)
    return any(_key(pointer) == _key(where) and value == other for where, other in others)


def _is_told(leaf: tuple[str, object], findings: Sequence[Diagnostic]) -> bool:
    """Whether a finding names the value's key, or says that the list item it belongs to was left out."""
    names = {_key(leaf[0]), CANONICAL.get(_key(leaf[0]), "")}
    for finding in findings:
        if names & set(re.findall(r"\w+", f"{finding.pointer} {finding.message}")):
            return True
        if finding.code == "CNV001" and leaf[0].startswith(f"{finding.pointer}/") and finding.pointer[-2:] != "/0":
            return True
    return False
