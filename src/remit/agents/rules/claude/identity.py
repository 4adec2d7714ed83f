"""Rules on who an agent of Claude Code's is: its name, its description, its prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.claude import CLAUDE, is_own_folder
from remit.agents.rules.claude.keys import find_strangers
from remit.agents.rules.keys import is_absent
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import is_told, show
from remit.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator


@rule("AGT200", "R1.1", profiles=CLAUDE, fix="unsafe")
def claude_name_missing(case: Case) -> Iterator[Report]:
    """An agent in `.claude/agents` has no name.

    Why: Claude Code takes a file without a name for a note and passes over it in silence. In a plugin the file's name
    is taken instead, so nothing is reported there.

    Bad: a frontmatter with `description` and no `name`

    Good: `name: code-reviewer`

    Fix (unsafe): takes the file's name, which makes an agent of the file.
    """
    document = case.document
    name = case.get("name")
    if not is_own_folder(document) or not document.has_head or is_told(document, "/name"):
        return
    if "name" in find_strangers(case).values():
        return
    if is_absent(name):
        told = "empty" if "name" in case.values else "missing"
        yield Report(f"name is {told}: Claude Code passes over the file", "Write it in small letters and hyphens.",
                     document.key_span("/name"), "/name",
                     edits=edits.put_value(document, "", "name", edits.render_scalar(document.stem)))  # fmt: skip
    elif not isinstance(name, str):
        yield Report(f"name is {show(name)}: Claude Code passes over the file", "Write it as a text.",
                     document.span_of("/name"), "/name")  # fmt: skip


_NAME = lazy(r"[a-z0-9]{1,64}(?:-[a-z0-9]{1,64}){0,20}\Z")


@rule("AGT201", "R1.1", profiles=CLAUDE, severity="warning", fix="unsafe")
def claude_name_form(case: Case) -> Iterator[Report]:
    """The name has other signs in it than small letters, digits and hyphens.

    Why: that is the form that Claude Code documents; a name is typed after `@` and after `--agent`. A name that begins
    with a hyphen is an error: the agent is dropped.

    Bad: `name: Code Reviewer`

    Good: `name: code-reviewer`

    Fix (unsafe): writes it in that form; whoever calls it by the old name has to follow.
    """
    document = case.document
    name = case.get("name")
    if not isinstance(name, str) or not name.strip() or _NAME.match(name.strip()):
        return
    slug = re.sub(r"[^a-z0-9]{1,80}", "-", name.strip().lower()[:64]).strip("-")
    is_dropped = name.startswith("-")
    can_fix = _NAME.match(slug) and name.strip().isascii() and "{" not in name
    told = "begins with a hyphen, so the agent is dropped" if is_dropped else "is not in small letters and hyphens"
    yield Report(f"the name {show(name)} {told}",
                 f"Write {slug}." if can_fix else "Write it in small letters, digits and hyphens.",
                 document.span_of("/name"), "/name", "error" if is_dropped else None,
                 edits.rewrite_text(document, "/name", slug) if can_fix else ())  # fmt: skip


@rule("AGT202", "R1.1", profiles=CLAUDE, fix="unsafe")
def claude_description_missing(case: Case) -> Iterator[Report]:
    """The agent has no description.

    Why: Claude Code drops an agent without one, and says so in its log only. In a plugin it is a warning: the agent is
    there, and nobody can tell when to use it.

    Bad: a frontmatter with `name` and no `description`

    Good: `description: Reviews changed code for faults. Use after every change.`

    Fix (unsafe): takes the file's title.
    """
    document = case.document
    description = case.get("description")
    if not document.has_head or is_told(document, "/description"):
        return
    if (isinstance(description, str) and description.strip()) or "description" in find_strangers(case).values():
        return
    absent = is_absent(description)
    told = show(description) if not absent else "empty" if "description" in case.values else "missing"
    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    is_own = is_own_folder(document)
    effect = "Claude Code drops the agent" if is_own else "nobody can tell when to use it"
    can_fix = title and absent
    yield Report(f"description is {told}: {effect}", "Say what it does and when to use it.",
                 document.key_span("/description"), "/description", None if is_own else "warning",
                 edits.put_value(document, "", "description", edits.quote(title)) if can_fix else ())  # fmt: skip


MAX_DESCRIPTION = 1024


@rule("AGT203", "R1.1", profiles=CLAUDE, severity="note")
def claude_description_long(case: Case) -> Iterator[Report]:
    """The description is longer than 1,024 characters.

    Why: the descriptions of all agents are in the context of every session, whether one of them is used or not.

    Bad: a description with three worked examples

    Good: one or two sentences that say what it does and when to use it; the rest in the body.
    """
    description = case.get("description")
    if isinstance(description, str) and len(description) > MAX_DESCRIPTION:
        yield Report(f"the description has {len(description)} characters, and every session carries them",
                     "Keep to what it does and when to use it; move the rest to the body.",
                     case.document.key_span("/description"), "/description")  # fmt: skip


@rule("AGT204", "R1.1", profiles=CLAUDE, severity="warning")
def claude_prompt_missing(case: Case) -> Iterator[Report]:
    """Nothing follows the frontmatter.

    Why: the body is the agent's prompt. Without one it knows only its description.

    Bad: a file that ends with the second `---`

    Good: what the agent should do, below the frontmatter.
    """
    document = case.document
    if document.has_head and document.values and not document.text[document.body_start :].strip():
        yield Report("the agent has no prompt", "Write below the frontmatter what it should do.",
                     document.key_span("/name"))  # fmt: skip


@rule("AGT209", "R1.1", profiles=CLAUDE, severity="note", fix="unsafe")
def claude_name_not_file(case: Case) -> Iterator[Report]:
    """The agent's name is not that of its file.

    Why: Claude Code calls an agent by the name in its frontmatter; whoever looks for the file by that name does not
    find it, and two files with one name are noticed late.

    Bad: `name: reviewer` in `code-reviewer.md`

    Good: `name: code-reviewer`

    Fix (unsafe): takes the file's name; whoever calls it by the old name has to follow.
    """
    document = case.document
    name = case.get("name")
    if not isinstance(name, str) or not _NAME.match(name.strip()) or name.strip() == document.stem:
        return
    can_fix = _NAME.match(document.stem)
    yield Report(f"Claude Code calls this agent {show(name)}, and not {show(document.stem)}",
                 "Give both the same name.", document.span_of("/name"), "/name",
                 edits=edits.rewrite_text(document, "/name", document.stem) if can_fix else (),
                 fix_message=f"Call it {document.stem}.")  # fmt: skip
