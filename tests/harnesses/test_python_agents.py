"""The examples of agents in Python: each adapter hands a prompt to its framework and brings back a checked return."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings
from remit.testing import ScriptedModel, call
from tests.support.harness_workspace import give
from tests.support.paths import ROOT, SOURCE

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted((ROOT / "examples" / "python_agents").glob("*.py"))
WAYS = [*((example, "entry") for example in EXAMPLES), (EXAMPLES[0], "function")]
PYTHON = ROOT / ".venv-examples" / "bin" / "python"
DELEGATE = """\
import asyncio, importlib, json, sys
from remit.runs.workspace import Workspace

async def main(root, prompt, module):
    async with Workspace.open(root) as ws:
        options = {"function": importlib.import_module(module).run} if module else {"runner": "scribe"}
        result = await ws.delegate(None, prompt, timeout_s=120, **options)
    print(json.dumps(result.to_dict()))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_how_it_is_used(example: Path) -> None:
    module = ast.parse(example.read_text())
    told = ast.get_docstring(module) or ""
    settings = tomllib.loads(told[told.index("[runners.scribe]") : told.index("$ remit config trust")])
    assert settings["runners"]["scribe"]["entry"] == f"{example.stem}:run"
    assert "function=run" in told
    given = {name.id for node in module.body if isinstance(node, ast.Assign) for name in node.targets
             if isinstance(name, ast.Name)}  # fmt: skip
    assert "run" in given


def test_what_an_example_needs_is_no_dependency_of_ours() -> None:
    assert len(EXAMPLES) == 3
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = " ".join([*project["dependencies"], *map(str, project["optional-dependencies"].values())])
    assert not [name for name in ("agents", "pydantic", "langgraph", "langchain", "openai") if name in needed]


@pytest.mark.slow
@pytest.mark.thorough("function", "pydantic_ai", "openai_agents")
@pytest.mark.parametrize(("example", "way"), WAYS, ids=lambda word: getattr(word, "stem", word))
def test_an_example_does_its_work(example: Path, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not PYTHON.exists():
        pytest.skip("the frameworks are not installed: run `make examples`")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "remit.toml").write_text(f'[runners.scribe]\nentry = "{example.stem}:run"\n')
    grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
    scripts = {"work": [call("write", path="report.md", content="# Report\n"), give()]}
    with ScriptedModel(scripts) as model:
        prompt = f"{model.mark('work')} Write report.md."
        words = [str(PYTHON), "-c", DELEGATE, str(root), prompt, example.stem if way == "function" else ""]
        environ = make_environ(model, tmp_path) | {"PYTHONPATH": f"{SOURCE}:{example.parent}"}
        ran = subprocess.run(words, env=environ, cwd=root, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        told: dict[str, Any] = json.loads(ran.stdout)
        assert (told["status"], told["remit"]["verdict"]) == ("completed", "accepted")
        assert [(each["path"], each["grade"]) for each in told["remit"]["grades"]] == [("report.md", "changed")]
        assert [request.step for request in model.requests] == [0, 1]
        assert model.requests[0].tools == ("write_file",)


def make_environ(model: ScriptedModel, folder: Path) -> dict[str, str]:
    """An environment in which a framework reaches nothing but the model."""
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    return nowhere | {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "NO_PROXY": "127.0.0.1",
        "OPENAI_API_KEY": "scripted",
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "SCRIBE_MODEL": "scripted",
    }
