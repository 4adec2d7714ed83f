"""Fitting: an envelope within its budget of tokens.

Owns what gives way when it does not fit. An agent can write any amount; its caller pays for every token of it with room
in its own context. Secrets are taken out, and nothing that is left steers a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.delegate.reporting.envelope import DEFAULT_TOKENS, MIN_TOKENS, Spending, Unsettled, render_text
from remit.delegate.reporting.token_bound import bound_tokens
from remit.errors import UsageError
from remit.lazy import lazy
from remit.quick_tuple import NamedTuple
from remit.workspace.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.delegate.reporting.envelope import Envelope, EnvelopeArtifact
    from remit.model import Fault

_CHARS_PER_TOKEN = 12
"""No text of ours has more: what is longer than that is shortened without being counted."""
_MAX_MESSAGE, _MAX_NAME, _MAX_PATH, _MAX_CODE = 400, 64, 300, 24
_MARGIN = 500
"""Beyond what is kept, so that of a secret at the cut enough is seen to know it for one."""
_NOT_WORD = lazy(r"[^A-Za-z0-9_.-]+")
_MAX_NUMBER = 10**15
_DECIMALS = (0, 4, 0, 1)
"""Of tokens, dollars, turns and seconds."""
_MAX_PATH_STEPS = 8
_TOKENS_PER_ITEM = 20
"""Hardly an artifact has fewer: more of them than that need not be looked at."""
_MAX_TOLD = 10
"""Of findings, errors, next steps and the like: who reads more reads all of it elsewhere."""
_RANKS = {"error": 0, "warning": 1, "note": 2}
_FIRST = 3
_HINT = 12
"""Fewer characters of a text tell nothing."""
_TEXTS = frozenset({"descriptions", "messages", "summary", "names"})
_STEP_CHARS = 6
"""How exactly the room that is left is found out."""


class _Kept(NamedTuple):
    """How much of each part is kept: items of a list, characters of a text, or (1 or 0) whether it is there."""

    unclaimed: int
    notes: int
    findings: int
    hashes: int
    """2: with the reasons of grades; 1: without; 0: neither hash nor size."""
    descriptions: int
    next_steps: int
    artifacts: int
    messages: int
    failures: int
    lineage: int
    summary: int
    usage: int
    advice: int
    names: int
    details: int
    """Whether it is told what was left out, part by part."""


_GIVING_WAY = (
    ("unclaimed", 0),
    ("findings", -1),  # down to the errors among them
    ("hashes", 1),
    ("descriptions", 0),
    ("next_steps", -1),  # down to the first where the work failed, for whoever has to put it right
    ("notes", 0),  # what Remit did besides, such as the tasks that it made of a review
    ("artifacts", 3),
    ("messages", 100),
    ("failures", 1),
    ("findings", 0),
    ("lineage", 0),
    ("usage", 0),
    ("hashes", 0),
    ("artifacts", 1),
    ("summary", 160),
    ("artifacts", 0),
    ("summary", 0),
    ("next_steps", 0),
    ("advice", 0),
    ("messages", 12),
    ("failures", 0),
    ("names", 0),
    ("details", 0),
)
"""What gives way first, and how far, before the next does."""


def fit_envelope(envelope: Envelope, max_tokens: int = DEFAULT_TOKENS) -> Envelope:
    """The same envelope, clean and within a number of tokens; `left_out` says what gave way.

    First go unclaimed changes and warnings, then what artifacts are described with, next steps, notes, artifacts beyond
    the first, and last of all the summary. Status, session and the first error stay, and where the work failed the
    first next step, as long as anything else can go. Once it fits, what gave way last comes back as far as there is
    room.
    """
    if max_tokens < MIN_TOKENS:
        raise UsageError(f"an envelope does not fit into {max_tokens} tokens", hint=f"give it {MIN_TOKENS} or more")
    fitting = _Fitting(envelope, max_tokens)
    kept = fitting.whole_of()
    found = fitting.measure(kept)
    gone: list[tuple[str, int]] = []
    for name, least in _GIVING_WAY:
        if found.fits:
            break
        before = getattr(kept, name)
        kept = fitting.lower(kept, name, least)
        if getattr(kept, name) < before:
            gone.append((name, before))
            found = fitting.measure(kept)
    for name, before in reversed(gone if found.fits else ()):
        kept, found = fitting.raise_again(kept, found, name, before)
    return found.envelope  # larger only where a session id is, which somebody else may have made, and which stays whole


class _Measured(NamedTuple):
    envelope: Envelope
    fits: bool


class _Fitting:
    """One envelope that is to fit: as it was, as it is clean, and how its tokens are counted."""

    def __init__(self, whole: Envelope, max_tokens: int) -> None:
        self.whole = whole
        self.max_tokens = max_tokens
        cleaning = _Cleaning(max_tokens)
        self.clean = cleaning.clean(whole)
        self.cut = cleaning.cut
        self.described = max((len(each.summary) for each in self.clean.artifacts), default=0)
        clean = self.clean
        self.least = {
            "findings": min(_FIRST, sum(finding.severity == "error" for finding in clean.findings)),
            "next_steps": int(clean.person_needed or clean.status in ("failed", "blocked")),
        }

    def whole_of(self) -> _Kept:
        """All of everything."""
        clean = self.clean
        return _Kept(
            unclaimed=len(clean.unclaimed),
            notes=len(clean.notes),
            findings=len(clean.findings),
            hashes=2,
            descriptions=self.described,
            next_steps=len(clean.next_steps),
            artifacts=len(clean.artifacts),
            messages=_MAX_MESSAGE,
            failures=max(len(clean.errors), len(clean.unsettled)),
            lineage=1,
            summary=len(clean.summary),
            usage=1,
            advice=1,
            names=_MAX_NAME,
            details=1,
        )

    def lower(self, kept: _Kept, name: str, least: int) -> _Kept:
        """Less of one part."""
        least = self.least[name] if least < 0 else least
        return kept._replace(**{name: min(getattr(kept, name), least)})

    def raise_again(self, kept: _Kept, found: _Measured, name: str, before: int) -> tuple[_Kept, _Measured]:
        """As much of one part as there is room for, up to what there was before."""
        low, high, middle = getattr(kept, name), before + 1, before  # all of it is tried first
        step = _STEP_CHARS if name in _TEXTS else 1
        while low < middle < high:
            larger = kept._replace(**{name: middle})
            measured = self.measure(larger)
            if measured.fits:
                kept, found, low = larger, measured, middle
            else:
                high = middle
            middle = (low + high) // 2 if high - low > step else low
        return kept, found

    def measure(self, kept: _Kept) -> _Measured:
        """The envelope with what is kept, what it left out and its tokens; and whether these are few enough."""
        told = _shorten(self.clean, kept)
        told = told._replace(left_out=tuple(self._tell_left_out(told, kept)), tokens=self.max_tokens)
        bounded = told._replace(estimated=True)
        text = render_text(bounded)
        if len(text) > self.max_tokens * _CHARS_PER_TOKEN:
            return _Measured(bounded._replace(tokens=len(text)), fits=False)
        bound = bound_tokens(text, enough=self.max_tokens)
        if bound <= self.max_tokens:
            return _Measured(bounded._replace(tokens=bound), fits=True)
        # What fits by the bound needs no tokenizer: to load one takes longer than all the rest of a hook.
        from remit.contract.tokens import count_tokens  # noqa: PLC0415

        count = count_tokens(render_text(told))
        if count is None:
            return _Measured(bounded._replace(tokens=bound), fits=False)
        return _Measured(told._replace(tokens=count), fits=count <= self.max_tokens)

    def _tell_left_out(self, told: Envelope, kept: _Kept) -> Iterator[str]:
        """What is not in the envelope any more, or not whole, each with how much of it is there."""
        if not kept.details:
            yield "all but this"
            return
        if "summary" in self.cut or kept.summary < len(self.clean.summary):
            yield f"summary {len(told.summary.removesuffix('…'))}/{len(self.whole.summary)} characters"
        for name in ("artifacts", "findings", "errors", "unsettled", "next_steps", "notes"):
            count, of = len(getattr(told, name)), len(getattr(self.whole, name))
            if count < of:
                yield f"{name.replace('_', ' ')} {count}/{of}"
        if len(told.unclaimed) < self.clean.unclaimed_count:
            yield f"unclaimed {len(told.unclaimed)}/{self.clean.unclaimed_count}"
        parts = {
            "artifact summaries": told.artifacts and ("descriptions" in self.cut or kept.descriptions < self.described),
            "reasons": kept.hashes < 2 and any(each.reason for each in self.clean.artifacts),  # noqa: PLR2004 - as above
            "hashes": not kept.hashes and (told.artifacts or self.clean.answer),
            "path": len(told.path) < len(self.whole.path),
            "usage": not kept.usage and self.clean.usage != Spending(),
            "long texts": "texts" in self.cut or kept.messages < _MAX_MESSAGE or kept.names < _MAX_NAME,
        }
        yield from (part for part, is_gone in parts.items() if is_gone)


def _shorten(clean: Envelope, kept: _Kept) -> Envelope:
    """An envelope with only what is kept of each part; of errors, the first stays."""
    chars = kept.messages
    return clean._replace(
        agent=_clip(clean.agent, kept.names),
        summary=_clip(clean.summary, kept.summary),
        artifacts=tuple(
            each._replace(
                summary=_clip(each.summary, kept.descriptions),
                reason=each.reason if kept.hashes > 1 else "",
                sha256=each.sha256 if kept.hashes else "",
                size_bytes=each.size_bytes if kept.hashes else None,
            )
            for each in clean.artifacts[: kept.artifacts]
        ),
        unclaimed=clean.unclaimed[: kept.unclaimed],
        findings=tuple(each._replace(message=_clip(each.message, chars)) for each in clean.findings[: kept.findings]),
        errors=tuple(
            each._replace(
                message=_clip(each.message, chars),
                recommendation=_clip(each.recommendation, chars) if kept.advice else "",
            )
            for each in clean.errors[: max(1, kept.failures)]
        ),
        next_steps=clean.next_steps[: kept.next_steps],
        usage=clean.usage if kept.usage else Spending(),
        path=clean.path if kept.lineage else (),
        unsettled=tuple(each._replace(message=_clip(each.message, chars)) for each in clean.unsettled[: kept.failures]),
        notes=clean.notes[: kept.notes],
        answer=clean.answer if kept.lineage and kept.hashes else "",
        person_needed=clean.person_needed and bool(kept.advice),
    )


# --- what is clean --------------------------------------------------------------------------------------------------


class _Cleaning:
    """Makes a first, generous cut, so that what follows never handles much; remembers what was cut."""

    def __init__(self, max_tokens: int) -> None:
        self.max_chars = max_tokens * _CHARS_PER_TOKEN
        self.max_items = max_tokens // _TOKENS_PER_ITEM
        self.cut: set[str] = set()

    def clean(self, whole: Envelope) -> Envelope:
        """The envelope with texts of one line each, without secrets, and none of them longer than could ever fit."""
        ranked = sorted(whole.findings, key=lambda finding: _RANKS.get(finding.severity, 0))
        return whole._replace(
            agent=self.text(whole.agent, _MAX_NAME),
            summary=self.text(whole.summary, self.max_chars, "summary"),
            artifacts=tuple(self.artifact(each) for each in whole.artifacts[: self.max_items]),
            unclaimed=tuple(self.path(each) for each in whole.unclaimed[:_MAX_TOLD]),
            unclaimed_count=max(whole.unclaimed_count, len(whole.unclaimed)),
            findings=tuple(
                each._replace(message=self.text(each.message), place=None, fix=None) for each in ranked[:_MAX_TOLD]
            ),
            errors=tuple(self.fault(each) for each in whole.errors[:_MAX_TOLD]),
            next_steps=tuple(self.text(each) for each in whole.next_steps[:_MAX_TOLD]),
            usage=Spending(*map(_make_finite, whole.usage, _DECIMALS)),
            attempts=max(1, whole.attempts),
            path=tuple(self.text(each, _MAX_NAME) for each in whole.path[:_MAX_PATH_STEPS]),
            unsettled=tuple(Unsettled(each.step, self.text(each.message)) for each in whole.unsettled[:_MAX_TOLD]),
            notes=tuple(self.text(each) for each in whole.notes[:_MAX_TOLD]),
            person_needed=not all(each.recoverable for each in whole.errors),
            left_out=(),
            estimated=False,
        )

    def text(self, text: str, limit: int = _MAX_MESSAGE, what: str = "texts") -> str:
        """A text on one line, without what is invisible and what is secret."""
        piece = redact(text[: limit + _MARGIN])
        line = " ".join(_blank(piece).split())
        if len(line) > limit or len(text) > limit + _MARGIN:
            self.cut.add(what)
        return _clip(line, limit)

    def path(self, path: str) -> str:
        """A path is a name and no prose: nothing is taken for a secret in it, and no space is joined."""
        line = _blank(path[: _MAX_PATH + 1])
        if len(line) > _MAX_PATH:
            self.cut.add("texts")
        return _clip(line, _MAX_PATH)

    def code(self, code: str, limit: int = _MAX_CODE) -> str:
        """A code, a kind, a hash: a word."""
        if len(code) > limit:
            self.cut.add("texts")
        return _NOT_WORD.sub("?", code[:limit])

    def artifact(self, artifact: EnvelopeArtifact) -> EnvelopeArtifact:
        """An artifact and what was found out about it."""
        return artifact._replace(
            path=self.path(artifact.path),
            kind=self.code(artifact.kind),
            summary=self.text(artifact.summary, _MAX_MESSAGE, "descriptions"),
            grade=self.code(artifact.grade),
            reason=self.text(artifact.reason, _MAX_PATH),
            sha256=self.code(artifact.sha256, 64),
            size_bytes=_make_finite(artifact.size_bytes),
        )

    def fault(self, fault: Fault) -> Fault:
        """An error, without what only the full record has."""
        return fault._replace(
            type=self.code(fault.type),
            code=self.code(fault.code),
            message=self.text(fault.message),
            recommendation=self.text(fault.recommendation),
            details=None,
        )


def _blank(text: str) -> str:
    """A text with a space for everything that is invisible or steers a terminal."""
    if not text.isprintable():
        text = text.translate(_CONTROLS)  # many times quicker than to look at each, and all that most texts need
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA1)), " ")


def _make_finite(number: Any, decimals: int = 0) -> Any:  # noqa: ANN401 - a whole number, or one with a fraction
    """A number that JSON has and a person can read; None where it is neither."""
    if number is None or isinstance(number, bool) or not -_MAX_NUMBER < number < _MAX_NUMBER:  # NaN is neither
        return None
    return round(number, decimals) if isinstance(number, float) else number


def _clip(text: str, limit: int) -> str:
    """The beginning of a text, with a mark where it was cut; nothing where that would tell nothing."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1].rstrip()}…" if limit >= _HINT else ""
