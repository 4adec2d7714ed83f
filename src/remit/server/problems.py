"""Problems: errors as HTTP answers, in the format of RFC 9457 for programs and as a small page for browsers.

The table in `views/render.py` maps errors to HTTP statuses.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from html import escape as escape_html
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from remit.errors import BusyError, InputError, RemitError, UsageError
from remit.storage.secrets import redact
from remit.terminal import write
from remit.views.json_builders import build_error
from remit.views.render import get_http_status, render_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.schemas import ErrorObject, ProblemObject
    from remit.views.hints import Interface

CONTENT_TYPE = "application/problem+json"
TYPE = "urn:remit:problem:"
_BUSY_S = 1
_MAX_CHARS = 4_000


class ProblemError(RemitError):
    """An error with an HTTP status of its own."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
        **data: object,
    ) -> None:
        super().__init__(message, hint=hint, **data)
        self.code = code
        self.status = status
        self.headers = dict(headers or {})


class MissingError(ProblemError):
    """The request names something that doesn't exist."""

    def __init__(self, message: str, *, code: str = "", hint: str = "", **data: object) -> None:
        super().__init__(404, "NOT_FOUND", message, hint=hint, headers=None, **data)
        self.code = code or self.code


@contextmanager
def missing() -> Iterator[None]:
    """Turn errors about a name in the path into 404; elsewhere they are errors of the request."""
    try:
        yield
    except (UsageError, InputError) as error:
        raise MissingError(error.message, code=error.code, hint=error.hint, **error.data) from None


def find_status(error: BaseException) -> int:
    """Return the HTTP status of an error."""
    return error.status if isinstance(error, ProblemError) else get_http_status(error)


def build_problem(error: BaseException, interface: Interface = "http") -> ProblemObject:
    """An error in the format of RFC 9457 with the error object of all interfaces, without secrets."""
    status, known = find_status(error), build_error(error, interface)
    cleaned: ErrorObject = {
        "code": known["code"],
        "message": _clean(known["message"]),
        "hint": _clean(known["hint"]),
        "recoverable": known["recoverable"],
        "data": {name: _clean(value) for name, value in known["data"].items()},
    }
    return {
        "type": f"{TYPE}{known['code']}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": cleaned["message"],
        "error": cleaned,
    }


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The same value without secrets; long texts are cut."""
    if isinstance(value, str):
        return redact(value[: 2 * _MAX_CHARS])[:_MAX_CHARS]
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return {str(name): _clean(each) for name, each in value.items()} if isinstance(value, dict) else value


def answer_problem(error: BaseException, *, for_users: bool) -> Response:
    """An error as an answer: JSON for programs, a small page for browsers."""
    known = error if isinstance(error, RemitError) else report_bug(error)
    problem = build_problem(known, "cli" if for_users else "http")  # a user who sees a page can run commands
    headers = dict(known.headers) if isinstance(known, ProblemError) else {}
    if isinstance(known, BusyError):
        headers["Retry-After"] = str(_BUSY_S)
    if for_users:
        return Response(render_page(problem), problem["status"], headers, "text/html")
    return Response(render_json(problem), problem["status"], headers, CONTENT_TYPE)


def report_bug(bug: BaseException) -> ProblemError:
    """Report a bug without its content: only a reference to the entry on standard error."""
    reference = os.urandom(4).hex()
    report = f"remit: bug {reference}: {type(bug).__name__}\n"
    if os.environ.get("REMIT_DEBUG"):
        import traceback

        report += "".join(traceback.format_exception(bug))
    write(report, stream=sys.stderr)
    hint = "start the server with REMIT_DEBUG=1, which writes the traceback to its standard error"
    message = f"this is a bug: {type(bug).__name__}"
    return ProblemError(500, RemitError.code, message, hint=hint, reference=reference)


def render_page(problem: ProblemObject) -> str:
    """The error page of a browser."""
    title, detail = escape_html(problem["title"]), escape_html(problem["detail"])
    hint = escape_html(problem["error"]["hint"])
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>Remit: {title}</title>\n<h1>{title}</h1>\n<p>{detail}.</p>\n<p>{hint}</p>\n</html>\n"
    )
