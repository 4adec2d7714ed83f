"""A stage for real harnesses: a workspace, a model that plays scripts, and nothing else that could be reached."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import remit
from remit.runs.workspace import Workspace
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings
from remit.testing import SESSION_ID, ScriptedModel, find_cli, say

if TYPE_CHECKING:
    from remit.result import Result
    from remit.testing import ScriptedTurn
    from remit.testing.clis import CliName

HARNESSES: tuple[CliName, ...] = ("claude", "codex", "opencode")
INSTALLED: tuple[CliName, ...] = (*HARNESSES, "gemini")
FREE = '[runners.codex]\nargs = ["--sandbox=danger-full-access"]\n'
"""Codex's own sandbox does not work everywhere, and nothing can be delegated from inside."""
WAIT_S = 150
"""No test waits longer for anything; a free machine needs a tenth of it."""


class Stage(NamedTuple):
    """Where an agent plays."""

    cli: CliName
    """The harness that plays it, unless a test says another one."""
    root: Path
    home: Path
    programs: Path
    model: ScriptedModel
    codex_model: str = "scripted"
    """What Codex calls the model: one that it knows gets other tools."""

    @property
    def environ(self) -> dict[str, str]:
        """The environment of whoever delegates: each harness talks to the model, and to nobody else."""
        made = [self.model.environ(cli, self.home, self.codex_model) for cli in INSTALLED]
        environ = {name: value for each in made for name, value in each.items()}
        with (self.home / ".codex" / "config.toml").open("a") as settings:  # else the folder's hooks and agents are off
            settings.write(f'\n[projects."{self.root}"]\ntrust_level = "trusted"\n')
        return environ | {"PATH": f"{self.programs}:{os.environ['PATH']}"}

    def mark(self, script: str) -> str:
        """The words that make the model play a script."""
        return self.model.mark(script, root=self.root)

    def delegate(self, script: str, agent: str = "scribe", **options: Any) -> Result:  # noqa: ANN401 - of a Request
        """Hand the script to an agent of the harness, and wait for what comes back."""
        environ = self.environ | options.pop("environ", {})
        environ = {name: value for name, value in environ.items() if value is not None}
        options = {"runner": self.cli, "timeout_s": WAIT_S} | options

        async def run() -> Result:
            async with Workspace.open(self.root, environ=environ) as ws:
                return await ws.delegate(agent, f"{self.mark(script)} Do it.", **options)

        return asyncio.run(run())

    def take_over(self) -> Result:
        """Open the workspace and wait for the one delegation that somebody else has begun."""

        async def run() -> Result:
            async with Workspace.open(self.root, environ=self.environ) as ws:
                (row,) = ws.list(only_open=False)
                return await ws.wait(row.session_id)

        return asyncio.run(run())

    def asked(self, script: str, step: int) -> list[str]:
        """Whatever the model was told when it was asked for a turn of a script, once for each time."""
        asked = [one for one in self.model.requests if one.tools]  # a title is asked for without any
        return [json.dumps(one.body) for one in asked if (one.script, one.step) == (script, step)]

    def load_order(self, session_id: str, attempt: int = 1) -> str:
        """What the shim was told to run."""
        return (self.root / ".remit" / "sessions" / session_id / str(attempt) / "order").read_text()

    def configure(self, text: str) -> None:
        """Set the workspace up, and agree to what it runs."""
        (self.root / "remit.toml").write_text(text)
        grant_trust(TrustRequest(str(self.root), get_executing(load_settings(str(self.root)), root=str(self.root))))

    def list_living(self) -> list[str]:
        """What runs with this stage's home: whatever an agent has started, wherever it has gone."""
        mark = f"HOME={self.home}\0".encode()
        living = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (process / "environ").read_bytes():
                    living.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        return living

    def write_agent(self, path: str, text: str) -> None:
        """A file that defines an agent."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def make_stage(
    cli: CliName, folder: Path, model: ScriptedModel, patch: pytest.MonkeyPatch, *, also: tuple[CliName, ...] = ()
) -> Stage:
    """A stage in an empty folder; the test is skipped, loudly, where a harness that it needs is not installed."""
    patch.setenv("XDG_CONFIG_HOME", str(folder / "home" / ".config"))  # where consent is kept
    root, home, programs = (folder / name for name in ("root", "home", "bin"))
    for place in (root, home, programs):
        place.mkdir()
    for name in INSTALLED:
        program = find_cli(name)
        if program is not None:
            (programs / name).symlink_to(program)
        elif name in (cli, *also):
            pytest.skip(f"{name} is not installed: run `make agents`")
    (programs / "remit").write_text(
        f'#!/bin/sh\nPYTHONPATH={Path(remit.__file__).parents[1]} exec {sys.executable} -m remit "$@"\n'
    )
    (programs / "remit").chmod(0o755)
    (root / "README.md").write_text("# Sample\n")
    (home / ".profile").write_text(f"PATH={programs}:$PATH\n")  # some begin a login shell for each command
    for words in ("init -q", "config user.name T", "config user.email t@example.org", "add .", "commit -qm sample"):
        subprocess.run(["git", *words.split()], cwd=root, check=True)
    stage = Stage(cli, root, home, programs, model)
    stage.configure(FREE)
    return stage


def make_return(status: str = "completed", path: str = "report.md", **more: object) -> dict[str, Any]:
    """A return whose session and agent are filled in by a turn's grabs; without a path, without artifacts."""
    summary = "The report is written and says what was asked for. Nothing else was changed."
    return {
        "status": status,
        "summary": summary,
        "artifacts": [{"type": "report", "path": path, "summary": "What was found"}] if path else [],
        "metadata": {
            "session_id": "${id}",
            "agent_type": "${agent}",
            "delegation_depth": 1,
            "delegation_path": ["orchestrator", "${agent}"],
            "duration_seconds": 1,
        },
        "errors": [],
        "next_steps": [],
    } | more


def give(status: str = "completed", path: str = "report.md", **more: object) -> ScriptedTurn:
    """A turn that sends a return with the id of its session; without a path, without artifacts."""
    text = f"Done.\n\n```json\n{json.dumps(make_return(status, path, **more))}\n```"
    return say(text).grab(id=SESSION_ID, agent=r"You are ([\w-]+)\.")
