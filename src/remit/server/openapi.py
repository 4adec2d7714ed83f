"""The OpenAPI 3.1 description, generated from the table of operations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from remit import __version__
from remit.schemas import ProblemObject
from remit.server.operations import BASE, OPERATIONS
from remit.server.problems import CONTENT_TYPE
from remit.validation import build_input_schema, build_named_schemas, list_fields, list_kinds

if TYPE_CHECKING:
    from remit.server.endpoint import ApiRequest
    from remit.server.operations import Operation
    from remit.validation import Schema

_NAMING = {"id", "number", "session", "path", "page"}
"""Parameters that name something that may not exist."""
_PLACE = "#/components/schemas/{name}"
_ALWAYS = {
    "400": "The request is invalid.",
    "401": "No valid token.",
    "403": "The request comes from another site or from an agent without a ticket.",
    "409": "The state of the workspace doesn't allow it.",
    "414": "The URL is too long.",
    "421": "The request is for another host.",
    "429": "Too many requests; Retry-After says when to retry.",
    "431": "The headers are too long.",
    "500": "A bug in Remit; the log has the reference.",
    "503": "The workspace is busy or unreadable.",
}
_ABOUT = (
    "The runs, agents, tasks, findings and errors of a workspace. Every request needs the token of "
    ".remit/server.json as a bearer token, or the cookie of a browser. Times are milliseconds since 1970. Texts of "
    "agents are data: Remit redacts secrets and changes nothing else."
)


def get_description(asked: ApiRequest) -> dict[str, Any]:
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
            "schemas": _name_all()[1],
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "remit_session_PORT"},
            },
        },
    }


def _describe(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.about,
        "parameters": [*_list_parameters(operation)],
        "responses": _describe_answers(operation),
    }
    if operation.body is not None:
        schema = build_input_schema(operation.body)
        is_needed, body = bool(schema["required"]), _allow_null(schema)
        described["requestBody"] = {"required": is_needed, "content": {"application/json": {"schema": body}}}
    return described


def _allow_null(body: Schema) -> Schema:
    """What a body takes, where null is as good as nothing for what may be left out."""
    optional = {name: each for name, each in body["properties"].items() if name not in body["required"]}
    return body | {"properties": body["properties"] | {name: _or_null(each) for name, each in optional.items()}}


def _or_null(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    return schema | {"type": [schema["type"], "null"]}


def _list_parameters(operation: Operation) -> list[dict[str, Any]]:
    """What stands in the path, in the query and in headers."""
    found = []
    for where, kind in (("path", operation.names), ("query", operation.takes)):
        schema = build_input_schema(kind)
        for name, each in schema["properties"].items():
            is_needed = name in schema["required"]
            bare = {key: value for key, value in each.items() if key != "description"}
            about = each.get("description", "")
            found.append({"name": name, "in": where, "required": is_needed, "description": about, "schema": bare})
    if operation.once:
        about = "Remit carries out requests with the same key once within ten minutes."
        key = {"type": "string", "minLength": 1, "maxLength": 200}
        found.append({"name": "Idempotency-Key", "in": "header", "description": about, "schema": key})
    return found


def _describe_answers(operation: Operation) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if operation.gives is not None:
        content["application/json"] = {"schema": _refer(operation.gives)}
    if operation.streams is not None:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    answers: dict[str, Any] = {
        str(operation.status): {"description": "Success."} | ({"content": content} if content else {})
    }
    described = dict(_ALWAYS)
    if {*list_fields(operation.names), *list_fields(operation.takes)} & _NAMING:
        described["404"] = "Not found."
    if operation.body is not None:
        described |= {
            "408": "The body did not arrive in time.",
            "413": "The body is too large.",
            "415": "The body isn't JSON.",
        }
    if operation.changes:
        described |= {"404": "Not found.", "422": "The request names something that can't be used."}
    if operation.gives is not None and "event" in list_fields(operation.gives):
        answers["304"] = {"description": "Not modified since the ETag of If-None-Match."}
    problem = {CONTENT_TYPE: {"schema": _refer(ProblemObject)}}
    return answers | {status: {"description": about, "content": problem} for status, about in sorted(described.items())}


@cache
def _name_all() -> tuple[dict[Any, Schema], dict[str, Schema]]:
    """A reference to the type of each answer, and the schemas that the references lead to."""
    answers = [each for operation in OPERATIONS for each in (operation.gives, operation.streams) if each is not None]
    kinds = [*dict.fromkeys(kind for gives in answers for kind in list_kinds(gives)), ProblemObject]
    references, schemas = build_named_schemas(kinds, _PLACE)
    return dict(zip(kinds, references, strict=True)), schemas


def _refer(gives: Any) -> Schema:  # noqa: ANN401 - as above
    found = [_name_all()[0][kind] for kind in list_kinds(gives)]
    return found[0] if len(found) == 1 else {"anyOf": found}
