"""The tokens of templates in the manifest protocol (R4.11, C15): fill them, and report those that can't be filled.

A token's default may contain tokens. A given value is inserted as it is and never expanded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic
from remit.spelling import find_similar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import Severity

REQUIRED = ("TASK_ID", "DATE", "TOPIC_SLUG")
OPTIONAL: Mapping[str, str] = {
    "EPIC_ID": "",
    "SESSION_ID": "",
    "OUTPUT_DIR": "claudedocs/agent-outputs",
    "MANIFEST_PATH": "{{OUTPUT_DIR}}/MANIFEST.jsonl",
    "TITLE": "{{TOPIC_SLUG}}",
    "RESEARCH_ID": "{{TOPIC_SLUG}}-{{DATE}}",
    "NEXT_TASK_IDS": "",
    "TASK_SHOW_CMD": "remit task show",
    "TASK_FOCUS_CMD": "remit task start",
    "TASK_COMPLETE_CMD": "remit task done",
    "TASK_LINK_CMD": "remit task link",
}
"""The optional tokens and their defaults."""
MAX_VALUE_CHARS = 64 * 1024

_TOKEN = re.compile(r"\{\{[ \t]?([A-Z][A-Z0-9_]{0,60})[ \t]?\}\}")
_MAX_DEPTH = 20


def unknown_token(name: str) -> Diagnostic:
    """A text contains an unknown token.

    Why: nothing replaces it, so the agent would read or write the token itself.

    Bad: `{{TOPIC}}`

    Good: `{{TOPIC_SLUG}}`, or a value for the token.
    """
    similar = find_similar(name, (*REQUIRED, *OPTIONAL))
    hint = f"Did you mean {similar}?" if similar else "Give it a value, or remove it."
    return Diagnostic("MAN020", "error", f"unknown token {name}", hint)


def token_missing(name: str) -> Diagnostic:
    """A required token has no value.

    Why: the task, the date and the topic differ in each run and can't be derived.

    Bad: a text with `{{TASK_ID}}` in it, in a run without a task.

    Good: a value for TASK_ID, DATE and TOPIC_SLUG.
    """
    return Diagnostic("MAN021", "error", f"no value for the required token {name}", f"Give {name} a value.")


def recursive_token(name: str) -> Diagnostic:
    """A token's default refers to the token itself, or expands without end.

    Why: it never results in a value.

    Bad: `OUTPUT_DIR = "{{MANIFEST_PATH}}/.."` and `MANIFEST_PATH = "{{OUTPUT_DIR}}/MANIFEST.jsonl"`

    Good: defaults that result in a value.
    """
    message = f"{name} refers to itself, or has more than {MAX_VALUE_CHARS:,} characters"
    return Diagnostic("MAN022", "error", message, f"Give {name} a value.")


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "MAN020": (unknown_token, "error"),
    "MAN021": (token_missing, "error"),
    "MAN022": (recursive_token, "error"),
}


class FilledText(NamedTuple):
    """A text with its tokens filled, and a diagnostic for each other token."""

    text: str
    diagnostics: Mapping[str, Diagnostic]


def resolve_tokens(template: str, given: Mapping[str, str], *, defaults: Mapping[str, str] = OPTIONAL) -> FilledText:
    """Fill the tokens of a text. A token that can't be filled stays, and gets a diagnostic."""
    filling = _Filling(given, defaults)
    text = filling.fill(template)
    return FilledText(text, filling.diagnostics)


def find_tokens(text: str) -> list[str]:
    """Return the distinct tokens in a text."""
    return list(dict.fromkeys(_TOKEN.findall(text)))


class _Filling:
    """The computed values and the diagnostics, one for each token."""

    def __init__(self, given: Mapping[str, str], defaults: Mapping[str, str]) -> None:
        self.given = given
        self.defaults = defaults
        self.diagnostics: dict[str, Diagnostic] = {}
        self._values: dict[str, str | None] = {}
        self._open: list[str] = []

    def fill(self, text: str) -> str:
        """Return a text with all tokens filled that have a value."""
        return _TOKEN.sub(self._fill_one, text)

    def _fill_one(self, found: re.Match[str]) -> str:
        value = self._find_value(found[1])
        return found[0] if value is None else value

    def _find_value(self, name: str) -> str | None:
        if name in self.given:
            return self.given[name]
        if name not in self._values:
            self._values[name] = self._expand_default(name)
        return self._values[name]

    def _expand_default(self, name: str) -> str | None:
        if name not in self.defaults:
            report = token_missing if name in REQUIRED else unknown_token
            self.diagnostics.setdefault(name, report(name))
            return None
        if name in self._open or len(self._open) >= _MAX_DEPTH:
            self.diagnostics.setdefault(name, recursive_token(name))
            return None
        self._open.append(name)
        value = self.fill(self.defaults[name])
        self._open.pop()
        if len(value) > MAX_VALUE_CHARS:
            self.diagnostics.setdefault(name, recursive_token(name))
            return None
        return value
