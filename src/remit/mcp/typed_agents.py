"""The schemas of `data` in the output schema of `delegate`: one for each agent of the workspace that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import RemitError
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.agent_files.discovery import AgentFile
    from remit.config import Settings
    from remit.validation import Schema

_MAX_CHARS = 32_000
"""Of one schema. An agent with a longer one is not described."""
_MARK = b"data_schema"
_UNMOVABLE = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef"})
"""Keys that only have their meaning at the root of a schema or by a name."""


def load_schemas() -> dict[str, Schema]:
    """Return the schemas of the workspace's agents, by name; none if the workspace or a schema can't be read."""
    from remit.agent_files.discovery import find_agent_files
    from remit.storage.settings import find_workspace, load_settings

    try:
        root = find_workspace()
        settings = load_settings(root)
        files = find_agent_files((), root=root, exclude=settings.lint.exclude)
    except RemitError:
        return {}
    has_table = any(table.schema for table in settings.runs.agents.values())
    if not has_table and not any(map(_has_mark, files)):  # parsing all agent files would delay the handshake
        return {}
    return dict(_list_schemas(root, settings))


def _has_mark(source: AgentFile) -> bool:
    from remit.agent_files.discovery import load_agent_file

    content = load_agent_file(source.file)
    return isinstance(content, bytes) and _MARK in content


def _list_schemas(root: str, settings: Settings) -> Iterator[tuple[str, Schema]]:
    from remit.config.runs import find_agent_settings
    from remit.data_schema import check_schema
    from remit.runs.agent_lookup import list_agents
    from remit.storage.schema_files import load_schema_below

    tables = settings.runs.agents
    named = {agent.name: agent for agent in list_agents(root, exclude=settings.lint.exclude)}
    for name in sorted({*named, *(key for key in tables if "*" not in key)}):
        agent, own = named.get(name), find_agent_settings(tables, name).schema
        given: Any = own or (agent and agent.document and agent.document.get("data_schema"))
        if given is None:
            continue
        try:
            schema = load_schema_below(root, given.strip()) if isinstance(given, str) else check_schema(given)
        except RemitError:
            continue
        if len(render_json(schema)) <= _MAX_CHARS and _is_movable(schema):
            yield name, schema


def _is_movable(value: Any) -> bool:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return all(map(_is_movable, value))
    return not isinstance(value, dict) or (_UNMOVABLE.isdisjoint(value) and all(map(_is_movable, value.values())))


def add_schemas(output: Schema, schemas: Mapping[str, Schema]) -> Schema:
    """Return the output schema of `delegate`, with the schema of `data` in the result of each agent."""
    if not schemas:
        return output
    places = {name: f"#/$defs/{_escape(name)}" for name in schemas}
    rules = [
        {
            "if": {"properties": {"agent": {"const": name}}, "required": ["agent"]},
            "then": {"properties": {"result": {"properties": {"data": {"$ref": places[name]}}}}},
        }
        for name in schemas
    ]
    return {**output, "allOf": rules, "$defs": {name: _move(schemas[name], places[name]) for name in schemas}}


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _move(value: Any, place: str) -> Any:  # noqa: ANN401 - JSON
    """A schema whose references start at another place."""
    if isinstance(value, list):
        return [_move(each, place) for each in value]
    if not isinstance(value, dict):
        return value
    moved = {key: _move(each, place) for key, each in value.items() if key != "$schema"}
    reference = value.get("$ref")
    return moved | ({"$ref": f"{place}{reference[1:]}"} if isinstance(reference, str) else {})
