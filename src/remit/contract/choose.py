"""The careful way: scan, repair, judge every candidate, choose the one that is meant.

Owns the choice between candidates. Where two could be meant, none is taken; where the only one is a quotation, a
draft or a thought, it is not taken either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.contract.dialects import HYPER, MANIFEST, STANDARD
from remit.contract.dialects.manifest import SENTENCES
from remit.contract.extract import Candidate, Scan, scan_message
from remit.contract.placeholders import find_placeholders
from remit.contract.quick import MAX_MESSAGE_CHARS, UNKNOWN, is_clean
from remit.contract.reading import Reading
from remit.contract.rules import Case, Trouble, TroubleKind, judge_outcome, run_rules
from remit.contract.surroundings import find_aside
from remit.contract.unwrap import MAX_LEVELS, unwrap
from remit.contract.voices import DIALECT_WORDS, find_denials, find_scraps, find_twins, gather_words, make_sign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.contract.dialects import Dialect
    from remit.contract.repair import Flaw
    from remit.model import Expectation, Finding, Outcome, Status


class _Judged:
    """A candidate with everything that can be said of it without looking at the disk."""

    __slots__ = ("candidate", "case", "findings", "outcome", "repairs")

    def __init__(
        self, candidate: Candidate, case: Case, findings: list[Finding], outcome: Outcome,
        repairs: list[tuple[str, int]],
    ) -> None:  # fmt: skip
        self.candidate = candidate
        self.case = case
        self.findings = findings
        """Empty where the object was proved clean: then no rule had to run."""
        self.outcome = outcome
        self.repairs = repairs

    @property
    def is_good(self) -> bool:
        return self.outcome == "accepted"

    @property
    def is_bound(self) -> bool:
        """Whether it carries the id that was issued: an example or a quotation seldom does."""
        issued = self.case.expectation.session_id
        return issued is not None and issued in (self.case.get("metadata", "session_id"), self.case.get("session_id"))

    @property
    def is_meant(self) -> bool:
        """Whether the message means it. Words of failure below it cast no doubt on a return that tells of one."""
        aside = self.candidate.aside
        return aside is None or (aside == "doubted" and self.case.status != "completed")

    def is_foreign(self) -> bool:
        return any(finding.code in ("RET040", "RET011") for finding in self.findings)

    def contradicts(self, other: _Judged) -> bool:
        """Whether two returns cannot both be true: another status, other files."""
        return (
            self.case.status != other.case.status
            or self.claims() != other.claims()
            or self.identity() != other.identity()
        )

    def identity(self) -> tuple[object, object]:
        """Who answers, and for which session."""
        get = self.case.get
        return get("metadata", "session_id") or get("session_id"), get("metadata", "agent_type") or get(
            "meta", "agent_name"
        )

    def claims(self) -> set[str]:
        return {path for _, path in self.candidate.dialect.paths(self.candidate.parsed.value)}


def read_carefully(text: str, wanted: Dialect | None, expectation: Expectation, words: Mapping[str, Status]) -> Reading:
    """Find the return in a message that is not plain and clean."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half a surrogate cannot be printed
    reading = Reading(text, wanted, expectation, words=words)
    if trouble := _refuse_outright(text):
        reading.troubles = (trouble,)
        return reading
    if wanted is MANIFEST:
        return _read_sentence(reading)
    scan = _scan_and_unwrap(text, wanted, expectation.session_id)
    if not scan.candidates and wanted is None and any(sentence in text for sentence in SENTENCES.values()):
        return _read_sentence(reading)
    if scan.overflow or not scan.candidates:
        reading.troubles = (_explain_absence(scan, text, wanted),)
        return reading
    return _choose(reading, [_judge(candidate, reading) for candidate in scan.candidates], scan)


def _refuse_outright(text: str) -> Trouble | None:
    if len(text) > MAX_MESSAGE_CHARS:
        limit = MAX_MESSAGE_CHARS // (1024 * 1024)
        return Trouble("too_big", f"the message is longer than {limit} million characters", "Send a short report.")
    if not text or text.isspace():
        return Trouble(
            "empty", "the message is empty", "Send a return, with status failed where nothing could be done."
        )
    return None


def _scan_and_unwrap(text: str, wanted: Dialect | None, session_id: str | None) -> Scan:
    """Scan the message as it stands; only where that brings nothing usable, what it may be wrapped in."""
    dialects = (wanted,) if wanted else (STANDARD, HYPER)
    first = scan = scan_message(text, dialects, session_id)
    layers: list[tuple[tuple[str, ...], str]] = [((), text)]
    for _ in range(MAX_LEVELS):
        if any(candidate.is_strong for candidate in scan.candidates) or scan.overflow:
            return scan
        layers = [
            ((*names, name), inner)
            for names, outer in layers
            for name, inner in unwrap(outer, lambda value: any(d.is_like(value) for d in dialects))
        ][:8]
        found = Scan()
        for names, inner in layers:
            for candidate in scan_message(inner, dialects, session_id).candidates:
                candidate.wrapping = (*names, *candidate.wrapping)
                found.candidates.append(candidate)
        if found.candidates:
            scan = found
    return scan if scan.candidates else first


def _explain_absence(scan: Scan, text: str, wanted: Dialect | None) -> Trouble:
    if scan.overflow:
        return Trouble("too_big", scan.overflow, "Send one return, at the end of a short message.")
    if scan.unreadable:
        reason, _, end = scan.unreadable
        message = f"what looks like a return cannot be read: {reason}"
        return Trouble(
            "too_big" if scan.capped else "unreadable", message, "Send valid JSON.", end, min(end + 1, len(text))
        )
    if wanted is not None:
        for other in (STANDARD, HYPER):
            if other is not wanted and scan_message(text, (other,), None).candidates:
                return Trouble("dialect", f"the return is in the dialect {other.name}, not {wanted.name}",
                               f"Send a {wanted.name} return, or check with --dialect {other.name}.")  # fmt: skip
    return Trouble("absent", "the message holds no return", "End the message with the JSON object that was asked for.")


def _judge(candidate: Candidate, reading: Reading) -> _Judged:
    """Turn what the parser found into troubles, and run every rule."""
    parsed, dialect = candidate.parsed, candidate.dialect
    repairs = list(parsed.repairs.items())
    if _lift_keys(candidate):
        repairs.append(("lifted_keys", parsed.start))
    troubles = [trouble for flaw in _tell_apart(parsed.flaws) if (trouble := _read_flaw(flaw, candidate, repairs))]
    known = reading.expectation
    if (
        not troubles
        and not candidate.glued
        and known[2:] == UNKNOWN
        and is_clean(parsed.value, dialect, known.session_id, known.agent)
    ):
        return _Judged(
            candidate,
            Case(candidate.text, dialect, parsed.value, expectation=known, words=reading.words),
            [],
            "accepted",
            repairs,
        )
    if candidate.glued:
        troubles.append(
            Trouble(
                "unreadable",
                "the return stands inside another that cannot be read",
                "Send one return.",
                parsed.start,
                parsed.start + 1,
            )
        )
    troubles += find_blanks(parsed.value, dialect, known.session_id)
    troubles += _find_denials(parsed.value, dialect, reading.words)
    case = Case(
        candidate.text,
        dialect,
        parsed.value,
        troubles=tuple(troubles),
        find_spans=lambda: parsed.spans,
        located=not candidate.wrapping,
        marked=candidate.marked,
        expectation=reading.expectation,
        words=reading.words,
    )
    findings = run_rules(case, places=False)
    return _Judged(candidate, case, findings, judge_outcome(findings), repairs)


def find_blanks(payload: dict[str, Any], dialect: Dialect, session_id: str | None = None) -> Iterator[Trouble]:
    """Every blank of a template that nobody filled in. An id that was issued is none, whatever it looks like."""
    for pointer, text in find_placeholders(payload, dialect.shape):
        if text == session_id and pointer.endswith("/session_id"):
            continue
        message = f"{pointer[1:]} is a blank that nobody filled in: {text[:60]}"
        yield Trouble("template", message, "Put a real value there.", pointer=pointer)


def _find_denials(payload: dict[str, Any], dialect: Dialect, own: Mapping[str, Status]) -> Iterator[Trouble]:
    """Every member that denies a completed status; the errors of the dialect itself have a rule of their own."""
    word = str(dialect.word(payload))
    if (dialect.statuses.get(word) or own.get(word)) != "completed":
        return
    denials = list(find_denials(payload, "meta" if dialect is HYPER else "metadata", gather_words(own)))
    for pointer in denials:
        if pointer not in ("/error", "/errors") or pointer[1:] not in dialect.shape.known:
            message = f"the status is completed, and {pointer[1:]} says otherwise"
            yield Trouble("conflict", message, "Say once how the work ended.", pointer=pointer)
    for trouble in find_second_spellings(payload, dialect):
        if trouble.pointer not in denials:
            yield trouble


def find_second_spellings(payload: dict[str, Any], dialect: Dialect) -> Iterator[Trouble]:
    """Every key that stands there once more in another spelling, and says something else."""
    known = dialect.shape.known
    twins = list(find_twins(payload, known))
    for name in ("metadata", "meta"):
        inner = payload.get(name)
        if name in known and isinstance(inner, dict):
            twins += find_twins(inner, getattr(known[name], "known", {}), f"/{name}")
    for pointer in twins:
        message = f"{pointer[1:]} is a known key in another spelling, and says something else than that key"
        yield Trouble("conflict", message, "Give each key once.", pointer=pointer)


_FLAWS: dict[str, tuple[TroubleKind, str, str]] = {
    "conflict": ("conflict", "is given twice with different values", "Give each key once."),
    "nonfinite": ("nonfinite", "is not a finite number", "Give a number, or leave the key out."),
    "ellipsis": ("template", "is left open with an ellipsis", "Write out everything."),
    "template": ("template", "is a blank that nobody filled in", "Put a real value there."),
    "cut": ("cut", "was cut off", "Send a shorter return that fits."),
}


def _lift_keys(candidate: Candidate) -> bool:
    """Move top-level keys out of the inner object that lost its bracket and took them in."""
    parsed, known = candidate.parsed, candidate.dialect.shape.known
    inner_name = "meta" if candidate.dialect is HYPER else "metadata"
    inner = parsed.value.get(inner_name)
    if "missing_bracket" not in parsed.repairs or not isinstance(inner, dict):
        return False
    names = list(inner)
    first = next((index for index, name in enumerate(names) if name in known and name not in _AT_HOME), len(names))
    for name in names[first:]:
        if name not in parsed.value:
            parsed.value[name] = inner.pop(name)
            prefix = f"/{inner_name}/{name}"
            moved = {key: span for key, span in parsed.spans.items() if key == prefix or key.startswith(f"{prefix}/")}
            parsed.spans |= {key.removeprefix(f"/{inner_name}"): span for key, span in moved.items()}
    return first < len(names)


_AT_HOME = frozenset({"session_id", "status"})
"""Top-level keys that have a place in the inner object too."""


def _tell_apart(flaws: list[Flaw]) -> list[Flaw]:
    """Every flaw once: where a text is cut off, so is all that it stands in, which nobody needs to hear."""
    first_cut = next((flaw for flaw in flaws if flaw.kind == "cut"), None)
    return [flaw for flaw in flaws if flaw.kind != "cut" or flaw is first_cut]


def _read_flaw(flaw: Flaw, candidate: Candidate, repairs: list[tuple[str, int]]) -> Trouble | None:
    top = flaw.pointer.split("/")[1].replace("~1", "/").replace("~0", "~") if flaw.pointer else ""
    if flaw.kind == "cut" and top and not any(name.startswith(top) for name in candidate.dialect.essential):
        candidate.parsed.value.pop(top, None)
        repairs.append(("cut_off", flaw.start))
        return None
    kind, what, hint = _FLAWS[flaw.kind]
    name = flaw.pointer[1:] or "the return"
    return Trouble(kind, f"{name} {what}", hint, flaw.start, flaw.end, flaw.pointer)


def _choose(reading: Reading, judged: list[_Judged], scan: Scan) -> Reading:
    """Take the one return that is meant; where that is not clear, say so."""
    good = [each for each in judged if each.is_good]
    sincere = [each for each in good if each.is_meant]
    unclear = [each for each in good if each.candidate.aside == "unclear"]
    sincere = sincere or [each for each in good if each.candidate.aside in _EXCUSED and each.is_bound]
    if not sincere:
        return _take(reading, _pick_spokesman(judged), _explain_aside(good))
    pool = [each for each in sincere if each.candidate.marked] or sincere
    chosen = pool[-1]
    rivals = [each for each in (*pool, *([] if chosen.candidate.marked else unclear)) if each.contradicts(chosen)]
    rivals += [each for each in judged if _overrules(each, chosen) or _denies_marked(each, chosen)]
    rivals += _hear_others(reading, chosen, judged)
    return _take(
        reading,
        chosen,
        _explain_rivals(rivals[-1:]) + _explain_ruin(scan, chosen) + _explain_scraps(chosen, judged),
    )


def _hear_others(reading: Reading, chosen: _Judged, judged: list[_Judged]) -> list[_Judged]:
    """The returns of other dialects that deny a completed one: whoever asks for one dialect is told all the same."""
    if chosen.case.status != "completed":
        return []
    own, text = chosen.candidate, chosen.candidate.text
    others = [each for each in judged if each.candidate.dialect is not own.dialect]
    if reading.dialect is not None:  # that of the question: the others were not looked for
        rest = tuple(dialect for dialect in (STANDARD, HYPER) if dialect is not own.dialect)
        found = scan_message(text, rest, reading.expectation.session_id).candidates
        outside = [each for each in found if not own.parsed.start <= each.parsed.start < own.parsed.end]
        others += [_judge(candidate, reading) for candidate in outside]
    return [
        each
        for each in others
        if each.case.status != "completed"
        and ((each.is_good and (each.is_meant or each.candidate.aside == "unclear")) or _overrules(each, chosen))
    ]


_EXCUSED = frozenset({"earlier", "example", "unclear"})
"""Where the issued session id stands in such a block, it is meant after all."""


def _overrules(each: _Judged, chosen: _Judged) -> bool:
    """Whether a later return, refused by itself, still casts doubt on an earlier good one."""
    return (
        not each.is_good
        and each.candidate.aside in (None, "unclear", "doubted")
        and each.candidate.parsed.start > chosen.candidate.parsed.start
        and not each.is_foreign()
        and each.case.status != chosen.case.status
        and (each.case.status is not None or each.candidate.is_strong)
        and isinstance(
            each.case.get("meta") if each.candidate.dialect is HYPER else each.case.get("summary"), str | dict
        )
        and not isinstance(each.case.get("summary"), dict)
    )


def _denies_marked(each: _Judged, chosen: _Judged) -> bool:
    """Whether a good return without markers casts doubt on a completed one that has them.

    Markers tell the report from what is shown beside it. What tells of the same session, or comes after the report, is
    not merely shown: the work may have gone wrong once the report was written.
    """
    if not (chosen.candidate.marked and each.is_good) or each.candidate.marked:
        return False
    if chosen.case.status != "completed" or each.case.status == "completed":
        return False
    if each.identity()[0] is not None and each.identity()[0] == chosen.identity()[0]:
        return each.is_meant or each.candidate.aside == "unclear"
    return each.is_meant and each.candidate.parsed.start > chosen.candidate.parsed.start


def _pick_spokesman(judged: list[_Judged]) -> _Judged:
    """Of returns that cannot be taken, the one to report on: meant, nearly complete, with few errors, last."""

    def weight(each: _Judged) -> tuple[bool, bool, bool, int]:
        errors = sum(finding.severity == "error" for finding in each.findings)
        return each.is_meant, each.candidate.is_strong, each.is_bound, -errors

    return max(reversed(judged), key=weight)


def _explain_aside(good: list[_Judged]) -> tuple[Trouble, ...]:
    if not good:
        return ()
    last = good[-1].candidate
    span = (last.parsed.start, last.parsed.start + 1)
    if last.aside == "thinking":
        return (
            Trouble("thinking", "the only return stands inside thinking text", "Repeat it after the thinking.", *span),
        )
    what = _ASIDES.get(last.aside or "", "an example")
    return (
        Trouble(
            "quoted", f"the only return is {what} by the message's own words", "Send your own, final return.", *span
        ),
    )


_ASIDES: dict[str, str] = {
    "quoted": "a quotation",
    "draft": "a draft",
    "earlier": "an earlier one",
    "supposed": "something that might be sent",
    "withdrawn": "taken back or denied",
    "doubted": "in doubt",
    "unclear": "not presented as an answer",
}


_RUINED_GAP = r"[\"'”’]?\s{0,4}[:=]?\s{0,4}[\"'“‘]?"


def _explain_ruin(scan: Scan, chosen: _Judged) -> tuple[Trouble, ...]:
    """Something after the return began like another one and cannot be read: nobody knows what it says."""
    if scan.unreadable is None or chosen.candidate.wrapping:
        return ()
    _, start, end = scan.unreadable
    text = chosen.candidate.text
    sign = make_sign(text, _RUINED_GAP, (*DIALECT_WORDS, *chosen.case.words), 0)
    if start < chosen.candidate.parsed.end or not sign.search(text, start, min(end + 80, start + 2_000)):
        return ()
    return (
        Trouble(
            "contradiction", "after the return stands another that cannot be read", "Send one return.", start, start + 1
        ),
    )


def _explain_scraps(chosen: _Judged, judged: list[_Judged]) -> tuple[Trouble, ...]:
    """Something after the return is none itself, and gives another status all the same."""
    end, text = chosen.candidate.parsed.end, chosen.candidate.text
    spans = [(each.candidate.parsed.start, each.candidate.parsed.end) for each in judged]
    for start, scrap_end, _ in find_scraps(text, end, chosen.case.status, gather_words(chosen.case.words)):
        if any(first <= start < last for first, last in spans):
            continue
        if find_aside(text, start, scrap_end, []) in (None, "unclear", "doubted"):
            message = "after the return stands another status"
            return (Trouble("contradiction", message, "Send one return.", start, start + 1),)
    return ()


def _explain_rivals(rivals: list[_Judged]) -> tuple[Trouble, ...]:
    return tuple(
        Trouble("contradiction", "the message holds two returns that contradict each other", "Send one return.",
                each.candidate.parsed.start, each.candidate.parsed.start + 1)
        for each in rivals
    )  # fmt: skip


def _take(reading: Reading, chosen: _Judged, troubles: tuple[Trouble, ...]) -> Reading:
    candidate = chosen.candidate
    reading.text = candidate.text
    reading.dialect = candidate.dialect
    reading.payload = candidate.parsed.value
    reading.start = candidate.parsed.start
    reading.candidate = candidate
    reading.troubles = (*chosen.case.troubles, *troubles)
    reading.clean = chosen.is_good and not chosen.findings and not troubles
    reading.repairs = (*((name, candidate.parsed.start) for name in candidate.wrapping), *chosen.repairs)
    reading.marked = candidate.marked
    reading.located = not candidate.wrapping
    reading.transport = "message" if candidate.alone else "block"
    return reading


def _read_sentence(reading: Reading) -> Reading:
    """Read the reply of the `manifest` dialect; the entry itself comes from the manifest."""
    reading.dialect = MANIFEST
    reading.transport = "manifest"
    plain = reading.text.strip("`*\"'_ \t\r\n\ufeff")
    for word, sentence in SENTENCES.items():
        if plain == sentence:
            reading.reply_status = word
            return reading
    for word, sentence in SENTENCES.items():
        at = reading.text.find(sentence)
        if at >= 0:
            reading.reply_status = word
            reading.troubles = (
                Trouble(
                    "reply",
                    "the reply says more than its one sentence",
                    f"Reply only: {sentence}",
                    at,
                    at + len(sentence),
                ),
            )
            return reading
    first = SENTENCES["complete"]
    reading.troubles = (Trouble("absent", "the reply is none of the three sentences", f"Reply only: {first}"),)
    return reading
