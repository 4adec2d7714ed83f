"""Rules on Codex's agents: what makes it drop one.

What is said of it was seen in version 0.166: it drops an agent for one key that it does not know or one value of the
wrong type, and tells it in a line that few read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.register import MAX_REPORTS, Case, Report, rule
from remit.agents.rules.tables import guess, show
from remit.harnesses import codex
from remit.lazy import lazy
from remit.places import escape_key
from remit.spelling import SURE, find_meant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import Document
    from remit.agents.profiles import Profile

_CODEX: tuple[Profile, ...] = ("codex",)
_DROPPED = "Codex drops the agent"
_REQUIRED = {
    "name": "Write the name by which it is called.",
    "description": "Say what it does and when to use it.",
    codex.INSTRUCTIONS_KEY: "Write what the agent should do.",
}


def _is_whole(document: Document) -> bool:
    return document.frontmatter is not None and document.frontmatter.whole


@rule("AGT400", "R1.1", profiles=_CODEX, fix="unsafe")
def codex_field_missing(case: Case) -> Iterator[Report]:
    """`name`, `description` or `developer_instructions` is missing or blank.

    Why: Codex drops an agent that lacks one of the three.

    Bad: a file without `developer_instructions`

    Good: `developer_instructions = "You review code."`

    Fix (unsafe): takes the file's name for a missing name, which makes an agent of the file.
    """
    document = case.document
    misspelt = {meant for _, meant in _find_strangers(case)} if _is_whole(document) else set()
    for key, hint in _REQUIRED.items():
        value = case.get(key)
        if not _is_whole(document) or key in misspelt or (key in case.values and not isinstance(value, str)):
            continue
        if isinstance(value, str) and value.strip():
            continue
        told = "blank" if key in case.values else "missing"
        yield Report(f"{key} is {told}, so {_DROPPED}", hint, document.key_span(f"/{key}"), f"/{key}",
                     edits=_write_name(document) if key == "name" else ())  # fmt: skip


def _write_name(document: Document) -> tuple[edits.Change, ...]:
    """The file's name as the first line, or in the place of a blank one."""
    found = document.frontmatter
    if found is None or '"' in document.stem or "\\" in document.stem or not document.stem.isprintable():
        return ()
    name = json.dumps(document.stem, ensure_ascii=False)
    if "/name" in found.spans:
        return ((*found.spans["/name"], name),)
    at = 1 if document.text.startswith("\ufeff") else 0
    return ((at, at, f"name = {name}{edits.find_newline(document)}"),) if "name" not in document.values else ()


def _find_strangers(case: Case) -> list[tuple[str, str | None]]:
    """Each key that Codex does not know, and the one that was meant if one is close and not given."""
    known = (*codex.FILE_KEYS, *codex.SETTINGS)
    strange = [key for key in case.values if key not in known]
    found: list[tuple[str, str | None]] = []
    taken = set(case.values)
    for key in strange[:MAX_REPORTS]:
        meant = _OTHER_NAMES.get(key) or find_meant(key, known, least=SURE)
        found.append((key, None if meant in taken else meant))
        taken.add(meant or "")
    return found


_OTHER_NAMES = {
    "prompt": codex.INSTRUCTIONS_KEY, "system_prompt": codex.INSTRUCTIONS_KEY,
    "reasoning_effort": codex.EFFORT_KEY, "effort": codex.EFFORT_KEY, "sandbox": codex.SANDBOX_KEY,
    "mcpServers": codex.SERVERS_KEY, "nicknames": codex.NICKNAMES_KEY,
}  # fmt: skip
"""What others call the keys of Codex."""


@rule("AGT401", "R1.1", profiles=_CODEX, fix="unsafe")
def codex_key_unknown(case: Case) -> Iterator[Report]:
    """A key that Codex does not know.

    Why: one such key, and Codex drops the agent. Besides `name`, `description` and `nickname_candidates` an agent's
    file may have what Codex's own configuration may have, and nothing else: no `tools` list, no `temperature`.

    Bad: `reasoning_effort = "high"`

    Good: `model_reasoning_effort = "high"`

    Fix (unsafe): gives it the name that was probably meant.
    """
    document = case.document
    for key, meant in _find_strangers(case) if _is_whole(document) else ():
        pointer = f"/{escape_key(key)}"
        yield Report(f"Codex knows no key {show(key)}, so it drops the agent",
                     f"Did you mean {meant}?" if meant else "Remove it, or make a comment of it.",
                     document.key_span(pointer), pointer,
                     edits=edits.rename_key(document, pointer, meant) if meant else (),
                     fix_message=f"Rename it to {meant}.")  # fmt: skip


_TEXTS = (*_REQUIRED, "model", codex.EFFORT_KEY, "model_provider", "instructions", "personality")


@rule("AGT402", "R1.1", profiles=_CODEX)
def codex_type_wrong(case: Case) -> Iterator[Report]:
    """A value has the wrong type.

    Why: Codex drops the agent.

    Bad: `model = 5`, `mcp_servers = ["github"]`

    Good: `model = "gpt-5"`, `[mcp_servers.github]`
    """
    document = case.document
    for key, value in case.values.items() if _is_whole(document) else ():
        wanted = (
            "a text" if key in _TEXTS else "a table" if key in (codex.SERVERS_KEY, "model_providers", "skills") else ""
        )
        kind = str if wanted == "a text" else dict
        if wanted and not isinstance(value, kind):
            pointer = f"/{key}"
            yield Report(f"{key} is {show(value)} and not {wanted}, so {_DROPPED}", f"Write {wanted}.",
                         document.key_span(pointer), pointer)  # fmt: skip


@rule("AGT403", "R1.3", profiles=_CODEX, fix="unsafe")
def codex_sandbox_unknown(case: Case) -> Iterator[Report]:
    """`sandbox_mode` is none of read-only, workspace-write and danger-full-access.

    Why: Codex drops the agent.

    Bad: `sandbox_mode = "readonly"`

    Good: `sandbox_mode = "read-only"`

    Fix (unsafe): writes the mode that was probably meant.
    """
    document = case.document
    mode = case.get("sandbox_mode")
    if "sandbox_mode" not in case.values or mode in codex.SANDBOXES or not _is_whole(document):
        return
    meant, hint = (
        guess(mode, codex.SANDBOXES) if isinstance(mode, str) else ("", f"Known are: {', '.join(codex.SANDBOXES)}.")
    )
    span = document.span_of("/sandbox_mode")
    can_fix = meant and document.text[span[0] : span[0] + 1] in ('"', "'")
    yield Report(f"sandbox_mode is {show(mode)}, so {_DROPPED}", hint, span, "/sandbox_mode",
                 edits=((*span, f'"{meant}"'),) if can_fix else (), fix_message=f"Write {meant}.")  # fmt: skip


_NICKNAME = lazy(r"[A-Za-z0-9 _-]{1,200}\Z")


@rule("AGT404", "R1.1", profiles=_CODEX)
def codex_nickname_form(case: Case) -> Iterator[Report]:
    """`nickname_candidates` is empty, or has a name that is blank, given twice, or of other signs than it may have.

    Why: Codex drops the agent. Nicknames are of letters without accents, digits, spaces, hyphens and underscores.

    Bad: `nickname_candidates = []`, `nickname_candidates = ["R2/D2"]`

    Good: `nickname_candidates = ["Atlas", "Echo"]`
    """
    document = case.document
    names = case.get("nickname_candidates")
    if "nickname_candidates" not in case.values or not _is_whole(document):
        return
    if fault := _find_nickname_fault(names):
        yield Report(f"nickname_candidates {fault}, so {_DROPPED}", "Write a list of different plain names.",
                     document.key_span("/nickname_candidates"), "/nickname_candidates")  # fmt: skip


def _find_nickname_fault(names: object) -> str:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return "is not a list of texts"
    plain = [name.strip() for name in names]
    if not plain:
        return "is empty"
    if not all(plain) or len(set(plain)) < len(plain):
        return "has a name that is blank or given twice"
    odd = next((name for name in plain if not _NICKNAME.match(name)), None)
    return f"has {show(odd)}" if odd is not None else ""


@rule("AGT405", "R1.1", profiles=_CODEX, severity="note")
def codex_name_not_file(case: Case) -> Iterator[Report]:
    """The agent's name is not that of its file.

    Why: Codex calls an agent by the name in its file; whoever looks for the file by that name does not find it.

    Bad: `name = "reviewer"` in `code-reviewer.toml`

    Good: `name = "code-reviewer"`
    """
    name = case.get("name")
    squeezed = name.strip().replace("_", "-").lower() if isinstance(name, str) else ""
    if squeezed and squeezed != case.document.stem.replace("_", "-").lower():
        yield Report(f"Codex calls this agent {show(name)}, and not {show(case.document.stem)}",
                     "Give both the same name.", case.document.span_of("/name"), "/name")  # fmt: skip
