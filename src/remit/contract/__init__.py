"""The contract: a final message becomes a verdict. Pure: nothing here reads the disk, the clock or the environment.

read_message   message → Reading (which object is meant, what stands in the way)
attach_entry   the manifest's last line → Reading (`manifest` only)
judge          Reading + facts from the disk → Verdict
check          all of it, for callers that have the facts already
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jiter import from_json

from remit.contract.dialects import MANIFEST, get_dialect
from remit.contract.quick import MAX_MESSAGE_CHARS, accept_quickly
from remit.contract.reading import Reading
from remit.model import NOTHING, Expectation, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import ArtifactFacts, Outcome, Status

__all__ = ["Reading", "accept_quickly", "attach_entry", "check", "judge", "read_message"]


def check(
    message: str | bytes,
    *,
    dialect: str | None = None,
    session_id: str | None = None,
    agent: str | None = None,
    expectation: Expectation | None = None,
    words: Mapping[str, Status] = NOTHING,
    evidence: Mapping[str, ArtifactFacts] = NOTHING,
    manifest_tail: str | None = None,
    findings_text: str | None = None,
) -> Verdict:
    """Turn a final message into a verdict, given the facts as values. An `expectation` says all that is known."""
    text = decode(message)
    if expectation is None and not evidence and dialect != "manifest":
        verdict = accept_quickly(text, dialect, session_id, agent)
        if verdict is not None:
            return verdict
    known = Expectation(session_id, agent) if expectation is None else expectation
    reading = read_message(text, dialect=dialect, expectation=known, words=words, quickly=expectation is not None)
    attach_entry(reading, manifest_tail)
    return judge(reading, evidence=evidence, findings_text=findings_text)


def decode(message: str | bytes) -> str:
    """The message as text; what is not UTF-8 is replaced, and nobody decodes much more than the cap."""
    return message if isinstance(message, str) else message[: 4 * MAX_MESSAGE_CHARS + 4].decode("utf-8", "replace")


def read_message(
    message: str | bytes,
    *,
    dialect: str | None,
    expectation: Expectation,
    words: Mapping[str, Status] = NOTHING,
    quickly: bool = True,
) -> Reading:
    """Find the return in a final message; `quickly`: try the quick path first."""
    text = decode(message)
    wanted = None if dialect is None else get_dialect(dialect)
    verdict = accept_quickly(text, dialect, *expectation[:2]) if quickly and wanted is not MANIFEST else None
    # What else is known of the lineage gives warnings, save that some kinds of agent have to name a file (RET055).
    if verdict is not None and (expectation.kind is None or (verdict.payload or {}).get("artifacts")):
        reading = cast("Reading", verdict.source)
        reading.expectation, reading.words = expectation, words
        return reading
    from remit.contract.choose import read_carefully  # noqa: PLC0415 - 10 ms that a clean message does not need

    return read_carefully(text, wanted, expectation, words)


def attach_entry(reading: Reading, manifest_tail: str | None, *, rival: str = "") -> None:
    """Give a reply of the `manifest` dialect its entry: the last line of the manifest. None: no manifest is known.

    `rival` is the status in another entry of the same work that says otherwise.
    """
    if reading.dialect is not MANIFEST or reading.reply_status is None:
        return
    from remit.contract.choose import find_blanks, find_second_spellings  # noqa: PLC0415 - a clean message needs none of this
    from remit.contract.rules import Trouble  # noqa: PLC0415

    line = next((line for line in reversed((manifest_tail or "").split("\n")) if line.strip()), "").lstrip("\ufeff")
    if manifest_tail is None:
        trouble = Trouble(
            "no_entry", "no manifest is known, so the entry cannot be read", "Give the manifest (--manifest FILE)."
        )
    elif not line:
        trouble = Trouble("no_entry", "the manifest has no entry", "Append the entry, then reply.")
    else:
        try:
            entry = from_json(line.encode("utf-8", "replace"), allow_inf_nan=False, catch_duplicate_keys=True)
        except ValueError:
            entry = None
        if type(entry) is dict:
            reading.payload = entry
            reading.located = False
            reading.troubles += (*find_blanks(entry, MANIFEST), *find_second_spellings(entry, MANIFEST))
            if rival:
                reading.troubles += (
                    Trouble(
                        "rival",
                        f"the manifest has two entries of this work, and one of them says {rival[:80]}",
                        "Leave one entry of this work: correct it, and remove the other.",
                        pointer="/status",
                    ),
                )
            return
        trouble = Trouble("bad_line", "the manifest's last line is not one JSON object",
                          "Write the entry on one line, without indentation.")  # fmt: skip
    reading.troubles += (trouble,)


def judge(
    reading: Reading, *, evidence: Mapping[str, ArtifactFacts] = NOTHING, findings_text: str | None = None
) -> Verdict:
    """Weigh a reading against what is on disk."""
    reading.evidence = evidence
    reading.findings_text = findings_text
    outcome: Outcome = "accepted"
    findings = None
    if not reading.clean or any(facts.state != "file" for facts in evidence.values()):
        from remit.contract.rules import judge_outcome  # noqa: PLC0415 - a clean message needs no rules

        findings = reading.explain()
        outcome = judge_outcome(findings)
    if outcome == "accepted" and reading.repairs:
        outcome = "repaired"
    dialect = reading.dialect.name if reading.dialect else None
    return Verdict(
        outcome, reading.payload, dialect, reading.transport, lambda: reading, evidence=evidence, findings=findings
    )
