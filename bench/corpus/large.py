"""Large and hostile messages: the ones that make readers hang, recurse to death or run out of memory.

Each is built when it is asked for; together they would fill the memory of a small machine.
"""

from __future__ import annotations

import copy
import html
import json
from typing import TYPE_CHECKING, Final, TypeAlias

from . import prose
from .case import EITHER, Case, Either, Payload
from .containers import START, fence, marked
from .draw import STANDARD, Draw, Sample
from .jobs import OAUTH, RUST
from .writing import compact, one_line, pretty, trailing_commas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CATEGORY: Final = "large"
_MILLION: Final = 1_000_000
_SIZE: Final = 5_000_000

Made: TypeAlias = tuple[str, Payload | Either | None]


def _own() -> Sample:
    return Draw(CATEGORY).sample(STANDARD, status="completed", job=OAUTH)


def _found(before: str = "", after: str = "") -> Made:
    """The own return in a fence, with something around it."""
    sample = _own()
    return f"{before}\n\n{fence(pretty(sample.payload))}\n{after}", sample.payload


def _with(key: str, value: object, *, text: str | None = None, right: bool = True) -> Made:
    """The own return with one more member of the metadata, written as `text` where that is given."""
    payload = copy.deepcopy(_own().payload)
    payload["metadata"][key] = value
    body = pretty(payload) if text is None else pretty(payload).replace(json.dumps(value), text)
    return fence(body), payload if right else EITHER


def _words(size: int = _SIZE) -> str:
    part = prose.filler(RUST, Draw("words").rng, 50_000) + "\n\n"
    return part * (size // len(part) + 1)


def _others(count: int, *, own_session: bool) -> str:
    """Many returns, each with another summary."""
    sample = _own()
    payload = copy.deepcopy(sample.payload)
    texts = []
    for number in range(count):
        payload["summary"] = f"Version {number} of the work. It differs from all others."
        if not own_session:
            payload["metadata"]["session_id"] = f"sess_1760000000_{number:06d}"
        texts.append(fence(compact(payload)))
    return "\n".join(texts)


def _levels(count: int) -> str:
    text = compact(_own().payload)
    for _ in range(count):
        text = json.dumps(text)
    return text


def _stream() -> Made:
    sample = _own()
    step = compact({"type": "assistant", "message": {"content": [{"type": "text", "text": RUST.prose[0]}]}})
    last = compact({"type": "result", "is_error": False, "result": fence(pretty(sample.payload)), "session_id": "x"})
    return "\n".join([*([step] * (_SIZE // len(step))), last]), sample.payload


def _doubled_status(word: str, expected: Either | None) -> Made:
    body = compact(_own().payload)
    return fence("{" + f'"status":"{word}",' * 100_000 + body[1:]), expected


def _spread(pad: str) -> Made:
    sample = _own()
    return pretty(sample.payload).replace("\n", f"\n{pad}", 4), sample.payload


def _quoted() -> str:
    line = "\n".join(f"> {line}" for line in fence(pretty(_own().payload)).split("\n"))
    return "\n\n".join([line] * (_SIZE // len(line)))


def _commented() -> Made:
    sample = _own()
    return fence("{\n/*" + "x" * _MILLION + "*/" + pretty(sample.payload)[1:]), sample.payload


def _damaged_end() -> Made:
    sample = _own()
    return f"{_words()}\n\n{fence(trailing_commas(pretty(sample.payload)))}", sample.payload


def _escaped_prose() -> Made:
    sample = _own()
    return f"{html.escape(_words(2 * _MILLION))}\n{html.escape(pretty(sample.payload))}", EITHER


_BUILDERS: Final[dict[str, Callable[[], Made]]] = {
    "prose-then-return": lambda: _found(before=_words()),
    "return-then-prose": lambda: _found(after=_words()),
    "return-in-middle": lambda: _found(before=_words(_SIZE // 2), after=_words(_SIZE // 2)),
    "prose-then-damaged": _damaged_end,
    "prose-only": lambda: (_words(), None),
    "brackets": lambda: ("[" * 100_000, None),
    "braces": lambda: ("{" * 100_000, None),
    "half-million-braces": lambda: ("{" * 500_000, None),
    "brace-lines": lambda: ("{\n" * 500_000, None),
    "brackets-closed": lambda: ("[" * 100_000 + "]" * 100_000, None),
    "nested-keys": lambda: ('{"a":' * 100_000, None),
    "nested-keys-closed": lambda: ('{"a":' * 100_000 + "1" + "}" * 100_000, None),
    "mixed-nesting": lambda: ('[{"a":' * 100_000, None),
    "brackets-then-return": lambda: _found(before="[" * 100_000),
    "braces-then-return": lambda: _found(before="{" * 500_000),
    "nested-keys-then-return": lambda: _found(before='{"a":' * 100_000),
    "return-then-brackets": lambda: _found(after="[" * 100_000),
    "return-then-closers": lambda: _found(after="}" * _MILLION),
    "nesting-inside-return": lambda: _with("deep", "@@", text="[" * 100_000 + "]" * 100_000, right=False),
    "backticks": lambda: ("`" * _MILLION, None),
    "backticks-then-return": lambda: _found(before="`" * _MILLION),
    "fences": lambda: ("```json\n" * 300_000, None),
    "fences-then-return": lambda: _found(before=(fence('{"status": "ok"}') + "\n") * 100_000),
    "start-markers": lambda: (f"{START}\n" * _MILLION, None),
    "start-markers-then-return": lambda: _found(before=f"{START}\n" * 100_000),
    "million-digits": lambda: _with("trace_id", "@@", text="7" * _MILLION, right=False),
    "million-digits-alone": lambda: ("7" * _MILLION, None),
    "digits-in-status": lambda: (fence('{"status": ' + "1" * _MILLION + "}"), None),
    "quotes": lambda: ('"' * _MILLION, None),
    "quotes-then-return": lambda: _found(before='"' * _MILLION),
    "apostrophes": lambda: ("{'" * 500_000, None),
    "long-value": lambda: _with("log", "line of a log, nothing special\n" * 32_000),
    "long-summary": lambda: (fence(pretty(_own().payload | {"summary": "Done. " * 200_000})), None),
    "many-keys": lambda: _with("index", {f"key_{number}": number for number in range(200_000)}, right=False),
    "many-keys-then-return": lambda: _found(before=one_line({f"key_{number}": number for number in range(200_000)})),
    "status-openings": lambda: ('{"status":' * 300_000, None),
    # After 300,000 things that begin like a return, giving up is as good as finding the one that is.
    "status-openings-then-return": lambda: (_found(before='{"status":' * 300_000)[0], EITHER),
    "status-words": lambda: ('"status" ' * 500_000, None),
    "status-stubs": lambda: ('{"status": "completed", "summary": ' * 100_000, None),
    "contradictions": lambda: (_others(10_000, own_session=True), None),
    "other-sessions-then-return": lambda: _found(before=_others(10_000, own_session=False)),
    "same-return-often": lambda: ("\n".join([fence(compact(_own().payload))] * 5_000), _own().payload),
    "backslashes": lambda: ("\\" * _MILLION, None),
    "backslashes-in-string": lambda: ('{"status": "' + "\\" * _MILLION, None),
    "backslashes-in-value": lambda: _with("pattern", "\\" * 500_000),
    "think-openings": lambda: ("<think>" * 500_000, None),
    "think-pairs-then-return": lambda: _found(before="<think>hm</think>" * 100_000),
    "think-nested-then-return": lambda: _found(before="<think>" * 100_000 + "</think>" * 100_000),
    "think-open-then-return": lambda: (_found(before="<think>" * 100_000)[0], EITHER),
    "entities": lambda: ("&quot;" * _MILLION, None),
    "entity-braces": lambda: ("{&quot;status&quot;:" * 200_000, None),
    "entities-and-return": _escaped_prose,
    "nuls": lambda: ("\x00" * _SIZE, None),
    "nuls-then-return": lambda: _found(before="\x00" * _MILLION),
    "surrogates": lambda: ("\ud83d" * _MILLION, None),
    "surrogates-then-return": lambda: _found(before="\udc80" * _MILLION),
    "surrogate-in-return": lambda: _with("note", "@@", text='"\\ud83d"', right=False),
    "unterminated": lambda: ('{"status": "completed", "summary": "' + "a" * _SIZE, None),
    "unterminated-many": lambda: ('{"status": "completed\n' * 100_000, None),
    "whitespace": lambda: (" " * _SIZE, None),
    "newlines-then-return": lambda: _found(before="\n" * _SIZE),
    "whitespace-inside": lambda: _spread(" " * _MILLION),
    "one-long-line": lambda: _found(before="QUJD" * (_SIZE // 4)),
    "commas-inside": lambda: _with("gaps", "@@", text="[" + "," * 500_000 + "]", right=False),
    "comment-openings": lambda: ("{/*" * 500_000, None),
    "long-comment": _commented,
    "string-levels": lambda: (_levels(12), EITHER),
    "doubled-status": lambda: _doubled_status("completed", EITHER),
    "doubled-status-other": lambda: _doubled_status("failed", None),
    "quoted-returns": lambda: (_quoted(), None),
    "stream": _stream,
    "marked-in-prose": lambda: (f"{_words()}\n{marked(compact(_own().payload))}\n{_words(_MILLION)}", _own().payload),
}
LARGE_NAMES: Final = tuple(_BUILDERS)


def large_case(name: str) -> Case:
    """One of the large messages, built now."""
    text, expected = _BUILDERS[name]()
    return Case(f"{CATEGORY}/{name}", CATEGORY, text, STANDARD, _own().session_id, expected)


def large_cases() -> Iterator[Case]:
    """All of them, one at a time."""
    return map(large_case, LARGE_NAMES)
