"""Rules on finding the return: is there one, can it be read, is it one only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.returns.rules.register import ReturnViolation, return_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.returns.parsed_message import ParsedMessage


@return_rule("RET001", verdict="missing", on_reading=True)
def no_return(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The message has no return.

    Why: prose can't be verified. A caller that accepts "I have finished the work" builds on work that may not
    exist.

    Bad: `I looked at the parser and fixed it. All done!`

    Good: the same sentence, followed by the JSON object of the format.
    """
    yield from parsed.list_issues("absent")


@return_rule("RET002", verdict="missing", on_reading=True)
def empty_message(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The message is empty.

    Why: an agent that was stopped, refused or crashed often ends without a message, and with exit code 0.

    Bad: an empty final message.

    Good: a return with status `failed` and the error that stopped the work.
    """
    yield from parsed.list_issues("empty")


@return_rule("RET003", verdict="malformed", on_reading=True)
def message_too_large(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The message or its object exceeds a size, depth or count limit.

    Why: a return is a short report. Remit checks the limits before it parses anything.

    Bad: a return with the whole log in its summary.

    Good: the log in a file, and the file as an artifact.
    """
    yield from parsed.list_issues("too_big")


@return_rule("RET004", verdict="malformed", on_reading=True)
def unreadable(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The message has something like a return, but it isn't valid JSON and can't be repaired without guessing.

    Why: Remit repairs errors with one possible meaning (a trailing comma, a comment, single quotes, a missing
    bracket) and refuses all others. Guessing would turn prose into data.

    Bad: `{"status" is completed, "summary": ...`

    Good: `{"status": "completed", "summary": "…"}`
    """
    yield from parsed.list_issues("unreadable")


@return_rule("RET005", verdict="malformed", on_reading=True)
def truncated(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The return is cut off inside a field that decides its meaning.

    Why: the model ran out of tokens. Half of a summary, a path or a list of files isn't what the agent wanted to
    say, and the missing rest may contain an error.

    Bad: `{"status": "completed", "summary": "Fixed the par`

    Good: a shorter return.
    """
    yield from parsed.list_issues("cut")


@return_rule("RET006", verdict="malformed", on_reading=True)
def non_finite_number(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A number is NaN or infinite.

    Why: JSON has no such numbers. The next program that reads the return may fail.

    Bad: `"duration_seconds": NaN`

    Good: `"duration_seconds": 0`, or no such key.
    """
    yield from parsed.list_issues("nonfinite")


@return_rule("RET007", verdict="ambiguous", on_reading=True)
def conflicting_keys(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """Keys of one object conflict: one key has two values, perhaps in another spelling, or a field denies the status.

    Why: most parsers use the last one without a warning, so `failed` followed by `completed` would count as
    success. Of fields that say how the work ended (`success`, `partial`, `blocked`, `error`, `exit_code` and
    similar), only those at the top of the return count; in metadata they may count tests.

    Bad: `"status": "failed", "status": "completed"`; `"status": "completed", "STATUS": "failed"`; `"status":
    "completed", "success": "no"`

    Good: each key once, and one statement of how the work ended.
    """
    yield from parsed.list_issues("conflict")


@return_rule("RET008", verdict="ambiguous", on_reading=True)
def contradictory_returns(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The message has two returns that contradict each other in status, artifacts or agent.

    Why: the first may be a draft, the last an appendix, and Remit doesn't guess. If a session id was issued, only
    returns with that id count. Text around a return doesn't change that.

    Bad: a block with `"status": "failed"` and, further down, one with `"status": "completed"` and the same session
    id.

    Good: one block, at the end.
    """
    yield from parsed.list_issues("contradiction")


@return_rule("RET009", verdict="missing", on_reading=True)
def only_in_thinking(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The only return is inside thinking text.

    Why: thinking text is a draft, not the agent's answer.

    Bad: `<think>I could return {"status": "completed", …}</think> I will check first.`

    Good: the return after the thinking.
    """
    yield from parsed.list_issues("thinking")


@return_rule("RET010", verdict="missing", on_reading=True)
def only_quoted(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The only return is on lines that are quoted with `>`.

    Why: agents quote the returns of others.

    Bad: `> {"status": "completed", …}`

    Good: the agent's own return, after the quotation.
    """
    yield from parsed.list_issues("quoted")


@return_rule("RET011", verdict="degenerate", on_reading=True)
def unfilled_template(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The return is a template with placeholders.

    Why: agents repeat the format from their instructions. It has all keys and no content.

    Bad: `"status": "completed|partial|failed|blocked"`, `"summary": "..."`, `"path": "<path>"`, `{{TASK_ID}}`

    Good: real values.
    """
    yield from parsed.list_issues("template")


@return_rule("RET012", verdict="invalid", on_reading=True)
def other_format(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The return is in another format than the expected one.

    Why: the same words mean different things in different formats.

    Bad: a `hyper` return, with `standard` expected.

    Good: the format in the instructions, or a declared format that the agent uses.
    """
    yield from parsed.list_issues("return_format")


@return_rule("RET013", severity="note")
def text_after_return(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """Text follows the return.

    Why: the return counts, whatever the text says. The diagnostic shows its first sentence, in case the agent
    corrects itself there.

    Bad: a return with status `completed`, and then `Two tests still fail.`

    Good: the return at the end, with `partial` and the error.
    """
    sentence = " ".join((parsed.text[slice(*parsed.after)] if parsed.after else parsed.final).split())
    if sentence:
        hint = "Read it before you use the result."
        yield ReturnViolation(f"text follows the return: '{sentence}'", hint, span=parsed.after)


@return_rule("RET014", severity="note")
def undeclared_format(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The agent's format isn't declared, and the return is in another format than the instructed one.

    Why: Remit validates the return in its own format. If the format is declared, the agent gets matching
    instructions, and Remit refuses a return in another format.

    Bad: a `hyper` return of an agent without a declared format, with `standard` instructed.

    Good: the same with `[agents.NAME] format = "hyper"` in remit.toml, or `return: hyper` in the agent's file.
    """
    offered = parsed.expectation.instructed
    if offered is not None and parsed.return_format is not None and not parsed.has_format(offered):
        name, used = parsed.expectation.agent or "NAME", parsed.return_format.name
        hint = f'Declare it in remit.toml: [agents."{name}"] format = "{used}".'
        yield ReturnViolation(f"the agent's format isn't declared; the return was validated as {used}", hint)
