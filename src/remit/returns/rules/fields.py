"""Rules on the fields of a return: their form (RET02x), the summary (RET03x) and the errors (RET06x).

The summary goes into the caller's context, so it has to be short and plain. Errors have to explain every other status
than completed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.returns.formats.hyper import clip
from remit.returns.formats.standard import is_after_work
from remit.returns.rules.register import ReturnViolation, return_rule
from remit.returns.token_count import count_tokens
from remit.sentences import count_sentences
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.returns.parsed_message import ParsedMessage
    from remit.returns.shapes import ProblemKind


def _problems(parsed: ParsedMessage, kind: ProblemKind, *, ending: str = "") -> Iterator[ReturnViolation]:
    for problem in parsed.problems:
        if problem.kind == kind and problem.pointer.endswith(ending):
            yield ReturnViolation(problem.message, problem.hint, problem.pointer)


@return_rule("RET020")
def missing_field(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A required field is missing.

    Why: callers rely on required fields.

    Bad: no `"artifacts"`

    Good: `"artifacts": []`, if there are none
    """
    yield from _problems(parsed, "missing")
    if (
        parsed.has_format("standard")
        and not parsed.expectation.by_ticket
        and parsed.get("session_id") is None
        and parsed.get("metadata", "session_id") is None
    ):
        yield ReturnViolation("session_id is missing", "Add the issued session_id to metadata.", "/metadata/session_id")


@return_rule("RET021")
def wrong_type(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A field has the wrong type.

    Why: Remit converts nothing: `"1"` isn't 1, and `"true"` isn't true.

    Bad: `"delegation_depth": "1"`

    Good: `"delegation_depth": 1`
    """
    yield from _problems(parsed, "type")


@return_rule("RET022")
def unknown_status(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The status isn't a status of the format.

    Why: the list is closed. Some programs read `success` and `done` as `completed`, others as an error. Remit
    repairs another case (`Completed`). A workspace can map its own words in `remit.toml`.

    Bad: `"status": "success"`

    Good: `"status": "completed"`
    """
    yield from _problems(parsed, "word", ending="/status")


@return_rule("RET023")
def unknown_artifact_type(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """An artifact's type isn't a type of the format.

    Why: the type decides what happens to the file next, such as linking a plan or indexing a report.

    Bad: `"type": "file"`

    Good: `"type": "report"`
    """
    yield from _problems(parsed, "word", ending="/type")


@return_rule("RET024")
def empty_text(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A required text is empty.

    Why: agents that did nothing often return an empty summary.

    Bad: `"summary": ""`

    Good: `"summary": "Found no test that covers the parser. Nothing was changed."`
    """
    yield from _problems(parsed, "blank")


@return_rule("RET025", severity="warning")
def misspelled_key(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A key is misspelled: a similar key is missing.

    Why: Remit keeps unknown keys, so the value of a misspelled key is lost without a message.

    Bad: `"artefacts": []` and no `"artifacts"`

    Good: `"artifacts": []`
    """
    if parsed.return_format is None or parsed.payload is None:
        return
    yield from _misspelt(parsed.payload, parsed.return_format.shape.known, "")
    for key in ("metadata", "meta"):
        shape = parsed.return_format.shape.required.get(key)
        value = parsed.get(key)
        if shape is not None and isinstance(value, dict):
            yield from _misspelt(value, getattr(shape, "known", {}), f"/{key}")


_MAX_COMPARED = 100


def _misspelt(value: Mapping[str, object], known: Mapping[str, object], pointer: str) -> Iterator[ReturnViolation]:
    absent = [key for key in known if key not in value]
    unknown = [key for key in list(value)[:_MAX_COMPARED] if key not in known]
    for key in unknown if absent else ():
        if meant := find_similar(key, absent, least=SURE):
            yield ReturnViolation(f"{key} isn't a key of this format", f"Did you mean {meant}?", f"{pointer}/{key}")


@return_rule("RET026")
def number_out_of_range(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A number is negative or not finite.

    Why: durations, depths and counts start at 0.

    Bad: `"delegation_depth": -1`

    Good: `"delegation_depth": 1`
    """
    yield from _problems(parsed, "range")


@return_rule("RET027", severity="warning")
def recommended_field_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """A recommended field is missing: one standard requires it, another doesn't.

    Why: durations help to set limits, and a file's summary saves the caller from opening it. In a run, Remit fills
    in the agent, the depth, the path and the duration, so they may be missing.

    Bad: an artifact without `summary`, metadata without `agent_type`.

    Good: `{"type": "plan", "path": "specs/7_x/plans/implementation-001.md", "summary": "Plan in 3 phases"}`
    """
    yield from _problems(parsed, "expected")


@return_rule("RET028", verdict="ambiguous")
def mixed_formats(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The object mixes two formats, and their statuses differ.

    Why: the result would depend on which format is read first.

    Bad: `{"status": "completed", "meta": {"status": "partial", …}, …}`

    Good: one format, one status.
    """
    other = {"complete": "completed", "partial": "partial", "error": "failed"}.get(parsed.text_at("meta", "status"))
    if parsed.has_format("standard") and other is not None and parsed.status is not None and other != parsed.status:
        yield ReturnViolation(
            f"status is {parsed.word}, but meta.status is {parsed.get('meta', 'status')}", "Use one format.", "/status"
        )


MAX_CHARS = 500
WANTED_CHARS = 400
MAX_TOKENS = 100
SENTENCES = (2, 5)

_MARKUP = lazy(r"(?m)^\s{0,3}(?:#{1,6}\s|[-*+]\s|>\s|\d{1,3}\.\s)|\*\*|__|```|`[^`\n]{1,200}`|\]\(|<[a-z]{1,12}>")
_EMOJI = lazy("[\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff]")


@return_rule("RET030")
def summary_too_long(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The summary has more than 500 characters or more than 100 tokens.

    Why: summaries of all agents fill the caller's context. A run and the hooks send a long summary back once; then
    they shorten it and accept the return. Tokens are counted only if a tokenizer is installed (`pip install
    '.[tokens]'`).

    Bad: a summary that describes each step of the work.

    Good: results in the summary, details in an artifact.
    """
    for problem in parsed.problems:
        if problem.kind == "long":
            yield ReturnViolation(problem.message, problem.hint, problem.pointer)
    summary = parsed.text_at("summary") if parsed.has_format("standard") else ""
    tokens = count_excess(summary) if len(summary) <= MAX_CHARS else 0
    if tokens:
        message = f"summary has {tokens} tokens, the maximum is {MAX_TOKENS}"
        yield ReturnViolation(message, "Shorten summary and put details in an artifact.", "/summary")


@return_rule("RET031", severity="warning")
def summary_above_target(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The summary has more than 400 characters.

    Why: the standards ask for 400 characters at most; Remit accepts up to 500.

    Bad: a summary of 450 characters.

    Good: a summary of 250 characters.
    """
    summary = parsed.text_at("summary") if parsed.has_format("standard") else ""
    if WANTED_CHARS < len(summary) <= MAX_CHARS:
        hint = "Keep the results and leave out the steps."
        yield ReturnViolation(
            f"the summary has {len(summary)} characters, expected at most {WANTED_CHARS}", hint, "/summary"
        )


def count_excess(summary: str) -> int:
    """How many tokens a summary has that has too many of them; 0 if it hasn't, or if no tokenizer is installed.

    A token has at least one byte, so a short text needs no tokenizer.
    """
    tokens = count_tokens(summary) if len(summary.encode("utf-8", "replace")) > MAX_TOKENS else None
    return tokens if tokens is not None and tokens > MAX_TOKENS else 0


def shorten(summary: str) -> str:
    """A summary that is too long, cut at a word so that it is within both limits."""
    summary = clip(summary, MAX_CHARS)
    while tokens := count_excess(summary):
        summary = clip(summary, len(summary) * MAX_TOKENS // tokens - 1)
    return summary


@return_rule("RET032", severity="warning")
def summary_sentences(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The summary doesn't have two to five sentences.

    Why: one sentence rarely says both what was done and what it means for the caller.

    Bad: `"summary": "Done."`

    Good: `"summary": "Wrote the plan in 3 phases. Phase 2 needs a decision on the cache."`
    """
    summary = parsed.text_at("summary") if parsed.has_format("standard") else ""
    count = count_sentences(summary)
    if summary.strip() and not SENTENCES[0] <= count <= SENTENCES[1]:
        yield ReturnViolation(f"the summary has {count} sentence{'s' * (count != 1)}, expected 2 to 5",
                              "Summarize the results in 2 to 5 sentences.", "/summary")  # fmt: skip


@return_rule("RET033", severity="warning")
def summary_markup(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The summary contains markup or emoji.

    Why: terminals, logs and prompts show the summary as plain text.

    Bad: `"summary": "✅ **Done!** The plan is written."`

    Good: `"summary": "The plan is written. It has 3 phases."`
    """
    summary = parsed.text_at("summary") if parsed.has_format("standard") else ""
    for pattern, what in ((_MARKUP, "markup"), (_EMOJI, "an emoji")):
        if pattern.search(summary, 0, 2 * MAX_CHARS):  # what is longer is refused anyway
            yield ReturnViolation(f"the summary contains {what}", f"Remove {what}.", "/summary")


@return_rule("RET060")
def error_missing(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The work isn't completed, and no error says why.

    Why: the caller uses the error to decide whether to retry, resume or ask a user.

    Bad: `{"status": "failed", "errors": [], …}`

    Good: `"errors": [{"type": "timeout", "message": "…", "recoverable": true, "recommendation": "…"}]`
    """
    if parsed.has_format("standard") and parsed.status not in ("completed", None) and not parsed.get("errors"):
        yield ReturnViolation(
            f"the status is {parsed.word}, but errors is empty",
            "Add an error that says why the work stopped.",
            "/errors",
        )
    if parsed.has_format("hyper") and parsed.status == "failed" and parsed.get("error") is None:
        yield ReturnViolation(
            "the status is error, but there is no error object", "Add error with code and message.", "/error"
        )


@return_rule("RET061")
def completed_with_errors(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The status is completed, and an error is reported.

    Why: either the work isn't done or the error isn't one, and only the agent knows which. A failed commit or
    status update (`GIT_COMMIT_FAILED`, `STATUS_SYNC_FAILED`, or a type that means the same) happens after the work:
    it is a warning, and the return is accepted.

    Bad: `"status": "completed"` and `"errors": [{"type": "build_error", "message": "It does not build.",
    "recoverable": true, "recommendation": "Fix line 3."}]`

    Good: `{"status": "partial", "errors": [{"type": "build_error", …}], …}`
    """
    if parsed.status != "completed":
        return
    rows = []
    if parsed.has_format("standard"):
        rows = [(f"/errors/{index}", item) for index, item in enumerate(parsed.items_at("errors"))]
    if parsed.has_format("standard", "hyper") and parsed.get("error"):
        rows.append(("/error", parsed.get("error")))
    for pointer, item in rows:
        kind, code = (item.get("type"), item.get("code")) if isinstance(item, dict) else (None, None)
        what = f"the status is {parsed.word}, but the return has the error {str(code or kind or '')[:40]!r}"
        if is_after_work(kind, code):
            yield ReturnViolation(what, "Follow the error's recommendation.", pointer, "warning")
        else:
            yield ReturnViolation(what, "Use another status, or remove the error.", pointer)


@return_rule("RET062", severity="warning")
def error_code_format(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """An error's code isn't in upper parsed.

    Why: programs compare codes. The list is open, the form isn't: `TIMEOUT`, `BUILD_ERROR`,
    `MCP_CONNECTION_FAILED`.

    Bad: `"code": "the build failed"`

    Good: `"code": "BUILD_ERROR"`
    """
    rows = [(f"/errors/{index}/code", item) for index, item in enumerate(parsed.items_at("errors"))]
    if parsed.get("error") is not None:
        rows.append(("/error/code", parsed.get("error")))
    for pointer, item in rows:
        code = item.get("code") if isinstance(item, dict) else None
        if isinstance(code, str) and not (code.isascii() and code.replace("_", "").isalnum() and code == code.upper()):
            yield ReturnViolation(
                f"the error code {code[:40]!r} isn't in upper case", "Write it like BUILD_ERROR.", pointer
            )
