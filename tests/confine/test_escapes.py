"""Ways out of the confinement, as the user of the tests and without privileges: none succeeds.

Each attempt tries to change a protected file, or a file outside the writable folder, after a step that could lead
around the mounts. Attempts run again inside a user namespace of their own, where the kernel gives them capabilities.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from remit.confine.profile import Profile
from tests.support.escape_attempts import ATTEMPTS, NESTED, Place
from tests.support.sample_sizes import IS_WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.confined_users import Caller


@pytest.fixture
def place(caller: Caller) -> Iterator[Place]:
    work, outside = caller.make_folder("work"), caller.make_folder("outside")
    (work / "conf").mkdir()
    (work / "conf" / "locked").write_text("locked\n")
    (outside / "file").write_text("outside\n")
    caller.own(work)
    caller.own(outside)
    words = [*caller.prefix, "bash", "-c", "exec 9>> file; exec sleep 600"]
    with subprocess.Popen(words, cwd=outside) as process:
        yield Place(work, outside, process)
        process.kill()


def write_attempts(caller: Caller, place: Place, scripts: dict[str, str]) -> str:
    """Return a script that runs every attempt from a file of its own."""
    folder = caller.folder / "attempts"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, script in enumerate(scripts.values()):
        (folder / str(number)).write_text(script)
    variables = f"export W={place.work} O={place.outside} PID={place.process.pid}"
    loop = f"for n in $(seq 0 {len(scripts) - 1}); do timeout 20 bash {folder}/$n; echo done $n; done"
    return f"{variables}; {loop} < /dev/null 2>&1"


def test_no_attempt_gets_out(caller: Caller, place: Place) -> None:
    before = place.read()
    ran = caller.run(place.profile, write_attempts(caller, place, ATTEMPTS), cwd=place.work)
    assert f"done {len(ATTEMPTS) - 1}" in ran.stdout, ran
    assert (place.read(), place.check()) == (before, []), ran.stdout


def test_no_attempt_gets_out_of_a_nested_namespace(caller: Caller, place: Place) -> None:
    scripts: dict[str, str] = {}
    for name, script in ATTEMPTS.items():
        for number, nested in enumerate(NESTED):
            file = f"nested-{len(scripts)}"
            (caller.folder / file).write_text(script)
            scripts[f"{name} {number}"] = nested.format(f"bash {caller.folder / file}")
    if caller.name == "own" or not IS_WHOLE:  # root gets no nested namespace at all: one form is enough
        scripts = dict([*scripts.items()][:: len(NESTED)])
    before = place.read()
    ran = caller.run(place.profile, write_attempts(caller, place, scripts), cwd=place.work)
    assert f"done {len(scripts) - 1}" in ran.stdout, ran
    assert (place.read(), place.check()) == (before, []), ran.stdout


def test_the_attempts_would_be_noticed(caller: Caller, place: Place) -> None:
    """Bare, some of the same attempts do what they are meant to."""
    for name in ("/proc/PID/root", "/proc/PID/cwd", "/proc/PID/fd"):
        (place.outside / "file").write_text("outside\n")
        before = place.read()
        ran = caller.run_bare(write_attempts(caller, place, {name: ATTEMPTS[name]}), cwd=place.work)
        assert place.read() != before, (name, ran.stdout)
    caller.run_bare(write_attempts(caller, place, {"pidfd": ATTEMPTS["kill by pidfd"]}), cwd=place.work)
    assert "it reached a process or a device" in place.check()


def test_inherited_descriptors_dont_lead_out(caller: Caller, place: Place) -> None:
    """A folder, and a file that is opened again for writing, lead to the mounts they were opened through."""
    script = f'exec 5< {place.work}/conf/locked 6< {place.outside} 7< {place.work}/conf\nexec "$@"'
    inner = (
        "read line <&5; echo $line; echo x > /proc/self/fd/5; echo x > /proc/self/fd/6/file; "
        "echo x > /proc/self/fd/6/../work/conf/locked; echo x > /proc/self/fd/7/locked; ls /proc/self/fd/6/"
    )
    words = caller.make_words(place.profile, ["bash", "-c", inner])
    prefix, words = words[: len(caller.prefix)], words[len(caller.prefix) :]
    ran = subprocess.run([*prefix, "bash", "-c", script, "bash", *words], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["locked", "file"], ran
    assert not place.check()


def test_a_descriptor_of_a_hidden_folder_is_refused(caller: Caller, place: Place) -> None:
    words = caller.make_words(Profile(hide=(str(place.outside),)), ["echo", "ran"])
    prefix, words = words[: len(caller.prefix)], words[len(caller.prefix) :]
    script = f'exec 6< {place.outside}; exec "$@"'
    ran = subprocess.run([*prefix, "bash", "-c", script, "bash", *words], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (125, "")
    assert "descriptor 6 leads out of the confinement" in ran.stderr


def test_signals_work_inside(caller: Caller, place: Place) -> None:
    ran = caller.run(place.profile, "sleep 60 & kill $!; wait $!; echo $?; kill -0 $$ && echo own")
    assert ran.stdout.split() == ["143", "own"]
    ran = caller.run(place.profile._replace(keeps_inside=False), f"kill -0 {place.process.pid} && echo reached")
    assert ran.stdout == "reached\n", "the profile allows it"
