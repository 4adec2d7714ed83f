"""Migration: upgrades an older agent file to the standard (R1.31).

Completes the frontmatter, adds missing sections from the template of the agent's type, applies fixes, and lists what a
user has to write. Every word of the body is kept, and migrating twice changes nothing more.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.definition import ANYONE, read_definition, split_claude_tools
from remit.agents.document import AgentDocument, parse_document
from remit.agents.edits import MAX_ROUNDS, apply_fixes
from remit.agents.outline import SECTIONS
from remit.agents.profiles import CONTEXT_BUDGETS, KINDS, TOOLS, is_read_by_claude
from remit.agents.rules.register import AgentFileContext, run_agent_rules
from remit.agents.scaffold import render_standard
from remit.errors import InputError, UsageError
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.agents.edits import Change
    from remit.agents.tags import Tag
    from remit.model import Diagnostic, TextSpan

MAX_TURNS = 200
DEFAULT_KIND = "utility"
"""The type of an agent without one. Utility agents change no task and commit nothing."""


class ManualStep(NamedTuple):
    """A part of the file that a user has to write or check."""

    message: str
    hint: str
    place: TextSpan | None
    code: str = ""
    """The code of the rule that reports it, or "" for an assumption."""


class AgentMigration(NamedTuple):
    """A migrated file."""

    text: str
    done: tuple[str, ...]
    """The changes, one sentence each."""
    left: tuple[ManualStep, ...]


def migrate(document: AgentDocument, *, kind: str | None = None, spec_root: str = "specs") -> AgentMigration:
    """Upgrade an agent file to the standard. Default type: the file's `agent_type`, else `DEFAULT_KIND`."""
    if document.unreadable is not None:
        raise InputError(f"can't upgrade {document.path}: {document.unreadable}", hint="save it as UTF-8 first")
    if document.profile == "codex" or document.place == "command":
        what = "a command" if document.place == "command" else "an agent of Codex"
        raise UsageError(f"{document.path} is {what}, not an agent in Markdown",
                         hint="`remit agent new` makes a standard agent to begin with")  # fmt: skip
    check_kind(kind)
    work = _MigrationDraft(document, kind, spec_root)
    for _ in range(MAX_ROUNDS):
        before = work.document.text
        work.apply_rules("AGT00", "AGT01")  # only the rules on parsing; those of a harness no longer apply
        if not _can_extend(work):
            break
        _complete_frontmatter(work)
        _add_sections(work)
        work.apply_rules()
        if work.document.text == before:
            break
    return AgentMigration(work.document.text, tuple(dict.fromkeys(work.done)), tuple(work.list_left()))


def check_kind(kind: str | None) -> None:
    """Raise a `UsageError` for an unknown type."""
    if kind is not None and kind not in KINDS:
        raise UsageError(f"unknown agent type '{kind}'", hint=did_you_mean(kind, KINDS))


class _MigrationDraft:
    """A file during its migration."""

    def __init__(self, document: AgentDocument, kind: str | None, spec_root: str) -> None:
        self.original = document
        self.document = document
        self.done: list[str] = []
        self.assumptions: list[tuple[str, str, str]] = []
        definition = read_definition(document)
        self.targets = [each.name for each in definition.targets if each.name != ANYONE] if definition else []
        given = document.get("agent_type")
        self.is_assumed = kind is None and given not in KINDS
        self.kind: str = kind or (given if given in KINDS else DEFAULT_KIND)
        text = render_standard(self.kind, document.stem, place=document.path.rpartition("/")[0], spec_root=spec_root)
        self.template = parse_document("agents/template.md", text)

    def change(self, changes: Iterable[Change], step: str) -> bool:
        """Apply changes and record the step. Insertions at the same place keep their order."""
        text = self.document.text
        newline = edits.find_newline(self.document)
        ordered = sorted(enumerate(changes), key=lambda each: (each[1][0], each[1][1], each[0]))
        for _, (start, end, content) in reversed(ordered):
            text = text[:start] + content.replace("\r\n", "\n").replace("\n", newline) + text[end:]
        if text == self.document.text:
            return False
        self.document = parse_document(self.document.path, text)
        self.done.append(step)
        return True

    def lacks(self, name: str) -> bool:
        """Whether a section is missing."""
        outline = self.document.outline
        return outline.get(name) is None and name not in outline.hidden

    def add(self, name: str, changes: Iterable[Change], step: str) -> bool:
        """Add a section, unless the result lacks it or hides another section."""
        before, known = self.document, set(self.document.outline.sections)
        if not self.change(changes, step):
            return False
        if {*known, name} <= set(self.document.outline.sections):
            return True
        self.document = before
        self.done.pop()
        return False

    def assume(self, message: str, hint: str, pointer: str) -> None:
        """Record an assumption for the user to check, with the pointer of its key or the name of its section."""
        self.assumptions.append((message, hint, pointer))

    def check(self) -> list[Diagnostic]:
        """Return the diagnostics of the current text."""
        return run_agent_rules(AgentFileContext(self.document))

    def apply_rules(self, *codes: str) -> None:
        """Apply the fixes of all rules, or of rules with these codes, if they remove no word.

        Rules are applied one after the other. If a rule reports as many diagnostics after its fixes as before, they are
        undone and not tried again, so that the loop ends.
        """
        diagnostics, tried = self.check(), set[str]()
        for _ in range(MAX_TURNS):
            first = next((each for each in diagnostics if each.code not in tried and self._can_fix(each, codes)), None)
            if first is None:
                return
            same = [each for each in diagnostics if each.code == first.code and self._can_fix(each, codes)]
            fixed = apply_fixes(same, self.document.text, unsafe=True)
            before, self.document = self.document, parse_document(self.document.path, fixed.text)
            after = self.check()
            if _count(after, first.code) >= _count(diagnostics, first.code):
                self.document = before
                tried.add(first.code)
                continue
            diagnostics = after
            self.done += [f"fixed: {each.message}" for each in fixed.applied]

    def _can_fix(self, diagnostic: Diagnostic, codes: tuple[str, ...]) -> bool:
        return (not codes or diagnostic.code.startswith(codes)) and only_adds_text(diagnostic, self.document)

    def list_left(self) -> Iterator[ManualStep]:
        """Yield what a user has to check or write: assumptions, then the remaining diagnostics, one per rule."""
        if self.kind != "utility" and not _has_postflight(self.original) and _has_postflight(self.document):
            self.assume("preflight and postflight are new: the agent updates the status and commits by itself",
                        "Check that its caller does not do so too.", "process_flow")  # fmt: skip
        for message, hint, pointer in dict.fromkeys(self.assumptions):
            section = self.document.outline.get(pointer)
            span = section.name_span if section is not None else self.document.key_span(pointer)
            yield ManualStep(message, hint, self.document.locate(span))
        by_code: dict[str, list[Diagnostic]] = {}
        for diagnostic in self.check():
            if diagnostic.severity != "note":
                by_code.setdefault(diagnostic.code, []).append(diagnostic)
        for code, diagnostics in by_code.items():
            first, more = diagnostics[0], len(diagnostics) - 1
            message = f"{first.message} (and {more} more like it)" if more else first.message
            yield ManualStep(message, first.hint, first.place, code)


def _has_postflight(document: AgentDocument) -> bool:
    return any(step.role == "postflight" for step in document.outline.steps)


def _count(diagnostics: list[Diagnostic], code: str) -> int:
    return sum(each.code == code for each in diagnostics)


_TAG_NAME = lazy(r"[A-Za-z][\w.+-]{0,80}")


def only_adds_text(diagnostic: Diagnostic, document: AgentDocument) -> bool:
    """Whether a fix keeps all words of the body except tag names, and all values of the frontmatter."""
    if diagnostic.fix is None:
        return False
    for edit in diagnostic.fix.edits:
        old = document.text[edit.start : edit.end]
        if edit.start < document.body_start:
            if diagnostic.fix.applicability == "unsafe" and not edit.content.strip() and old.strip():
                return False
        else:
            words = iter(edit.content.split())
            keeps_words = all(word in words for word in old.split())  # in the same order
            is_tag_name = document.text[edit.start - 1 : edit.start] in ("<", "/") and _TAG_NAME.fullmatch(old)
            if not keeps_words and not is_tag_name:
                return False
    return True


# --- the frontmatter -------------------------------------------------------------------------------------------------


def _can_extend(work: _MigrationDraft) -> bool:
    """Whether keys and sections can be added to the file. If not, the reason is recorded."""
    document, found = work.document, work.document.frontmatter
    again = "and run `remit agent upgrade` again."
    if work.original.frontmatter is None:
        work.assume("the file had no frontmatter, so it wasn't an agent", "Check that it should be one.", "")
    if found is None or not found.whole or document.text[found.start : found.end].lstrip().startswith("{"):
        work.assume("nothing can be added to this frontmatter", f"Write one `key: value` per line {again}", "")
        return False
    hidden = document.body.hidden
    if hidden is not None and (document.outline.hidden or not _close_hidden(work, hidden[0])):
        line = document.text.count("\n", 0, hidden[0]) + 1
        work.assume(f"the code fence or comment in line {line} is never closed", f"Close it {again}", "")
        return False
    return True


def _close_hidden(work: _MigrationDraft, start: int) -> bool:
    """Close a code fence or comment at the end of the file, where parsers end it anyway."""
    fence = re.match(r"(?:[-*+>][ \t]+)?(`{3,}|~{3,})", work.document.text[start:].lstrip())
    end = len(work.document.text.rstrip())
    return work.change([(end, end, f"\n{fence[1]}" if fence else "\n-->")], "closed a code fence or comment")


def _complete_frontmatter(work: _MigrationDraft) -> None:
    """Add all missing keys with the template's values."""
    given = work.document.get("agent_type")
    if given not in KINDS and work.change(
        edits.put_value(work.document, "", "agent_type", work.kind), f"wrote agent_type: {work.kind}"
    ):
        instead = f" in place of {str(given)[:80]}" if given else ""
        if work.is_assumed:
            work.assume(f"agent_type: {work.kind} is assumed{instead}",
                        f"Name the right kind: {', '.join(KINDS)}.", "/agent_type")  # fmt: skip
    _convert_tools(work)
    for key in work.template.values:
        text = _render_key(work, key) if work.document.get(key) is None else ""
        added = text and work.change(edits.put_value(work.document, "", key, text), f"added {key}")
        if added and key in ("tools", "permissions"):
            work.assume(f"{key}: these are the usual ones of this kind", "Reduce them to what this agent needs.",
                        f"/{key}")  # fmt: skip


def _render_key(work: _MigrationDraft, key: str) -> str:
    """Return the YAML value of a missing key, or "" if only a user can write it."""
    if key == "description":
        title = work.document.outline.title
        return edits.quote(title[0]) if title else ""
    if key == "permissions":
        return "\n".join(_render_permissions(work))
    if key == "context_loading":
        return f"strategy: minimal\nrequired: []\nmax_context_size: {CONTEXT_BUDGETS['minimal']}"
    value = work.template.get(key)
    if key == "delegation" and isinstance(value, dict):
        value = {**value, "can_delegate_to": list(dict.fromkeys([*work.targets, *value["can_delegate_to"]]))}
    if isinstance(value, dict):
        return "\n".join(f"{name}: {json.dumps(each, ensure_ascii=False)}" for name, each in value.items())
    return edits.render_scalar(value) if key != "version" else edits.quote(str(value))


def _render_permissions(work: _MigrationDraft) -> Iterator[str]:
    """Yield the template's permissions for the tools that are on. edit gets the patterns of write."""
    on = _list_tools(work.document)
    for side in ("allow", "deny"):
        given = work.template.get("permissions", side) or ()
        rows = {tool: patterns for row in given for tool, patterns in row.items()}
        rows.setdefault("edit", rows["write"])
        yield f"{side}:"
        for tool, patterns in rows.items():
            if on is None or tool in on or tool == ("read" if side == "allow" else "write"):
                yield f"  - {tool}: {json.dumps(patterns, ensure_ascii=False)}"


def _list_tools(document: AgentDocument) -> frozenset[str] | None:
    """Return the tools that are on, or None if the file doesn't restrict tools."""
    tools = document.get("tools")
    on = frozenset(name for name in TOOLS if isinstance(tools, dict) and tools.get(name) is True)
    rights = document.get("permission")
    if not isinstance(rights, dict):
        return on or None
    denied = {name for name, right in rights.items() if right == "deny"}
    denied |= {"write"} if "edit" in denied else set()
    return frozenset((on or frozenset(TOOLS)) - denied) if denied else on or None


def _convert_tools(work: _MigrationDraft) -> None:
    """Convert Claude Code's list of tools to a table. Tools that the standard lacks are kept as a comment."""
    found = work.document.frontmatter
    if found is not None and "/tools" not in found.keys and "/allowed-tools" in found.keys:
        work.change(edits.rename_key(work.document, "/allowed-tools", "tools"), "renamed allowed-tools to tools")
    value = work.document.get("tools")
    if is_read_by_claude(work.document.path):
        if value:
            work.assume("tools stays as Claude Code reads it, which takes a table for no tools at all",
                        "Keep the standard file in agents/ and compile it for Claude Code.", "/tools")  # fmt: skip
        return
    key_end, end = work.document.key_span("/tools")[1], work.document.span_of("/tools")[1]
    if not isinstance(value, str | list) or not value or "#" in work.document.text[key_end:end]:
        return  # fixes of rules convert a list with comments
    items = [" ".join(item.split()) for item in split_claude_tools(value)]
    known = {_SAME_TOOL.get(name, name) for item in items for name in [item.partition("(")[0].strip().lower()]}
    others = [item for item in items if _SAME_TOOL.get(item.lower(), item.lower()) not in (*TOOLS, "*", "")]
    lines = [f"# also, in the harness: {', '.join(others)}"] if others else []
    lines += [f"{tool}: {str(tool in known or '*' in known).lower()}" for tool in TOOLS]
    table = ":" + "".join(f"\n  {line}" for line in lines)
    if work.change([(key_end, end, table)], "made a table of the tools") and others:
        work.assume(f"the standard has no words for {', '.join(others)}"[:200], "Say in the body what they are for.",
                    "/tools")  # fmt: skip


_SAME_TOOL = {"multiedit": "edit", "notebookedit": "edit", "notebookread": "read", "ls": "glob", "list": "glob"}


# --- the sections ----------------------------------------------------------------------------------------------------

_MAX_SAID = 400


def _add_sections(work: _MigrationDraft) -> None:
    """Add the missing sections from the template, in order."""
    _add_opening(work)
    for name in SECTIONS:
        section = _render_section(work, name) if work.lacks(name) else ""
        if section:
            at = name if _has_neighbors(work.document, name) else ""
            if work.add(name, edits.add_section(work.document, section, name=at), f"added <{name}>"):
                _note_section(work, name)


def _render_section(work: _MigrationDraft, name: str) -> str:
    """Return a section of the template, or "" if the agent doesn't need it or only a user can write it."""
    template, tag = work.template, work.template.outline.get(name)
    if tag is None or name in ("context", "role", "task"):
        return ""
    if name == "process_flow":
        return "\n".join(_render_flow(template, tag))
    if name == "delegation_patterns":
        targets = work.document.get("delegation", "can_delegate_to")
        called = [each for each in tag.children if isinstance(targets, list) and each.get("name") in targets]
        lines = (f"  {template.text[each.start : each.end]}" for each in called)
        return "\n".join([f"<{name}>", *lines, f"</{name}>"]) if called else ""
    return template.text[tag.start : tag.end]


def _render_flow(template: AgentDocument, flow: Tag) -> Iterator[str]:
    """Return the template's preflight, postflight and return steps, with the file's own steps between them."""
    preflight, *_, postflight, answer = (template.text[step.start : step.end] for step in flow.children)
    yield f"<process_flow>\n  {preflight}\n"
    yield "  <step_1>\n    <action>Do the work</action>\n    <process>"
    yield "      1. Read the instructions of this file outside its sections."
    yield "      2. Follow them from first to last, and check each result before the next one."
    yield "    </process>\n    <checkpoint>Every instruction is followed</checkpoint>\n  </step_1>\n"
    yield f"  {re.sub(r'step_[0-9]+_', 'step_2_', postflight)}\n"
    yield f"  {re.sub(r'step_[0-9]+_', 'step_3_', answer)}\n</process_flow>"


def _has_neighbors(document: AgentDocument, name: str) -> bool:
    """Whether a section has a place among others. Between headings, it would split a passage and goes to the end."""
    in_prose = any(level > 1 for level, _, _ in document.body.headings)
    late = SECTIONS[SECTIONS.index("process_flow") :]
    return not in_prose and (name not in late or any(document.outline.get(other) is not None for other in late))


def _note_section(work: _MigrationDraft, name: str) -> None:
    if name == "return_format":
        work.assume("the return format is new", "Check that nothing else in the file asks for another answer.", name)
    elif name == "process_flow":
        work.assume("the process flow only refers to the rest of the file", "Split the work into steps.", name)


def _add_opening(work: _MigrationDraft) -> None:
    """Add context, role and task below the title if the description provides their text."""
    description = work.document.get("description")
    said = " ".join(description.split()) if isinstance(description, str) else ""
    if len(said) > _MAX_SAID:
        sentence = re.match(r".{1,400}?[.!?](?=\s)", said)
        said = sentence[0] if sentence else said[:200]
    said = said.replace("<", "(").replace(">", ")")
    sections = {
        "task": f"<task>\n  {said}\n</task>",
        "role": f"<role>\n  {said}\n</role>",
        "context": f"<context>\n  <specialist_domain>{said}</specialist_domain>\n</context>",
    }
    for name, section in sections.items():
        if said and work.lacks(name):
            step = f"added <{name}> from the description"
            beside = edits.add_section(work.document, section, name=name)
            if work.document.outline.is_bare or not _has_neighbors(work.document, name):
                beside = ()
            if not work.add(name, beside, step) and not work.add(name, [_insert_below_title(work, section)], step):
                work.add(name, edits.add_section(work.document, section, name=name), step)


def _insert_below_title(work: _MigrationDraft, section: str) -> Change:
    title = work.document.outline.title
    if title is None:
        own = work.template.outline.title
        return work.document.body_start, work.document.body_start, f"\n# {own[0] if own else 'Agent'}\n\n{section}\n"
    at = len(work.document.text[: title[1][1]].rstrip())
    return at, at, f"\n\n{section}"
