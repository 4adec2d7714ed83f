"""Rules on finding the return: is there one, can it be read, is it one only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.returns.rules.register import ReturnContext, ReturnViolation, return_rule

if TYPE_CHECKING:
    from collections.abc import Iterator


@return_rule("RET001", verdict="missing", on_reading=True)
def no_return(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The message holds no return.

    Why: prose cannot be checked. A caller that takes "I have finished the work" for success will one day build on
    work that was never done.

    Bad: `I looked at the parser and fixed it. All done!`

    Good: the same sentence, followed by the JSON object that the format asks for.
    """
    yield from case.tell("absent")


@return_rule("RET002", verdict="missing", on_reading=True)
def empty_message(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The message is empty.

    Why: an agent that was stopped, refused or crashed often ends with nothing at all, and with exit code 0.

    Bad: an empty final message.

    Good: a return with status `failed` and the error that stopped the work.
    """
    yield from case.tell("empty")


@return_rule("RET003", verdict="malformed", on_reading=True)
def message_too_large(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The message or the object in it is larger, deeper or more cluttered than a return may be.

    Why: a return is a short report. What is over the caps is refused before any parser is let loose on it.

    Bad: a return with the whole log in its summary.

    Good: the log in a file, and the file among the artifacts.
    """
    yield from case.tell("too_big")


@return_rule("RET004", verdict="malformed", on_reading=True)
def unreadable(case: ReturnContext) -> Iterator[ReturnViolation]:
    """There is something like a return, but it is not JSON and cannot be repaired without guessing.

    Why: Remit repairs what has one reading (a trailing comma, a comment, single quotes, a missing bracket) and
    refuses the rest: a repairer that guesses turns prose into data.

    Bad: `{"status" is completed, "summary": ...`

    Good: `{"status": "completed", "summary": "…"}`
    """
    yield from case.tell("unreadable")


@return_rule("RET005", verdict="malformed", on_reading=True)
def truncated(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The return was cut off inside something that decides what it means.

    Why: the model ran out of tokens. Half of a summary, a path or a list of files is not what the agent meant to
    say; what came after it may have been an error.

    Bad: `{"status": "completed", "summary": "Fixed the par`

    Good: a shorter return that fits.
    """
    yield from case.tell("cut")


@return_rule("RET006", verdict="malformed", on_reading=True)
def non_finite_number(case: ReturnContext) -> Iterator[ReturnViolation]:
    """A number is NaN or infinite.

    Why: JSON has no such numbers; the next program that reads the return will fail or, worse, carry on.

    Bad: `"duration_seconds": NaN`

    Good: `"duration_seconds": 0`, or leave the key out.
    """
    yield from case.tell("nonfinite")


@return_rule("RET007", verdict="ambiguous", on_reading=True)
def conflicting_keys(case: ReturnContext) -> Iterator[ReturnViolation]:
    """One object says two things: one key with two values, be it in another spelling, or a member denies the status.

    Why: most parsers take the last one without a warning. `failed` followed by `completed` would pass as success. Of
    members that say how the work ended (`success`, `partial`, `blocked`, `error`, `exit_code` and the like), only those
    at the top of the return count; in metadata they may count tests.

    Bad: `"status": "failed", "status": "completed"`; `"status": "completed", "STATUS": "failed"`;
    `"status": "completed", "success": "no"`

    Good: each key once, and one word on how the work ended.
    """
    yield from case.tell("conflict")


@return_rule("RET008", verdict="ambiguous", on_reading=True)
def contradictory_returns(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The message holds two returns that contradict each other in status, artifacts or agent.

    Why: taking the first one falls for drafts, taking the last one falls for appendices. If an id was issued, only
    returns that carry it count. Words around a return don't change that.

    Bad: a block with `"status": "failed"` and, further down, one with `"status": "completed"` and the same session id.

    Good: one block, at the end.
    """
    yield from case.tell("contradiction")


@return_rule("RET009", verdict="missing", on_reading=True)
def only_in_thinking(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The only return stands inside thinking text.

    Why: what a model considers saying is not what it said.

    Bad: `<think>I could return {"status": "completed", …}</think> I will check first.`

    Good: the return after the thinking.
    """
    yield from case.tell("thinking")


@return_rule("RET010", verdict="missing", on_reading=True)
def only_quoted(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The only return stands on lines that are quoted with `>`.

    Why: agents quote what others returned.

    Bad: `> {"status": "completed", …}`

    Good: the agent's own return, below the quotation.
    """
    yield from case.tell("quoted")


@return_rule("RET011", verdict="degenerate", on_reading=True)
def unfilled_template(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The return is a template that nobody filled in.

    Why: agents echo the format they were given. It has every key and means nothing.

    Bad: `"status": "completed|partial|failed|blocked"`, `"summary": "..."`, `"path": "<path>"`, `{{TASK_ID}}`

    Good: real values.
    """
    yield from case.tell("template")


@return_rule("RET012", verdict="invalid", on_reading=True)
def other_format(case: ReturnContext) -> Iterator[ReturnViolation]:
    """There is a return, but of another format than the one that was asked for.

    Why: the caller would read its words with the wrong dictionary.

    Bad: a report of the format `hyper` where `standard` was asked for.

    Good: the format that the instructions describe; or ask for the one that the agent speaks.
    """
    yield from case.tell("dialect")


@return_rule("RET013", severity="note")
def text_after_return(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The message goes on after the return.

    Why: the return counts, whatever the text after it says. Its first sentence is shown, so that a reader sees it if
    the agent takes something back.

    Bad: a return with status `completed`, and then `Two tests still fail.`

    Good: the return last, with `partial` and the error in it.
    """
    sentence = " ".join((case.text[slice(*case.after)] if case.after else case.final).split())
    if sentence:
        hint = "Read it before you use the result."
        yield ReturnViolation(f"after the return the agent wrote '{sentence}'", hint, span=case.after)


@return_rule("RET014", severity="note")
def undeclared_format(case: ReturnContext) -> Iterator[ReturnViolation]:
    """Nothing declares the agent's format, and it used another one than its instructions offer.

    Why: the return is judged by the format that it is written in. If the format is declared, the agent gets the right
    instructions, and a return in another format is refused.

    Bad: a `hyper` return of an agent without a declared format, which was instructed to send `standard`.

    Good: the same with `[agents.NAME] format = "hyper"` in remit.toml, or `return: hyper` in the agent's file.
    """
    offered = case.expectation.instructed
    if offered is not None and case.dialect is not None and not case.is_dialect(offered):
        name, used = case.expectation.agent or "NAME", case.dialect.name
        hint = f'Declare it in remit.toml: [agents."{name}"] format = "{used}".'
        yield ReturnViolation(f"nothing declares a format, so the return is judged as {used}", hint)
