"""Migration: an agent file as somebody wrote it once → the same agent in the form of the standard.

Owns the order of the seven steps (R1.31): frontmatter, structure, process flow, return format, error handling, who
owns the workflow, and what a person has to look at. What the rules can put right, they do; this adds what no rule can
know from a single finding. The body is only added to: every line of it is still there afterwards, and a file that was
migrated is left as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.blueprints import BLUEPRINTS
from remit.agents.blueprints.writer import Writer
from remit.agents.definition import ANYONE, define, split_claude_tools
from remit.agents.document import Document, parse_document
from remit.agents.fixes import MAX_ROUNDS, apply_fixes
from remit.agents.frontmatter import parse_frontmatter
from remit.agents.headings import find_paragraph, find_parts, find_passages, is_whole, trim
from remit.agents.outline import SECTIONS
from remit.agents.profiles import KINDS, TIMEOUTS_S, TOOLS, is_read_by_claude
from remit.agents.rules.all import Case, run_rules
from remit.errors import InputError, UsageError
from remit.lazy import lazy
from remit.quick_tuple import NamedTuple
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.agents.edits import Change
    from remit.agents.frontmatter import Span
    from remit.agents.headings import Part
    from remit.agents.tags import Tag
    from remit.model import Finding, Place

MAX_TURNS = 200


class Remainder(NamedTuple):
    """Something that only a person can write, and where."""

    message: str
    hint: str
    place: Place | None
    code: str = ""
    """Of the rule that will tell it again; empty for a guess that should be looked at."""


class Migration(NamedTuple):
    """A migrated file."""

    text: str
    done: tuple[str, ...]
    """What was changed, a sentence each; nothing for a file that follows the standard as far as can be told."""
    left: tuple[Remainder, ...]


def migrate(document: Document, *, kind: str | None = None, spec_root: str = "specs") -> Migration:
    """Bring an agent file to the standard. The kind is guessed from name and description unless it is given."""
    if document.fault is not None:
        raise InputError(f"{document.path} cannot be migrated: {document.fault}", hint="save it as UTF-8 first")
    if document.profile == "codex" or document.place == "command":
        what = "a command" if document.place == "command" else "an agent of Codex"
        raise UsageError(f"{document.path} is {what}, not an agent in Markdown",
                         hint="`remit new` makes a standard agent to begin with")  # fmt: skip
    check_kind(kind)
    work = _Work(document, kind, spec_root)
    for _ in range(MAX_ROUNDS):
        before = work.document.text
        _make_readable(work)
        _complete_frontmatter(work)
        _wrap_body(work)
        _add_sections(work)
        work.apply_rules()
        if work.document.text == before:
            break
    return Migration(work.document.text, tuple(dict.fromkeys(work.done)), tuple(work.list_left()))


def check_kind(kind: str | None) -> None:
    """Refuse a kind that there is not."""
    if kind is not None and kind not in KINDS:
        raise UsageError(f"there is no kind of agent called {kind}", hint=did_you_mean(kind, KINDS))


class _Work:
    """A file on its way."""

    def __init__(self, document: Document, kind: str | None, spec_root: str) -> None:
        self.original = document
        self.document = document
        self.done: list[str] = []
        self.guesses: list[tuple[str, str, str]] = []
        definition = define(document)
        self.targets = [each.name for each in definition.targets if each.name != ANYONE] if definition else []
        given = document.get("agent_type")
        self.is_guess = kind is None and given not in KINDS
        self.kind: str = kind or (given if given in KINDS else guess_kind(document) or "utility")
        self.writer = Writer(BLUEPRINTS[self.kind], document.stem, place=document.path.rpartition("/")[0],
                             spec_root=spec_root)  # fmt: skip

    def change(self, changes: Iterable[Change], told: str) -> bool:
        """Apply changes, the last first; insertions at one place keep their order."""
        text = self.document.text
        newline = edits.find_newline(self.document)
        ordered = sorted(enumerate(changes), key=lambda each: (each[1][0], each[1][1], each[0]))
        for _, (start, end, content) in reversed(ordered):
            text = text[:start] + content.replace("\r\n", "\n").replace("\n", newline) + text[end:]
        if text == self.document.text:
            return False
        self.document = parse_document(self.document.path, text)
        self.done.append(told)
        return True

    def lacks(self, name: str) -> bool:
        """Whether a section is missing."""
        outline = self.document.outline
        return outline.get(name) is None and name not in outline.hidden

    def add(self, name: str, changes: Iterable[Change], told: str) -> bool:
        """Add a section; it must be found where it was put, and hide none that was found before."""
        before, known = self.document, set(self.document.outline.sections)
        if not self.change(changes, told):
            return False
        if {*known, name} <= set(self.document.outline.sections):
            return True
        self.document = before
        self.done.pop()
        return False

    def doubt(self, message: str, hint: str, pointer: str) -> None:
        """Note a guess that a person should look at, by the pointer of its key or the name of its section."""
        self.guesses.append((message, hint, pointer))

    def check(self) -> list[Finding]:
        """What the rules say of the file as it is."""
        return run_rules(Case(self.document))

    def apply_rules(self, *codes: str) -> None:
        """Have the rules, or some of them, put right what they can without taking a word away.

        One rule after the other: a fix after which its rule finds no less is taken back and not tried again, so that
        none can go on for ever.
        """
        findings, tried = self.check(), set[str]()
        for _ in range(MAX_TURNS):
            turn = next((each for each in findings if each.code not in tried and self._can_fix(each, codes)), None)
            if turn is None:
                return
            same = [each for each in findings if each.code == turn.code and self._can_fix(each, codes)]
            fixed = apply_fixes(same, self.document.text, unsafe=True)
            before, self.document = self.document, parse_document(self.document.path, fixed.text)
            after = self.check()
            if _count(after, turn.code) >= _count(findings, turn.code):
                self.document = before
                tried.add(turn.code)
                continue
            findings = after
            self.done += [f"put right: {each.message}" for each in fixed.applied]

    def _can_fix(self, finding: Finding, codes: tuple[str, ...]) -> bool:
        return (not codes or finding.code.startswith(codes)) and is_gentle(finding, self.document)

    def list_left(self) -> Iterator[Remainder]:
        """What a person has to look at: guesses first, then what the rules still find, each rule once."""
        if self.kind != "utility" and not _has_postflight(self.original) and _has_postflight(self.document):
            self.doubt("preflight and postflight are new: the agent moves the status and commits by itself",
                       "See that its caller does not do so too.", "process_flow")  # fmt: skip
        for message, hint, pointer in dict.fromkeys(self.guesses):
            section = self.document.outline.get(pointer)
            span = section.name_span if section is not None else self.document.key_span(pointer)
            yield Remainder(message, hint, self.document.locate(span))
        by_code: dict[str, list[Finding]] = {}
        for finding in self.check():
            if finding.severity != "note":
                by_code.setdefault(finding.code, []).append(finding)
        for code, findings in by_code.items():
            first, more = findings[0], len(findings) - 1
            message = f"{first.message} (and {more} more like it)" if more else first.message
            yield Remainder(message, first.hint, first.place, code)


def _has_postflight(document: Document) -> bool:
    return any(step.role == "postflight" for step in document.outline.steps)


def _count(findings: list[Finding], code: str) -> int:
    return sum(each.code == code for each in findings)


def is_gentle(finding: Finding, document: Document) -> bool:
    """Whether a fix takes nothing away: in the body no word but the names of tags, in the frontmatter no value."""
    if finding.fix is None:
        return False
    for edit in finding.fix.edits:
        old = document.text[edit.start : edit.end]
        if edit.start < document.body_start:
            if finding.fix.applicability == "unsafe" and not edit.content.strip() and old.strip():
                return False
        elif not _holds(edit.content, old) and not _is_tag_name(document.text, edit.start, old):
            return False
    return True


def _holds(text: str, old: str) -> bool:
    """Whether every word of the old text stands in the new one, in its order."""
    words = iter(text.split())
    return all(word in words for word in old.split())


def _is_tag_name(text: str, at: int, old: str) -> bool:
    return text[at - 1 : at] in ("<", "/") and re.fullmatch(r"[A-Za-z][\w.+-]{0,80}", old) is not None


# --- the frontmatter -------------------------------------------------------------------------------------------------


def _make_readable(work: _Work) -> None:
    """Give the file a frontmatter that is YAML: as the rules can, else by quoting what is broken, else as comments."""
    if work.document.frontmatter is None:
        work.doubt("the file had no frontmatter, so it was no agent", "See that it should be one.", "")
    work.apply_rules("AGT00", "AGT01")  # the rules on reading; those of a harness are not wanted any more
    _close_hidden(work)
    found = work.document.frontmatter
    if found is None:
        return
    broken = []
    for pointer, (start, end) in found.spans.items():
        piece = parse_frontmatter(work.document.text, found.keys.get(pointer, (start, end))[0], end)
        if pointer.count("/") == 1 and not piece.whole and not found.whole:
            broken.append((start, end, edits.quote(work.document.text[start:end])))
    work.change(broken, "put quotes around what was not valid YAML")
    found = work.document.frontmatter
    if found is None or (found.whole and not _is_in_brackets(work.document)):
        return
    lines = work.document.text[found.start : found.end].rstrip("\r\n").split("\n")
    plain = {key: value for key, value in found.values.items() if isinstance(value, str | int | float) and value}
    head = [*(f"# {line}".rstrip() for line in lines), *(f"{key}: {edits.render_scalar(plain[key])}" for key in plain)]
    work.change(
        [(found.start, found.end, "\n".join([*head, ""]))], "kept a frontmatter that nobody can add to as comments"
    )


def _is_in_brackets(document: Document) -> bool:
    found = document.frontmatter
    return found is not None and document.text[found.start : found.end].lstrip().startswith("{")


def _close_hidden(work: _Work) -> None:
    """Close a fence or comment that never ends, where nothing but prose stands behind it."""
    hidden = work.document.body.hidden
    if hidden is None or work.document.outline.hidden:
        return
    line = work.document.text[hidden[0] :].lstrip().split("\n", 1)[0]
    fence = re.match(r"(?:[-*+>][ \t]+)?(`{3,}|~{3,})", line)
    end = len(work.document.text.rstrip())
    work.change([(end, end, f"\n{fence[1]}" if fence else "\n-->")], "closed what was opened and never closed")


def _complete_frontmatter(work: _Work) -> None:
    """Add every field that is missing; what cannot be known is guessed, and told to be a guess."""
    if work.document.get("agent_type") not in KINDS:
        changes = edits.put_value(work.document, "", "agent_type", work.kind)
        if work.change(changes, f"wrote agent_type: {work.kind}") and work.is_guess:
            work.doubt(f"agent_type: {work.kind} is a guess", "See that it is right.", "/agent_type")
    _convert_tools(work)
    for key, text in _derive(work).items():
        if not text or work.document.get(key) is not None:
            continue
        added = work.change(edits.put_value(work.document, "", key, text), f"added {key}")
        if added and key in ("tools", "permissions"):
            work.doubt(f"{key}: these are what agents of this kind usually have", "Narrow them to what this one needs.",
                       f"/{key}")  # fmt: skip


def _derive(work: _Work) -> Mapping[str, str]:
    """What every agent of this kind may say about itself; the order is that of the standard."""
    writer, plan = work.writer, work.writer.blueprint
    tools = _list_tools(work.document)
    targets = [name for name in work.targets if name not in {each.agent for each in plan.delegations}]
    delegation = list(writer.delegation())
    if targets and "can_delegate_to: []" in delegation:
        delegation[delegation.index("can_delegate_to: []")] = "can_delegate_to:"
    if targets:
        at = next(index for index, line in enumerate(delegation) if line.startswith("timeout_default"))
        delegation[at:at] = [f"  - {edits.quote(name)}" for name in targets]
    return {
        "name": edits.render_scalar(work.document.stem),
        "version": '"1.0.0"',
        "description": edits.quote(text) if (text := _find_description(work.document)) else "",
        "mode": "subagent",
        "temperature": str(plan.temperature),
        "max_tokens": str(plan.max_tokens),
        "timeout": str(TIMEOUTS_S[work.kind]),
        "tools": "\n".join(writer.tools()),
        "permissions": "\n".join(writer.permissions(tools)),
        "context_loading": "\n".join(writer.context_loading(None, ())),
        "delegation": "\n".join(delegation),
        "lifecycle": "\n".join(writer.lifecycle()),
    }


def _list_tools(document: Document) -> frozenset[str] | None:
    """The tools that are switched on; None where nothing is said about them."""
    tools = document.get("tools")
    on = frozenset(name for name in TOOLS if isinstance(tools, dict) and tools.get(name) is True)
    rights = document.get("permission")
    if not isinstance(rights, dict):
        return on or None
    denied = {name for name, right in rights.items() if right == "deny"}
    denied |= {"write"} if "edit" in denied else set()
    return frozenset((on or frozenset(TOOLS)) - denied) if denied else on or None


def _convert_tools(work: _Work) -> None:
    """Make a table of Claude Code's list of tools; what the standard cannot say is kept as a comment."""
    found = work.document.frontmatter
    if found is not None and "/tools" not in found.keys and "/allowed-tools" in found.keys:
        work.change(edits.rename_key(work.document, "/allowed-tools", "tools"), "renamed allowed-tools to tools")
    value = work.document.get("tools")
    if is_read_by_claude(work.document.path):
        if value:
            work.doubt("tools stays as Claude Code reads it, which takes a table for no tools at all",
                       "Keep the standard file in agents/ and compile it for Claude Code.", "/tools")  # fmt: skip
        return
    key_end, end = work.document.key_span("/tools")[1], work.document.span_of("/tools")[1]
    if not isinstance(value, str | list) or not value or "#" in work.document.text[key_end:end]:
        return  # a list with comments is for the rules
    items = [" ".join(item.split()) for item in split_claude_tools(value)]
    known = {_SAME_TOOL.get(name, name) for item in items for name in [item.partition("(")[0].strip().lower()]}
    others = [item for item in items if _SAME_TOOL.get(item.lower(), item.lower()) not in (*TOOLS, "*", "")]
    lines = [f"# besides, in the harness: {', '.join(others)}"] if others else []
    lines += [f"{tool}: {str(tool in known or '*' in known).lower()}" for tool in TOOLS]
    table = ":" + "".join(f"\n  {line}" for line in lines)
    if work.change([(key_end, end, table)], "made a table of the tools") and others:
        work.doubt(f"the standard has no words for {', '.join(others)}"[:200], "Say in the body what they are for.",
                   "/tools")  # fmt: skip


_SAME_TOOL = {"multiedit": "edit", "notebookedit": "edit", "notebookread": "read", "ls": "glob", "list": "glob"}


def _find_description(document: Document) -> str:
    """The first sentence of the body, else its title."""
    title = document.outline.title
    found = find_paragraph(document, title[1][1] if title else document.body_start, len(document.text))
    text = " ".join(document.text[slice(*found)].split()) if found else title[0] if title else ""
    sentence = re.match(r".{1,300}?[.!?](?=\s|\Z)", text)
    return sentence[0] if sentence else text[:200]


_KIND_WORDS: Mapping[str, re.Pattern[str]] = {
    "review": lazy(r"review|audit|verif|validat|check|grad(?:er|ing)|inspect|critic|judg|compar|lint"),
    "planning": lazy(r"plan|architect|roadmap|strateg|estimat|design"),
    "research": lazy(
        r"research|investigat|analy[sz]|explor|retriev|search|diagnos|discover|mapp(?:er|ing)|stud(?:y|ies)"
    ),
    "implementation": lazy(
        r"implement|build|cod(?:er|ing)|develop|execut|refactor|writ(?:er|es|ing)|generat|convert|translat|creat|fix|"
        r"simplif|extract"
    ),
    "utility": lazy(
        r"manag|handl|sync|format|updat|organi[sz]|track|coordinat|orchestrat|dispatch|convert|number|git\b"
    ),
}


def guess_kind(document: Document) -> str | None:
    """The kind by what `remit new` writes, by what the file calls it, by the words of its name, by its description."""
    name, said = document.get("name"), document.get("description")
    own = name if isinstance(name, str) and name.strip() else document.stem
    for kind, blueprint in BLUEPRINTS.items():  # one that `remit new` made speaks of other kinds, too
        if isinstance(said, str) and said.startswith(blueprint.description):
            return kind
    called = document.get("agent_type")
    words = [*_split_words(called), *reversed(_split_words(own)), *_split_words(said)[:20]]
    for word in words:
        for kind, pattern in _KIND_WORDS.items():
            if pattern.match(word):
                return kind
    return None


def _split_words(value: object) -> list[str]:
    return re.findall(r"[a-z]+", value.lower()[:400]) if isinstance(value, str) else []


# --- the body --------------------------------------------------------------------------------------------------------


def _wrap_body(work: _Work) -> None:
    """Put tags around what headings already call a section."""
    for name in ("role", "task"):
        passage = find_passages(work.document).get(name)
        if passage is not None and work.document.outline.get(name) is None:
            span = find_paragraph(work.document, passage.inner_start, passage.inner_end)
            if span is not None:
                work.add(name, _wrap(span, name), f"made <{name}> of the section {passage.title}")
    _wrap_role(work)
    for name in ("error_handling", "quality_standards"):
        passage = find_passages(work.document).get(name)
        if passage is not None and work.document.outline.get(name) is None:
            span = passage.inner_start, passage.inner_end
            work.add(name, _wrap(span, name), f"made <{name}> of the section {passage.title}")
    _wrap_flow(work)


def _wrap(span: Span, name: str, inner: Iterable[Change] = ()) -> list[Change]:
    """A tag around some lines, and around what is added to them."""
    return [(span[0], span[0], f"<{name}>\n"), *inner, (span[1], span[1], f"\n</{name}>")]


def _wrap_role(work: _Work) -> None:
    """A first paragraph that begins with "You are" is the role."""
    document = work.document
    if document.outline.get("role") is not None:
        return
    title = document.outline.title
    span = find_paragraph(document, title[1][1] if title else document.body_start, len(document.text))
    if span is not None and _YOU.match(document.text, *span):
        work.add("role", _wrap(span, "role"), "made <role> of the first paragraph")


_YOU = lazy(r"[\s*_]*(?:you are|you're|act as|as an? )", re.IGNORECASE)


def _wrap_flow(work: _Work) -> None:
    """Make a process flow of a workflow: of a tag by another name, of a section with steps, of headings that count."""
    document = work.document
    flow = document.outline.get("process_flow")
    if flow is None:
        other = next((tag for tag in document.body.root.children if tag.name in _FLOW_TAGS and tag.closed), None)
        if other is not None:
            work.change(edits.rename_tag(other, "process_flow"), f"renamed <{other.name}> to <process_flow>")
            flow = work.document.outline.get("process_flow")
    if flow is not None:
        _number_steps(work, flow)
        return
    passage = find_passages(document).get("process_flow")
    if passage is not None:
        span = passage.inner_start, passage.inner_end
        changes = _wrap_steps(find_parts(document, span, level=passage.level), span, passage.title)
        work.add(
            "process_flow", _wrap(span, "process_flow", changes), f"made <process_flow> of the section {passage.title}"
        )
        return
    parts = find_parts(document, (document.body_start, len(document.text)))
    span = (parts[0].start, parts[-1].end) if parts else (0, 0)
    if parts and document.text[span[0]] == "#" and is_whole(document, span):  # any list may count, a heading means it
        work.add(
            "process_flow", _wrap(span, "process_flow", _wrap_steps(parts, span)), "made <process_flow> of the steps"
        )


_FLOW_TAGS = ("process", "workflow", "execution_flow", "process_execution", "execution", "process_steps", "steps",
              "execution_steps", "workflow_steps")  # fmt: skip


def _wrap_steps(parts: list[Part], span: Span, title: str = "Work") -> list[Change]:
    """Tags around each step, or around all of it where no steps are told apart. A heading stays above its process."""
    if not parts:
        head = f"<step_1>\n<action>{title}</action>\n<process>\n"
        return [(span[0], span[0], head), (span[1], span[1], "\n</process>\n</step_1>")]
    changes: list[Change] = []
    for number, part in enumerate(parts, 1):
        headed = part.start != part.inner_start
        head = f"<step_{number}>\n<action>{part.title or f'Step {number}'}</action>\n"
        changes.append((part.start, part.start, head if headed else f"{head}<process>\n"))
        if headed:
            changes.append((part.inner_start, part.inner_start, "\n<process>"))
        changes.append((part.end, part.end, f"\n</process>\n</step_{number}>"))
    return changes


def _number_steps(work: _Work, flow: Tag) -> None:
    """Make steps of what a flow has instead: steps that only have names, or headings and lists that count."""
    if not flow.closed or (work.document.outline.steps and flow.find("step") is None):
        return
    steps = flow.find_all("step")
    if not steps:
        span = trim(work.document.text, flow.inner_start, flow.inner_end)
        parts = find_parts(work.document, span, level=0, host=flow)
        if parts or not flow.children:
            work.change(_wrap_steps(parts, span), "made steps of what the flow describes")
        return
    changes: list[Change] = []
    for number, step in enumerate(steps, 1):
        changes += edits.rename_tag(step, f"step_{number}")
        title = " ".join((step.get("name") or f"step {number}").replace("_", " ").split())
        if step.closed and step.find("action", "process", "checkpoint") is None:
            at, end = trim(work.document.text, step.inner_start, step.inner_end)
            changes += [(at, at, f"<action>{title}</action>\n<process>\n"), (end, end, "\n</process>")]
    work.change(changes, "numbered the steps")


# --- what is missing -------------------------------------------------------------------------------------------------


def _add_sections(work: _Work) -> None:
    """Add the sections that are missing, in their order: those of every agent of this kind."""
    _add_opening(work)
    writer = work.writer
    sections = {
        "inputs_required": writer.inputs_required, "inputs_forbidden": writer.inputs_forbidden,
        "process_flow": lambda: _render_flow(work), "delegation_patterns": lambda: _render_delegations(work),
        "artifact_creation": writer.artifact_creation, "return_format": writer.return_format,
        "quality_standards": writer.quality_standards, "error_handling": writer.error_handling,
    }  # fmt: skip
    for name, render in sections.items():
        section = "\n".join(render())
        if section and work.lacks(name):
            at = name if _has_neighbours(work.document, name) else ""
            if work.add(name, edits.add_section(work.document, section, name=at), f"added <{name}>"):
                _doubt_section(work, name)


def _has_neighbours(document: Document, name: str) -> bool:
    """Whether a section has a place among others; between headings it would split a passage, so it goes to the end."""
    in_prose = any(level > 1 for level, _, _ in document.body.headings)
    late = SECTIONS[SECTIONS.index("process_flow") :]
    return not in_prose and (name not in late or any(document.outline.get(other) is not None for other in late))


def _doubt_section(work: _Work, name: str) -> None:
    if name == "return_format":
        work.doubt("the return format is new", "See that nothing else in the file asks for another answer.", name)
    elif name == "process_flow":
        work.doubt("the process flow only refers to the rest of the file", "Split the work into steps.", name)


def _add_opening(work: _Work) -> None:
    """Context, role and task, as far as the description says them, below the title."""
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
            told = f"added <{name}> from the description"
            beside = edits.add_section(work.document, section, name=name)
            if work.document.outline.is_bare or not _has_neighbours(work.document, name):
                beside = ()
            if not work.add(name, beside, told) and not work.add(name, [_put_below_title(work, section)], told):
                work.add(name, edits.add_section(work.document, section, name=name), told)


def _put_below_title(work: _Work, section: str) -> Change:
    title = work.document.outline.title
    if title is None:
        return work.document.body_start, work.document.body_start, f"\n# {work.writer.title}\n\n{section}\n"
    at = len(work.document.text[: title[1][1]].rstrip())
    return at, at, f"\n\n{section}"


_MAX_SAID = 400


def _render_flow(work: _Work) -> Iterator[str]:
    """A flow around work that the body describes in words."""
    writer, plan = work.writer, work.writer.blueprint
    yield "<process_flow>"
    yield from (*writer.step("step_0_preflight", plan.preflight), "")
    yield from ("  <step_1>", "    <action>Do the work</action>", "    <process>")
    yield "      1. Read the instructions of this file that stand outside of its sections."
    yield "      2. Follow them from first to last, and check each result before the next one begins."
    yield from ("    </process>", "    <checkpoint>Everything that the instructions ask for is done</checkpoint>")
    yield from ("  </step_1>", "")
    yield from (*writer.step("step_2_postflight", plan.postflight), "")
    yield from (*writer.step("step_3_return", writer.return_step), "</process_flow>")


def _render_delegations(work: _Work) -> Iterator[str]:
    """How the utility agents are called that the agent may call."""
    targets = work.document.get("delegation", "can_delegate_to")
    yield from work.writer.delegation_patterns(targets if isinstance(targets, list) else ())
