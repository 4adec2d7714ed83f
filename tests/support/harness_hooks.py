"""A stage on which the harness starts its own subagents, with Remit in its hooks."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import remit
from remit.ledger import runs as ledger
from remit.ledger.home import Home
from remit.runs.results.full_result import load_report
from remit.testing import ScriptedModel, call, find_cli
from remit.testing.model_protocols import collect_texts
from tests.support.harness_workspace import WAIT_S, Stage, give, make_stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from remit.ledger.runs import Run
    from remit.result import Result
    from remit.testing import ScriptedTurn
    from remit.testing.clis import CliName

PACKAGE = Path(remit.__file__).parent
TRUSTING = "--dangerously-bypass-hook-trust"
"""Codex passes hooks over in silence that nobody has agreed to."""
_END_S = 10.0
_FETCHED = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""What makes opencode believe that it has fetched already what it would wait for, and without a network wait long."""
STANDARD = """\
---
name: {name}
version: 1.0.0
description: "Does its part"
mode: subagent
agent_type: implementation
temperature: 0.2
tools:
  read: true
  write: true
  bash: true
  task: true
permissions:
  deny:
    - bash: ["touch", "rm -rf"]
    - write: ["private/**"]
delegation:
  max_depth: 3
  can_delegate_to: [{target}]
---

# {name}

These are the instructions of {name}.
"""
"""An agent of the standard, which may not touch."""
_NATIVE = {
    "claude": "---\nname: {name}\ndescription: Does its part\n{more}---\nThese are the instructions of {name}.\n",
    "codex": 'name = "{name}"\ndescription = "Does its part"\ndeveloper_instructions = "This is {name}."\n{more}',
}
_PLACES = {"claude": ".claude/agents/{name}.md", "codex": ".codex/agents/{name}.toml"}


class Session(NamedTuple):
    """What came of a session of a harness."""

    exit_code: int
    output: str
    errors: str


@contextmanager
def set_up(
    cli: CliName,
    scripts: dict[str, list[ScriptedTurn]],
    folder: Path,
    patch: pytest.MonkeyPatch,
    *,
    codex_model: str = "scripted",
) -> Iterator[Stage]:
    """A stage with an agent named scribe and Remit in the harness; nothing that was started there outlives it."""
    with ScriptedModel(scripts) as model:
        stage = make_stage(cli, folder, model, patch)._replace(codex_model=codex_model)
        if cli in _NATIVE:
            write_native(stage, "scribe")
        else:
            compile_agents(stage, scribe="nobody")
        install(stage)
        yield stage
        until = time.monotonic() + _END_S  # a hook that was running when its program was killed ends by itself
        while stage.list_living() and time.monotonic() < until:
            time.sleep(0.1)
        assert stage.list_living() == []


def write_native(stage: Stage, name: str, more: str = "") -> None:
    """An agent as the harness itself has it, with no rules of Remit's."""
    stage.write_agent(_PLACES[stage.cli].format(name=name), _NATIVE[stage.cli].format(name=name, more=more))


def ask(script: str, agent: str = "scribe", **more: object) -> ScriptedTurn:
    """A call of a subagent that plays a script, in Claude Code and opencode."""
    return call("task", agent=agent, prompt=f"[[play {script} root=${{root}}]] Write the report.", **more)


def hand(path: str = "report.md", kind: str = "report") -> ScriptedTurn:
    """A turn that sends a return with the id of its session and its agent's name; without a path, without artifacts."""
    artifacts = [{"type": kind, "path": path, "summary": "What was asked for"}] if path else []
    return give(artifacts=artifacts).grab(agent=r"You are ([\w-]+), session")


def install(stage: Stage) -> None:
    """Put Remit into the harness, as a person would."""
    run_remit(stage, "hooks", "install", stage.cli)
    if stage.cli == "opencode":
        _pretend_fetched(stage)


def run_remit(stage: Stage, *words: str) -> None:
    """A command, as a person gives it."""
    ran = subprocess.run(
        (str(stage.programs / "remit"), *words), cwd=stage.root, env=stage.environ, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()


def register(stage: Stage, words: tuple[str, ...]) -> None:
    """Put another program than Remit's where its hooks are."""
    {"claude": _register_claude, "codex": _register_codex, "opencode": _register_opencode}[stage.cli](stage, words)


def _fill_hooks(harness: CliName, words: tuple[str, ...]) -> dict[str, Any]:
    text = (PACKAGE / "harness_files" / harness / "hooks.json").read_text()
    filled: dict[str, Any] = json.loads(text.replace(f"remit hook {harness}", json.dumps(shlex.join(words))[1:-1]))
    return filled


def _register_claude(stage: Stage, words: tuple[str, ...]) -> None:
    stage.write_agent(".claude/settings.local.json", json.dumps({"hooks": _fill_hooks("claude", words)["hooks"]}))


def _register_codex(stage: Stage, words: tuple[str, ...]) -> None:
    stage.write_agent(".codex/hooks.json", json.dumps(_fill_hooks("codex", words)))


def _register_opencode(stage: Stage, words: tuple[str, ...]) -> None:
    text = (PACKAGE / "harness_files" / "opencode" / "remit.js").read_text()
    stage.write_agent(".opencode/plugin/remit.js", text.replace('["remit", "hook", "opencode"]', json.dumps(words)))
    _pretend_fetched(stage)


def _pretend_fetched(stage: Stage) -> None:
    for folder in (stage.root / ".opencode", stage.home / ".config" / "opencode"):
        (folder / "node_modules").mkdir(parents=True, exist_ok=True)
        (folder / "package-lock.json").write_text(json.dumps(_FETCHED))


def compile_agents(stage: Stage, text: str = STANDARD, **targets: str) -> None:
    """Agents of the standard, each with whom it may call, as the harness wants them."""
    for name, target in targets.items():
        for place in _PLACES.values():
            (stage.root / place.format(name=name)).unlink(missing_ok=True)  # what it has not made, it does not replace
        stage.write_agent(f"agents/{name}.md", text.format(name=name, target=target))
    run_remit(stage, "agent", "build", "--to", stage.cli)


def converse(
    stage: Stage, script: str, *args: str, environ: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
) -> Session:
    """Let the harness itself play a script from its first word to its last, in the stage's environment or another.

    `prefix`: words that start the harness, such as those of another user.
    """
    program = find_cli(stage.cli)
    assert program is not None
    prompt = f"{stage.mark(script)} Do it."
    words = {
        "claude": (program, "-p", prompt, "--output-format=stream-json", "--verbose", *_free_claude(args)),
        "codex": (program, "exec", "--json", "--skip-git-repo-check", *args, prompt),
        "opencode": (program, "run", "--format=json", *args, prompt),
    }[stage.cli]
    with subprocess.Popen(
        (*prefix, *words), cwd=stage.root, env=(environ or stage.environ) | {"IS_SANDBOX": "1"}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            output, errors = process.communicate(timeout=WAIT_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return Session(process.returncode, output, errors)


def _free_claude(args: tuple[str, ...]) -> tuple[str, ...]:
    """Everything is permitted by the harness itself, unless a test is about that."""
    return args if any("permission-mode" in word for word in args) else ("--permission-mode=bypassPermissions", *args)


def list_runs(stage: Stage) -> list[Run]:
    """Who was delegated to, from the first."""
    rows = ledger.list_runs(Home(str(stage.root)).ledger, limit=1000)
    return sorted(rows, key=lambda row: (row.created_ms, row.depth))


def get_report(stage: Stage, row: Run) -> Result:
    """What was kept of a delegation."""
    return load_report(Home(str(stage.root)), row.session_id)[0]


def list_results(stage: Stage, script: str, step: int) -> list[str]:
    """The texts that a model was given for the calls of its turn before."""
    (asked,) = [one for one in stage.model.requests if one.tools and (one.script, one.step) == (script, step)]
    said: list[dict[str, Any]] = asked.body["input" if asked.protocol == "responses" else "messages"]
    if asked.protocol == "anthropic":
        last = max(index for index, message in enumerate(said) if message["role"] == "assistant")
        blocks = [block for message in said[last:] for block in message["content"] if isinstance(block, dict)]
        given = [block["content"] for block in blocks if block["type"] == "tool_result"]
        return [
            part if isinstance(part, str) else part["text"]
            for each in given
            for part in ([each] if isinstance(each, str) else each)
        ]
    if asked.protocol == "responses":
        return [str(item["output"]) for item in said if item["type"].endswith("call_output")]
    results: list[str] = []
    for message in reversed(said):
        if message["role"] != "tool":
            break
        results.insert(0, str(message["content"]))
    return results


def find_results(stage: Stage, script: str, step: int) -> list[dict[str, Any]]:
    """The results among what a model was given for its calls, and among what hooks have put beside."""
    texts = list_results(stage, script, step)
    (asked,) = [one for one in stage.model.requests if one.tools and (one.script, one.step) == (script, step)]
    if asked.protocol == "anthropic":
        said = asked.body["messages"]
        last = max(index for index, message in enumerate(said) if message["role"] == "assistant")
        texts += collect_texts([message["content"] for message in said[last:] if message["role"] == "system"])
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [json.loads(line) for line in lines if line.startswith("{") and '"remit":{"status"' in line]
