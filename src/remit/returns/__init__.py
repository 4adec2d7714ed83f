"""Turn a final message into a verdict. Pure: nothing here reads the disk, the clock or the environment.

read_message    message → ParsedMessage: the object that is the return, and the problems of reading it
choose_message  submitted returns + final message, each a ParsedMessage → the one that counts
attach_entry    adds the manifest's last line to a ParsedMessage (`manifest` only)
judge           ParsedMessage + facts from the disk → Verdict
check           read_message, attach_entry and judge, for callers that have the facts already
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jiter import from_json

from remit.model import ACCEPTABLE, NOTHING, Expectation, Verdict
from remit.returns.conflicts import find_conflicts
from remit.returns.formats import MANIFEST, get_format
from remit.returns.parsed_message import ParsedMessage
from remit.returns.placeholders import find_blanks
from remit.returns.rules import ParseIssue, name_verdict
from remit.returns.selection import (
    MAX_MESSAGE_CHARS,
    choose_message,
    find_return,
    normalize,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import ArtifactFacts, Status, VerdictName

__all__ = ["ParsedMessage", "attach_entry", "check", "choose_message", "judge", "read_message"]


def check(
    message: str | bytes,
    *,
    return_format: str | None = None,
    session_id: str | None = None,
    agent: str | None = None,
    expectation: Expectation | None = None,
    words: Mapping[str, Status] = NOTHING,
    evidence: Mapping[str, ArtifactFacts] = NOTHING,
    manifest_tail: str | None = None,
    findings_text: str | None = None,
) -> Verdict:
    """Turn a final message into a verdict, given the facts as values. An `expectation` says all that is known."""
    known = Expectation(session_id, agent) if expectation is None else expectation
    parsed = read_message(message, return_format=return_format, expectation=known, words=words)
    attach_entry(parsed, manifest_tail)
    return judge(parsed, evidence=evidence, findings_text=findings_text)


def read_message(
    message: str | bytes, *, return_format: str | None, expectation: Expectation, words: Mapping[str, Status] = NOTHING
) -> ParsedMessage:
    """Find the return in a final message. Bytes that aren't UTF-8 are replaced."""
    # A little more than the cap is decoded, so that a message over the cap is still seen to be one.
    text = message if isinstance(message, str) else message[: 4 * MAX_MESSAGE_CHARS + 4].decode("utf-8", "replace")
    return find_return(text, None if return_format is None else get_format(return_format), expectation, words)


def attach_entry(parsed: ParsedMessage, manifest_tail: str | None, *, rival: str = "") -> None:
    """Give a reply of the `manifest` format its entry: the last line of the manifest. None: no manifest is known.

    `rival` is the status in another entry of the same work that says otherwise.
    """
    if parsed.return_format is not MANIFEST or parsed.reply_status is None:
        return
    line = next((line for line in reversed((manifest_tail or "").split("\n")) if line.strip()), "").lstrip("\ufeff")
    if manifest_tail is None:
        issue = ParseIssue(
            "no_entry", "no manifest is known, so the entry can't be read", "Give the manifest (--manifest FILE)."
        )
    elif not line:
        issue = ParseIssue("no_entry", "the manifest has no entry", "Append the entry, then reply.")
    else:
        try:
            entry = from_json(line.encode("utf-8", "replace"), allow_inf_nan=False, catch_duplicate_keys=True)
        except ValueError:
            entry = None
        if type(entry) is dict:
            parsed.payload = entry
            parsed.located = False
            parsed.repairs += tuple(
                (kind, 0) for kind in normalize(entry, MANIFEST, parsed.expectation, parsed.words, {})
            )
            parsed.issues += (*find_blanks(entry, MANIFEST), *find_conflicts(entry, MANIFEST, parsed.words))
            if rival:
                parsed.issues += (
                    ParseIssue(
                        "rival",
                        f"the manifest has two entries of this work, and one of them says {rival[:80]}",
                        "Leave one entry of this work: correct it, and remove the other.",
                        pointer="/status",
                    ),
                )
            return
        issue = ParseIssue("bad_line", "the manifest's last line is not one JSON object",
                             "Write the entry on one line, without indentation.")  # fmt: skip
    parsed.issues += (issue,)


def judge(
    parsed: ParsedMessage, *, evidence: Mapping[str, ArtifactFacts] = NOTHING, findings_text: str | None = None
) -> Verdict:
    """The verdict on a parsed message, given the facts from the disk."""
    parsed.evidence = evidence
    parsed.findings_text = findings_text
    diagnostics = parsed.explain()
    verdict: VerdictName = name_verdict(diagnostics)
    if verdict == "accepted" and parsed.repairs:
        verdict = "repaired"
    return Verdict(
        verdict,
        payload=parsed.payload,
        format=parsed.return_format.name if parsed.return_format else None,
        transport=parsed.transport,
        diagnostics=diagnostics,
        repairs=parsed.list_repairs(),
        returned=parsed.build() if verdict in ACCEPTABLE else None,
        evidence=evidence,
    )
