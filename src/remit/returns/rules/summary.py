"""Rules on the summary: it goes into the caller's context, so it is short, plain and says what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.returns.formats.hyper import clip
from remit.returns.rules.register import ReturnContext, ReturnViolation, return_rule
from remit.returns.token_count import count_tokens
from remit.sentences import count_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 500
WANTED_CHARS = 400
MAX_TOKENS = 100
SENTENCES = (2, 5)

_MARKUP = lazy(r"(?m)^\s{0,3}(?:#{1,6}\s|[-*+]\s|>\s|\d{1,3}\.\s)|\*\*|__|```|`[^`\n]{1,200}`|\]\(|<[a-z]{1,12}>")
_EMOJI = lazy("[\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff]")


@return_rule("RET030")
def summary_too_long(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The summary has more than 500 characters or more than 100 tokens.

    Why: summaries of all agents fill the caller's context. A run and the hooks send a long summary back once; then
    they shorten it and accept the return. Tokens are counted only if a tokenizer is installed (`pip install
    '.[tokens]'`).

    Bad: a summary that describes each step of the work.

    Good: results in the summary, details in an artifact.
    """
    for problem in case.problems:
        if problem.kind == "long":
            yield ReturnViolation(problem.message, problem.hint, problem.pointer)
    summary = case.text_at("summary") if case.has_format("standard") else ""
    tokens = count_excess(summary) if len(summary) <= MAX_CHARS else 0
    if tokens:
        message = f"summary has {tokens} tokens, the maximum is {MAX_TOKENS}"
        yield ReturnViolation(message, "Shorten summary and put details in an artifact.", "/summary")


@return_rule("RET031", severity="warning")
def summary_above_target(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The summary has more than 400 characters.

    Why: the standards ask for 400 characters at most; Remit accepts up to 500.

    Bad: a summary of 450 characters.

    Good: a summary of 250 characters.
    """
    summary = case.text_at("summary") if case.has_format("standard") else ""
    if WANTED_CHARS < len(summary) <= MAX_CHARS:
        hint = "Keep the results and leave out the steps."
        yield ReturnViolation(
            f"the summary has {len(summary)} characters, expected at most {WANTED_CHARS}", hint, "/summary"
        )


def count_excess(summary: str) -> int:
    """How many tokens a summary has that has too many of them; 0 if it hasn't, or if no tokenizer is installed.

    A token is at least one byte; no other bound holds for every text. So a short text costs no tokenizer.
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
def summary_sentences(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The summary doesn't have two to five sentences.

    Why: one sentence rarely says both what was done and what it means for the caller.

    Bad: `"summary": "Done."`

    Good: `"summary": "Wrote the plan in 3 phases. Phase 2 needs a decision on the cache."`
    """
    summary = case.text_at("summary") if case.has_format("standard") else ""
    count = count_sentences(summary)
    if summary.strip() and not SENTENCES[0] <= count <= SENTENCES[1]:
        yield ReturnViolation(f"the summary has {count} sentence{'s' * (count != 1)}, expected 2 to 5",
                              "Summarize the results in 2 to 5 sentences.", "/summary")  # fmt: skip


@return_rule("RET033", severity="warning")
def summary_markup(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The summary contains markup or emoji.

    Why: terminals, logs and prompts show the summary as plain text.

    Bad: `"summary": "✅ **Done!** The plan is written."`

    Good: `"summary": "The plan is written. It has 3 phases."`
    """
    summary = case.text_at("summary") if case.has_format("standard") else ""
    for pattern, what in ((_MARKUP, "markup"), (_EMOJI, "an emoji")):
        if pattern.search(summary, 0, 2 * MAX_CHARS):  # what is longer is refused anyway
            yield ReturnViolation(f"the summary contains {what}", f"Remove {what}.", "/summary")
