"""Selection: which object in a final message is the return, by structure and by the issued id.

Candidates inside thinking tags or on quoted lines don't count. If an id was issued,
those that carry it count; if they contradict each other, none is taken. Sentences around a
return are never read.
"""

from __future__ import annotations

import json
from functools import cached_property, partial
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from remit.lazy_regex import lazy
from remit.model import DATA
from remit.returns.candidates import MessageScan, ReturnCandidate, find_incomplete, scan_message
from remit.returns.conflicts import find_conflicts
from remit.returns.formats import HYPER, MANIFEST, STANDARD
from remit.returns.formats.manifest import SENTENCES
from remit.returns.hidden_text import find_thinking
from remit.returns.parsed_message import FILLED, ParsedMessage
from remit.returns.placeholders import find_blanks, is_placeholder
from remit.returns.rules import ParseIssue, ParseIssueKind, name_verdict, run_return_rules
from remit.returns.rules.fields import shorten
from remit.returns.shapes import drop_empty_items, unquote_numbers
from remit.returns.tolerant_json import join_surrogates
from remit.returns.unwrap import MAX_LEVELS, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from remit.model import Expectation, Status
    from remit.returns.formats import Format
    from remit.returns.tolerant_json import JsonFlaw

MAX_MESSAGE_CHARS = 8 * 1024 * 1024
_MAX_NOTE_CHARS = 200
_COLORS = lazy(r"\x1b\[[0-9;:]*+[mK]")
"""Terminal color sequences."""


def find_return(
    text: str, wanted: Format | None, expectation: Expectation, words: Mapping[str, Status]
) -> ParsedMessage:
    """Find the return in a final message. The issues of the parsed message say what is in the way."""
    if not text.isascii():
        text = join_surrogates(text)  # half a surrogate pair cannot be printed
    raw, text = text, _COLORS.sub("", text) if "\x1b" in text else text
    parsed = _parse(text, wanted, expectation, words)
    if len(text) < len(raw) and parsed.return_format is not None:
        parsed.located = False
        parsed.repairs = (("colors", 0), *parsed.repairs)
    return parsed


def _parse(text: str, wanted: Format | None, expectation: Expectation, words: Mapping[str, Status]) -> ParsedMessage:
    parsed = ParsedMessage(text, wanted, expectation=expectation, words=words)
    if len(text) > MAX_MESSAGE_CHARS:
        limit = MAX_MESSAGE_CHARS // (1024 * 1024)
        what = f"the message is longer than {limit} million characters"
        parsed.issues = (ParseIssue("too_big", what, "Send a short report."),)
    elif not text or text.isspace():
        hint = "Send a return; use status failed if you couldn't do the work."
        parsed.issues = (ParseIssue("empty", "the message is empty", hint),)
    elif wanted is MANIFEST:
        _read_sentence(parsed)
    else:
        session_id = None if expectation.by_ticket else expectation.session_id
        scan = _scan_and_unwrap(text, wanted, session_id)
        if scan.candidates and not scan.overflow:
            return _select([_judge(each, expectation, words) for each in scan.candidates], scan)
        if wanted is None and not scan.overflow and any(sentence in text for sentence in SENTENCES.values()):
            _read_sentence(parsed)
            return parsed
        issue = _explain_absence(scan, text, wanted)
        formats = (wanted,) if wanted else (STANDARD, HYPER)
        incomplete = find_incomplete(text, formats, session_id) if issue.kind == "absent" else []
        if incomplete:
            return _select([_judge(each, expectation, words) for each in incomplete], scan)
        parsed.issues = (issue,)
    return parsed


class _JudgedCandidate:
    """A candidate as a parsed message, and what follows from it without the disk."""

    def __init__(self, candidate: ReturnCandidate, parsed: ParsedMessage) -> None:
        self.candidate = candidate
        self.parsed = parsed

    @cached_property
    def is_good(self) -> bool:
        """Whether every rule accepts it. Only computed if there are several candidates."""
        return name_verdict(run_return_rules(self.parsed, places=False)) == "accepted"

    @property
    def is_whole(self) -> bool:
        """Whether its list of files can be compared."""
        is_readable = {issue.kind for issue in self.parsed.issues} <= {"conflict"}
        return self.is_good or (is_readable and isinstance(self.parsed.get("artifacts"), list))

    @property
    def denies_itself(self) -> bool:
        """Whether it makes two statements about how the work ended."""
        return any(issue.kind == "conflict" for issue in self.parsed.issues)

    @property
    def is_template(self) -> bool:
        return any(issue.kind == "template" for issue in self.parsed.issues)

    @property
    def is_bound(self) -> bool:
        """Whether it carries the issued id. In `hyper`, which has no id, the agent's name takes that place."""
        known = self.parsed.expectation
        if self.candidate.return_format is HYPER:
            return self.agent is None or known.names_agent(self.agent)
        if known.by_ticket and self.session_id is None:
            return True
        return known.session_id in (self.parsed.get("metadata", "session_id"), self.parsed.get("session_id"))

    @property
    def session_id(self) -> object:
        return self.parsed.get("metadata", "session_id") or self.parsed.get("session_id")

    @property
    def is_cut(self) -> bool:
        """Whether it ends before or inside its id, which may be the issued one."""
        given, issued = self.session_id, self.parsed.expectation.session_id or ""
        may_be_issued = not given or (isinstance(given, str) and issued.startswith(given))
        return may_be_issued and any(flaw.kind == "cut" for flaw in self.candidate.parsed.flaws)

    def is_after(self, other: _JudgedCandidate) -> bool:
        return self.candidate.parsed.start > other.candidate.parsed.start

    @property
    def agent(self) -> object:
        return _get_agent(self.parsed)

    def contradicts(self, other: _JudgedCandidate) -> bool:
        are_good = lambda: self.is_good and other.is_good  # noqa: E731 - as the other
        return _contradict(self.parsed, other.parsed, lambda: self.is_whole and other.is_whole, are_good)


def _get_agent(parsed: ParsedMessage) -> object:
    return parsed.get("metadata", "agent_type") or parsed.get("meta", "agent_name")


def _contradict(
    parsed: ParsedMessage, other: ParsedMessage, are_whole: Callable[[], bool], are_good: Callable[[], bool]
) -> bool:
    """Whether two returns can't both be true: another status, other files, other data, another agent.

    The files are compared only if both lists are whole: one may be cut off or left out. Data is compared if there is a
    schema for it, and only of returns that every rule accepts: an agent may correct a return in the same message.
    """
    status, agent = _get_status(parsed), _get_agent(parsed)
    return (
        (None not in (status, _get_status(other)) and status != _get_status(other))
        or (None not in (agent, _get_agent(other)) and agent != _get_agent(other))
        or (are_whole() and _list_claims(parsed) != _list_claims(other))
        or (parsed.expectation.data is not None and _differ(parsed.get(DATA), other.get(DATA)) and are_good())
    )


def _differ(data: object, other: object) -> bool:
    """Whether two values are different JSON: 1 and true are, though Python says they are equal."""
    return data != other or json.dumps(data, sort_keys=True) != json.dumps(other, sort_keys=True)


def _get_status(parsed: ParsedMessage) -> object:
    """The status, or the unknown word that stands in its place."""
    return parsed.status or (parsed.return_format.word(parsed.payload or {}) if parsed.return_format else None)


def _list_claims(parsed: ParsedMessage) -> set[str]:
    paths = parsed.return_format.paths(parsed.payload or {}) if parsed.return_format else ()
    return {normpath(path) if path else path for _, path in paths}


def choose_message(messages: Sequence[ParsedMessage]) -> ParsedMessage:
    """Choose between the returns that an agent submitted and its final message, which is the last.

    A submitted return counts if it is usable at all. If another return contradicts it, or can't be read, it is unclear
    which of them the agent means.
    """
    *submitted, final = messages
    if not submitted:
        return final
    verdicts = {id(each): name_verdict(run_return_rules(each, places=False)) for each in messages}
    returns = [each for each in messages if verdicts[id(each)] not in ("missing", "degenerate")] or submitted[:1]
    chosen = next((each for each in returns if verdicts[id(each)] != "malformed"), returns[-1])
    for each in returns:
        are_good = partial({"accepted"}.issuperset, (verdicts[id(each)], verdicts[id(chosen)]))
        if each is not chosen and (each.payload is None or _contradict(chosen, each, are_good, are_good)):
            what = "the submitted return and a return in the final message or file contradict each other"
            chosen.issues += (ParseIssue("contradiction", what, "Submit one return, and send no other."),)
            break
    if verdicts[id(final)] == "missing":
        chosen.final = final.text.strip()[:_MAX_NOTE_CHARS]
        sentence = _SENTENCE_END.search(chosen.final)
        chosen.final = chosen.final[: sentence.end()] if sentence else chosen.final
    return chosen


def _scan_and_unwrap(text: str, wanted: Format | None, session_id: str | None) -> MessageScan:
    """Scan the message as it is; if it has no usable candidate, scan its unwrapped parts."""
    formats = (wanted,) if wanted else (STANDARD, HYPER)
    first = scan = scan_message(text, formats, session_id)
    layers: list[tuple[tuple[str, ...], str]] = [((), text)]
    for _ in range(MAX_LEVELS):
        if any(candidate.is_strong for candidate in scan.candidates) or scan.overflow:
            return scan
        layers = [
            ((*names, name), inner)
            for names, outer in layers
            for name, inner in unwrap(outer, lambda value: any(d.is_like(value) for d in formats))
        ][:8]
        found = MessageScan()
        for names, inner in layers:
            for candidate in scan_message(inner, formats, session_id).candidates:
                candidate.wrapping = (*names, *candidate.wrapping)
                found.candidates.append(candidate)
        if found.candidates:
            scan = found
    return scan if scan.candidates else first


def _explain_absence(scan: MessageScan, text: str, wanted: Format | None) -> ParseIssue:
    if scan.overflow:
        return ParseIssue("too_big", scan.overflow, "Send one return, at the end of a short message.")
    if scan.unreadable:
        reason, _, end = scan.unreadable
        message = f"the return can't be parsed: {reason}"
        return ParseIssue(
            "too_big" if scan.capped else "unreadable", message, "Send valid JSON.", end, min(end + 1, len(text))
        )
    if wanted is not None:
        for other in (STANDARD, HYPER):
            if other is not wanted and scan_message(text, (other,), None).candidates:
                return ParseIssue("return_format", f"expected a return in the format {wanted.name}, got {other.name}",
                                  f"Send a {wanted.name} return, or check with --format {other.name}.")  # fmt: skip
    return ParseIssue(
        "absent", "the message has no return", "End the message with the JSON object that the instructions describe."
    )


def _judge(candidate: ReturnCandidate, known: Expectation, words: Mapping[str, Status]) -> _JudgedCandidate:
    """Turn a candidate into a parsed message, with an issue for each problem that the parser found."""
    source, return_format = candidate.parsed, candidate.return_format
    repairs = list(source.repairs.items())
    if _lift_keys(candidate):
        repairs.append(("lifted_keys", source.start))
    issues = [issue for flaw in _split_flaws(source.flaws) if (issue := _read_flaw(flaw, candidate, repairs))]
    repairs += [(kind, source.start) for kind in normalize(source.value, return_format, known, words, source.spans)]
    if candidate.glued:
        what = "the return is inside another object that can't be parsed"
        issues.append(ParseIssue("unreadable", what, "Send one return.", source.start, source.start + 1))
    issues += find_blanks(source.value, return_format, known.session_id)
    data = source.value.get(DATA)
    if known.data is not None and isinstance(data, str) and is_placeholder(data, DATA):
        issues.append(ParseIssue("template", f"{DATA} is a placeholder: {data[:60]}", "Replace it with a real value.",
                                 pointer=f"/{DATA}"))  # fmt: skip
    issues += find_conflicts(source.value, return_format, words)
    parsed = ParsedMessage(
        candidate.text,
        return_format,
        source.value,
        tuple(issues),
        source.spans,
        located=not candidate.wrapping,
        marked=candidate.marked,
        expectation=known,
        words=words,
        repairs=(*((name, source.start) for name in candidate.wrapping), *repairs),
    )
    return _JudgedCandidate(candidate, parsed)


def normalize(
    value: dict[str, Any],
    return_format: Format,
    known: Expectation,
    words: Mapping[str, Status],
    spans: dict[str, tuple[int, int]],
) -> Iterator[str]:
    """Change equivalent spellings to the format's own, and yield the repairs.

    Drops empty items of lists (D5), and shortens a long summary if the caller wants that.
    """
    if known.fills:
        _drop_filled(value, return_format)
    if drop_empty_items(value, return_format.shape, spans):
        yield "empty_items"
    if unquote_numbers(value, return_format.shape):
        yield "quoted_number"
    *outer, last = return_format.status_at
    holder: Any = value
    for key in outer:
        holder = holder.get(key) if isinstance(holder, dict) else None
    word = holder.get(last) if isinstance(holder, dict) else None
    if (
        isinstance(word, str)
        and word not in {*return_format.statuses, *words}
        and word.lower() in return_format.statuses
    ):
        holder[last] = word.lower()
        yield "status_case"
    for holder in (value, value.get("metadata")):
        given = holder.get("session_id") if isinstance(holder, dict) else None
        if isinstance(given, str) and given != given.strip() and holder is not None:
            holder["session_id"] = given.strip()
            yield "id_blanks"
    artifacts = value.get("artifacts")
    named = [(artifact, "path") for artifact in artifacts] if isinstance(artifacts, list) else []
    named += [(value, "file")] if return_format is MANIFEST else []
    prefixes = [f"{root.rstrip('/')}/" for root in known.roots]
    for holder, key in named if prefixes else ():
        path = holder.get(key) if isinstance(holder, dict) else None
        prefix = next((each for each in prefixes if path.startswith(each)), None) if isinstance(path, str) else None
        if isinstance(path, str) and prefix is not None:
            holder[key] = path[len(prefix) :].lstrip("/")
            yield "absolute_path"
    summary = value.get("summary")
    if known.shortens and return_format is STANDARD and isinstance(summary, str):
        value["summary"] = shorten(summary)
        if value["summary"] != summary:
            yield "shortened"


def _drop_filled(value: dict[str, Any], return_format: Format) -> None:
    """Drop each null that Remit fills in; add the metadata of a `standard` return, if it has no other use."""
    if return_format is STANDARD and value.keys() >= {"status", "summary"}:
        value.setdefault("metadata", {})
    for pointer in FILLED:
        outer, name = pointer[1:].split("/")
        holder = value.get(outer)
        if isinstance(holder, dict) and name in holder and holder[name] is None:
            del holder[name]


_FLAWS: dict[str, tuple[ParseIssueKind, str, str]] = {
    "conflict": ("conflict", "has two different values", "Write each key once."),
    "nonfinite": ("nonfinite", "isn't a finite number", "Write a number, or remove the key."),
    "ellipsis": ("template", "ends with an ellipsis", "Write the full value."),
    "template": ("template", "is a placeholder", "Replace it with a real value."),
    "cut": ("cut", "is cut off", "Send a shorter return."),
}


def _lift_keys(candidate: ReturnCandidate) -> bool:
    """Move top-level keys out of an inner object that contains them because its closing bracket is missing."""
    parsed, known = candidate.parsed, candidate.return_format.shape.known
    inner_name = "meta" if candidate.return_format is HYPER else "metadata"
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
"""Top-level keys that are also valid in the inner object."""


def _split_flaws(flaws: list[JsonFlaw]) -> list[JsonFlaw]:
    """Return the flaws without repeated cuts: if a text is cut off, so are all objects around it."""
    first_cut = next((flaw for flaw in flaws if flaw.kind == "cut"), None)
    return [flaw for flaw in flaws if flaw.kind != "cut" or flaw is first_cut]


_DECIDING = frozenset({"status", "summary", "artifacts", "metadata", "errors"})
"""If all of these are complete, a cut after them doesn't change the meaning of a `standard` return."""


def _read_flaw(flaw: JsonFlaw, candidate: ReturnCandidate, repairs: list[tuple[str, int]]) -> ParseIssue | None:
    top = flaw.pointer.split("/")[1].replace("~1", "/").replace("~0", "~") if flaw.pointer else ""
    value, essential = candidate.parsed.value, candidate.return_format.essential
    is_optional = not any(name.startswith(top) for name in essential) if top else value.keys() >= _DECIDING
    if flaw.kind == "cut" and is_optional:
        value.pop(top, None)
        repairs.append(("cut_off", flaw.start))
        return None
    kind, what, hint = _FLAWS[flaw.kind]
    name = flaw.pointer[1:] or "the return"
    return ParseIssue(kind, f"{name} {what}", hint, flaw.start, flaw.end, flaw.pointer)


def _select(judged: list[_JudgedCandidate], scan: MessageScan) -> ParsedMessage:
    """Return the one return that counts. If several contradict each other, an issue says so."""
    visible = [each for each in judged if each.candidate.hidden is None]
    if not visible:
        last = judged[-1]
        hidden, start = last.candidate.hidden or "quoted", last.candidate.parsed.start
        what = "inside thinking text" if hidden == "thinking" else "on quoted lines"
        issue = ParseIssue(hidden, f"the only return is {what}", "Repeat it in your answer.", start, start + 1)
        return _take(last, (issue,))
    session_id = judged[0].parsed.expectation.session_id
    pool = [each for each in visible if each.is_bound] if session_id is not None else visible
    pool = [each for each in pool if not each.is_template] or pool
    if not pool:
        return _take(_pick_best(visible), ())
    marked = [each for each in pool if each.candidate.marked] or pool
    chosen = _pick_best(marked)
    # One that is cut off after the chosen one may have lost its id.
    lost = [each for each in visible if each not in pool and each.is_cut and each.is_after(chosen)]
    rivals = [each for each in (*pool, *lost) if each is not chosen and _rivals(each, chosen)]
    issues = [
        ParseIssue("contradiction", "the message has two returns that contradict each other", "Send one return.",
                   each.candidate.parsed.start, each.candidate.parsed.start + 1)
        for each in rivals[-1:]
    ]  # fmt: skip
    return _take(chosen, (*issues, *_find_unreadable_rival(scan, chosen, session_id)))


def _pick_best(pool: list[_JudgedCandidate]) -> _JudgedCandidate:
    """The last one that is good; if none is, the last of those that are nearly complete."""
    if len(pool) == 1:
        return pool[0]
    return max(reversed(pool), key=lambda each: (each.is_good, each.candidate.is_strong))


def _rivals(each: _JudgedCandidate, chosen: _JudgedCandidate) -> bool:
    """Whether another return makes it unclear which one counts.

    Output markers say which one is the report. A return outside of them still counts if it denies a completed one: with
    the same id always, without an id (`hyper`) unless it is an earlier `partial` or names another agent.
    """
    is_later_denial = each.denies_itself and not chosen.denies_itself and each.is_after(chosen)
    if not each.contradicts(chosen) and not is_later_denial:
        return False
    if not chosen.candidate.marked or each.candidate.marked:
        return True
    if chosen.parsed.status != "completed" or each.parsed.status in (None, "completed"):
        return False
    if each.session_id is not None and each.session_id == chosen.session_id:
        return True
    if None not in (each.agent, chosen.agent) and each.agent != chosen.agent:
        return False
    return each.parsed.status != "partial" or each.is_after(chosen)


_QUOTED_KEY = lazy(r"[\"'“‘]status[\"'”’]\s{0,4}[:=]")
_STATUS_KEY = lazy(r"status[\"'”’]?\s{0,4}[:=]")


def _find_unreadable_rival(
    scan: MessageScan, chosen: _JudgedCandidate, session_id: str | None
) -> tuple[ParseIssue, ...]:
    """Return an issue if an unreadable object after the return began like another return."""
    if scan.unreadable is None or chosen.candidate.wrapping:
        return ()
    _, start, end = scan.unreadable
    ruin = chosen.candidate.text[start : end + 80]
    has_id = session_id is not None and session_id in chosen.candidate.text[start:]
    is_foreign = session_id is not None and "session_id" in ruin and session_id not in ruin
    key = (_STATUS_KEY if has_id or session_id is None else _QUOTED_KEY).search(ruin)  # code has keys without quotes
    if start < chosen.candidate.parsed.end or is_foreign or not key:
        return ()
    what = "another return follows that can't be parsed"
    return (ParseIssue("contradiction", what, "Send one return.", start, start + 1),)


def _take(chosen: _JudgedCandidate, issues: tuple[ParseIssue, ...]) -> ParsedMessage:
    parsed, candidate = chosen.parsed, chosen.candidate
    parsed.issues += issues
    parsed.transport = "message" if candidate.alone else "block"
    parsed.after = _find_sentence_after(candidate)
    return parsed


_CLOSERS = lazy(r"(?:[\s`~*_\"'\]);,}|>]|<[\w!/][^<>\n]{0,80}>|AGENT_OUTPUT_END)*+")
_SENTENCE_END = lazy(r"[.!?](?=\s|\Z)|\n")


def _find_sentence_after(candidate: ReturnCandidate) -> tuple[int, int] | None:
    """Return the position of the first sentence after a return, which may be a retraction; None if there is none."""
    text = candidate.text
    closers = _CLOSERS.match(text, candidate.parsed.end)
    start = closers.end() if closers else candidate.parsed.end
    found = _SENTENCE_END.search(text, start, start + _MAX_NOTE_CHARS)
    end = start + len(text[start : found.end() if found else start + _MAX_NOTE_CHARS].rstrip())
    return None if start == end or text[start] in "{[" else (start, end)


_FENCE = lazy(r"^\s*+(?:```|~~~).*+$")


def _read_sentence(parsed: ParsedMessage) -> None:
    """Read the reply of the `manifest` format; the entry itself comes from the manifest.

    Each line that is one of the sentences counts, with or without its period; so does the end of the last line. Text
    inside thinking tags and quoted lines don't count.
    """
    parsed.return_format = MANIFEST
    parsed.transport = "manifest"
    visible, at = [], 0
    for start, end in find_thinking(parsed.text, []):
        visible.append(parsed.text[at:start])
        at = end
    visible.append(parsed.text[at:])
    written = [line for line in "\n".join(visible).split("\n") if line.lstrip()[:1] != ">"]
    lines = [(plain, line) for line in written if (plain := _FENCE.sub("", line).strip("`*\"'_ \t\r\ufeff"))]
    found: dict[str, str] = {}
    for word, sentence in SENTENCES.items():
        bare = sentence.rstrip(".")
        for index, (plain, line) in enumerate(lines):
            if plain.rstrip(".") == bare or (index == len(lines) - 1 and plain.rstrip(".").endswith(bare)):
                found[word] = line
    first = SENTENCES["complete"]
    if len(found) > 1:
        parsed.issues = (ParseIssue("contradiction", "the reply has two of the three sentences", f"Reply: {first}"),)
    elif not found:
        parsed.issues = (ParseIssue("absent", "the reply isn't one of the three sentences", f"Reply only: {first}"),)
    else:
        [(word, line)] = found.items()
        parsed.reply_status = word
        at = parsed.text.find(line)
        if len(lines) > 2:  # noqa: PLR2004 - one line of prose is tolerated
            hint = f"Reply only: {SENTENCES[word]}"
            issue = ParseIssue("reply", "the reply has text in addition to its sentence", hint, at, at + len(line))
            parsed.issues = (issue,)
        elif len(lines) > 1 or SENTENCES[word].rstrip(".") != lines[0][0].rstrip("."):
            parsed.repairs = (("more_prose", at),)
        elif not lines[0][0].endswith("."):
            parsed.repairs = (("no_period", at),)
