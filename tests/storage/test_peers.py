"""Peers: who holds the other end of a connection, by what the system keeps of it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.storage.peers import ConnectionEnd, Peers, find_maker, find_peers, load_environ

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc")
CONNECT = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as one:
    print("there", flush=True)
    sys.stdin.read()
"""


@contextmanager
def connected(host: str, own: str = "") -> Iterator[tuple[subprocess.Popen[str], ConnectionEnd, ConnectionEnd]]:
    """A process that is connected to here, and the two ends as the server sees them."""
    family = socket.AF_INET6 if ":" in (own or host) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as server:
        if family == socket.AF_INET6 and own == "::":
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind((own or host, 0))
        server.listen()
        port = server.getsockname()[1]
        command = [sys.executable, "-c", CONNECT, host, str(port)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
            accepted, other = server.accept()
            with accepted:
                assert client.stdout is not None
                assert client.stdout.readline() == "there\n"
                yield client, ConnectionEnd(*accepted.getsockname()[:2]), ConnectionEnd(*other[:2])
            client.communicate("")


@pytest.mark.parametrize(("host", "own"), [("127.0.0.1", ""), ("::1", ""), ("127.0.0.1", "::")])
def test_the_process_at_the_other_end_is_found(host: str, own: str) -> None:
    try:
        with connected(host, own) as (client, here, there):
            assert find_peers(here, there) == Peers((client.pid,))
    except OSError as error:
        pytest.skip(f"no such address here: {error}")


def test_all_that_hold_it_are_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as own:
        own.set_inheritable(True)
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        accepted, other = server.accept()
        with (
            accepted,
            subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[own.fileno()]) as heir,
        ):
            found = find_peers(ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other))
            heir.communicate(b"")
        assert sorted(found.pids) == sorted([os.getpid(), heir.pid])


def test_a_connection_that_is_none_has_nobody() -> None:
    with connected("127.0.0.1") as (_, here, there):
        assert find_peers(here, ConnectionEnd(there.host, there.port - 1)) == Peers(is_gone=True)
        assert find_peers(ConnectionEnd(here.host, 1), there) == Peers(is_gone=True)
        assert find_peers(here, ConnectionEnd("203.0.113.9", there.port)) == Peers()
        for strange in ("", "localhost", "not an address", "1.2.3", "fe80::1%lo", "\0"):
            assert find_peers(here, ConnectionEnd(strange, there.port)) == Peers()


def test_who_made_it_is_told() -> None:
    with connected("127.0.0.1") as (_, here, there):
        assert find_maker(here, there) == os.geteuid()
        assert find_maker(here, ConnectionEnd(there.host, there.port - 1)) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_who_made_it_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = ["/usr/bin/env", "python3", "-c", CONNECT, *map(str, server.getsockname())]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=65534) as client:
            accepted, other = server.accept()
            with accepted:
                assert find_maker(ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other)) == 65534
            client.communicate(b"")


def test_by_whichever_address_it_comes_it_is_here() -> None:
    """All of 127 is this machine, and so is what a card of it is called."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.bind(("127.9.9.9", 0))
        client.connect(server.getsockname())
        accepted, other = server.accept()
        with accepted:
            assert find_peers(ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other)) == Peers((os.getpid(),))
            client.close()
            assert find_peers(ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other)) == Peers(is_gone=True)


GOES = {
    "closes": "pass",
    "breaks it off": "one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); one.close()",
}


@pytest.mark.parametrize("does", GOES.values(), ids=GOES)
def test_who_asks_and_goes_is_told_from_who_is_not_to_be_found(does: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        hasty = CONNECT.replace("sys.stdin.read()", does).replace("import socket", "import socket, struct")
        subprocess.run([sys.executable, "-c", hasty, *map(str, server.getsockname())], check=True, capture_output=True)
        accepted, other = server.accept()
        with accepted:
            assert find_peers(ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other)) == Peers(is_gone=True)


def test_where_the_server_has_closed_its_end_nobody_is_there() -> None:
    with connected("127.0.0.1") as (client, here, there):
        assert find_peers(here, there) == Peers((client.pid,))
        gone = here, there
    assert find_peers(*gone) == Peers(is_gone=True)


def test_a_connection_on_its_way_to_another_process_is_held_by_nobody_who_is_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted, other = None, None
        one, another = socket.socketpair()
        with one, another, socket.create_connection(server.getsockname()) as sent:
            accepted, other = server.accept()
            here, there = ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other)
            socket.send_fds(one, [b"x"], [sent.fileno()])
            assert find_peers(here, there) == Peers((os.getpid(),))
            sent.close()
            found = find_peers(here, there)
            assert (found.pids, found.is_hidden, found.is_foreign) == ((), True, False)
            assert os.getpid() not in found.hiding
            _, handles, _, _ = socket.recv_fds(another, 1, 1)
            assert find_peers(here, there) == Peers((os.getpid(),))
            for handle in handles:
                os.close(handle)
        accepted.close()


HIDES = """
import ctypes, socket, subprocess, sys
from remit.storage.peers import ConnectionEnd, find_peers
if sys.argv[1:]:
    assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as one:
        one.recv(1)
else:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with subprocess.Popen([sys.executable, sys.argv[0], str(server.getsockname()[1])]) as client:
            accepted, other = server.accept()
            with accepted:
                print(find_peers(ConnectionEnd(*accepted.getsockname()), ConnectionEnd(*other)), client.pid)
"""


@pytest.mark.skipif(os.geteuid() == 0, reason="root sees into every process")
def test_a_process_that_hides_what_it_holds_is_told_as_hidden(tmp_path: Path) -> None:
    script = tmp_path / "hides.py"
    script.write_text(HIDES)
    told = subprocess.run([sys.executable, str(script)], check=True, capture_output=True, text=True).stdout
    found = re.fullmatch(
        r"Peers\(pids=\(\), is_gone=False, is_hidden=True, hiding=(.*), is_foreign=False\) (\d+)\n", told
    )
    assert found is not None, told
    assert found[2] in re.findall(r"\d+", found[1])


def test_the_environment_of_another_process_is_read() -> None:
    with subprocess.Popen(["sleep", "60"], env={"ONE": "two=three", "PATH": os.environ["PATH"]}) as process:
        try:
            last = time.monotonic() + 20
            while "ONE" not in load_environ(process.pid) and time.monotonic() < last:  # it is just becoming itself
                time.sleep(0.01)
            assert load_environ(process.pid)["ONE"] == "two=three"
        finally:
            process.kill()
    assert load_environ(process.pid) == {}
