"""Rules on the fields of a standard agent: identity, limits, and the tables of its frontmatter."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal

from remit.agents import edits
from remit.agents.profiles import (
    CONTEXT_BUDGETS,
    DEFAULT_TIMEOUT_S,
    KEYS,
    KINDS,
    STANDARD_KEYS,
    TIMEOUTS_S,
    is_read_by_claude,
)
from remit.agents.rules.field_table import (
    FieldCheck,
    FieldProblem,
    FieldSpec,
    FieldTable,
    RuleRow,
    add_table,
    is_absent,
    is_number,
    read_whole,
)
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.model import MAX_DEPTH
from remit.sentences import count_sentences
from remit.spelling import SURE, find_similar, normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.rules.register import Applicability
    from remit.model import Severity


RETURN_FORMAT = "subagent-return-format.md"
MAX_SENTENCES, MAX_DESCRIPTION, MAX_NAME = 2, 500, 64
MAX_TARGETS = 200
"""Maximum agents in `can_delegate_to` that are checked."""


def get_kind(document: AgentDocument) -> str | None:
    """Return the agent's type, or None if it is unknown."""
    kind = document.get("agent_type")
    return kind if isinstance(kind, str) and kind in TIMEOUTS_S else None


def get_limit_s(document: AgentDocument) -> int:
    """Return the default timeout of an agent's type."""
    return TIMEOUTS_S.get(get_kind(document) or "", DEFAULT_TIMEOUT_S)


_NAME = lazy(r"[a-z0-9]{1,64}(?:-[a-z0-9]{1,64}){0,20}\Z")
_SEMVER = lazy(
    r"(?:0|[1-9]\d{0,9})\.(?:0|[1-9]\d{0,9})\.(?:0|[1-9]\d{0,9})(?:-[0-9A-Za-z.-]{1,80})?(?:\+[0-9A-Za-z.-]{1,80})?\Z",
    re.ASCII,
)
_LOOSE_VERSION = lazy(
    r"[vV=]{0,2}\s{0,2}(?P<major>\d{1,9})(?:\.(?P<minor>\d{1,9}))?(?:\.(?P<patch>\d{1,9}))?(?P<rest>[-+][0-9A-Za-z.-]{1,80})?\Z",
    re.ASCII,
)
_OTHER_KINDS = {
    "planner": "planning", "architect": "planning", "execution": "implementation", "executor": "implementation",
    "builder": "implementation", "implementer": "implementation", "coding": "implementation",
    "coder": "implementation", "researcher": "research", "analysis": "research", "reviewer": "review",
    "validation": "review", "verification": "review", "maintenance": "utility", "service": "utility",
    "helper": "utility", "tool": "utility",
}  # fmt: skip


_TARGETS = "/delegation/can_delegate_to"


def list_targets(document: AgentDocument) -> list[tuple[str, str]]:
    """Return the agents that may be called, each with its pointer."""
    named = document.get("delegation", "can_delegate_to")
    if isinstance(named, str):
        return [(named.strip(), _TARGETS)] if named.strip() else []
    items = enumerate(named[:MAX_TARGETS]) if isinstance(named, list) else ()
    return [(name.strip(), f"{_TARGETS}/{at}") for at, name in items if isinstance(name, str) and name.strip()]


# --- corrections of invalid values -----------------------------------------------------------------------------------


def _is_name(text: str) -> bool:
    return len(text) <= MAX_NAME and _NAME.match(text) is not None


def _is_odd_name(document: AgentDocument, name: str) -> bool:
    """Whether a name has an invalid form, and AGT027 doesn't suggest another name."""
    return not _is_name(name.strip()) and (name.strip() == document.stem or not _is_name(document.stem))


def _complete_version(_: AgentDocument, version: str) -> str:
    found = _LOOSE_VERSION.match(version.strip())
    if found is None:
        return ""
    meant = ".".join(str(int(found[part] or 0)) for part in ("major", "minor", "patch")) + (found["rest"] or "")
    return meant if _SEMVER.match(meant) else ""


def _find_kind(_: AgentDocument, kind: str) -> str:
    return _OTHER_KINDS.get(kind.strip().lower()) or find_similar(kind.strip(), KINDS, least=SURE) or ""


_DECIMAL = lazy(r"\d{0,4}[.,]?\d{1,6}\Z", re.ASCII)


def _read_decimal(_: AgentDocument, value: object) -> str:
    text = value.strip().replace(",", ".") if isinstance(value, str) and _DECIMAL.match(value.strip()) else ""
    return ("0" * text.startswith(".") + text) if text and 0 <= float(text) <= 1 else ""


def _read_whole(_: AgentDocument, value: object) -> str:
    return str(read_whole(value)[0] or "")


def _find_depth(_: AgentDocument, value: object) -> str:
    """Return the valid depth closest to the value."""
    if isinstance(value, str) and value.strip()[:4].isdecimal():
        value = int(value.strip()[:4])
    return str(max(1, min(MAX_DEPTH, int(value)))) if is_number(value) else ""


def get_seconds(value: object) -> float | None:
    """Return a number of seconds, or None."""
    return value if is_number(value) and value > 0 else None


def _guess_seconds(document: AgentDocument, key: str) -> str:
    """Return a timeout of calls: at most half of the agent's own timeout."""
    own = get_seconds(document.get("timeout")) or DEFAULT_TIMEOUT_S
    most = max(1, int(min(600, own / 2)))
    if key == "timeout_default":
        given = get_seconds(document.get("delegation", "timeout_max"))
        return str(max(1, int(min(300, given or most))))
    return str(max(most, int(get_seconds(document.get("delegation", "timeout_default")) or 0)))


def get_budget(document: AgentDocument) -> int | None:
    """Return how many bytes the strategy may load, or None if it is unknown."""
    strategy = document.get("context_loading", "strategy")
    return CONTEXT_BUDGETS.get(strategy) if isinstance(strategy, str) else None


def _get_budget(document: AgentDocument, _: object = None) -> str:
    return str(get_budget(document) or "")


def _list_paths(_: AgentDocument, value: object) -> str:
    return f"[{edits.quote(value)}]" if isinstance(value, str) else ""


def _list_names(_: AgentDocument, value: object) -> str:
    names = [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else []
    return f"[{', '.join(map(edits.quote, names))}]" if isinstance(value, str) else ""


_COMMAND = lazy(r"/[A-Za-z0-9][\w:.-]{0,80}(?:/[\w:.-]{1,80}){0,5}\Z")


def _write_command(_: AgentDocument, command: str) -> str:
    slashed = f"/{command.strip()}"
    return slashed if _COMMAND.match(slashed) else ""


def _is_other_format(document: AgentDocument, written: object) -> bool:
    known = isinstance(written, str) and written.strip().rpartition("/")[2] == RETURN_FORMAT
    return not known and is_absent(document.get("return"))


# --- conditions ------------------------------------------------------------------------------------------------------


def _delegates(document: AgentDocument) -> bool:
    return bool(list_targets(document))


def _list_called(document: AgentDocument) -> list[str]:
    """Return the agents that the body calls."""
    patterns = document.body.find("delegation_patterns")
    named = [(tag.get("name") or "").strip() for tag in patterns.find_all("delegate_to")[:50]] if patterns else []
    return list(dict.fromkeys(name for name in named if name and "{" not in name))


def _loads_context(document: AgentDocument) -> bool:
    return bool(document.get("context_loading"))


def _rate_mode(mode: str) -> Applicability:
    return "safe" if normalize_name(mode.strip()) == "subagent" else "unsafe"


def _is_long(_: AgentDocument, description: str) -> bool:
    return len(description.strip()) > MAX_DESCRIPTION or count_sentences(description.strip()) > MAX_SENTENCES


def _measure_description(_: AgentDocument, description: str) -> dict[str, str]:
    text = description.strip()
    long = f"{len(text)} characters" if len(text) > MAX_DESCRIPTION else f"{count_sentences(text)} sentences"
    return {"length": long}


def _is_over_budget(document: AgentDocument, size: float) -> bool:
    budget = get_budget(document)
    return budget is not None and size == int(size) and size > budget


def _compare_sizes(document: AgentDocument, size: float) -> dict[str, str]:
    strategy = document.get("context_loading", "strategy")
    return {"size": f"{size:,}", "strategy": strategy, "budget": f"{get_budget(document):,}"}


def _render_run(document: AgentDocument) -> str:
    if "delegation" in document.values:
        return ""
    names = (f"  - {edits.quote(name)}" for name in _list_called(document))
    return "\n".join(["max_depth: 3", "can_delegate_to:", *names])


# --- the timeout -----------------------------------------------------------------------------------------------------

_DURATION = lazy(
    r"(?:(?P<hours>\d{1,6}(?:\.\d{1,3})?)\s{0,3}(?:hours|hour|hrs|hr|h)\b)?,?\s{0,3}"
    r"(?:(?P<minutes>\d{1,6}(?:\.\d{1,3})?)\s{0,3}(?:minutes|minute|mins|min|m)\b)?,?\s{0,3}"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,3})?)\s{0,3}(?P<unit>seconds|second|secs|sec|s)?)?\Z",
    re.ASCII,
)
_MILLISECONDS = lazy(r"(?P<number>\d{1,12})\s{0,3}(?:milliseconds|millis|ms)\Z", re.ASCII)
_UNLIMITED = frozenset({
    "none", "unlimited", "never", "infinite", "infinity", "inf", "no", "off", "false", "disabled", "no limit",
    "endless",
})  # fmt: skip


class _Timeout(NamedTuple):
    """A parsed timeout."""

    state: Literal["number", "text", "unlimited", "invalid"]
    seconds: float = 0


def _read_timeout(value: Any) -> _Timeout:  # noqa: ANN401 - any YAML value
    if isinstance(value, str):
        text = value.strip().lower()
        seconds = _read_duration(text)
        if text in _UNLIMITED or seconds == 0:
            return _Timeout("unlimited")
        return _Timeout("text", seconds) if seconds else _Timeout("invalid")
    if value in (False, 0, -1, math.inf):
        return _Timeout("unlimited")
    return _Timeout("number", value) if is_number(value) and value > 0 else _Timeout("invalid")


def _read_duration(text: str) -> float | None:
    """Return the seconds of a text such as 90, 30m, 1h30m or 2 hours, or None."""
    if found := _MILLISECONDS.match(text):
        return _round(int(found["number"]) / 1000)
    text = re.sub(r"(?<=[hms])(?=\d)", " ", text[:60])  # so that the h of 1h30m ends a word
    found = _DURATION.match(text)
    if found is None or not any(found.groups()):
        return None
    if found["seconds"] and not found["unit"] and (found["hours"] or found["minutes"]):
        return None  # the unit of 30 in 1h30 is unknown
    parts = (float(found[unit] or 0) * size for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)))
    return _round(sum(parts))


def _round(seconds: float) -> float:
    """Return a whole number as an integer, any other with at most three decimals."""
    return int(seconds) if seconds == int(seconds) else round(seconds, 3)


def _write_seconds(_: AgentDocument, value: object) -> str:
    seconds = _read_timeout(value).seconds
    return repr(seconds) if seconds else ""


def _is_longer(document: AgentDocument, value: object) -> bool:
    kind, found = get_kind(document), _read_timeout(value)
    return kind is not None and found.state == "number" and found.seconds > TIMEOUTS_S[kind]


def _shorten_timeout(document: AgentDocument, value: object) -> str:
    """Return the default, or a thousandth of the value if it was probably meant as milliseconds."""
    limit, seconds = get_limit_s(document), _read_timeout(value).seconds
    is_milliseconds = seconds % 1000 == 0 and 10 <= seconds // 1000 <= limit  # noqa: PLR2004 - seconds
    return str(int(seconds // 1000) if is_milliseconds and seconds >= 10 * limit else limit)


def _explain_timeout(document: AgentDocument, value: object) -> dict[str, object]:
    limit = get_limit_s(document)
    is_default = _shorten_timeout(document, value) == str(limit)
    reason = f"The default is {limit}" if is_default else "It looks like milliseconds"
    return {"kind": get_kind(document), "limit": limit, "reason": reason}


# --- the table -------------------------------------------------------------------------------------------------------

_SHORTER = f"Say what it does and when to use it, in two sentences and {MAX_DESCRIPTION} characters."
_NO_TEXT = FieldProblem("AGT029", "{key} is {value}, expected a string", "Write one string.", at_value=True)


def _make_identity_field(key: str, hint: str, **more: Any) -> FieldSpec:  # noqa: ANN401 - any part of a field
    missing = FieldProblem("AGT020", "{key} is {state}", hint)
    return FieldSpec(key, "text", required=True, missing=missing, wrong_type=_NO_TEXT)._replace(**more)


def _make_limit_problem(severity: Severity) -> FieldProblem:
    return FieldProblem("AGT021", "{key} is {state}", "Write {key}: {default}, or another value.",
                        severity=severity)  # fmt: skip


def _make_table_problem(hint: str, severity: Severity | None = None, **more: Any) -> FieldProblem:  # noqa: ANN401
    return FieldProblem("AGT022", "the table {key} is {state}", hint, severity=severity)._replace(**more)


def _make_type_problem(code: str, message: str, hint: str) -> FieldProblem:
    return FieldProblem(code, message, hint, at_value=True)


def _make_call_timeout(key: str, about: str) -> FieldSpec:
    wrong = FieldProblem("AGT084", "{key} is {value}, expected a number of seconds", "Write a number of seconds.",
                         fix_message="Write {meant}", at_value=True)  # fmt: skip

    def read_seconds(document: AgentDocument, value: object) -> str:
        digits = value.strip() if isinstance(value, str) and value.strip().isdecimal() else ""
        return digits if digits and len(digits) < 7 and int(digits) else _guess_seconds(document, key)  # noqa: PLR2004

    return FieldSpec(
        f"delegation/{key}", "number", above=0, default=lambda document: _guess_seconds(document, key),
        correct=read_seconds, wrong_type=wrong, wrong=wrong, about=f"{about} In seconds.",
        missing=FieldProblem("AGT084", "the agent delegates, but {key} is missing",
                             "Write {key}: {default}, in seconds.", when=_delegates),
    )  # fmt: skip


_NO_TEMPERATURE = FieldProblem("AGT034", "the temperature is {value}, expected a number from 0 to 1",
                               "Write a number such as 0.2.", "Write {meant}{unquoted}.", at_value=True)  # fmt: skip
_NO_TOKENS = FieldProblem("AGT035", "max_tokens is {value}, expected a positive whole number",
                          "Write a number such as 4000.", "Write {meant}.", at_value=True)  # fmt: skip
_NO_STAGE = FieldProblem("AGT046", "lifecycle.stage is {value}, expected a number", "Write a number, such as 4.",
                         at_value=True)  # fmt: skip
_NO_DEPTH = FieldProblem("AGT080", f"max_depth is {{value}}, expected a whole number from 1 to {MAX_DEPTH}",
                         f"Write a number from 1 to {MAX_DEPTH}.", fix_message="Write {meant}",
                         at_value=True)  # fmt: skip
_NO_LIST = FieldProblem("AGT072", "{key} is {value}, expected a list of paths", "Put it between brackets.",
                        fix_message="Convert it to a list", at_value=True)  # fmt: skip
_NO_PATH = FieldProblem("AGT072", "an item of {key} is {value}, expected a path", "Write a path, or remove it.")
_NO_SIZE = FieldProblem("AGT073", "max_context_size is {value}, expected a number of bytes",
                        "Write the maximum number of bytes to load.", "Write max_context_size: {meant}.",
                        at_value=True)  # fmt: skip

FIELDS = (
    _make_identity_field(
        "name",
        "Write the file's name without its extension.",
        default=lambda document: edits.render_scalar(document.stem),
        about="The agent's name, which is its file's name.",
        pattern="^[a-z0-9]+(?:-[a-z0-9]+)*$",
        checks=(
            FieldCheck(
                FieldProblem(
                    "AGT027",
                    "the name {value} isn't the file's name, {stem}",
                    "Rename the file or the agent.",
                    fix_message="Write {meant}.",
                    at_value=True,
                ),
                lambda document, name: name.strip() != document.stem,
                lambda document, _: document.stem if _is_name(document.stem) else "",
            ),
            FieldCheck(
                FieldProblem(
                    "AGT028",
                    "{value} isn't a valid agent name",
                    "Use lowercase letters, digits and hyphens, and name the file the same.",
                    at_value=True,
                ),
                _is_odd_name,
            ),
        ),
    ),
    _make_identity_field(
        "version",
        "",
        default='"1.0.0"',
        missing=FieldProblem("AGT020", "{key} is {state}", 'Write version: "1.0.0".', applicability="unsafe"),
        about="A semantic version.",
        pattern=r"^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$",
        checks=(
            FieldCheck(
                FieldProblem(
                    "AGT030",
                    "the version {value} doesn't have the form 1.2.3",
                    "Write three numbers with dots between them.",
                    'Write "{meant}".',
                    at_value=True,
                ),
                lambda _, version: _SEMVER.match(version.strip()) is None,
                _complete_version,
            ),
        ),
    ),
    _make_identity_field(
        "description",
        "Describe in one or two sentences what the agent does and when to use it.",
        about="What the agent does, in one or two sentences.",
        checks=(
            FieldCheck(
                FieldProblem("AGT031", "the description has {length}", _SHORTER), _is_long, words=_measure_description
            ),
        ),
    ),
    _make_identity_field(
        "mode",
        "Write mode: subagent.",
        choices=("subagent",),
        default="subagent",
        accepts=lambda mode: isinstance(mode, str) and mode.strip() == "subagent",
        wrong=FieldProblem("AGT032", "the mode is {value}, expected subagent", "Write mode: subagent.", at_value=True),
        correct=lambda *_: "subagent",
        applicability=_rate_mode,
    ),
    _make_identity_field(
        "agent_type",
        f"Write one of: {', '.join(KINDS)}.",
        choices=KINDS,
        accepts=lambda kind: isinstance(kind, str) and kind.strip() in KINDS,
        correct=_find_kind,
        wrong=FieldProblem(
            "AGT033",
            "the standard has no agent_type {value}",
            "Available: {choices}.",
            "Did you mean {meant}?",
            "Write {meant}.",
            at_value=True,
        ),
        about="What the agent is for: its kind.",
    ),
    FieldSpec("owner", "text", ("agent", "remit"), wrong_type=_NO_TEXT, about="Who moves the task and commits."),
    FieldSpec("model", "text", wrong_type=_NO_TEXT, about="The model. Default: the harness's own."),
    FieldSpec("retry", "text", ("safe", "never"), about="Whether a lost run may be started again."),
    FieldSpec("checks", "list", about="The acceptance checks of its work, by their names in remit.toml."),
    FieldSpec("data_schema", about="The JSON Schema of `data` in its return: a file of the workspace, or the schema."),
    FieldSpec("return", "text", ("standard", "hyper", "manifest"), about="The format of the return."),
    FieldSpec(
        "temperature",
        "number",
        least=0,
        most=1,
        required=True,
        default="0.2",
        correct=_read_decimal,
        missing=_make_limit_problem("warning"),
        wrong_type=_NO_TEMPERATURE,
        wrong=_NO_TEMPERATURE,
    ),
    FieldSpec(
        "max_tokens",
        "whole",
        above=0,
        required=True,
        default="4000",
        correct=_read_whole,
        applicability=lambda value: "safe" if read_whole(value)[1] else "unsafe",
        missing=_make_limit_problem("warning"),
        wrong_type=_NO_TOKENS,
        wrong=_NO_TOKENS,
    ),
    FieldSpec(
        "timeout",
        "duration",
        above=0,
        required=True,
        default=lambda document: str(get_limit_s(document)),
        missing=_make_limit_problem("error"),
        checks=(
            FieldCheck(
                FieldProblem(
                    "AGT036",
                    "the timeout is {value}, expected a number of seconds",
                    "Write seconds, such as 1800.",
                    "Write {meant}.",
                    at_value=True,
                ),
                lambda _, value: _read_timeout(value).state in ("text", "invalid"),
                _write_seconds,
            ),
            FieldCheck(
                FieldProblem(
                    "AGT037", "the timeout {value} sets no limit", "Write seconds, such as {meant}.", at_value=True
                ),
                lambda _, value: _read_timeout(value).state == "unlimited",
                lambda document, _: str(get_limit_s(document)),
            ),
            FieldCheck(
                FieldProblem(
                    "AGT038",
                    "the timeout of {value} seconds is longer than the {limit} of {kind} agents",
                    "{reason}: write {meant}, or ignore this diagnostic if the agent needs longer.",
                    at_value=True,
                ),
                _is_longer,
                _shorten_timeout,
                words=_explain_timeout,
            ),
        ),
        about="The time limit of a run. In seconds.",
    ),
    FieldSpec(
        "tools",
        missing=_make_table_problem(
            "List the tools that it can use, each true or false.", when=lambda document: document.get("tools") is None
        ),
    ),
    FieldSpec(
        "permissions",
        "table",
        missing=_make_table_problem(
            "List under allow and deny which paths and commands each tool can use.",
            when=lambda document: document.get("permissions") is None,
        ),
    ),
    FieldSpec("permissions/allow", required=True),
    FieldSpec("permissions/deny", required=True),
    FieldSpec(
        "context_loading",
        "table",
        missing=_make_table_problem("List the files that it loads first, and the maximum size.", "warning"),
        wrong_type=_make_type_problem(
            "AGT070", "context_loading isn't a table", "Write strategy, index and required below it."
        ),
    ),
    FieldSpec(
        "context_loading/strategy",
        choices=tuple(CONTEXT_BUDGETS),
        required=True,
        default="lazy",
        missing=FieldProblem(
            "AGT070",
            "context_loading has no strategy",
            "Write strategy: lazy, eager or minimal.",
            fix_message="Load {default}",
        ),
        wrong=FieldProblem("AGT070", "unknown strategy {value}", fix_message="Write {meant}", at_value=True),
    ),
    FieldSpec(
        "context_loading/index",
        "path",
        missing=FieldProblem(
            "AGT071",
            "context_loading has no index",
            "Write the path of the file that lists what can be loaded.",
            when=lambda document: _loads_context(document) and document.get("context_loading", "strategy") != "minimal",
        ),
        wrong_type=FieldProblem(
            "AGT071", "the index is {value}, expected a path", "Write the path of one file.", at_value=True
        ),
        about="The file that lists what the agent can ask for.",
    ),
    FieldSpec(
        "context_loading/required",
        "list",
        default="[]",
        correct=_list_paths,
        missing=FieldProblem(
            "AGT072",
            "context_loading has no required",
            "Write required: with a list of paths, or [].",
            fix_message="Require nothing",
            severity="warning",
            applicability="unsafe",
            when=_loads_context,
        ),
        wrong_type=_NO_LIST,
        wrong_item=_NO_PATH,
    ),
    FieldSpec(
        "context_loading/optional",
        "list",
        accepts=is_absent,
        correct=_list_paths,
        wrong_type=_NO_LIST,
        wrong_item=_NO_PATH,
    ),
    FieldSpec(
        "context_loading/max_context_size",
        "number",
        above=0,
        default=_get_budget,
        correct=_get_budget,
        missing=FieldProblem(
            "AGT073",
            "context_loading has no max_context_size",
            "Write the maximum number of bytes to load.",
            "Write max_context_size: {default}.",
            severity="warning",
            when=_loads_context,
        ),
        wrong_type=_NO_SIZE,
        wrong=_NO_SIZE,
        checks=(
            FieldCheck(_NO_SIZE, lambda _, size: size != int(size), _get_budget),
            FieldCheck(
                FieldProblem(
                    "AGT073",
                    "max_context_size is {size}, but the strategy {strategy} loads at most {budget} bytes",
                    "Load less, or use a strategy with a higher limit.",
                    fix_message="Write {meant}",
                    severity="warning",
                    at_value=True,
                ),
                _is_over_budget,
                _get_budget,
                words=_compare_sizes,
            ),
        ),
    ),
    FieldSpec(
        "delegation",
        "table",
        missing=_make_table_problem(
            "List the agents that it can call, the depth and the timeouts.",
            "warning",
            when=lambda document: bool(_list_called(document)),
        ),
        default=_render_run,
        wrong_type=_make_type_problem(
            "AGT080", "delegation isn't a table", "Write max_depth and can_delegate_to below it."
        ),
    ),
    FieldSpec(
        "delegation/max_depth",
        "whole",
        least=1,
        most=MAX_DEPTH,
        default=str(MAX_DEPTH),
        correct=_find_depth,
        missing=FieldProblem(
            "AGT080",
            "the agent delegates, but max_depth is missing",
            f"Write max_depth: {MAX_DEPTH}, or less.",
            severity="warning",
            when=_delegates,
        ),
        wrong_type=_NO_DEPTH,
        wrong=_NO_DEPTH,
    ),
    FieldSpec(
        "delegation/can_delegate_to",
        "list",
        correct=_list_names,
        wrong_type=FieldProblem(
            "AGT081",
            "can_delegate_to is {value}, expected a list of names",
            "Put the names between brackets.",
            fix_message="Convert it to a list",
            at_value=True,
        ),
        wrong_item=FieldProblem(
            "AGT081",
            "an item of can_delegate_to is {value}, expected a name",
            "Write the name of an agent, or remove it.",
        ),
    ),
    _make_call_timeout("timeout_default", "The default timeout of a call."),
    _make_call_timeout("timeout_max", "The maximum timeout of a call."),
    FieldSpec(
        "lifecycle",
        "table",
        missing=_make_table_problem("Write the command that calls it, the stage, and the return format.", "warning"),
        default=lambda document: (
            "" if "lifecycle" in document.values else f'stage: 4\nreturn_format: "{RETURN_FORMAT}"'
        ),
        wrong_type=_make_type_problem(
            "AGT029",
            "lifecycle is {value}, expected a table",
            "Write its keys below it: stage, command, return_format.",
        ),
    ),
    FieldSpec(
        "lifecycle/stage",
        "whole",
        least=0,
        default="4",
        correct=_read_whole,
        missing=FieldProblem(
            "AGT046",
            "lifecycle.stage is missing",
            "Write the stage of the command that calls it, usually 4.",
            applicability="unsafe",
        ),
        wrong_type=_NO_STAGE,
        wrong=_NO_STAGE,
    ),
    FieldSpec(
        "lifecycle/command",
        "text",
        missing=FieldProblem(
            "AGT047",
            "lifecycle.command is missing",
            'Write the command that calls it, such as "/plan"; leave it out if only agents call it.',
            severity=lambda document: "warning" if get_kind(document) not in (None, "utility") else "note",
        ),
        wrong_type=FieldProblem(
            "AGT048",
            "lifecycle.command is {value}, expected one command",
            'Write the command that calls it, such as "/plan".',
            at_value=True,
        ),
        checks=(
            FieldCheck(
                FieldProblem(
                    "AGT048",
                    "lifecycle.command is {value}, which isn't a command",
                    'Write one command without arguments, such as "/plan".',
                    'Write "{meant}".',
                    at_value=True,
                ),
                lambda _, command: _COMMAND.match(command.strip()) is None,
                _write_command,
            ),
        ),
        about="The command that calls the agent.",
        pattern=r"^/\S+$",
    ),
    FieldSpec(
        "lifecycle/return_format",
        default=f'"{RETURN_FORMAT}"',
        missing=FieldProblem(
            "AGT049", "lifecycle.return_format is missing", f'Write return_format: "{RETURN_FORMAT}".'
        ),
        checks=(
            FieldCheck(
                FieldProblem(
                    "AGT067",
                    "lifecycle.return_format is {value}, which isn't a format of Remit",
                    f'Write "{RETURN_FORMAT}".',
                    at_value=True,
                ),
                _is_other_format,
            ),
        ),
        about="The file that says what the agent returns.",
    ),
)
TABLE = FieldTable(
    "standard",
    FIELDS,
    keys=STANDARD_KEYS,
    misspelled=FieldProblem("AGT023", "the standard has no key {key}", "Did you mean {meant}?", severity="warning"),
    unknown=FieldProblem("AGT023", "the standard has no key {key}",
                         "Remove it, or begin it with x- if another program reads it.", severity="note"),
    misspelled_inside=FieldProblem("AGT024", "the standard has no key {key} in {table}", "Did you mean {meant}?"),
    unknown_inside=FieldProblem("AGT024", "the standard has no key {key} in {table}", "Available: {choices}."),
    other_names={
        "type": "agent_type", "kind": "agent_type", "timeout_seconds": "timeout", "timeout_s": "timeout",
        "max_output_tokens": "max_tokens", "context": "context_loading",
    },
    by_place=KEYS,
    ignores_extensions=True,
)  # fmt: skip

add_table(TABLE, (
    RuleRow("AGT020", "identity-missing", fix="safe"),
    RuleRow("AGT021", "limit-missing", fix="unsafe"),
    RuleRow("AGT022", "table-missing", fix="unsafe"),
    RuleRow("AGT023", "key-unknown", "warning", "unsafe"),
    RuleRow("AGT024", "table-key-unknown", "warning", "unsafe"),
    RuleRow("AGT027", "name-not-file", fix="unsafe"),
    RuleRow("AGT028", "name-format", "warning"),
    RuleRow("AGT029", "field-type"),
    RuleRow("AGT030", "version-invalid", fix="safe"),
    RuleRow("AGT031", "description-too-long", "warning"),
    RuleRow("AGT032", "mode-invalid", fix="unsafe"),
    RuleRow("AGT033", "agent-type-unknown", fix="unsafe"),
    RuleRow("AGT034", "temperature-invalid", fix="safe"),
    RuleRow("AGT035", "max-tokens-invalid", fix="safe"),
    RuleRow("AGT036", "timeout-invalid", fix="safe"),
    RuleRow("AGT037", "timeout-unlimited", fix="unsafe"),
    RuleRow("AGT038", "timeout-too-long", "warning", "unsafe"),
    RuleRow("AGT046", "stage-invalid", "warning", "safe"),
    RuleRow("AGT047", "command-missing", "warning"),
    RuleRow("AGT048", "command-invalid", fix="safe"),
    RuleRow("AGT049", "return-format-missing", "warning", "unsafe"),
    RuleRow("AGT067", "return-format-unknown", "warning"),
    RuleRow("AGT070", "context-strategy-unknown", fix="unsafe"),
    RuleRow("AGT071", "context-index-missing", "warning"),
    RuleRow("AGT072", "context-lists-invalid", fix="safe"),
    RuleRow("AGT073", "context-size-invalid", fix="unsafe"),
    RuleRow("AGT080", "delegation-depth-invalid", fix="unsafe"),
    RuleRow("AGT081", "targets-invalid", fix="safe"),
    RuleRow("AGT084", "delegation-timeouts-invalid", fix="unsafe"),
))  # fmt: skip


@agent_rule("AGT069", severity="note")
def temperature_unsupported(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent sets a temperature, and its harness has no such setting.

    Why: Claude Code has no option for the temperature and uses its own. Remit passes `max_tokens` to Claude Code
    and opencode, and `temperature` to opencode. Codex and Gemini CLI have no option for either.

    Bad: `temperature: 0.2` in `.claude/agents/planner.md`, and the results vary more than expected

    Good: the same in `.opencode/agent/subagents/planner.md`
    """
    document = case.document
    if is_absent(case.get("temperature")) or not is_read_by_claude(document.path):
        return
    yield AgentViolation("Claude Code has no setting for the temperature: it isn't passed on",
                         "Run the agent with opencode if the temperature matters.", document.span_of("/temperature"),
                         "/temperature")  # fmt: skip
