"""Rules on a standard agent's lifecycle: which command calls it, at which stage, and how it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.keys import RETURN_FORMAT, get_kind, is_absent, is_lost_in
from remit.agents.rules.limits import read_whole
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.tables import show
from remit.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator


@rule("AGT046", "R1.6", severity="warning", fix="safe")
def stage_wrong(case: Case) -> Iterator[Report]:
    """The lifecycle does not say by a number at which stage of its command the agent is called.

    Why: a command and its agents can be matched only if both count the same stages.

    Bad: `stage: "4"`, or no `stage` at all

    Good: `stage: 4`

    Fix (safe): writes a number that stands there as a text as a number. With unsafe fixes, a missing stage becomes 4,
    where nearly all agents are called.
    """
    document, stage = case.document, case.get("lifecycle", "stage")
    pointer = "/lifecycle/stage"
    if is_lost_in(document, "lifecycle", "stage"):
        yield Report("lifecycle.stage is missing", "Write the stage of the command that calls it, usually 4.",
                     document.key_span("/lifecycle"), pointer,
                     edits=edits.put_value(document, "/lifecycle", "stage", "4"), applicability="unsafe")  # fmt: skip
    elif not is_absent(stage) and not (type(stage) is int and stage >= 0):
        number, _ = read_whole(stage)
        yield Report(f"lifecycle.stage is {show(stage)}, not a number", "Write a number, such as 4.",
                     document.span_of(pointer), pointer,
                     edits=edits.replace_value(document, pointer, str(number)) if number else ())  # fmt: skip


@rule("AGT047", "R1.6", severity="warning")
def command_missing(case: Case) -> Iterator[Report]:
    """The lifecycle does not say which command calls the agent.

    Why: a command is how people reach an agent. One that only other agents call needs none: for a utility this is a
    note.

    Bad: a `lifecycle` without `command`

    Good: `command: "/plan"`
    """
    document = case.document
    if is_lost_in(document, "lifecycle", "command"):
        is_main = get_kind(document) not in (None, "utility")
        yield Report("lifecycle.command is missing",
                     'Write the command that calls it, such as "/plan"; leave it out if only agents call it.',
                     document.key_span("/lifecycle"), "/lifecycle/command",
                     "warning" if is_main else "note")  # fmt: skip


_COMMAND = lazy(r"/[A-Za-z0-9][\w:.-]{0,80}(?:/[\w:.-]{1,80}){0,5}\Z")


@rule("AGT048", "R1.6", fix="safe")
def command_form(case: Case) -> Iterator[Report]:
    """The lifecycle's command is not one command with a slash before it.

    Why: commands are matched with their files by this text; with spaces or a second command in it, it matches none.

    Bad: `command: plan`, `command: "/plan 12"`

    Good: `command: "/plan"`

    Fix (safe): adds the slash.
    """
    document, command = case.document, case.get("lifecycle", "command")
    pointer = "/lifecycle/command"
    if isinstance(command, list | dict):
        yield Report(f"lifecycle.command is {show(command)}, one command is expected",
                     'Write the command that calls it, such as "/plan".', document.span_of(pointer),
                     pointer)  # fmt: skip
    elif isinstance(command, str) and command.strip() and not _COMMAND.match(command.strip()):
        slashed = f"/{command.strip()}"
        fits = _COMMAND.match(slashed) is not None
        yield Report(f"lifecycle.command is {show(command)}, which is no command",
                     f'Write "{slashed}".' if fits else 'Write one command without arguments, such as "/plan".',
                     document.span_of(pointer), pointer,
                     edits=edits.rewrite_text(document, pointer, slashed) if fits else ())  # fmt: skip


@rule("AGT049", "R1.6", severity="warning", fix="unsafe")
def return_format_missing(case: Case) -> Iterator[Report]:
    """The lifecycle does not say in which format the agent returns.

    Why: whoever checks the return must know what it should look like.

    Bad: a `lifecycle` without `return_format`

    Good: `return_format: "subagent-return-format.md"`

    Fix (unsafe): adds the format of the standard.
    """
    document = case.document
    if is_lost_in(document, "lifecycle", "return_format"):
        text = edits.quote(RETURN_FORMAT)
        yield Report("lifecycle.return_format is missing", f'Write return_format: "{RETURN_FORMAT}".',
                     document.key_span("/lifecycle"), "/lifecycle/return_format",
                     edits=edits.put_value(document, "/lifecycle", "return_format", text))  # fmt: skip


@rule("AGT067", "R1.6", severity="warning")
def return_format_unknown(case: Case) -> Iterator[Report]:
    """The lifecycle names a return format that Remit does not know.

    Why: the name tells callers and agents which format the return has. Remit checks returns by
    `subagent-return-format.md`; a key `return` chooses another of its formats.

    Bad: `return_format: "my-format.md"`

    Good: `return_format: "subagent-return-format.md"`
    """
    document, written = case.document, case.get("lifecycle", "return_format")
    pointer = "/lifecycle/return_format"
    known = isinstance(written, str) and written.strip().rpartition("/")[2] == RETURN_FORMAT
    if known or is_absent(written) or not is_absent(case.get("return")):
        return
    yield Report(f"lifecycle.return_format is {show(written)}, a format that Remit does not know",
                 f'Write "{RETURN_FORMAT}".', document.span_of(pointer), pointer)  # fmt: skip
