"""A good and a bad message for every rule of the contract, and what the bad one must bring about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from remit.data_schema import DataSchema
from remit.model import NOTHING, ArtifactFacts, Expectation, FileState
from remit.returns import check
from tests.support.return_samples import (
    DROP,
    ISSUED,
    OTHER,
    Changes,
    entry,
    fault,
    fenced,
    hyper,
    line,
    marked,
    pretty,
    sentence,
    standard,
    stopped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import Severity, Verdict, VerdictName


@dataclass(frozen=True, slots=True)
class Message:
    """A final message and what is known around it."""

    text: str
    return_format: str | None = None
    expectation: Expectation = field(default_factory=Expectation)
    evidence: Mapping[str, ArtifactFacts] = field(default_factory=lambda: NOTHING)
    manifest_tail: str | None = None
    findings_text: str | None = None

    def judge(self) -> Verdict:
        """What the contract says of it."""
        return check(
            self.text,
            return_format=self.return_format,
            expectation=self.expectation,
            evidence=self.evidence,
            manifest_tail=self.manifest_tail,
            findings_text=self.findings_text,
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """How a rule shows: the bad message, and a good one close to it."""

    good: Message
    bad: Message
    severity: Severity
    verdict: VerdictName
    """Of the bad message; a warning alone leaves it accepted."""
    pointer: str = ""
    shown: str | None = None
    """The characters that the finding points at; None where it points nowhere."""
    besides: tuple[str, ...] = ()
    """Codes that the same mistake cannot but bring about too."""


def _plain(changes: Changes | None = None, known: Expectation | None = None) -> Message:
    return Message(fenced(standard(changes)), expectation=known or Expectation())


def _data(value: object) -> Message:
    schema = DataSchema({"properties": {"verdict": {"enum": ["good", "bad"]}}, "required": ["verdict"]})
    return _plain({} if value is DROP else {"/data": value}, Expectation(data=schema))


def _stopped(status: str = "partial", changes: Changes | None = None) -> Message:
    return Message(fenced(stopped(status, changes)))


def _hyper(changes: Changes | None = None) -> Message:
    return Message(marked(hyper(changes)))


def _entry(changes: Changes | None = None, *, word: str = "complete", findings: str | None = None) -> Message:
    return Message(sentence(word), manifest_tail=line(entry(changes)), findings_text=findings)


def _on_disk(state: FileState, *, claimed: str = "docs/notes.md") -> Message:
    artifact = {"type": "documentation", "path": claimed, "summary": "Notes"}
    facts = {claimed: ArtifactFacts(claimed, state, 0)}
    return Message(fenced(standard({"/artifacts": [artifact]})), evidence=facts)


def _found(file: FileState) -> Message:
    name = entry()["file"]
    return Message(sentence(), manifest_tail=line(entry()), evidence={name: ArtifactFacts(name, file, 0)})


def _raw(old: str, new: str) -> Message:
    text = fenced(standard())
    assert text.count(old) == 1, f"{old} stands {text.count(old)} times in the sample"
    return Message(text.replace(old, new))


PLAIN: Final = _plain()
HYPER: Final = _hyper()
ENTRY: Final = _entry()
_SECTIONS: Final = "# How fresh\n\n## Summary\n\n## Findings\n\n## Recommendations\n\n## Sources\n\n## Linked Tasks\n"
_LONG: Final = "It works. " + "x" * 389 + "."
_FAILED: Final = pretty(stopped("failed"))

SAMPLES: Final[dict[str, Sample]] = {
    # finding the return
    "RET001": Sample(PLAIN, Message("I fixed the parser. All done!"), "error", "missing"),
    "RET002": Sample(PLAIN, Message(" \n\t\n"), "error", "missing"),
    "RET003": Sample(
        _raw('"duration_seconds": 312', f'"duration_seconds": {"3" * 300}'),
        _raw('"duration_seconds": 312', f'"duration_seconds": {"3" * 5000}'),
        "error",
        "malformed",
        shown=",",
    ),
    "RET004": Sample(PLAIN, _raw('"status": "completed"', '"status": %done'), "error", "malformed", shown="%"),
    "RET005": Sample(
        PLAIN,
        Message('```json\n{"status": "completed", "summary": "Fixed the par'),
        "error",
        "malformed",
        "/summary",
        '"Fixed the par',
        ("RET020", "RET032"),
    ),
    "RET006": Sample(
        _raw('"duration_seconds": 312', '"duration_seconds": 0'),
        _raw('"duration_seconds": 312', '"duration_seconds": NaN'),
        "error",
        "malformed",
        "/metadata/duration_seconds",
        "NaN",
        ("RET026",),
    ),
    "RET007": Sample(
        _raw('"status": "completed"', '"status": "completed", "status": "completed"'),
        _raw('"status": "completed"', '"status": "completed", "status": "failed"'),
        "error",
        "ambiguous",
        "/status",
        '"status": "failed"',
    ),
    "RET008": Sample(
        Message(f"{fenced(standard())}\nAgain, as asked:\n\n{fenced(standard(), '')}"),
        Message(f"{fenced(_FAILED)}\nAnd the other:\n\n{fenced(standard(), '')}"),
        "error",
        "ambiguous",
        shown="{",
    ),
    "RET009": Sample(
        Message(f"<think>\nThen I return\n</think>\n{pretty(standard())}"),
        Message(f"<think>\nI could return\n{pretty(standard())}\n</think>"),
        "error",
        "missing",
        shown="{",
    ),
    "RET010": Sample(
        Message(fenced(standard(), "Draft:\n\n")),
        Message(f"> {line(standard())}"),
        "error",
        "missing",
        shown="{",
    ),
    "RET011": Sample(
        _plain({"/summary": "Filled <path> into the form. It is saved."}),
        _plain({"/artifacts/0/path": "<relative path>"}),
        "error",
        "degenerate",
        "/artifacts/0/path",
        '"<relative path>"',
    ),
    "RET012": Sample(
        Message(marked(hyper()), return_format="hyper"),
        Message(marked(hyper()), return_format="standard"),
        "error",
        "invalid",
    ),
    "RET013": Sample(
        PLAIN,
        Message(f"{fenced(standard())}\n\nTwo tests still fail. I stopped."),
        "note",
        "accepted",
        shown="Two tests still fail.",
    ),
    "RET014": Sample(
        Message(fenced(standard()), expectation=Expectation(ISSUED, instructed="standard")),
        Message(marked(hyper()), expectation=Expectation(ISSUED, instructed="standard")),
        "note",
        "accepted",
        shown=pretty(hyper()),
    ),
    # the form of the object
    "RET020": Sample(
        _plain({"/errors": DROP}),
        _plain({"/summary": DROP}),
        "error",
        "invalid",
        "/summary",
        "{",
    ),
    "RET021": Sample(
        _plain({"/metadata/delegation_depth": 2}),
        _plain({"/metadata/delegation_depth": "2"}),
        "error",
        "invalid",
        "/metadata/delegation_depth",
        '"2"',
    ),
    "RET022": Sample(PLAIN, _plain({"/status": "success"}), "error", "invalid", "/status", '"success"'),
    "RET023": Sample(
        _plain({"/artifacts/0/type": "report"}),
        _plain({"/artifacts/0/type": "file"}),
        "error",
        "invalid",
        "/artifacts/0/type",
        '"file"',
    ),
    "RET024": Sample(PLAIN, _plain({"/summary": " "}), "error", "invalid", "/summary", '" "'),
    "RET025": Sample(
        _plain({"/metadata/colour": "blue"}),
        _plain({"/metadata/phase-count": 3}),
        "warning",
        "accepted",
        "/metadata/phase-count",
        "3",
    ),
    "RET026": Sample(
        _plain({"/metadata/delegation_depth": 0}),
        _plain({"/metadata/delegation_depth": -1}),
        "error",
        "invalid",
        "/metadata/delegation_depth",
        "-1",
    ),
    "RET027": Sample(PLAIN, _plain({"/artifacts/0/summary": DROP}), "warning", "accepted", "/artifacts/0/summary", "{"),
    "RET028": Sample(
        _plain({"/meta": {"status": "complete"}}),
        _plain({"/meta": {"status": "partial"}}),
        "error",
        "ambiguous",
        "/status",
        '"completed"',
    ),
    # data
    "RET110": Sample(_data({"verdict": "good"}), _data(DROP), "error", "invalid", "/data", "{"),
    "RET111": Sample(
        _data({"verdict": "good"}), _data({"verdict": "fine"}), "error", "invalid", "/data/verdict", '"fine"'
    ),
    # the summary
    "RET030": Sample(
        _plain({"/summary": "It works. " + "x" * 490}),
        _plain({"/summary": "It works. " + "x" * 491}),
        "error",
        "invalid",
        "/summary",
        f'"It works. {"x" * 491}"',
    ),
    "RET031": Sample(
        _plain({"/summary": _LONG}),
        _plain({"/summary": f"{_LONG}."}),
        "warning",
        "accepted",
        "/summary",
        f'"{_LONG}."',
    ),
    "RET032": Sample(
        _plain({"/summary": "Compared e.g. two of them. Kept the first."}),
        _plain({"/summary": "Compared e.g. two of them."}),
        "warning",
        "accepted",
        "/summary",
        '"Compared e.g. two of them."',
    ),
    "RET033": Sample(
        _plain({"/summary": "Saved 3 * 4 files. Nothing else changed."}),
        _plain({"/summary": "Saved **all** files. Nothing else changed."}),
        "warning",
        "accepted",
        "/summary",
        '"Saved **all** files. Nothing else changed."',
    ),
    # who answers
    "RET040": Sample(
        _plain(known=Expectation(session_id=ISSUED)),
        _plain(known=Expectation(session_id=OTHER)),
        "error",
        "missing",
        "/metadata/session_id",
        f'"{ISSUED}"',
    ),
    "RET041": Sample(
        _plain({"/session_id": ISSUED}),
        _plain({"/session_id": OTHER}),
        "error",
        "ambiguous",
        "/session_id",
        f'"{OTHER}"',
    ),
    "RET042": Sample(
        _plain({"/metadata/session_id": "my-session"}, Expectation(session_id="my-session")),
        _plain({"/metadata/session_id": "my-session"}),
        "warning",
        "accepted",
        "/metadata/session_id",
        '"my-session"',
    ),
    "RET043": Sample(
        Message(marked(hyper()), expectation=Expectation(agent="analyst")),
        Message(marked(hyper()), expectation=Expectation(agent="reviewer")),
        "error",
        "invalid",
        "/meta/agent_name",
        '"analyst"',
    ),
    "RET044": Sample(
        _plain({"/metadata/delegation_depth": 3}),
        _plain({"/metadata/delegation_depth": 4}),
        "warning",
        "accepted",
        "/metadata/delegation_depth",
        "4",
    ),
    # the files it claims
    "RET050": Sample(
        _plain({"/artifacts/0/path": "docs/..notes.md"}),
        _plain({"/artifacts/0/path": "docs/../../notes.md"}),
        "error",
        "invalid",
        "/artifacts/0/path",
        '"docs/../../notes.md"',
    ),
    "RET051": Sample(_on_disk("file"), _on_disk("missing"), "error", "invalid", "/artifacts/0/path", '"docs/notes.md"'),
    "RET052": Sample(_on_disk("file"), _on_disk("outside"), "error", "invalid", "/artifacts/0/path", '"docs/notes.md"'),
    "RET053": Sample(
        _on_disk("file"),
        _on_disk("special", claimed="docs/"),
        "error",
        "invalid",
        "/artifacts/0/path",
        '"docs/"',
    ),
    "RET054": Sample(_on_disk("file"), _on_disk("empty"), "error", "invalid", "/artifacts/0/path", '"docs/notes.md"'),
    "RET055": Sample(
        _plain(known=Expectation(kind="planning")),
        _plain({"/artifacts": []}, Expectation(kind="planning")),
        "error",
        "invalid",
        "/artifacts",
        "[]",
    ),
    "RET056": Sample(
        _stopped("partial", {"/artifacts": [{"type": "plan", "path": "a.md", "summary": "Half"}]}),
        Message(fenced(line(stopped("failed", {"/artifacts": [{"type": "plan", "path": "a.md", "summary": "Half"}]})))),
        "warning",
        "accepted",
        "/artifacts",
        '[{"type":"plan","path":"a.md","summary":"Half"}]',
    ),
    "RET057": Sample(
        _plain({"/artifacts": [{"type": "plan", "path": path, "summary": "Plan"} for path in ("a.md", "b/a.md")]}),
        _plain({"/artifacts": [{"type": "plan", "path": path, "summary": "Plan"} for path in ("a.md", "./a.md")]}),
        "warning",
        "accepted",
        "/artifacts/1/path",
        '"./a.md"',
    ),
    "RET058": Sample(
        _hyper({"/artifacts/0/type": "code", "/artifacts/0/path": "src/limits.py"}),
        _hyper({"/artifacts/0/type": "code"}),
        "warning",
        "accepted",
        "/artifacts/0/type",
        '"code"',
    ),
    # what went wrong
    "RET060": Sample(_stopped("failed"), _stopped("failed", {"/errors": []}), "error", "invalid", "/errors", "[]"),
    "RET061": Sample(
        _stopped("partial", {"/errors/0/code": "GIT_COMMIT_FAILED"}),
        _hyper({"/error": {"code": "E", "message": "It failed"}}),
        "error",
        "invalid",
        "/error",
        pretty({"error": {"code": "E", "message": "It failed"}})[len('{\n  "error": ') : -2],
    ),
    "RET062": Sample(
        _stopped("failed", {"/errors/0/code": "MCP_CONNECTION_FAILED"}),
        _stopped("failed", {"/errors/0/code": "the build failed"}),
        "warning",
        "accepted",
        "/errors/0/code",
        '"the build failed"',
    ),
    # hyper alone
    "RET070": Sample(HYPER, Message(fenced(hyper())), "warning", "accepted", "", pretty(hyper())),
    "RET071": Sample(
        HYPER,
        _hyper({"/artifacts/0/key_points": []}),
        "warning",
        "accepted",
        "/artifacts/0/key_points",
        "[]",
    ),
    "RET073": Sample(
        _hyper({"/artifacts/0/summary": "One. Two."}),
        _hyper({"/artifacts/0/summary": "One. Two. Three."}),
        "warning",
        "accepted",
        "/artifacts/0/summary",
        '"One. Two. Three."',
    ),
    "RET074": Sample(
        _hyper({"/meta/status": "partial"}),
        _hyper({"/meta/status": "partial", "/next_steps": []}),
        "error",
        "invalid",
        "/next_steps",
        "[]",
    ),
    # manifest alone: the entry stands in another file, so nothing in it is shown
    "RET080": Sample(
        ENTRY,
        Message(f"I found three.\nTwo are old.\n{sentence()}", manifest_tail=line(entry())),
        "error",
        "invalid",
        shown=sentence(),
    ),
    "RET081": Sample(ENTRY, Message(sentence(), manifest_tail="\n"), "error", "missing"),
    "RET082": Sample(ENTRY, Message(sentence(), manifest_tail=pretty(entry())), "error", "malformed"),
    "RET083": Sample(
        _entry({"/status": "blocked"}, word="blocked"),
        _entry({"/status": "blocked"}),
        "error",
        "ambiguous",
        "/status",
    ),
    "RET084": Sample(
        _entry({"/id": "search-2026-01-05-2"}), _entry({"/id": "Search research"}), "warning", "accepted", "/id"
    ),
    "RET085": Sample(ENTRY, _entry({"/date": "5.1.2026"}), "error", "invalid", "/date", besides=("RET084",)),
    "RET086": Sample(
        _entry({"/key_findings/0": "Use sessions, e.g. for pages."}),
        _entry({"/key_findings/0": "Use sessions. Drop the cookies."}),
        "warning",
        "accepted",
        "/key_findings/0",
    ),
    "RET087": Sample(ENTRY, _entry({"/file": "notes.md"}), "warning", "accepted", "/file"),
    "RET088": Sample(
        _entry({"/status": "blocked", "/needs_followup": ["BLOCKED:no access"]}, word="blocked"),
        _entry({"/status": "blocked", "/needs_followup": []}, word="blocked"),
        "error",
        "invalid",
        "/needs_followup",
    ),
    "RET089": Sample(_found("file"), _found("missing"), "error", "invalid", "/file", besides=("RET051",)),
    "RET090": Sample(
        _entry(findings=_SECTIONS),
        _entry(findings=_SECTIONS.replace("## Sources\n", "")),
        "warning",
        "accepted",
        "/file",
    ),
}
"""By code."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A return that is written in another format."""

    text: str
    to: str
    known: Mapping[str, object] = field(default_factory=lambda: NOTHING)


_LINEAGE: Final = {"session_id": ISSUED, "agent": "analyst", "depth": 1, "path": ("orchestrator", "analyst")}

CONVERSIONS: Final[dict[str, tuple[Passage, Passage, str, Severity]]] = {
    "CNV001": (
        Passage(marked(hyper()), "standard", _LINEAGE),
        Passage(fenced(standard()), "hyper"),
        "/session_id",
        "warning",
    ),
    "CNV002": (
        Passage(fenced(standard()), "standard"),
        Passage(fenced(stopped("blocked", {"/errors": [fault()]})), "hyper"),
        "/meta/status",
        "warning",
    ),
    "CNV003": (
        Passage(marked(hyper()), "standard", _LINEAGE),
        Passage(marked(hyper()), "standard"),
        "/metadata/session_id",
        "error",
    ),
}
"""By code: a conversion that does not need the finding, one that does, where, and how grave."""
