"""Compilation: one agent file of the standard → each harness's own file, with every loss named.

Owns what a compiled agent is: the harness's file, a sidecar with what only Remit reads, and findings (CMP…) for
whatever did not come through as it was. A module for each harness knows how its file is written. The same source gives
the same text, so a check compares what is on disk with what would be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from remit.agents.compile import claude, codex, opencode
from remit.agents.compile.sidecar import find_kept_aside, render_sidecar
from remit.agents.compile.source import make_name, read_body, read_source
from remit.agents.compile.told import TOLD, kept_aside, left_over, loaded_twice, lost, name_some, outdated, refused
from remit.agents.definition import define, find_unread
from remit.errors import UsageError
from remit.lazy import lazy
from remit.quick_tuple import NamedTuple
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.compile.source import Source
    from remit.agents.definition import Definition
    from remit.agents.document import Document
    from remit.model import Finding

__all__ = [
    "TARGETS", "TOLD", "Compiled", "Target", "check_target", "compile_document", "find_origin", "is_current",
    "left_over", "outdated", "refused",
]  # fmt: skip

Target = Literal["claude", "opencode", "codex"]
TARGETS: tuple[Target, ...] = get_args(Target)

_FOLDERS = {"claude": claude.FOLDER, "opencode": opencode.FOLDER, "codex": codex.FOLDER}
_ENDINGS = {"claude": "md", "opencode": "md", "codex": "toml"}
_RENDER = {"claude": claude.render, "opencode": opencode.render, "codex": codex.render}


class Compiled(NamedTuple):
    """What is to be written for an agent, and what there is to say about it. Paths are relative to the workspace."""

    path: str
    text: str
    sidecar_path: str
    sidecar: str
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Whether the source cannot be compiled: then there is no text, and nothing is to be written."""
        return not self.text


def compile_document(document: Document, to: str) -> Compiled:
    """Write an agent file of the standard as a harness wants it."""
    check_target(to)
    definition = define(document)
    name = make_name(definition.name if definition else document.stem) or "agent"
    path, sidecar_path = f"{_FOLDERS[to]}/{name}.{_ENDINGS[to]}", f"{_FOLDERS[to]}/{name}.remit.json"
    refusals = tuple(_find_refusals(document, definition, path))
    if refusals or definition is None:
        return Compiled(path, "", sidecar_path, "", refusals)
    source = read_source(document, definition, to)
    origin = "".join(char if char.isprintable() else "?" for char in document.path)
    text = _RENDER[to](source, f"Generated from {origin} by `remit compile`: change that file, not this one.")
    _tell_of_all(source)
    return Compiled(
        path, text, sidecar_path, render_sidecar(document, name, origin), tuple(sorted(source.findings, key=_get_place))
    )


def check_target(to: str) -> None:
    """Refuse a harness that there is not."""
    if to not in TARGETS:
        raise UsageError(f"there is no harness '{to}'", hint=did_you_mean(to, TARGETS))


_HEADER = lazy(
    r"(?:---\r?\n)?# Generated from ([^\r\n]{1,4096}) by `remit compile`: change that file, not this one\.\r?\n"
)


def find_origin(text: str) -> str | None:
    """The path of the source from which a file was compiled; None: it was not, somebody wrote it."""
    header = _HEADER.match(text)
    return header[1] if header else None


def _get_place(finding: Finding) -> tuple[int, int, str]:
    return *(finding.place[:2] if finding.place else (0, 0)), finding.code


def is_current(compiled: Compiled, existing_text: str | None, existing_sidecar: str | None) -> bool:
    """Whether what is on disk is what would be written; a checkout may have given it other line breaks."""
    pairs = ((compiled.text, existing_text), (compiled.sidecar, existing_sidecar))
    return all(old is not None and old.replace("\r\n", "\n") == new for new, old in pairs)


# --- what is the same for every harness ------------------------------------------------------------------------------


def _find_refusals(document: Document, definition: Definition | None, path: str) -> Iterator[Finding]:
    found = document.frontmatter
    if document.fault is not None:
        yield refused(document, "", f"the file cannot be compiled: {document.fault}", "Save it as text in UTF-8.")
    elif found is None or definition is None:
        yield refused(document, "", "the file has no frontmatter, so it is no agent", "Start it with `remit new`.")
    elif found.problems or document.unclosed_frontmatter:
        reason = found.problems[0].message if found.problems else "it is not closed"
        hint = "Correct it first: `remit lint` shows where, and what it can fix."
        yield refused(document, "", f"the frontmatter cannot be read for certain: {reason}", hint)
    elif document.profile != "standard":
        message = f"only a file of the standard is compiled, and this is one of {document.profile}"
        yield refused(document, "", message, "`remit migrate` brings it to the standard.")
    else:
        yield from _find_gaps(document, definition, path)


def _find_gaps(document: Document, definition: Definition, path: str) -> Iterator[Finding]:
    """What an agent must have in every harness."""
    if not make_name(definition.name):
        yield refused(document, "/name", "the name has no letter or digit", "Name the agent like its file.")
    description = document.get("description")
    if not isinstance(description, str) or not description.strip():
        yield refused(document, "/description", "there is no description", "Say in a sentence what the agent is for.")
    if not read_body(document).strip():
        yield refused(document, "", "there are no instructions below the frontmatter", "Write them.")
    if path == document.path:
        hint = "Keep the source in a folder that no harness reads, such as agents/."
        yield refused(document, "", "the compiled file would take the place of its source", hint)
    unread = find_unread(document)
    if unread is not None:
        hint = "Write allow and deny, each a list of tools with lists of patterns."
        yield refused(document, unread, "this part of the permissions cannot be read", hint)


def _tell_of_all(source: Source) -> None:
    document, to = source.document, source.to
    loading = document.get("context_loading")
    if isinstance(loading, dict) and any(loading.get(key) for key in ("index", "required", "optional")):
        because = "The agent has to read the files itself, as its instructions say."
        source.tell(lost(document, "/context_loading", to, "context_loading", because=because))
    aside = find_kept_aside(document)
    if aside:
        source.tell(kept_aside(document, f"/{aside[0]}", name_some(aside)))
    if document.place == to and f".{to}/" in document.path:
        source.tell(loaded_twice(document, to))
    if to != "opencode" and source.definition.mode not in (None, "subagent"):
        source.tell(lost(document, "/mode", to, f"the mode {source.definition.mode}"))
