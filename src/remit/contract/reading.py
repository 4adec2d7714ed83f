"""A reading: what was found in a message, and all that can be told of it later.

Owns the bridge from a found object to findings and the canonical return; a `Verdict` keeps its reading and asks it
when somebody wants to know more than yes or no.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.contract.schemas import find_escape
from remit.model import NOTHING, Repair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.contract.dialects import Dialect
    from remit.contract.extract import Candidate
    from remit.contract.rules import Trouble
    from remit.model import ArtifactFacts, Expectation, Finding, Return, Status, Transport


class Reading:
    """What was found in a message."""

    __slots__ = (
        "candidate", "clean", "dialect", "evidence", "expectation", "findings_text", "located", "marked", "payload",
        "repairs", "reply_status", "start", "text", "transport", "troubles", "words",
    )  # fmt: skip

    def __init__(  # noqa: PLR0917 - made for every message, where keywords cost
        self,
        text: str,
        dialect: Dialect | None,
        expectation: Expectation,
        payload: dict[str, Any] | None = None,
        start: int = 0,
        marked: bool = False,  # noqa: FBT001, FBT002
        transport: Transport | None = None,
        *,
        clean: bool = False,
        words: Mapping[str, Status] = NOTHING,
    ) -> None:
        self.text = text
        self.dialect = dialect
        self.expectation = expectation
        self.payload = payload
        self.start = start
        """Where the object begins in `text`."""
        self.marked = marked
        self.transport = transport
        self.clean = clean
        """Proved to have no error, short of what is on disk."""
        self.words = words
        self.candidate: Candidate | None = None
        """None on the quick path: nothing needed a closer look."""
        self.troubles: tuple[Trouble, ...] = ()
        self.repairs: tuple[tuple[str, int], ...] = ()
        self.located = True
        """Whether offsets are offsets into the message itself."""
        self.reply_status: str | None = None
        """The status word of the reply sentence (`manifest` only)."""
        self.evidence: Mapping[str, ArtifactFacts] = NOTHING
        self.findings_text: str | None = None

    @property
    def paths(self) -> list[str]:
        """The files that the return claims, as written; those that lead outside are not worth a look."""
        if self.dialect is None or self.payload is None:
            return []
        return [path for _, path in self.dialect.paths(self.payload) if find_escape(path) is None]

    def explain(self) -> tuple[Finding, ...]:
        """Run every rule."""
        from remit.contract.rules import Case, run_rules  # noqa: PLC0415 - most verdicts are never explained

        case = Case(
            self.text,
            self.dialect,
            self.payload,
            troubles=self.troubles,
            find_spans=self.find_spans,
            located=self.located,
            marked=self.marked,
            expectation=self.expectation,
            words=self.words,
            evidence=self.evidence,
            reply_status=self.reply_status,
            findings_text=self.findings_text,
        )
        return tuple(run_rules(case))

    def find_spans(self) -> Mapping[str, tuple[int, int]]:
        """Where in the text each value stands."""
        if self.candidate is not None:
            return self.candidate.parsed.spans
        if not self.clean:
            return NOTHING
        from remit.contract.repair import UnreadableError, parse_object  # noqa: PLC0415 - the quick path does without

        try:
            return parse_object(self.text, self.start).spans
        except UnreadableError:  # too deep or too much for us to follow, though not for the strict parser
            return NOTHING

    def tell_repairs(self) -> tuple[Repair, ...]:
        """Name each kind of repair once, where it was first needed."""
        from remit.contract.repair import REPAIRS  # noqa: PLC0415 - the quick path does without it
        from remit.places import locate  # noqa: PLC0415

        first: dict[str, int] = {}
        for kind, at in self.repairs:
            first.setdefault(kind, at)
        return tuple(
            Repair(kind, REPAIRS[kind], locate(self.text, at, at) if self.located else None)
            for kind, at in first.items()
        )

    def build(self) -> Return:
        """Build the canonical return. What the caller knows of the lineage wins over what the agent says (R0.7)."""
        if self.dialect is None or self.payload is None:
            raise ValueError("a return is built from an accepted reading only")
        returned = self.dialect.read(self.payload)
        known = self.expectation
        changes: dict[str, Any] = {
            name: value
            for name, value in (("agent", known.agent), ("depth", known.depth), ("path", known.path))
            if value is not None
        }
        if returned.word in self.words:
            changes["status"] = self.words[returned.word]
        return returned._replace(**changes) if changes else returned
