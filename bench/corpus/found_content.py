"""Messages with a sound return whose content is awkward: odd characters, odd order, odd but allowed values."""

from __future__ import annotations

import copy
import json
import uuid
from typing import TYPE_CHECKING, Final

from . import prose, writing
from .containers import END, START, anywhere, at_end, fence, in_middle, marked
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .found_damaged import said
from .writing import compact, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .case import Payload

_SUMMARIES: Final = (
    ("german", "Der Zähler läuft jetzt über, ohne abzustürzen. Größe und Maß stimmen überein."),
    ("japanese", "ログ解析を修正しました。テストはすべて通過しています。"),
    ("russian", "Исправлен разбор журнала. Тесты проходят успешно."),
    ("arabic", "تم إصلاح المحلل. جميع الاختبارات ناجحة."),
    ("chinese", "修复了解析器。所有测试均已通过。"),
    ("french", "L’analyseur est corrigé : « tout passe ». Rien n’est resté ouvert."),
    ("maths", "Proved ∀ x ≥ 0, ∃ y ≠ x by cases. The bound ε/2 is tight."),
    ("emoji", "Fixed the lexer 🎉. All tests are green ✅."),
)
_HOSTILE: Final = (
    ("ticks", "Ran `make test` and ``make lint``. Both pass."),
    ("fence", "Wrapped the sample in ```json fences ```. The renderer shows it."),
    ("fenced-object", 'The guide now shows:\n```json\n{"status": "failed"}\n```\nand explains it.'),
    ("braces", "Unbalanced { and } in templates like ${name}} are reported now. Tests pass."),
    ("brackets", "The list [1, 2, 3 is reported with its line. So is ]]."),
    ("quotes", 'The word "status" is now quoted as "\\"status\\"" in logs. Tests pass.'),
    ("object", 'An input of {"status": "failed", "summary": "x"} no longer crashes. Tests pass.'),
    ("markers", f"The reader looks for {START} and {END} now. Tests pass."),
    ("comment", "Strips // and /* */ but keeps # in colours. Tests pass."),
    ("pipes", "The status enum is completed|partial|failed in the schema now. Tests pass."),
    ("dots", "Long names are cut to 20 characters plus ... in the table. Tests pass."),
    ("tokens", "Tokens such as {{TASK_ID}} are resolved before dispatch. Tests pass."),
    ("angles", "The tag <placeholder> is rendered as text now. Tests pass."),
    ("backslashes", "Paths like C:\\temp\\new and \\\\server\\share are read. Tests pass."),
    ("words", "NaN and Infinity are written as null now. Tests pass."),
    ("html", 'Writes <b>bold</b> & "quoted" text safely. Tests pass.'),
)


def unicode_text(draw: Draw) -> Iterator[Draft]:
    """Summaries in many scripts, emoji around."""
    for name, text in _SUMMARIES:
        for style in (pretty, json.dumps):
            sample = said(draw.sample(), text)
            yield sample.found(name, anywhere(sample, draw.rng, fence(style(sample.payload))))
    for sample in draw.samples(4):
        text = f"🚀 {sample.job.title} — done! 🎉🎉\n\n{fence(pretty(sample.payload))}\n\n👋 {sample.job.bullets[0]} ✨"
        yield sample.found("emoji-around", text)
    sample = said(draw.sample(), "Line\u2028separators and \u0007 bells are dropped now. Tests pass.")
    yield sample.found("separators", at_end(sample, draw.rng, fence(pretty(sample.payload))))


def odd_bytes(draw: Draw) -> Iterator[Draft]:
    """Byte order marks, line ends and spaces that are none."""
    for sample in draw.samples(2):
        body = pretty(sample.payload)
        message = at_end(sample, draw.rng, fence(body))
        yield sample.found("bom-bare", f"\ufeff{body}")
        yield sample.found("bom-message", f"\ufeff{message}")
        yield sample.found("bom-in-fence", at_end(sample, draw.rng, fence(f"\ufeff{body}")))
        yield sample.found("crlf", message.replace("\n", "\r\n"))
        yield sample.found("cr", message.replace("\n", "\r"))
        yield sample.found("crlf-bare", body.replace("\n", "\r\n"))
        yield sample.found("nbsp-indent", at_end(sample, draw.rng, fence(body.replace("  ", "\u00a0\u00a0"))))
        yield sample.found("nbsp-colon", at_end(sample, draw.rng, fence(body.replace('": ', '":\u00a0'))))
        yield sample.found("zero-width", at_end(sample, draw.rng, f"\u200b{body}\u200b"))
        yield sample.found("form-feed", f"\x0c{message}")
        yield sample.found("nul-after", f"{message}\x00\x00")
        yield sample.found("narrow-space", at_end(sample, draw.rng, fence(body.replace('": ', '":\u202f'))))
    for sample in draw.samples(2):
        spaced = said(sample, "Took 4\u00a0000\u00a0ms before. Takes 900\u00a0ms now.")
        yield spaced.found("nbsp-in-value", at_end(spaced, draw.rng, fence(pretty(spaced.payload))))


def hostile_strings(draw: Draw) -> Iterator[Draft]:
    """Values that hold what the reader looks for."""
    for name, text in _HOSTILE:
        sample = said(draw.sample(), text)
        yield sample.found(name, anywhere(sample, draw.rng, fence(pretty(sample.payload))))
        sample = said(draw.sample(STANDARD), text)
        place = draw.rng.choice((in_middle, at_end))
        yield sample.found(f"{name}-bare", place(sample, draw.rng, one_line(sample.payload)))
    for _ in range(2):
        outer = draw.sample(STANDARD, status="partial")
        inner = draw.sample(STANDARD, status="completed")
        held = copy.deepcopy(outer.payload)
        held["errors"][0]["message"] = f"The helper returned {compact(inner.payload)[:160]} and stopped"
        holder = outer.having(held)
        yield holder.found("return-in-message", at_end(holder, draw.rng, fence(pretty(holder.payload))))


def key_order(draw: Draw) -> Iterator[Draft]:
    """Members in an unusual order."""
    for sample in draw.samples(8):
        turned = sample.having(writing.reordered(sample.payload, draw.rng))
        yield turned.found("shuffled", anywhere(turned, draw.rng, fence(pretty(turned.payload))))
    for sample in draw.samples(4, STANDARD):
        last = {key: value for key, value in sample.payload.items() if key != "status"} | {
            "status": sample.payload["status"]
        }
        turned = sample.having(last)
        yield turned.found(
            "status-last", at_end(turned, draw.rng, draw.rng.choice((fence(pretty(last)), compact(last))))
        )
    for sample in draw.samples(4, HYPER):
        last = {key: value for key, value in sample.payload.items() if key != "meta"} | {"meta": sample.payload["meta"]}
        turned = sample.having(last)
        yield turned.found("meta-last", at_end(turned, draw.rng, marked(pretty(last))))


def extra_keys(draw: Draw) -> Iterator[Draft]:
    """Keys that nobody asked for survive."""
    extras: tuple[Payload, ...] = (
        {"task_number": 412, "branch": "task/412"},
        {"verification": {"lint": "pass", "typecheck": "pass", "test": "skipped"}},
        {"confidence": 0.82, "notes": ["kept short", "see report"], "parent": None},
        {"status_history": [{"status": "partial"}, {"status": "completed"}]},
        {"key_findings": [], "blockers": [], "git": {"sha": "9f1c2e7", "pushed": False}},
    )
    for extra in extras:
        for sample in draw.samples(2):
            more = sample.having(sample.payload | extra)
            yield more.found("top", anywhere(more, draw.rng, fence(pretty(more.payload))))
        sample = draw.sample()
        payload = copy.deepcopy(sample.payload)
        payload["metadata" if sample.return_format == STANDARD else "meta"].update(
            {key: value for key, value in extra.items() if key != "status_history"}
        )
        inner = sample.having(payload)
        yield inner.found("inner", at_end(inner, draw.rng, fence(pretty(payload))))


def _session_moved(sample: Sample, *, keep: bool = False) -> Sample:
    payload = copy.deepcopy(sample.payload)
    if not keep:
        del payload["metadata"]["session_id"]
    return sample.having(payload | {"session_id": sample.session_id})


def session_at_top(draw: Draw) -> Iterator[Draft]:
    """The session id beside the metadata instead of inside."""
    for sample in draw.samples(6, STANDARD):
        moved = _session_moved(sample)
        yield moved.found("moved", anywhere(moved, draw.rng, fence(pretty(moved.payload))))
    for sample in draw.samples(3, STANDARD):
        both = _session_moved(sample, keep=True)
        yield both.found("both", at_end(both, draw.rng, fence(pretty(both.payload))))
    for sample in draw.samples(2, STANDARD):
        first = _session_moved(sample)
        turned = first.having({"session_id": sample.session_id} | first.payload)
        yield turned.found("first", compact(turned.payload))


def session_forms(draw: Draw) -> Iterator[Draft]:
    """Session ids are opaque."""
    forms = (
        "sess_20251226_abc123",
        str(uuid.UUID(int=draw.rng.getrandbits(128), version=4)),
        "ses_4Qx9ZpLk2",
        "session_2026-02-11T09:14:00Z",
        "a1",
        "agent:planner/7",
        "01JH8Z9M3K5T7W",
    )
    for form in forms:
        sample = draw.sample(STANDARD)
        payload = copy.deepcopy(sample.payload)
        payload["metadata"]["session_id"] = form
        own = Sample(sample.job, STANDARD, form, payload)
        yield own.found("form", at_end(own, draw.rng, fence(pretty(payload))))


def big_numbers(draw: Draw) -> Iterator[Draft]:
    """Integers beyond 64 bits stay integers."""
    for number in (2**63, 2**64 + 1, 10**30, -(10**25), 12345678901234567890123, 2**53 + 1):
        sample = draw.sample()
        payload = copy.deepcopy(sample.payload)
        payload["metadata" if sample.return_format == STANDARD else "meta"]["trace_id"] = number
        big = sample.having(payload)
        yield big.found("integer", at_end(big, draw.rng, fence(pretty(payload))))
        broken = writing.trailing_commas(pretty(payload))
        yield big.found("integer-damaged", at_end(big, draw.rng, fence(broken)))
    for written, read in (("2.5e3", 2500.0), ("1E2", 100.0), ("-0.5", -0.5)):
        sample = draw.sample(STANDARD)
        payload = copy.deepcopy(sample.payload)
        payload["metadata"]["cost"] = read
        text = pretty(payload).replace(json.dumps(read), written, 1)
        yield sample.having(payload).found("float", at_end(sample, draw.rng, fence(text)))


def lenient(draw: Draw) -> Iterator[Draft]:
    """What the rules only warn about."""
    for sample in draw.samples(2, STANDARD, status="completed"):
        base = copy.deepcopy(sample.payload)
        spare = copy.deepcopy(base)
        del spare["metadata"]["duration_seconds"]
        yield _told(draw, sample, "no-duration", spare)
        spare = copy.deepcopy(base)
        for artifact in spare["artifacts"]:
            del artifact["summary"]
        yield _told(draw, sample, "no-artifact-summary", spare)
        yield _told(draw, sample, "one-sentence", base | {"summary": "Done as planned."})
        yield _told(draw, sample, "short", base | {"summary": "ok"})
        long = "The parser was split in two and every caller moved to the new entry point. " * 6
        yield _told(draw, sample, "450-characters", base | {"summary": long[:449] + "."})
        yield _told(draw, sample, "markup", base | {"summary": "**Done**: `lexer` split. See [plan](a.md)."})
        yield _told(draw, sample, "research-kind", base | {"artifacts": [dict(base["artifacts"][0], type="research")]})
        yield _told(
            draw, sample, "dotted-path", base | {"artifacts": [dict(base["artifacts"][0], path="./a/b.c/d.md")]}
        )
        yield _told(
            draw, sample, "spaced-path", base | {"artifacts": [dict(base["artifacts"][0], path="docs/On call v2.md")]}
        )
        yield _told(
            draw, sample, "dots-in-name", base | {"artifacts": [dict(base["artifacts"][0], path="a/..b/c...md")]}
        )
    for sample in draw.samples(2, STANDARD, status="failed"):
        foreign = copy.deepcopy(sample.payload)
        foreign["errors"][0] |= {"code": "E_QUOTA_17", "type": "quota"}
        yield _told(draw, sample, "foreign-code", foreign)
        more = [*foreign["errors"], dict(foreign["errors"][0], message="And once more on the second try")]
        yield _told(draw, sample, "two-errors", foreign | {"errors": more})
    for sample in draw.samples(2, HYPER, status="complete"):
        timed = copy.deepcopy(sample.payload)
        timed["meta"]["execution_time_ms"] = 15230.75
        yield _told(draw, sample, "fractional-ms", timed)


def _told(draw: Draw, sample: Sample, name: str, payload: Payload) -> Draft:
    other = sample.having(payload)
    return other.found(name, at_end(other, draw.rng, fence(pretty(payload))))


def quiet_messages(draw: Draw) -> Iterator[Draft]:
    """A single line of prose, as small models write it."""
    for sample in draw.samples(6):
        line = draw.rng.choice(("Done.", "Task finished.", "Here you go:", "Result below", "OK"))
        yield sample.found("short", f"{line}\n{draw.rng.choice((pretty, compact))(sample.payload)}")
    for sample in draw.samples(3):
        yield sample.found(
            "after-rule", f"{prose.closing(sample.job, draw.rng)}\n\n***\n\n{one_line(sample.payload)}\n***"
        )


CATEGORIES: Final[dict[str, Builder]] = {
    "unicode-text": unicode_text,
    "odd-bytes": odd_bytes,
    "hostile-strings": hostile_strings,
    "key-order": key_order,
    "extra-keys": extra_keys,
    "session-at-top": session_at_top,
    "session-forms": session_forms,
    "big-numbers": big_numbers,
    "lenient": lenient,
    "quiet-messages": quiet_messages,
}
