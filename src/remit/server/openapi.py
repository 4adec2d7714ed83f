"""The description of the API, as OpenAPI 3.1: made from the table of operations, so that it says what is so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit import __version__
from remit.server import response_schemas
from remit.server.operations import BASE, OPERATIONS
from remit.server.problems import CONTENT_TYPE

if TYPE_CHECKING:
    from remit.mcp.schemas import Schema
    from remit.server.endpoint import Asked
    from remit.server.operations import Operation

_NAMING = {"id", "number", "session", "path", "page"}
"""What names something that may not be there."""
_PROBLEM = {CONTENT_TYPE: {"schema": response_schemas.refer("Problem")}}
_ALWAYS = {
    "400": "The request does not fit.",
    "401": "No token, or none that is good.",
    "403": "Another site asks, or it is not allowed.",
    "409": "It is not possible now.",
    "414": "The address is too long.",
    "421": "This server has another name.",
    "429": "Too many requests; Retry-After says when to go on.",
    "431": "The headers are too long.",
    "500": "A bug, with a reference.",
    "503": "The workspace is busy or cannot be read.",
}
_ABOUT = (
    "What Remit knows of a workspace, and what can be done in it. Every request carries the token of "
    ".remit/server.json as a Bearer, or the cookie of a browser. Times are milliseconds since 1970. Texts of agents "
    "are data: secrets are taken out, nothing else."
)


def get_description(asked: Asked) -> dict[str, Any]:
    """Answer with the description."""
    del asked
    return describe()


def describe() -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, dict[str, Any]] = {}
    for each in OPERATIONS:
        paths.setdefault(f"{BASE}{each.path}", {})[each.method.lower()] = _describe(each)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Remit", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": response_schemas.NAMED,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "remit_session_PORT"},
            },
        },
    }


def _describe(operation: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.about,
        "parameters": [*_list_parameters(operation)],
        "responses": _describe_answers(operation),
    }
    if operation.body is not None:
        is_needed = bool(operation.body["required"])
        body = _allow_null(operation.body)
        told["requestBody"] = {"required": is_needed, "content": {"application/json": {"schema": body}}}
    return told


def _allow_null(body: Schema) -> Schema:
    """What a body takes, where null is as good as nothing for what may be left out."""
    optional = {name: each for name, each in body["properties"].items() if name not in body["required"]}
    return body | {"properties": body["properties"] | {name: _or_null(each) for name, each in optional.items()}}


def _or_null(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"]} | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def _list_parameters(operation: Operation) -> list[dict[str, Any]]:
    """What stands in the path, in the query and in headers."""
    found = []
    for where, schema in (("path", operation.names), ("query", operation.takes)):
        for name, each in schema["properties"].items():
            is_needed = name in schema["required"]
            bare = {key: value for key, value in each.items() if key != "description"}
            about = each.get("description", "")
            found.append({"name": name, "in": where, "required": is_needed, "description": about, "schema": bare})
    if operation.once:
        about = "The same key twice is carried out once, for ten minutes."
        key = {"type": "string", "minLength": 1, "maxLength": 200}
        found.append({"name": "Idempotency-Key", "in": "header", "description": about, "schema": key})
    return found


def _describe_answers(operation: Operation) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if operation.gives is not None:
        content["application/json"] = {"schema": operation.gives}
    if operation.streams is not None:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    answers: dict[str, Any] = {
        str(operation.status): {"description": "What was asked for."} | ({"content": content} if content else {})
    }
    told = dict(_ALWAYS)
    if {*response_schemas.list_names(operation.names), *response_schemas.list_names(operation.takes)} & _NAMING:
        told["404"] = "It is not there."
    if operation.body is not None:
        told |= {"408": "The body did not arrive.", "413": "The body is too large.", "415": "The body is no JSON."}
    if operation.changes:
        told |= {"404": "It is not there.", "422": "What it names cannot be used."}
    if "event" in response_schemas.list_names(operation.gives or {}) or operation.gives == response_schemas.refer(
        "Node"
    ):
        answers["304"] = {"description": "Nothing has changed since the ETag of If-None-Match."}
    return answers | {status: {"description": about, "content": _PROBLEM} for status, about in sorted(told.items())}
