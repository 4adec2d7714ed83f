"""D7: the standards' own examples. Complete ones are accepted, templates and anti-patterns are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from remit import check
from remit.model import Diagnostic
from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.formats.manifest import SENTENCES
from tests.support.return_samples import entry, fenced, line, pretty, standard, stopped
from tests.support.standard_examples import Example, get_example, list_examples

COMPLETE_RETURN = get_example("001", 741)
RETURNS = list_examples("return")
SEED_ENTRY = get_example("004", 69).text


def write_artifacts(root: Path, payload: dict[str, Any]) -> None:
    for artifact in payload["artifacts"]:
        file = root / artifact["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("Written.\n")


def told(findings: tuple[Diagnostic, ...]) -> set[tuple[str, str]]:
    return {(finding.code, finding.pointer) for finding in findings}


@pytest.mark.conforms("000-28", "000-29", "000-30", "002-34", "002-41", "003-13")
@pytest.mark.parametrize("example", RETURNS, ids=lambda each: each.name)
def test_every_complete_return_is_accepted(tmp_path: Path, example: Example) -> None:
    """D7: as the whole message, and in a fenced block; with the issued id or the agent's name, with files on disk."""
    payload = json.loads(example.text)
    write_artifacts(tmp_path, payload)
    is_hyper = "meta" in payload
    session_id = None if is_hyper else payload["metadata"]["session_id"]
    agent = payload["meta"]["agent_name"] if is_hyper else payload["metadata"]["agent_type"]
    block = fenced(example.text)
    marked = f"The work is done.\n\n{START_MARKER}\n{fenced(example.text, before='')}{END_MARKER}\n"
    for message in (example.text, block, marked):
        for known in ({}, {"session_id": session_id, "agent": agent}):
            verdict = check(message, root=tmp_path, **known)
            assert verdict.name == "accepted", verdict.diagnostics
            assert verdict.payload == payload
    assert not {code for code, _ in told(check(marked if is_hyper else block, root=tmp_path).diagnostics)} - {
        "RET027",  # 002's "Subagent Error" has no depth, path and duration
        "RET032",  # and one sentence for a summary
    }


@pytest.mark.conforms("001-41")
def test_the_return_that_001_calls_explicit_is_accepted(tmp_path: Path) -> None:
    """D7 R0.7: session_id at the top, and metadata of its own."""
    text = COMPLETE_RETURN.text.partition("<structure>")[2].partition("</structure>")[0]
    payload = json.loads(text)
    write_artifacts(tmp_path, payload)
    verdict = check(text, session_id=payload["session_id"], root=tmp_path)
    assert verdict.name == "accepted"
    assert verdict.returned is not None
    assert verdict.returned.session_id == "sess_20251229_abc123"
    assert verdict.returned.metadata == {"task_number": 195, "phase_count": 4, "estimated_hours": 6}
    assert {finding.severity for finding in verdict.diagnostics} == {"warning"}


@pytest.mark.conforms("002-32")
def test_002_accepts_the_same_returns() -> None:
    """D7: the function that 002 prints agrees with Remit on every complete return of 000 and 002."""
    scope: dict[str, Any] = {}
    exec(get_example("002", 420).text, scope)  # noqa: S102 - the standard's own function, kept as test data
    payloads = [json.loads(example.text) for example in RETURNS if example.standard in ("000", "002")]
    assert len(payloads) == 7
    for payload in payloads:
        session_id = payload["metadata"]["session_id"]
        assert scope["validate_return"](payload, session_id)
        assert check(json.dumps(payload), session_id=session_id).accepted
        with pytest.raises(AssertionError, match="Session ID mismatch"):
            scope["validate_return"](payload, "sess_1763200000_k3x9qz")
        assert not check(json.dumps(payload), session_id="sess_1763200000_k3x9qz").accepted


BLANKS = {
    ("000", 7): {"/status", "/summary", "/artifacts/0/type", "/artifacts/0/path", "/metadata/agent_type",
                 "/errors/0/recoverable"},
    ("002", 139): {"/status", "/summary", "/artifacts/0/type", "/artifacts/0/path", "/metadata/session_id",
                   "/metadata/agent_type"},
    ("003", 9): {"/meta/agent_name", "/meta/status", "/meta/execution_time_ms", "/artifacts/0/type",
                 "/artifacts/0/path"},
    ("003", 197): {"/meta", "/artifacts", "/next_steps"},
}  # fmt: skip
"""Blanks that have to be named; more may be."""


@pytest.mark.conforms("000-02", "002-13", "003-03")
@pytest.mark.parametrize("example", list_examples("template"), ids=lambda each: each.name)
def test_every_template_is_recognized_and_its_blanks_are_named(example: Example) -> None:
    """D7: an agent that echoes the format has returned nothing."""
    for message in (example.text, fenced(example.text)):
        verdict = check(message)
        assert verdict.name == "degenerate", verdict.diagnostics
        named = {pointer for code, pointer in told(verdict.diagnostics) if code == "RET011"}
        assert named >= BLANKS[example.standard, example.line]


@pytest.mark.parametrize("kind", ["artifact template", "error template"])
def test_a_part_of_a_template_in_a_return_is_recognized(kind: str) -> None:
    """D7: the artifact and the error that 000 and 002 describe."""
    for example in list_examples(kind):
        whole = pretty(standard({"/artifacts": ["PART"]}) if kind.startswith("artifact") else stopped())
        if kind.startswith("error"):
            start = whole.index("[", whole.index('"errors"')) + 1
            whole = f'{whole[:start]}"PART"{whole[whole.rindex("]") :]}'
        verdict = check(whole.replace('"PART"', example.text))
        assert verdict.name == "degenerate", (example.name, verdict.diagnostics)


def test_the_entry_of_004_with_its_tokens_is_a_template(tmp_path: Path) -> None:
    """D7: a line whose tokens nobody replaced."""
    manifest = tmp_path / "MANIFEST.jsonl"
    manifest.write_text(f"{SEED_ENTRY}\n")
    verdict = check(SENTENCES["complete"], root=tmp_path, manifest=manifest)
    assert verdict.name == "degenerate"
    named = {pointer for code, pointer in told(verdict.diagnostics) if code == "RET011"}
    assert named == {"/id", "/file", "/title", "/date", "/needs_followup/0", "/linked_tasks/0", "/linked_tasks/1"}


@pytest.mark.conforms("004-07")
def test_the_entry_of_004_with_its_own_defaults_is_accepted(tmp_path: Path) -> None:
    """D5: EPIC_ID defaults to nothing; the empty item is dropped, and the repair is recorded."""
    tokens = {"TOPIC_SLUG": "auth", "DATE": "2026-01-19", "TITLE": "Authentication", "TASK_ID": "T1234",
              "NEXT_TASK_IDS": "", "EPIC_ID": ""}  # fmt: skip
    resolved = SEED_ENTRY
    for token, value in tokens.items():
        resolved = resolved.replace(f"{{{{{token}}}}}", value)
    assert '"linked_tasks":["","T1234"]' in resolved
    manifest = tmp_path / "MANIFEST.jsonl"
    manifest.write_text(f"{resolved}\n")
    (tmp_path / "2026-01-19_auth.md").write_text("# Authentication\n")
    verdict = check(SENTENCES["complete"], root=tmp_path, manifest=manifest)
    assert verdict.name == "repaired"
    assert [repair.kind for repair in verdict.repairs] == ["empty_items"]
    assert verdict.returned is not None
    assert verdict.returned.metadata["linked_tasks"] == ["T1234"]
    assert verdict.returned.next_steps == ()


@pytest.mark.conforms("004-30")
def test_the_anti_patterns_of_004_are_named(tmp_path: Path) -> None:
    """D7 R4.14: full content, pretty-printed JSON, no entry, an incomplete checklist."""
    manifest, page = tmp_path / "MANIFEST.jsonl", tmp_path / entry()["file"]
    reply = SENTENCES["complete"]
    page.write_text("# Title\n")
    cases = [
        ("RET080", f"Sessions are stored twice.\n\nThe second store is never read.\n\n{reply}", f"{line(entry())}\n"),
        ("RET082", reply, f"{pretty(entry())}\n"),
        ("RET081", reply, ""),
    ]
    for code, message, text in cases:
        manifest.write_text(text)
        assert code in {found for found, _ in told(check(message, root=tmp_path, manifest=manifest).diagnostics)}
    page.unlink()
    manifest.write_text(f"{line(entry())}\n")
    assert "RET089" in {found for found, _ in told(check(reply, root=tmp_path, manifest=manifest).diagnostics)}
