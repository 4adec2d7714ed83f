"""Tests of CI run without a network: `tools/alone.sh` takes away everything but loopback."""

import subprocess
import sys

import pytest

from tests.support.paths import ROOT

ALONE = ROOT / "tools" / "alone.sh"
LOOK = """
import socket
served = socket.create_server(("127.0.0.1", 0))
socket.create_connection(served.getsockname(), timeout=5)
print("loopback")
try:
    socket.create_connection(("192.0.2.1", 80), timeout=0.2)
except TimeoutError:
    print("somewhere")
except OSError as error:
    print(error.strerror.lower())
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", str(ALONE), *words], capture_output=True, text=True, check=False)


def test_only_loopback_is_left() -> None:
    ran = run(sys.executable, "-c", LOOK)
    assert ran.returncode == 0, ran.stderr
    if "cannot be made here" in ran.stderr:
        pytest.skip("a network of its own cannot be made here: run as root, with namespaces")
    assert ran.stdout.splitlines() == ["loopback", "network is unreachable"]


def test_words_and_exit_code_are_those_of_the_command() -> None:
    ran = run("sh", "-c", 'printf "%s|" "$@"; exit 7', "sh", "a b", "", "$HOME '\"")
    assert (ran.stdout, ran.returncode) == ("a b||$HOME '\"|", 7)
