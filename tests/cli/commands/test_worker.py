"""`remit worker start` and `remit worker drain`: what they say where they cannot run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from remit.cluster.worker.worker_folder import WorkerFolder, check_name
from remit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, *words: str, code: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command line where nothing is set up."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    known |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
    here = folder / "here"
    here.mkdir(exist_ok=True)
    start = ["-c", f"{code}\nfrom remit.cli import main\nmain()"] if code else ["-m", "remit"]
    return subprocess.run(
        [sys.executable, *start, *words], cwd=here, env=known | environ, capture_output=True, text=True, check=False
    )


def find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.mark.parametrize("words", [("worker", "start"), ("worker", "drain", "--all")])
def test_without_a_database_one_is_asked_for(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the settings name no shared database\nhint: set backend = ")
    assert done.stderr.count("\n") == 2


def test_a_database_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://somebody:very-secret@127.0.0.1:{find_free_port()}/work"
    done = run(tmp_path, "worker", "start", "--json", REMIT_BACKEND=url)
    assert (done.returncode, done.stdout) == (2, "")
    told = json.loads(done.stderr)
    assert told["error"]["code"] == "CLUSTER_UNAVAILABLE"
    assert "somebody@127.0.0.1" in done.stderr
    assert "very-secret" not in done.stderr


def test_without_the_extra_nothing_is_delegated(tmp_path: Path) -> None:
    code = "import sys\nsys.modules['psycopg'] = None"
    words = ("run", "Do it", "--command", "true")
    done = run(tmp_path, *words, code=code, REMIT_BACKEND="postgresql://127.0.0.1/work")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: psycopg, the PostgreSQL driver, isn't installed\nhint: install Remit again")
    assert "no open runs" in run(tmp_path, "ps").stdout


def test_without_the_extra_it_is_said_how_to_get_it(tmp_path: Path) -> None:
    code = "import sys\nsys.modules['psycopg'] = None"
    done = run(tmp_path, "worker", "start", code=code, REMIT_BACKEND="postgresql://127.0.0.1/work")
    assert done.returncode == 2
    assert "postgres" in done.stderr
    assert "install" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("worker", "start", "--concurrency", "0"), "'0' is not a number of agents"),
        (("worker", "start", "--name", "../up"), "'../up' isn't a valid worker name"),
        (("worker", "drain"), "WORKER is missing"),
        (("worker", "drain", "one", "--all"), "can't combine --all with worker names"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = run(tmp_path, *words, REMIT_BACKEND="postgresql://127.0.0.1/work")
    assert done.returncode == 2
    assert f"error: {told}\nhint: " in done.stderr


def test_an_agent_is_no_worker(tmp_path: Path) -> None:
    done = run(tmp_path, "worker", "start", REMIT_BACKEND="postgresql://127.0.0.1/work", REMIT_TICKET="remit1_x")
    assert "an agent can't start a worker" in done.stderr


def test_a_repository_names_no_database_without_consent(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here/remit.toml").write_text('backend = "postgresql://stranger.example/work"\n')
    done = run(tmp_path, "worker", "start")
    assert done.returncode == 2
    assert "you have not trusted them" in done.stderr


def test_of_one_name_one_worker_runs(tmp_path: Path) -> None:
    first = WorkerFolder(str(tmp_path / "state"), "box")
    code = (
        f"from remit.cluster.worker.worker_folder import WorkerFolder\nWorkerFolder({str(tmp_path / 'state')!r}, 'box')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "BusyError: a worker named box already uses" in done.stderr
    first.close()
    assert WorkerFolder(str(tmp_path / "state"), "box").worker_id == first.worker_id, "it is who it was"


@pytest.mark.parametrize("name", ["", ".", "a/b", "a b", "x" * 65, "é"])
def test_names_that_would_stand_in_paths(name: str) -> None:
    with pytest.raises(InputError, match="isn't a valid worker name"):
        check_name(name)
