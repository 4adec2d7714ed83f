"""Rules on the keys of a standard agent's frontmatter: which are missing, which nobody knows, who reads them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import DEFAULT_TIMEOUT_S, KEYS, KINDS, STANDARD_KEYS, TIMEOUTS_S
from remit.agents.rules.register import MAX_REPORTS, Case, Report, rule
from remit.agents.rules.tables import show
from remit.places import escape_key
from remit.spelling import SURE, find_meant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.agents.document import Document
    from remit.model import Severity

RETURN_FORMAT = "subagent-return-format.md"
TABLE_KEYS: Mapping[str, tuple[str, ...]] = {
    "permissions": ("allow", "deny"),
    "context_loading": ("strategy", "index", "required", "optional", "max_context_size"),
    "delegation": ("max_depth", "can_delegate_to", "timeout_default", "timeout_max"),
    "lifecycle": ("stage", "command", "return_format"),
}
"""The keys of the standard's tables; the tools are a table of their own rules."""

_OTHER_NAMES = {
    "type": "agent_type", "kind": "agent_type", "timeout_seconds": "timeout", "timeout_s": "timeout",
    "max_output_tokens": "max_tokens", "context": "context_loading",
}  # fmt: skip
"""What others call the keys of the standard."""


def is_absent(value: object) -> bool:
    """Whether a field has no value: it is not there, or nothing stands in it."""
    return value is None or (isinstance(value, str) and not value.strip())


def _find_strangers(document: Document) -> dict[str, str | None]:
    """Each top-level key that nobody knows, and the key that was meant if one is close and not given."""
    known = set(STANDARD_KEYS).union(KEYS[document.place] if document.place else ())
    strange = [key for key in document.values if key not in known and not key.startswith(("x-", "x_"))]
    return _match(strange, STANDARD_KEYS, document.values)


def _match(strange: Iterable[str], known: tuple[str, ...], given: Iterable[str]) -> dict[str, str | None]:
    """Each strange key, and the known one that was meant, where that is not given yet: no key is given twice."""
    found: dict[str, str | None] = {}
    taken = set(given)
    for key in islice(strange, MAX_REPORTS):  # each is compared with every known key
        meant = _OTHER_NAMES.get(key) if known is STANDARD_KEYS else None
        meant = meant or find_meant(key, known, least=SURE)
        found[key] = None if meant in taken else meant
        taken.add(meant or "")
    return found


def _point(*keys: str) -> str:
    return "".join(f"/{escape_key(key)}" for key in keys)


def find_lost(document: Document, keys: Iterable[str]) -> list[str]:
    """Which of these fields are not given, not even under a misspelt name."""
    lost = [key for key in keys if is_absent(document.get(key))]
    if not lost or not document.has_head:
        return []
    misspelt = set(_find_strangers(document).values())
    return [key for key in lost if key not in misspelt]


def is_lost_in(document: Document, table: str, key: str) -> bool:
    """Whether a key of a table is not given, not even under a misspelt name. A table that is none is told elsewhere."""
    values = document.get(table)
    if not isinstance(values, dict) or not is_absent(values.get(key)):
        return False
    known = TABLE_KEYS[table]
    return key not in _match([other for other in values if other not in known], known, values).values()


def get_kind(document: Document) -> str | None:
    """What the agent is for; None where that is unknown."""
    kind = document.get("agent_type")
    return kind if isinstance(kind, str) and kind in TIMEOUTS_S else None


def get_limit_s(document: Document) -> int:
    """How long an agent of this kind may take."""
    return TIMEOUTS_S.get(get_kind(document) or "", DEFAULT_TIMEOUT_S)


# --- what is missing -------------------------------------------------------------------------------------------------

_IDENTITY = {
    "name": "Write the file's name without its ending.",
    "version": 'Write version: "1.0.0".',
    "description": "Say in one or two sentences what it does and when to use it.",
    "mode": "Write mode: subagent.",
    "agent_type": f"Write one of: {', '.join(KINDS)}.",
}


@rule("AGT020", "R1.1", fix="safe")
def identity_missing(case: Case) -> Iterator[Report]:
    """The file does not say who the agent is: `name`, `version`, `description`, `mode` or `agent_type` is missing.

    Why: commands and other agents find an agent by its name and choose it by its description; its type decides how
    long it may take and what it should leave behind.

    Bad: a frontmatter without `mode`

    Good: `mode: subagent`

    Fix (safe): adds `name` (the file's name) and `mode: subagent`, which can have no other value. With unsafe fixes,
    `version: "1.0.0"` too. Nobody can guess a description or a type.
    """
    document = case.document
    for key in find_lost(document, _IDENTITY):
        told = "empty" if key in document.values else "missing"
        default = {"name": document.stem, "version": "1.0.0", "mode": "subagent"}.get(key)
        text = edits.render_scalar(default) if default else ""
        yield Report(f"{key} is {told}", _IDENTITY[key], document.key_span(f"/{key}"), f"/{key}",
                     edits=edits.put_value(document, "", key, text) if text else (),
                     applicability="unsafe" if key == "version" else None)  # fmt: skip


_LIMITS: Mapping[str, Severity] = {"temperature": "warning", "max_tokens": "warning", "timeout": "error"}


@rule("AGT021", "R1.1", fix="unsafe")
def limit_missing(case: Case) -> Iterator[Report]:
    """The file sets no limit: `timeout`, `max_tokens` or `temperature` is missing.

    Why: an agent without a timeout can hang for good, and whoever called it with it. Without the other two it runs
    with whatever the harness happens to use. A missing timeout is an error, the others are warnings.

    Bad: a frontmatter without `timeout`

    Good: `timeout: 3600`

    Fix (unsafe): adds `temperature: 0.2`, `max_tokens: 4000`, and the timeout that agents of its type are given.
    """
    document = case.document
    for key in find_lost(document, _LIMITS):
        told = "empty" if key in document.values else "missing"
        value = {"temperature": "0.2", "max_tokens": "4000"}.get(key) or str(get_limit_s(document))
        yield Report(f"{key} is {told}", f"Write {key}: {value}, or what suits this agent.",
                     document.key_span(f"/{key}"), f"/{key}", _LIMITS[key],
                     edits=edits.put_value(document, "", key, value))  # fmt: skip


_TABLES: Mapping[str, tuple[Severity, str]] = {
    "tools": ("error", "Say which tools it may use, each true or false."),
    "permissions": ("error", "Say under allow and deny what each tool may touch."),
    "context_loading": ("warning", "Say which files it reads first, and how much."),
    "lifecycle": ("warning", "Say which command calls it at which stage, and how it returns."),
    "delegation": ("warning", "Name the agents it may call, how deep and for how long."),
}
_TABLE_LINES = {
    "lifecycle": ["stage: 4", f'return_format: "{RETURN_FORMAT}"'],
    "delegation": ["max_depth: 3", "can_delegate_to:"],
}
"""What a missing table is filled with."""


@rule("AGT022", "R1.1", fix="unsafe")
def table_missing(case: Case) -> Iterator[Report]:
    """A table is missing: `tools`, `permissions`, `context_loading`, `lifecycle`, or `delegation` if it delegates.

    Why: without `tools` and `permissions` an agent may do whatever its harness lets anybody do. Without the others
    nobody can tell what it reads, who calls it and whom it calls; those are warnings.

    Bad: a frontmatter without `permissions`

    Good: `permissions: {allow: [{read: ["**/*"]}], deny: [{write: [".git/**/*"]}]}`

    Fix (unsafe): adds a `lifecycle` at stage 4, and a `delegation` to the agents that `<delegation_patterns>` names.
    Nobody can guess the rest.
    """
    document = case.document
    lost = find_lost(document, [key for key in _TABLES if document.get(key) is None])
    targets = _find_named(document) if "delegation" in lost else []
    for key in lost:
        if key == "delegation" and not targets:
            continue
        severity, hint = _TABLES[key]
        lines = _TABLE_LINES.get(key, [])
        if key == "delegation":
            lines = [*lines, *(f"  - {edits.quote(name)}" for name in targets)]
        can_add = lines and key not in document.values
        yield Report(f"the table {key} is {'empty' if key in document.values else 'missing'}", hint,
                     document.key_span(f"/{key}"), f"/{key}", severity,
                     edits=edits.add_key(document, "", key, "\n".join(lines)) if can_add else ())  # fmt: skip


def _find_named(document: Document) -> list[str]:
    """The agents that the body says it delegates to."""
    patterns = document.body.find("delegation_patterns")
    named = [(tag.get("name") or "").strip() for tag in patterns.find_all("delegate_to")[:50]] if patterns else []
    return list(dict.fromkeys(name for name in named if name and "{" not in name))


# --- what nobody knows -----------------------------------------------------------------------------------------------


@rule("AGT023", "R1.1", severity="warning", fix="unsafe")
def key_unknown(case: Case) -> Iterator[Report]:
    """The frontmatter has a key that the standard does not know.

    Why: a misspelt key is ignored in silence, and the field that was meant is missing. A key that resembles none is
    a note only: it may be for another program. Known are name, version, description, mode, agent_type, temperature,
    max_tokens, timeout, tools, permissions, context_loading, delegation, lifecycle; and owner, retry, return, model.
    The keys of the harness in whose folder the file lies, and keys that begin with `x-`, are left alone.

    Bad: `agent-type: planning`

    Good: `agent_type: planning`

    Fix (unsafe): gives a misspelt key the name that was probably meant.
    """
    document = case.document
    for key, meant in _find_strangers(document).items():
        pointer = _point(key)
        hint = f"Did you mean {meant}?" if meant else "Remove it, or begin it with x- if another program reads it."
        yield Report(f"the standard knows no key {show(key)}", hint, document.key_span(pointer), pointer,
                     "warning" if meant else "note", edits.rename_key(document, pointer, meant) if meant else (),
                     f"Rename it to {meant}." if meant else "")  # fmt: skip


@rule("AGT024", "R1.1", severity="warning", fix="unsafe")
def table_key_unknown(case: Case) -> Iterator[Report]:
    """A table of the frontmatter has a key that the standard does not know there.

    Why: a misspelt key is ignored in silence: the limit does not hold, the file is not loaded.

    Bad: `max_dept: 2` under `delegation`

    Good: `max_depth: 2`

    Fix (unsafe): gives a misspelt key the name that was probably meant.
    """
    document = case.document
    for table, known in TABLE_KEYS.items():
        values = document.get(table)
        if not isinstance(values, dict):
            continue
        for key, meant in _match([key for key in values if key not in known], known, values).items():
            pointer = _point(table, key)
            hint = f"Did you mean {meant}?" if meant else f"Known are: {', '.join(known)}."
            yield Report(f"the standard knows no {show(key)} in {table}", hint, document.key_span(pointer), pointer,
                         edits=edits.rename_key(document, pointer, meant) if meant else (),
                         fix_message=f"Rename it to {meant}." if meant else "")  # fmt: skip


def list_names(names: list[str], most: int = 6) -> str:
    """Names in a message: the first few, and how many more."""
    shown = ", ".join(name[:40] for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
