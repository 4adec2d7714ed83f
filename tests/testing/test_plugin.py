"""The plugin: what a project writes into its conftest, and the tests that it can write then."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CONFTEST = 'pytest_plugins = ["remit.testing.plugin"]\n'
TESTS = """
import json
import urllib.request
from remit.testing import say


def test_a_workspace_has_git(remit_workspace):
    assert (remit_workspace / ".git" / "HEAD").is_file()


def test_an_agent_is_delegated_to_and_its_work_committed(remit_workspace, scripted_agent, delegate):
    agent = scripted_agent().obeys()
    result = delegate(None, "Write a report.", command=agent.command)
    assert (result.status, result.failed_steps) == ("completed", ())
    assert agent.did("wrote")
    assert (remit_workspace / "report.md").is_file()


def test_agents_have_names(scripted_agent, delegate):
    liar, other = scripted_agent("liar").lies(), scripted_agent("other", format="hyper").obeys()
    assert delegate(None, "Write.", command=liar.command).status == "failed"
    assert delegate(None, "Write.", command=other.command, return_format="hyper").status == "completed"


def test_a_model_answers(scripted_model):
    model = scripted_model({"plan": [say("Done.")]})
    body = {"model": "m", "messages": [{"role": "user", "content": model.mark("plan")}]}
    asked = urllib.request.Request(model.url + "/v1/chat/completions", json.dumps(body).encode(),
                                   {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        assert json.load(answer)["choices"][0]["message"]["content"] == "Done."
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_a_project_can_use_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_the_kit_itself_needs_no_pytest() -> None:
    """Suites and agents can be imported where pytest is not installed."""
    modules = ("remit.testing", "remit.testing.backends", "remit.testing.runners", "remit.testing.formats")
    program = f"import sys; sys.modules['pytest'] = None; import {', '.join(modules)}"
    subprocess.run([sys.executable, "-c", program], check=True)
