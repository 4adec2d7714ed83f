"""The profile as a value, the command line, and the level of a machine."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from remit import confine
from remit.confine.command import make_command
from remit.confine.launcher import LaunchProfile as Read
from remit.confine.level import ALWAYS_OPEN, FILES, FULL, NONE, Level, find_level, probe_level
from remit.confine.profile import Profile
from remit.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_launcher_reads_what_is_written() -> None:
    profile = Profile(("/a", "/b c=d\n\udcff"), ("/a/x",), ("/h",), "ports", (80, 443), keeps_inside=False)
    read = Read(profile.render())
    assert (read.write, read.protect, read.hide) == ([b"/a", b"/b c=d\n\xff"], [b"/a/x"], [b"/h"])
    assert (read.network, read.ports, read.scope) == ("ports", [80, 443], "all")
    assert Read(Profile().render()).scope == "inside"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"write": ("a",)}, "write path 'a' isn't absolute and normal"),
        ({"protect": ("/a/",)}, "protect path '/a/' isn't absolute and normal"),
        ({"hide": ("/a/../b",)}, "hide path '/a/../b' isn't absolute and normal"),
        ({"write": ("//a",)}, "write path '//a' isn't absolute and normal"),
        ({"write": ("/a\0protect=/b",)}, "isn't absolute and normal"),
        ({"write": ("/a/b",), "protect": ("/a",)}, "write path '/a/b' is inside '/a', which isn't writable"),
        ({"write": ("/a",), "hide": ("/a",)}, "write path '/a' is inside '/a', which isn't writable"),
        ({"network": "model"}, "network is 'model'; available: none, ports, all"),
        ({"network": "none", "ports": (1,)}, "ports are given, but network is 'none'"),
        ({"network": "ports", "ports": (0, 65536)}, "port 65536 isn't between 1 and 65535"),
    ],
)
def test_a_profile_that_isnt_valid_isnt_written(given: dict[str, Any], sentence: str) -> None:
    assert sentence in "; ".join(Profile(**given).check())
    with pytest.raises(UsageError, match="isn't valid"):
        Profile(**given).render()


def test_a_profile_has_a_limit() -> None:
    with pytest.raises(UsageError, match="the limit is 1048576"):
        Profile(protect=tuple(f"/{number:0100}" for number in range(10000))).render()


def test_the_command_line_runs(tmp_path: Path) -> None:
    file = tmp_path / "profile"
    file.write_bytes(Profile().render())
    ran = subprocess.run(make_command(str(file), ["echo", "a b"]), capture_output=True, text=True, check=False)
    assert ran.stdout == "a b\n" or "namespace" in ran.stderr
    assert make_command(3, ["x"])[-3:] == ["fd:3", "--", "x"]
    assert confine.make_command is make_command
    with pytest.raises(AttributeError):
        confine.nothing  # noqa: B018 - that it raises is what is tested


def test_importing_a_profile_is_light() -> None:
    look = "import sys; import remit.confine.profile; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-S", "-c", look], capture_output=True, text=True, check=False,
                         env={"PYTHONPATH": str(confine.__path__[0]).removesuffix("/remit/confine")})  # fmt: skip
    assert "remit.confine.profile" in ran.stdout.split()
    assert not {*ran.stdout.split()} & {"json", "subprocess", "tempfile", "ctypes", "pathlib"}


def test_only_the_full_level_is_cached(tmp_path: Path) -> None:
    """A confined command may be able to write to the cache, and must not be able to lower the level."""
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    level = find_level(environ)
    cache = tmp_path / "remit" / "confine-level"
    assert cache.exists() is (level.name == FULL)
    if level.name != FULL:
        pytest.skip(f"this machine enforces only {level.name}: {level.reasons}")
    assert find_level(environ) == level == probe_level()
    cache.write_text(cache.read_text().replace("full", "none"))
    assert find_level(environ).name == FULL
    cache.write_text("1 another-boot 0 full")
    assert find_level({"HOME": str(tmp_path)}).name == find_level({}).name == find_level(environ).name == FULL


def test_a_machine_without_namespaces_has_no_level() -> None:
    look = "from remit.confine.level import probe_level as p; l = p(); print(l.name, l.reasons, l.list_open())"
    folder = str(confine.__path__[0]).removesuffix("/remit/confine")
    limit = 'echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_mnt_namespaces && exec "$@"'
    words = ["unshare", "-Ur", "bash", "-c", limit, "bash", sys.executable, "-c", look]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, env={"PYTHONPATH": folder})
    if ran.returncode:
        pytest.skip(ran.stderr.strip())
    assert ran.stdout.startswith("none ('the kernel gives no user and mount namespace: No space left on device',)")
    assert "all files that the user can write can be written" in ran.stdout


def test_a_level_says_what_it_doesnt_stop() -> None:
    full = Level(FULL, has_files=True, has_scopes=True, has_ports=True, has_no_network=True)
    full = full._replace(has_judge=True)
    assert full.list_open()[-len(ALWAYS_OPEN) :] == [*ALWAYS_OPEN]
    assert {*full.list_open()} == {*ALWAYS_OPEN, *(each for each in full.list_open() if "programs" in each)}
    files = full._replace(name=FILES, has_scopes=False, has_ports=False)
    assert {*files.list_open()} > {*full.list_open()}
    assert "signals reach all processes of the same user" in files.list_open()
    none = Level(NONE, has_files=False, has_scopes=False, has_ports=False, has_no_network=False)
    assert "all files that the user can write can be written" in none.list_open()
