"""A parsed message: what was found in a message, and the diagnostics and the canonical return that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.model import NOTHING, JsonRepair
from remit.positions import locate
from remit.returns.rules import ReturnContext, run_return_rules
from remit.returns.shapes import find_escape
from remit.returns.tolerant_json import REPAIRS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import ArtifactFacts, Diagnostic, Expectation, Return, Status, Transport
    from remit.returns.formats import Format
    from remit.returns.rules import ParseIssue


class ParsedMessage:
    """What was found in a message."""

    __slots__ = (
        "after",
        "evidence",
        "expectation",
        "final",
        "findings_text",
        "issues",
        "located",
        "marked",
        "payload",
        "repairs",
        "reply_status",
        "return_format",
        "spans",
        "text",
        "transport",
        "words",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        return_format: Format | None,
        expectation: Expectation,
        *,
        words: Mapping[str, Status] = NOTHING,
    ) -> None:
        self.text = text
        self.return_format = return_format
        self.expectation = expectation
        self.words = words
        self.payload: dict[str, Any] | None = None
        self.spans: Mapping[str, tuple[int, int]] = NOTHING
        """Where in `text` each value stands."""
        self.marked = False
        self.transport: Transport | None = None
        self.issues: tuple[ParseIssue, ...] = ()
        self.repairs: tuple[tuple[str, int], ...] = ()
        self.located = True
        """Whether offsets are offsets into the message itself."""
        self.after: tuple[int, int] | None = None
        """Where the first sentence after the return stands."""
        self.final = ""
        """The first sentence of the final message, if the return was handed in apart from it."""
        self.reply_status: str | None = None
        """The status word of the reply sentence (`manifest` only)."""
        self.evidence: Mapping[str, ArtifactFacts] = NOTHING
        self.findings_text: str | None = None

    @property
    def paths(self) -> list[str]:
        """The files that the return claims, as written; those that lead outside are not worth a look."""
        if self.return_format is None or self.payload is None:
            return []
        return [path for _, path in self.return_format.paths(self.payload) if find_escape(path) is None]

    @property
    def case(self) -> ReturnContext:
        """What the rules see of it."""
        return ReturnContext(
            self.text,
            self.return_format,
            self.payload,
            issues=self.issues,
            spans=self.spans,
            located=self.located,
            marked=self.marked,
            expectation=self.expectation,
            words=self.words,
            evidence=self.evidence,
            reply_status=self.reply_status,
            findings_text=self.findings_text,
            after=self.after,
            final=self.final,
        )

    def explain(self) -> tuple[Diagnostic, ...]:
        """Run every rule."""
        return tuple(run_return_rules(self.case))

    def list_repairs(self) -> tuple[JsonRepair, ...]:
        """Name each kind of repair once, where it was first needed."""
        first: dict[str, int] = {}
        for kind, at in self.repairs:
            first.setdefault(kind, at)
        return tuple(
            JsonRepair(kind, REPAIRS[kind], locate(self.text, at, at) if self.located else None)
            for kind, at in first.items()
        )

    def build(self) -> Return:
        """Build the canonical return. What the caller knows of the lineage wins over what the agent says (R0.7)."""
        if self.return_format is None or self.payload is None:
            raise ValueError("a return is built from an accepted reading only")
        returned = self.return_format.read(self.payload)
        known = self.expectation
        changes: dict[str, Any] = {
            name: value
            for name, value in (("agent", known.agent), ("depth", known.depth), ("path", known.path))
            if value is not None
        }
        if returned.word in self.words:
            changes["status"] = self.words[returned.word]
        return returned._replace(**changes) if changes else returned
