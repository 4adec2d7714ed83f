"""Rules on errors inside a return: there when something went wrong, absent when nothing did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.returns.formats.standard import is_after_work
from remit.returns.rules.register import ReturnContext, ReturnViolation, return_rule

if TYPE_CHECKING:
    from collections.abc import Iterator


@return_rule("RET060")
def error_missing(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The work isn't completed, and no error says why.

    Why: the caller uses the error to decide whether to retry, resume or ask a user.

    Bad: `{"status": "failed", "errors": [], …}`

    Good: `"errors": [{"type": "timeout", "message": "…", "recoverable": true, "recommendation": "…"}]`
    """
    if case.has_format("standard") and case.status not in ("completed", None) and not case.get("errors"):
        yield ReturnViolation(
            f"the status is {case.word}, but errors is empty",
            "Add an error that says why the work stopped.",
            "/errors",
        )
    if case.has_format("hyper") and case.status == "failed" and case.get("error") is None:
        yield ReturnViolation(
            "the status is error, but there is no error object", "Add error with code and message.", "/error"
        )


@return_rule("RET061")
def completed_with_errors(case: ReturnContext) -> Iterator[ReturnViolation]:
    """The status is completed, and an error is reported.

    Why: either the work isn't done or the error isn't one, and only the agent knows which. A failed commit or
    status update (`GIT_COMMIT_FAILED`, `STATUS_SYNC_FAILED`, or a type that means the same) happens after the work:
    it is a warning, and the return is accepted.

    Bad: `"status": "completed"` and `"errors": [{"type": "build_error", "message": "It does not build.",
    "recoverable": true, "recommendation": "Fix line 3."}]`

    Good: `{"status": "partial", "errors": [{"type": "build_error", …}], …}`
    """
    if case.status != "completed":
        return
    rows = []
    if case.has_format("standard"):
        rows = [(f"/errors/{index}", item) for index, item in enumerate(case.items_at("errors"))]
    if case.has_format("standard", "hyper") and case.get("error"):
        rows.append(("/error", case.get("error")))
    for pointer, item in rows:
        kind, code = (item.get("type"), item.get("code")) if isinstance(item, dict) else (None, None)
        what = f"the status is {case.word}, but the return has the error {str(code or kind or '')[:40]!r}"
        if is_after_work(kind, code):
            yield ReturnViolation(what, "Follow the error's recommendation.", pointer, "warning")
        else:
            yield ReturnViolation(what, "Use another status, or remove the error.", pointer)


@return_rule("RET062", severity="warning")
def error_code_format(case: ReturnContext) -> Iterator[ReturnViolation]:
    """An error's code isn't in upper case.

    Why: programs compare codes. The list is open, the form isn't: `TIMEOUT`, `BUILD_ERROR`,
    `MCP_CONNECTION_FAILED`.

    Bad: `"code": "the build failed"`

    Good: `"code": "BUILD_ERROR"`
    """
    rows = [(f"/errors/{index}/code", item) for index, item in enumerate(case.items_at("errors"))]
    if case.get("error") is not None:
        rows.append(("/error/code", case.get("error")))
    for pointer, item in rows:
        code = item.get("code") if isinstance(item, dict) else None
        if isinstance(code, str) and not (code.isascii() and code.replace("_", "").isalnum() and code == code.upper()):
            yield ReturnViolation(
                f"the error code {code[:40]!r} isn't in upper case", "Write it like BUILD_ERROR.", pointer
            )
