"""An agent that hides that it is one: without a ticket, in namespaces of its own, in another workspace."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import remit
from remit.attempts.folders import SHIM
from remit.attempts.process_owner import find_doubt
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from tests.support.git_command import git

if TYPE_CHECKING:
    from remit.result import Result

REMIT = f"env PYTHONPATH={Path(remit.__file__).parents[1]} {sys.executable} -m remit"
CALL = f"{REMIT} run Hello --command 'touch CALLED'"
BARE = "env -u REMIT_TICKET -u REMIT_SESSION_ID -u REMIT_ROOT"
NESTED = "unshare -Urpf --mount-proc"
WITHOUT_PROC = "unshare -Urm sh -c 'mount -t tmpfs none /proc; exec \"$@\"' x"

pytestmark = pytest.mark.skipif(
    subprocess.run(["unshare", "-Urpf", "--mount-proc", "true"], capture_output=True, check=False).returncode != 0,
    reason="needs user namespaces",
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("here", "other"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-q")
    return tmp_path / "here"


def run(root: Path, script: str) -> Result:
    """Have an agent run a script, and print what it says."""

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            command = f"sh -c {shlex.quote(f'({script}) > {root}/told 2>&1')}"
            return await ws.run(Request(None, "Hide.", command=command, reasks=0, timeout_s=60))

    return asyncio.run(delegate())


WAYS = {
    "without /proc": (".", f"{BARE} {WITHOUT_PROC} {CALL}"),
    "without /proc, by bwrap": (".", f"{BARE} bwrap --dev-bind / / --tmpfs /proc {CALL}"),
    "without /proc, elsewhere": ("../other", f"{BARE} {WITHOUT_PROC} {CALL}"),
    "nested": (".", f"{BARE} {NESTED} {CALL}"),
    "nested, elsewhere": ("../other", f"{BARE} {NESTED} {CALL}"),
    "nested twice, elsewhere": ("../other", f"{BARE} {NESTED} {NESTED} {CALL}"),
    "nested by bwrap, elsewhere": ("../other", f"{BARE} bwrap --dev-bind / / --unshare-pid --proc /proc {CALL}"),
    "with another home, elsewhere": ("../other", f"{BARE} HOME=/nowhere {NESTED} {CALL}"),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_that_hides_is_refused(root: Path, way: str) -> None:
    folder, script = WAYS[way]
    if "bwrap" in script and not shutil.which("bwrap"):
        pytest.skip("needs bubblewrap")
    run(root, f"cd {folder} && {script}; echo ended $?")
    told = (root / "told").read_text()
    assert told.endswith("ended 2\n"), told
    assert "Remit can't tell whether an agent started this process" in told or "has no ticket" in told
    assert not (root / folder / "CALLED").exists()


HANDED_ON = {
    "as it is": "{shown} {call}",
    "without /proc": "{shown} {without} {call}",
    "nested": "{shown} {nested} {call}",
    "beside a process that looks like the shim": "{shown} {python} -c {shim} {folder} $(ls -d {attempt}) 1 2",
}


@pytest.mark.parametrize("way", HANDED_ON)
def test_a_ticket_that_another_agent_shows_is_refused(root: Path, way: str) -> None:
    """The first agent leaves its ticket in a file, and the second one calls a third with it."""
    (root / "folder").mkdir()
    fake = "def main():\n    import os\n    os.waitpid(os.spawnvp(os.P_NOWAIT, 'sh', ['sh', '-c', {call!r}]), 0)\n"
    (root / "folder" / "shim.py").write_text(fake.format(call=CALL))
    script = HANDED_ON[way].format(
        shown="env $(cat TICKET)", call=CALL, without=WITHOUT_PROC, nested=NESTED, python=sys.executable,
        shim=shlex.quote(SHIM), folder=root / "folder", attempt=".remit/*/$(sed -n s/REMIT_SESSION_ID=//p TICKET)/1",
    )  # fmt: skip
    second = f"({script}) > {root}/second 2>&1; echo ended $? >> {root}/second"
    (root / "second.sh").write_text(second)
    third = f"env | grep -E '^REMIT_(TICKET|SESSION_ID)' > TICKET; {REMIT} run Hello --command 'sh second.sh'"
    run(root, third)
    told = (root / "second").read_text()
    assert "that of sess_" in told, told
    assert "this process belongs to sess_" in told or "may belong to one of" in told, told
    assert not (root / "CALLED").exists()


def test_a_nested_call_from_a_sandbox_of_the_agents_own_is_admitted(root: Path) -> None:
    """A harness may run its commands in a PID namespace. Only its own agent is at work there."""
    run(root, f"{NESTED} {CALL}; echo ended $?")
    assert (root / "CALLED").exists(), (root / "told").read_text()


@pytest.mark.parametrize("wrapper", [NESTED, f"{NESTED} {NESTED}"])
def test_a_user_in_a_container_is_not_refused(root: Path, wrapper: str) -> None:
    """A namespace of its own, with a complete /proc, and an agent that was started in it and still lives."""
    script = (
        f"{REMIT} run Sleep --command 'sh -c \"touch BEGUN; sleep 5\"' & "
        f"while [ ! -e BEGUN ]; do sleep 0.05; done; cd ../other; {CALL}; cd ../here; {CALL}"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    # A network of its own, as a container has: agents of other tests run outside of the namespace.
    words = ["unshare", "-Urn", *wrapper.split(), "sh", "-c", script]
    subprocess.run(words, cwd=root, env=environ, capture_output=True, check=False, timeout=60)
    assert (root / "CALLED").exists()
    assert (root.parent / "other" / "CALLED").exists()


def test_beside_an_agent_nothing_is_in_doubt(root: Path) -> None:
    """Neither for a user of this machine, nor for one in a namespace if no agent lives."""
    assert find_doubt() == ""
    start = time.monotonic()
    run(root, "true")
    assert find_doubt() == ""
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("words", ["config trust --yes", "config trust --revoke", "hooks uninstall"])
@pytest.mark.parametrize("bare", ["", BARE])
def test_what_the_user_decides_is_refused_to_an_agent(
    root: Path, words: str, bare: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (root / "remit.toml").write_text('[tasks]\nshow = "touch RAN-{id}"\n')
    environ = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    user = subprocess.run([*REMIT.split(), *words.split()], cwd=root, env=environ, capture_output=True, check=False)
    assert user.returncode == 0, user.stderr
    shutil.rmtree(tmp_path / "config", ignore_errors=True)
    run(root, f"{bare} {REMIT} {words}; echo ended $?")
    told = (root / "told").read_text()
    assert told.endswith("ended 2\n"), told
    assert "an agent can't" in told or "has no ticket" in told
    assert not (tmp_path / "config" / "remit" / "trust.json").exists()
