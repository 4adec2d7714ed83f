"""Checks the fields of agent files by tables, one for each profile.

A row of a table says which values a field can have, and has code, message and hint for each problem: a field is missing
or empty, has the wrong type or an invalid item, isn't one of its choices, is out of range or malformed; a key is
unknown or misspelled. Rules that compare several fields are functions in other modules.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from remit.agents import edits
from remit.agents.rules.register import MAX_REPORTS, AgentFileContext, AgentViolation, add_rule
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING
from remit.positions import escape_key
from remit.spelling import SURE, did_you_mean, find_similar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeGuard

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile
    from remit.agents.rules.register import Applicability
    from remit.model import Severity


MAX_NUMBER = 1e15
"""Larger numbers are never meant, and arithmetic with them fails."""
TRUTHS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "1", "0"})
"""Spellings of true and false. Another rule reports those that some programs don't read."""


def is_absent(value: object) -> bool:
    """Whether a field has no value: it is missing, null or blank."""
    return value is None or (isinstance(value, str) and not value.strip())


def is_whole(document: AgentDocument) -> bool:
    """Whether the frontmatter has no syntax error."""
    return document.frontmatter is not None and document.frontmatter.whole


def find_title(document: AgentDocument) -> str:
    """Return the file's title as YAML, or "" without a title."""
    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    return edits.quote(title) if title else ""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number of plausible size, and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def has_type_diagnostic(document: AgentDocument, pointer: str) -> bool:
    """Whether another rule reports that YAML reads an unquoted string as a number, date or boolean."""
    found = document.frontmatter
    return found is not None and found.plain.get(pointer, "null") != "null"


def show(value: object, most: int = 60) -> str:
    """Render a value for a message: shortened, on one line."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    text = " ".join(str(value)[:400].split())
    text = f"{text[:most]}…" if len(text) > most else text
    return f"'{text}'" if isinstance(value, str) else text


def suggest(word: str, known: Sequence[str]) -> tuple[str, str]:
    """Return the similar known word or "", and the hint that names it or lists all known words."""
    hint = did_you_mean(word[:80], tuple(known))
    meant = hint.split("'")[1] if hint.startswith("did") else ""
    return meant, f"{hint[0].upper()}{hint[1:]}{'' if meant else '.'}"


_WHOLE = lazy(
    r"(?P<number>\d{1,3}(?:[ ,_]\d{3}){1,3}|\d{1,12})\s{0,2}(?P<thousand>[kK])?\s{0,2}(?:tokens)?\Z", re.ASCII
)


def read_whole(value: object) -> tuple[int, bool]:
    """Parse an integer that is written as another type. Returns it, or 0, and whether it is unambiguous."""
    if isinstance(value, float) and 0 < value < math.inf and value.is_integer():
        return int(value), True
    found = _WHOLE.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        return 0, False
    number = int(re.sub(r"\D", "", found["number"]))
    return (number * 1000, False) if found["thousand"] else (number, True)


def list_names(names: Sequence[str], most: int = 6) -> str:
    """Render names for a message: the first few, and the number of others."""
    shown = ", ".join(name[:40] for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


_TYPES: Mapping[str, Callable[[object], bool]] = {
    "any": lambda _: True,
    "text": lambda value: isinstance(value, str),
    "path": lambda value: isinstance(value, str),
    "number": is_number,
    "whole": lambda value: type(value) is int,
    "duration": lambda _: True,  # its `checks` find invalid values
    "boolean": lambda value: isinstance(value, bool) or str(value).lower()[:9] in TRUTHS,
    "list": lambda value: isinstance(value, list),
    "table": lambda value: isinstance(value, dict),
}

EXTENSIONS = ("x-", "x_")
"""Prefixes of keys for other programs."""
_TEXTS = ("text", "path")
"""Types for which "" counts as missing. For other types, it is an invalid value unless the field has `missing`."""
_UNQUOTED = ("number", "whole", "duration", "list")
"""Types whose corrected values are written without quotes."""


class FieldProblem(NamedTuple):
    """The diagnostic of a problem. The texts can contain {key}, {value}, {default}, {meant} and others."""

    code: str
    message: str
    hint: str = ""
    """Empty: the similar choice, or all choices."""
    better: str = ""
    """The hint if the correct value is known."""
    fix_message: str = ""
    severity: Severity | Callable[[AgentDocument], Severity | None] | None = None
    """None: the severity of the rule."""
    applicability: Applicability | None = None
    at_value: bool = False
    """Whether the diagnostic points to the value instead of the key."""
    when: Callable[[AgentDocument], bool] | None = None
    """Whether a file can have the problem. None: all files."""


class FieldCheck(NamedTuple):
    """A check of a value that has the right type."""

    problem: FieldProblem
    is_wrong: Callable[[AgentDocument, Any], bool] | None = None
    correct: Callable[[AgentDocument, Any], str] | None = None
    """Returns the correct value, or "" if it is unknown."""
    applicability: Callable[[Any], Applicability] | None = None
    """The safety of the fix. None: as for the rule."""
    words: Callable[[AgentDocument, Any], Mapping[str, object]] | None = None
    """Returns additional replacements for the texts."""


class FieldSpec(NamedTuple):
    """A field and its valid values."""

    path: str
    """The key, such as `timeout`, or `lifecycle/stage` for a key of a table."""
    type: str = "any"
    choices: tuple[str, ...] = ()
    above: float | None = None
    """The value must be greater."""
    least: float | None = None
    most: float | None = None
    pattern: str = ""
    """A regular expression, only for the JSON Schema."""
    required: bool = False
    default: str | Callable[[AgentDocument], str] = ""
    """The value that the fix of a missing field writes, as YAML."""
    accepts: Callable[[Any], bool] | None = None
    """Whether a value is valid regardless of type and choices."""
    correct: Callable[[AgentDocument, Any], str] | None = None
    """Returns the correct value, or "". None: the similar choice."""
    applicability: Callable[[Any], Applicability] | None = None
    missing: FieldProblem | None = None
    wrong_type: FieldProblem | None = None
    wrong: FieldProblem | None = None
    """The value isn't one of the choices, or is out of range."""
    wrong_item: FieldProblem | None = None
    checks: tuple[FieldCheck, ...] = ()
    about: str = ""
    """The description in the JSON Schema."""

    @property
    def pointer(self) -> str:
        """The JSON Pointer to the value."""
        return f"/{self.path}"

    @property
    def key(self) -> str:
        """The key without the name of its table."""
        return self.path.rpartition("/")[2]


class FieldTable(NamedTuple):
    """The fields of a profile's files."""

    profile: Profile
    fields: tuple[FieldSpec, ...]
    keys: tuple[str, ...]
    """All valid keys."""
    misspelled: FieldProblem | None = None
    unknown: FieldProblem | None = None
    """For one key, or for all of them if the message contains {keys}."""
    misspelled_inside: FieldProblem | None = None
    unknown_inside: FieldProblem | None = None
    """For keys in tables."""
    other_names: Mapping[str, str] = NOTHING
    """Other programs' names of its keys, with the valid key."""
    renamed: Mapping[str, str] = NOTHING
    """Keys that other rules report, with the valid key, or ""."""
    foreign: Collection[str] = ()
    """Keys of other programs. They are unknown, but not misspelled."""
    by_place: Mapping[Profile, tuple[str, ...]] | None = None
    """Additional valid keys, by the harness whose folder contains the file."""
    checks_empty: bool = False
    """Whether null is an invalid value; otherwise, it counts as missing."""
    ignores_extensions: bool = False
    """Whether keys that begin with x- are allowed."""
    needs_whole: bool = False
    """Whether fields are only checked in files without a syntax error."""
    put: Callable[[AgentDocument, str, str, str], tuple[edits.Change, ...]] = edits.put_value
    """Writes a missing field."""

    def list_parents(self) -> tuple[str, ...]:
        """Return the keys whose values are tables."""
        return tuple(dict.fromkeys(spec.path.partition("/")[0] for spec in self.fields if "/" in spec.path))

    def list_keys(self, parent: str) -> tuple[str, ...]:
        """Return the valid top-level keys, or the valid keys of a table."""
        if not parent:
            return self.keys
        start = f"{parent}/"
        return tuple(spec.path.removeprefix(start) for spec in self.fields if spec.path.startswith(start))

    def find_unknown_keys(self, document: AgentDocument, parent: str = "") -> dict[str, str | None]:
        """Return each unknown key, with the similar valid key if that is missing in the file, else None."""
        values = document.get(parent) if parent else document.values
        if not isinstance(values, dict):
            return {}
        known = self.list_keys(parent)
        is_top = not parent
        renamed, others = (self.renamed, self.other_names) if is_top else (NOTHING, NOTHING)
        here = self.by_place.get(document.place, ()) if is_top and self.by_place and document.place else ()
        read = {*known, *renamed, *here}
        taken = {*values, *(name for old, name in renamed.items() if old in values)}
        found: dict[str, str | None] = {}
        for key in islice((key for key in values if key not in read), MAX_REPORTS):  # to limit comparisons
            is_foreign = is_top and (key in self.foreign or key.startswith(EXTENSIONS))
            meant = None if is_foreign else others.get(key) or _find_key(key, known)
            found[key] = None if meant in taken else meant
            taken.add(meant or "")
        return found


@lru_cache(maxsize=1000)
def _find_key(key: str, known: tuple[str, ...]) -> str | None:
    """Return the similar valid key. Cached, because the files of a project have the same keys."""
    return find_similar(key, known, least=SURE)


# --- registering -----------------------------------------------------------------------------------------------------


class RuleRow(NamedTuple):
    """A rule that consists of rows in a table of fields."""

    code: str
    name: str
    severity: Severity = "error"
    fix: Applicability | None = None


def add_table(table: FieldTable, rows: Iterable[RuleRow]) -> None:
    """Register the rules of a table."""
    by_code: dict[str, list[FieldSpec]] = {}
    for spec in table.fields:
        problems = (spec.missing, spec.wrong_type, spec.wrong, spec.wrong_item, *(each.problem for each in spec.checks))
        for code in {problem.code for problem in problems if problem is not None}:
            by_code.setdefault(code, []).append(spec)
    for row in rows:
        add_rule(row.code, row.name, _make_check(table, row.code, tuple(by_code.pop(row.code, ()))),
                 severity=row.severity, profiles=(table.profile,), fix=row.fix)  # fmt: skip
    if by_code:
        raise ValueError(f"no rule has the codes {', '.join(sorted(by_code))}")


def _make_check(
    table: FieldTable, code: str, specs: tuple[FieldSpec, ...]
) -> Callable[[AgentFileContext], Iterator[AgentViolation]]:
    def check(case: AgentFileContext) -> Iterator[AgentViolation]:
        for spec in specs:
            yield from _check_field(case.document, table, spec, code)
        if not specs:
            yield from _check_keys(case.document, table, code)

    return check


# --- fields ----------------------------------------------------------------------------------------------------------


def is_missing(document: AgentDocument, table: FieldTable, path: str) -> bool:
    """Whether a field is missing, also under a misspelled name."""
    parent, _, key = path.rpartition("/")
    values = document.get(parent) if parent else document.values
    if not document.has_head or not isinstance(values, dict) or not is_absent(values.get(key)):
        return False
    if table.checks_empty and key in values and values[key] is None:
        return False
    if (table.misspelled_inside if parent else table.misspelled) is None:
        return True
    return key not in table.find_unknown_keys(document, parent).values()


def _check_field(document: AgentDocument, table: FieldTable, spec: FieldSpec, code: str) -> Iterator[AgentViolation]:
    parent, _, key = spec.path.rpartition("/")
    values = document.get(parent) if parent else document.values
    if not isinstance(values, dict) or (table.needs_whole and not is_whole(document)):
        return
    value = values.get(key)
    if is_absent(value) and _applies(spec.missing, document, code) and is_missing(document, table, spec.path):
        yield _report_missing(document, table, spec, spec.missing)
    is_empty = is_absent(value) and not table.checks_empty and (value is None or spec.missing or spec.type in _TEXTS)
    if key not in values or is_empty or _is_excluded(document, spec, value):
        return
    for check in _list_checks(spec, value):
        if _applies(check.problem, document, code) and (check.is_wrong is None or check.is_wrong(document, value)):
            yield _report_value(document, spec, check, value)
    if _applies(spec.wrong_item, document, code) and isinstance(value, list):
        yield from _check_items(document, spec, spec.wrong_item, value)


def _list_checks(spec: FieldSpec, value: Any) -> tuple[FieldCheck, ...]:  # noqa: ANN401 - any YAML value
    """Return the checks of a value. A value of the wrong type has no other problem."""
    correct = spec.correct
    if not _TYPES[spec.type](value):
        problem, correct = spec.wrong_type, None if spec.type == "text" else correct
    elif spec.wrong and ((spec.choices and value not in spec.choices) or not _is_in_range(spec, value)):
        problem = spec.wrong
    else:
        return spec.checks
    return (FieldCheck(problem, None, correct, spec.applicability),) if problem else ()


def _is_excluded(document: AgentDocument, spec: FieldSpec, value: Any) -> bool:  # noqa: ANN401 - any YAML value
    """Whether a value is accepted, or other rules report it: a number as a string, a broken table."""
    if spec.accepts is not None and spec.accepts(value):
        return True
    if spec.type == "text":
        return has_type_diagnostic(document, spec.pointer)
    return spec.type == "table" and isinstance(value, str) and "/" not in spec.path and not is_whole(document)


def _applies(problem: FieldProblem | None, document: AgentDocument, code: str) -> TypeGuard[FieldProblem]:
    return problem is not None and problem.code == code and (problem.when is None or problem.when(document))


def _is_in_range(spec: FieldSpec, value: Any) -> bool:  # noqa: ANN401 - any YAML value
    return (
        (spec.above is None or value > spec.above)
        and (spec.least is None or value >= spec.least)
        and (spec.most is None or value <= spec.most)
    )


def _report_missing(
    document: AgentDocument, table: FieldTable, spec: FieldSpec, problem: FieldProblem
) -> AgentViolation:
    parent, _, key = spec.pointer.rpartition("/")
    default = spec.default if isinstance(spec.default, str) else spec.default(document)
    values = document.get(parent[1:]) if parent else document.values
    words = {"key": key, "default": default, "state": "empty" if key in values else "missing"}
    hint = (problem.better if default else "") or problem.hint
    return AgentViolation(
        problem.message.format_map(words),
        hint.format_map(words),
        document.key_span(parent or spec.pointer),
        spec.pointer,
        _get_severity(problem, document),
        table.put(document, parent, key, default) if default else (),
        problem.fix_message.format_map(words),
        problem.applicability,
    )


def _report_value(document: AgentDocument, spec: FieldSpec, check: FieldCheck, value: Any) -> AgentViolation:  # noqa: ANN401
    problem, pointer, hint = check.problem, spec.pointer, ""
    if check.correct is not None:
        meant = check.correct(document, value)
    else:
        is_text = isinstance(value, str)
        meant, hint = suggest(value if is_text else "", spec.choices) if spec.choices else ("", "")
    start = document.span_of(pointer)[0]
    words: dict[str, object] = {
        "key": spec.key, "value": show(value), "given": "empty" if value is None else show(value), "meant": meant,
        "choices": ", ".join(spec.choices), "least": spec.least, "most": spec.most, "stem": show(document.stem),
        "unquoted": " without quotes" * document.text.startswith(('"', "'"), start),
    }  # fmt: skip
    if check.words is not None:
        words |= check.words(document, value)
    hint = ((problem.better if meant else "") or problem.hint).format_map(words) or hint
    rewrite = edits.replace_value if spec.type in _UNQUOTED else edits.rewrite_text
    changes = rewrite(document, pointer, meant) if meant else ()
    if value is None:
        changes = edits.remove_key(document, pointer)
    return AgentViolation(
        problem.message.format_map(words),
        hint,
        document.span_of(pointer) if problem.at_value else document.key_span(pointer),
        pointer,
        _get_severity(problem, document),
        changes,
        "Remove it." if value is None else problem.fix_message.format_map(words),
        check.applicability(value) if check.applicability and meant else problem.applicability,
    )


def _get_severity(problem: FieldProblem, document: AgentDocument) -> Severity | None:
    return problem.severity(document) if callable(problem.severity) else problem.severity


def _check_items(
    document: AgentDocument, spec: FieldSpec, problem: FieldProblem, items: list[Any]
) -> Iterator[AgentViolation]:
    for at, item in enumerate(items):
        if not isinstance(item, str) or not item.strip():
            words = {"key": spec.key, "value": show(item) if item else "empty"}
            pointer = f"{spec.pointer}/{at}"
            yield AgentViolation(problem.message.format_map(words), problem.hint, document.span_of(pointer),
                                 pointer)  # fmt: skip


# --- keys ------------------------------------------------------------------------------------------------------------


def _check_keys(document: AgentDocument, table: FieldTable, code: str) -> Iterator[AgentViolation]:
    """Report unknown keys, one by one or together. Keys in tables have a separate rule."""
    if table.needs_whole and not is_whole(document):
        return
    is_top = code in {problem.code for problem in (table.misspelled, table.unknown) if problem is not None}
    misspelled, unknown = (
        (table.misspelled, table.unknown) if is_top else (table.misspelled_inside, table.unknown_inside)
    )
    for parent in ("",) if is_top else table.list_parents():
        found = table.find_unknown_keys(document, parent)
        unsuggested = [key for key, meant in found.items() if not meant]
        if table.ignores_extensions and is_top:
            unsuggested = [key for key in unsuggested if not key.startswith(EXTENSIONS)]
        reported = unsuggested[:1] if unknown is not None and "{keys}" in unknown.message else unsuggested
        for key, meant in found.items():
            problem = misspelled if meant else unknown if key in reported else None
            if problem is None or problem.code != code:
                continue
            pointer = f"/{parent}/{escape_key(key)}" if parent else f"/{escape_key(key)}"
            words = {"key": show(key), "meant": meant, "keys": list_names(unsuggested), "table": parent,
                     "choices": ", ".join(table.list_keys(parent))}  # fmt: skip
            yield AgentViolation(
                problem.message.format_map(words),
                problem.hint.format_map(words),
                document.key_span(pointer),
                pointer,
                _get_severity(problem, document),
                edits.rename_key(document, pointer, meant) if meant else (),
                f"Rename it to {meant}." if meant else "",
            )


def can_judge_type(document: AgentDocument, pointer: str) -> bool:
    """Whether the type of a value is known. In broken YAML, a table is read as a string."""
    found = document.frontmatter
    return found is not None and (found.whole or not isinstance(document.values.get(pointer[1:]), str))
