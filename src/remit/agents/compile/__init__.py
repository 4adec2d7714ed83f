"""Compilation: converts an agent file of the standard to the file of a harness, and reports every loss.

A compiled agent is the harness's file, and a diagnostic (CMP…) for each setting that is lost or changed. One module per
harness renders its file. The same source always gives the same text, so that `--check` can compare it with the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from remit.agents.compile import claude, codex, opencode
from remit.agents.compile.source import (
    DIAGNOSTICS,
    left_out,
    left_over,
    loaded_twice,
    lost,
    make_name,
    name_some,
    outdated,
    read_source,
    refused,
)
from remit.agents.definition import find_unread, read_definition
from remit.agents.document import read_body
from remit.errors import UsageError
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.compile.source import CompileSource
    from remit.agents.definition import Definition
    from remit.agents.document import AgentDocument
    from remit.model import Diagnostic

__all__ = [
    "DIAGNOSTICS", "TARGETS", "Compiled", "Target", "check_target", "compile_document", "find_origin", "is_current",
    "left_over", "outdated", "refused",
]  # fmt: skip

Target = Literal["claude", "opencode", "codex"]
TARGETS: tuple[Target, ...] = get_args(Target)
_MODULES = {"claude": claude, "opencode": opencode, "codex": codex}


class Compiled(NamedTuple):
    """The file of a compiled agent, and the diagnostics. The path is relative to the workspace."""

    path: str
    text: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def refused(self) -> bool:
        """Whether the source can't be compiled, so that there is no text to write."""
        return not self.text


def compile_document(document: AgentDocument, to: str) -> Compiled:
    """Compile an agent file of the standard for a harness."""
    check_target(to)
    target, definition = _MODULES[to], read_definition(document)
    name = make_name(definition.name if definition else document.stem) or "agent"
    path = f"{target.FOLDER}/{name}.{'toml' if to == 'codex' else 'md'}"
    refusals = tuple(_find_refusals(document, definition, path))
    if refusals or definition is None:
        return Compiled(path, "", refusals)
    source = read_source(document, definition, to)
    origin = "".join(char if char.isprintable() else "?" for char in document.path)
    text = target.render(source, f"Generated from {origin} by `remit agent build`: change that file, not this one.")
    _report_keys(source, target.KEYS)
    return Compiled(
        path,
        text,
        tuple(sorted(source.diagnostics, key=lambda each: (*(each.place[:2] if each.place else (0, 0)), each.code))),
    )


def check_target(to: str) -> None:
    """Raise a `UsageError` for an unknown harness."""
    if to not in TARGETS:
        raise UsageError(f"there is no harness '{to}'", hint=did_you_mean(to, TARGETS))


_HEADER = lazy(
    r"(?:---\r?\n)?# Generated from ([^\r\n]{1,4096}) by `remit agent build`: change that file, not this one\.\r?\n"
)


def find_origin(text: str) -> str | None:
    """Return the path of a compiled file's source, or None if the file wasn't compiled."""
    header = _HEADER.match(text)
    return header[1] if header else None


def is_current(compiled: Compiled, existing_text: str | None) -> bool:
    """Whether the file on disk equals the compiled text, except for line breaks that a checkout changed."""
    return existing_text is not None and existing_text.replace("\r\n", "\n") == compiled.text


# --- the same for every harness --------------------------------------------------------------------------------------


def _find_refusals(document: AgentDocument, definition: Definition | None, path: str) -> Iterator[Diagnostic]:
    found = document.frontmatter
    if document.unreadable is not None:
        yield refused(document, "", f"the file can't be compiled: {document.unreadable}", "Save it as UTF-8 text.")
    elif found is None or definition is None:
        yield refused(
            document, "", "the file has no frontmatter, so it isn't an agent", "Start it with `remit agent new`."
        )
    elif found.problems or document.unclosed_frontmatter:
        reason = found.problems[0].message if found.problems else "it is not closed"
        hint = "Correct it first: `remit lint` shows where, and what it can fix."
        yield refused(document, "", f"the frontmatter can't be read reliably: {reason}", hint)
    elif document.profile != "standard":
        message = f"only standard agent files can be compiled, and this is a file of {document.profile}"
        yield refused(document, "", message, "`remit agent upgrade` brings it to the standard.")
    else:
        yield from _find_gaps(document, definition, path)


def _find_gaps(document: AgentDocument, definition: Definition, path: str) -> Iterator[Diagnostic]:
    """Yield errors for missing parts that all harnesses require."""
    if not make_name(definition.name):
        yield refused(document, "/name", "the name has no letter or digit", "Give the agent the name of its file.")
    description = document.get("description")
    if not isinstance(description, str) or not description.strip():
        yield refused(
            document, "/description", "the description is missing", "Describe the agent's purpose in a sentence."
        )
    if not read_body(document).strip():
        yield refused(document, "", "the file has no instructions below the frontmatter", "Write the instructions.")
    if path == document.path:
        hint = "Move the source to a folder that no harness reads, such as agents/."
        yield refused(document, "", "the compiled file would overwrite its source", hint)
    unread = find_unread(document)
    if unread is not None:
        hint = "Write allow and deny, each a list of tools with lists of patterns."
        yield refused(document, unread, "this part of the permissions can't be read", hint)


_WRITTEN = frozenset({"name", "description", "model", "tools", "permissions"})
"""The keys that all targets convert, or report value by value."""
_LIMITS = ("max_depth", "timeout_default", "timeout_max")
_CONTEXT_KEYS = ("index", "required", "optional")


def _report_keys(source: CompileSource, written: frozenset[str]) -> None:
    """Report all keys of the source that the target's file lacks."""
    document, to = source.document, source.to
    aside: list[str] = []
    for key, value in document.values.items():
        if key in _WRITTEN | written or value is None or (key == "mode" and value == "subagent"):
            continue
        if key == "delegation" and isinstance(value, dict):
            limits = [name for name in _LIMITS if name in value and source.targets]
            if limits:
                because = source.own_limits
                source.report(lost(document, f"/{key}/{limits[0]}", to, name_some(limits), because=because))
            aside += [f"{key}.{name}" for name in value if name not in (*limits, "can_delegate_to")]
        elif key == "context_loading" and isinstance(value, dict) and not any(map(value.get, _CONTEXT_KEYS)):
            aside.append(key)  # it loads no files
        elif key in ("temperature", "max_tokens", "timeout", "mode", "context_loading", "delegation"):
            because = "The agent has to read the files itself, as its instructions say." if "context" in key else ""
            what = f"the mode {str(value)[:80]}" if key == "mode" else key
            source.report(lost(document, f"/{key}", to, what, because=because))
        else:
            aside.append(key)
    if aside:
        source.report(left_out(document, f"/{aside[0].replace('.', '/')}", to, name_some(aside)))
    if document.place == to and f".{to}/" in document.path:
        source.report(loaded_twice(document, to))
