"""The schemas as files: of each format, of agent files, of the HTTP API and of the tools for harnesses."""

from __future__ import annotations

import json
from typing import Any

from remit.mcp.catalog import TOOLS
from remit.runs import check_message
from remit.server.openapi import describe
from remit.server.operations import BASE
from tools.reference.markdown import code, join, table

ABOUT = {
    "standard": "A return in the format `standard`.",
    "hyper": "A return in the format `hyper`: the report between two markers.",
    "manifest": "A line of a manifest.",
    "agent-file": "The frontmatter of an agent file.",
}
_HEAD = """
What programs can check for themselves. `remit return schema NAME` prints the first ones; the rules that a schema cannot
say are [among the codes](../rules/README.md), and [the contract](../../contract.md) tells what is around them.
"""


def render_schemas() -> dict[str, str]:
    """The files, by their path."""
    told = {name: ABOUT[name] for name in check_message.SCHEMAS}
    files = {f"schemas/{name}.json": _render(check_message.schema(name)) for name in told}
    files["schemas/openapi.json"] = _render(describe())
    files["schemas/mcp-tools.json"] = _render([tool.describe() for tool in TOOLS])
    rows = [(f"[{name}.json]({name}.json)", text) for name, text in told.items()]
    served = f"The HTTP API, as OpenAPI 3.1; `remit serve` has it at `{BASE}/openapi.json`."
    rows += [("[openapi.json](openapi.json)", served)]
    rows += [("[mcp-tools.json](mcp-tools.json)", "The tools of `remit mcp`, each with what it takes and gives.")]
    tools = [(code(tool.name), tool.about, "yes" if tool.has_effects else "") for tool in TOOLS]
    head = table(("tool", "what it is for", "changes something"), tools)
    page = join("# Schemas", _HEAD, table(("file", "what it describes"), rows), "## Tools of the server", head)
    return {"schemas/README.md": page, **files}


def _render(schema: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
