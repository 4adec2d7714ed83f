"""What the registry is told of the server is so."""

from __future__ import annotations

import ast
import json
import tomllib

from remit import __version__
from remit.commands import get_command
from remit.mcp import catalog
from tests.support.paths import ROOT, SOURCE

MAX_DESCRIPTION = 100


def test_the_registry_is_told_the_version_and_the_command_that_there_are() -> None:
    told = json.loads((ROOT / "server.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (package,) = told["packages"]
    assert told["version"] == package["version"] == __version__ == project["version"] == catalog.SERVER["version"]
    assert package["identifier"] == project["name"]
    assert package["runtimeArguments"][0]["value"] == f"{project['name']}[mcp]=={__version__}"
    assert "mcp" in project["optional-dependencies"]
    (word,) = (each["value"] for each in package["packageArguments"])
    assert get_command(word) is not None
    assert package["transport"] == {"type": "stdio"}
    assert len(told["description"]) <= MAX_DESCRIPTION
    namespace, name = told["name"].split("/")
    assert (namespace.count(".") >= 1, name) == (True, project["name"])


def test_one_module_knows_the_library() -> None:
    """Whoever else imported it would make every start wait for it."""
    libraries = ("mcp", "mcp_types", "anyio", "pydantic")
    found = set()
    for file in SOURCE.rglob("*.py"):
        text = file.read_text("utf-8")
        if not any(library in text for library in libraries):
            continue
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            if any(name.partition(".")[0] in libraries for name in names):
                found.add(str(file.relative_to(SOURCE)))
    assert found == {"remit/mcp/server.py"}
