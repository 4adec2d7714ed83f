"""The checker of fields: what can be wrong with a key of an agent file, for the tables of all profiles.

Owns the shapes of problems: a field that is missing or empty, has the wrong type or a wrong item, is none of its
choices, is out of range or has the wrong form; a key that is unknown or misspelt. Each profile has a table of its
fields, with the codes and the words that report them. Rules that compare fields with each other are functions.
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
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeGuard

    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile
    from remit.agents.rules.register import Applicability
    from remit.model import Severity


MAX_NUMBER = 1e15
"""Beyond that nothing in an agent's file is counted, and arithmetic fails."""
TRUTHS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "1", "0"})
"""Spellings of true and false; those that are not read have a rule of their own."""


def is_absent(value: object) -> bool:
    """Whether a field has no value: the key isn't there, or nothing but space is."""
    return value is None or (isinstance(value, str) and not value.strip())


def is_whole(document: AgentDocument) -> bool:
    """Whether the frontmatter has no syntax error."""
    return document.frontmatter is not None and document.frontmatter.whole


def find_title(document: AgentDocument) -> str:
    """The file's title as YAML; empty if it has none."""
    from remit.agents.edits import quote  # noqa: PLC0415 - only for a fix

    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    return quote(title) if title else ""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that somebody can have meant, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def has_type_diagnostic(document: AgentDocument, pointer: str) -> bool:
    """Whether another rule speaks of it: a number, a date or a truth value where a text is expected."""
    found = document.frontmatter
    return found is not None and found.plain.get(pointer, "null") != "null"


def show(value: object, most: int = 60) -> str:
    """A value of a file in a message: short, on one line."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    text = " ".join(str(value)[:400].split())
    text = f"{text[:most]}…" if len(text) > most else text
    return f"'{text}'" if isinstance(value, str) else text


def guess(word: str, known: Sequence[str]) -> tuple[str, str]:
    """What was probably meant, else nothing; and the sentence that says so, or that lists what is known."""
    from remit.spelling import did_you_mean  # noqa: PLC0415 - only once something is wrong

    told = did_you_mean(word[:80], tuple(known))
    meant = told.split("'")[1] if told.startswith("did") else ""
    return meant, f"{told[0].upper()}{told[1:]}{'' if meant else '.'}"


_WHOLE = lazy(
    r"(?P<number>\d{1,3}(?:[ ,_]\d{3}){1,3}|\d{1,12})\s{0,2}(?P<thousand>[kK])?\s{0,2}(?:tokens)?\Z", re.ASCII
)


def read_whole(value: object) -> tuple[int, bool]:
    """A whole number that is written as something else, 0 if it is none; and whether it can mean nothing else."""
    if isinstance(value, float) and 0 < value < math.inf and value.is_integer():
        return int(value), True
    found = _WHOLE.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        return 0, False
    number = int(re.sub(r"\D", "", found["number"]))
    return (number * 1000, False) if found["thousand"] else (number, True)


def list_names(names: Sequence[str], most: int = 6) -> str:
    """Names in a message: the first few, and how many more."""
    shown = ", ".join(name[:40] for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


_TYPES: Mapping[str, Callable[[object], bool]] = {
    "any": lambda _: True,
    "text": lambda value: isinstance(value, str),
    "path": lambda value: isinstance(value, str),
    "number": is_number,
    "whole": lambda value: type(value) is int,
    "duration": lambda _: True,  # checks say what is wrong with a value
    "boolean": lambda value: isinstance(value, bool) or str(value).lower()[:9] in TRUTHS,
    "list": lambda value: isinstance(value, list),
    "table": lambda value: isinstance(value, dict),
}

EXTENSIONS = ("x-", "x_")
"""How keys begin that are for other programs."""
_TEXTS = ("text", "path")
"""Types of which an empty text is no value; elsewhere it is a wrong one, unless the field counts as missing."""
_UNQUOTED = ("number", "whole", "duration", "list")
"""Types whose values are written without the quotes of the wrong value."""


class FieldProblem(NamedTuple):
    """What is reported about a field. The texts can name {key}, {value}, {default}, {meant} and others."""

    code: str
    message: str
    hint: str = ""
    """Empty: the choices, or the choice that was probably meant."""
    better: str = ""
    """The hint if the right value is known."""
    fix_message: str = ""
    severity: Severity | Callable[[AgentDocument], Severity | None] | None = None
    """None: that of the rule."""
    applicability: Applicability | None = None
    at_value: bool = False
    """Whether the place is the value, not its key."""
    when: Callable[[AgentDocument], bool] | None = None
    """The files in which it is a problem."""


class FieldCheck(NamedTuple):
    """A check of a value that has the right type."""

    problem: FieldProblem
    is_wrong: Callable[[AgentDocument, Any], bool] | None = None
    correct: Callable[[AgentDocument, Any], str] | None = None
    """What is meant by a wrong value; empty if nothing is."""
    applicability: Callable[[Any], Applicability] | None = None
    """How safe it is to correct a value; None: as the rule says."""
    words: Callable[[AgentDocument, Any], Mapping[str, object]] | None = None
    """More words for the texts."""


class FieldSpec(NamedTuple):
    """A key, and the values that it can have."""

    path: str
    """`timeout`, or `lifecycle/stage` for a key of a table."""
    type: str = "any"
    choices: tuple[str, ...] = ()
    above: float | None = None
    """The value is greater."""
    least: float | None = None
    most: float | None = None
    pattern: str = ""
    """The form of a text, for the JSON schema."""
    required: bool = False
    default: str | Callable[[AgentDocument], str] = ""
    """What the fix of a missing field writes, as YAML."""
    accepts: Callable[[Any], bool] | None = None
    """Other values that are read, whatever the type and the choices."""
    correct: Callable[[AgentDocument, Any], str] | None = None
    """What is meant by a wrong value; None: the choice that is meant."""
    applicability: Callable[[Any], Applicability] | None = None
    missing: FieldProblem | None = None
    wrong_type: FieldProblem | None = None
    wrong: FieldProblem | None = None
    """The value is none of the choices, or out of range."""
    wrong_item: FieldProblem | None = None
    checks: tuple[FieldCheck, ...] = ()
    about: str = ""
    """For the JSON schema."""

    @property
    def pointer(self) -> str:
        """Where it is in the file."""
        return f"/{self.path}"

    @property
    def key(self) -> str:
        """Its name, without that of its table."""
        return self.path.rpartition("/")[2]


class FieldTable(NamedTuple):
    """The fields of one profile's files."""

    profile: Profile
    fields: tuple[FieldSpec, ...]
    keys: tuple[str, ...]
    """The keys that its program reads."""
    misspelt: FieldProblem | None = None
    unknown: FieldProblem | None = None
    """About one key, or about all of them if the message names {keys}."""
    misspelt_inside: FieldProblem | None = None
    unknown_inside: FieldProblem | None = None
    """The same for the keys of its tables."""
    other_names: Mapping[str, str] = NOTHING
    """Names that other programs have for its keys."""
    renamed: Mapping[str, str] = NOTHING
    """Keys that rules of their own report, and the key that says the same; empty if no key does."""
    foreign: Collection[str] = ()
    """Keys that other programs read: they are unknown here, and not misspelt."""
    by_place: Mapping[Profile, tuple[str, ...]] | None = None
    """Keys that the harness of a folder reads as well."""
    checks_empty: bool = False
    """Whether a key without a value has a wrong value; otherwise it counts as missing."""
    ignores_extensions: bool = False
    """Whether keys that begin with x- do no harm."""
    needs_whole: bool = False
    """Whether nothing is reported about the fields of a file with a syntax error."""
    put: Callable[[AgentDocument, str, str, str], tuple[edits.Change, ...]] = edits.put_value
    """How a missing field is written."""

    def list_parents(self) -> tuple[str, ...]:
        """The keys that have tables."""
        return tuple(dict.fromkeys(spec.path.partition("/")[0] for spec in self.fields if "/" in spec.path))

    def list_keys(self, parent: str) -> tuple[str, ...]:
        """The keys that are read, or those of one of its tables."""
        if not parent:
            return self.keys
        start = f"{parent}/"
        return tuple(spec.path.removeprefix(start) for spec in self.fields if spec.path.startswith(start))

    def find_unknown_keys(self, document: AgentDocument, parent: str = "") -> dict[str, str | None]:
        """Each unknown key, and the key that was meant if one is close and not given: no key is given twice."""
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
        for key in islice((key for key in values if key not in read), MAX_REPORTS):  # each is compared with every key
            is_foreign = is_top and (key in self.foreign or key.startswith(EXTENSIONS))
            meant = None if is_foreign else others.get(key) or _find_key(key, known)
            found[key] = None if meant in taken else meant
            taken.add(meant or "")
        return found


@lru_cache(maxsize=1000)
def _find_key(key: str, known: tuple[str, ...]) -> str | None:
    """The known key that was meant; cached, since the files of a project have the same keys."""
    return find_similar(key, known, least=SURE)


# --- registering -----------------------------------------------------------------------------------------------------


class RuleRow(NamedTuple):
    """A rule whose check is a table of fields."""

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
    """Whether a field is not given, not even under a misspelt name."""
    parent, _, key = path.rpartition("/")
    values = document.get(parent) if parent else document.values
    if not document.has_head or not isinstance(values, dict) or not is_absent(values.get(key)):
        return False
    if table.checks_empty and key in values and values[key] is None:
        return False
    if (table.misspelt_inside if parent else table.misspelt) is None:
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
    if key not in values or is_empty or _is_settled(document, spec, value):
        return
    for check in _list_checks(spec, value):
        if _applies(check.problem, document, code) and (check.is_wrong is None or check.is_wrong(document, value)):
            yield _report_value(document, spec, check, value)
    if _applies(spec.wrong_item, document, code) and isinstance(value, list):
        yield from _check_items(document, spec, spec.wrong_item, value)


def _list_checks(spec: FieldSpec, value: Any) -> tuple[FieldCheck, ...]:  # noqa: ANN401 - any YAML value
    """What there is to report or to check: a value of the wrong type has no other problem."""
    correct = spec.correct
    if not _TYPES[spec.type](value):
        problem, correct = spec.wrong_type, None if spec.type == "text" else correct
    elif spec.wrong and ((spec.choices and value not in spec.choices) or not _is_in_range(spec, value)):
        problem = spec.wrong
    else:
        return spec.checks
    return (FieldCheck(problem, None, correct, spec.applicability),) if problem else ()


def _is_settled(document: AgentDocument, spec: FieldSpec, value: Any) -> bool:  # noqa: ANN401 - any YAML value
    """Whether a value is accepted, or rules on YAML report it: a number as a text, a table that is broken."""
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
        meant, hint = guess(value if is_text else "", spec.choices) if spec.choices else ("", "")
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
    """Report each key, or all unknown ones in one message; those of its tables have a rule of their own."""
    if table.needs_whole and not is_whole(document):
        return
    is_top = code in {problem.code for problem in (table.misspelt, table.unknown) if problem is not None}
    misspelt, unknown = (table.misspelt, table.unknown) if is_top else (table.misspelt_inside, table.unknown_inside)
    for parent in ("",) if is_top else table.list_parents():
        found = table.find_unknown_keys(document, parent)
        lost = [key for key, meant in found.items() if not meant]
        if table.ignores_extensions and is_top:
            lost = [key for key in lost if not key.startswith(EXTENSIONS)]
        reported = lost[:1] if unknown is not None and "{keys}" in unknown.message else lost
        for key, meant in found.items():
            problem = misspelt if meant else unknown if key in reported else None
            if problem is None or problem.code != code:
                continue
            pointer = f"/{parent}/{escape_key(key)}" if parent else f"/{escape_key(key)}"
            words = {"key": show(key), "meant": meant, "keys": list_names(lost), "table": parent,
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
    """Whether a table that is none can be told to be so: where the YAML is broken, a table is read as a text."""
    found = document.frontmatter
    return found is not None and (found.whole or not isinstance(document.values.get(pointer[1:]), str))
