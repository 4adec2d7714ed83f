"""The machine: mount points, programs on the path, and answers within their time."""

from __future__ import annotations

import errno
import os
import select
import selectors
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from remit.storage.machine import find_mount, find_program, is_alive, measure_free_space, run_program
from tests.support.file_limit import few_files

if TYPE_CHECKING:
    from pathlib import Path

TABLE = rb"""22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:22 / /home rw - nfs4 server:/home rw
24 23 0:23 / /home/ada/my\040disk rw master:3 - tmpfs tmpfs rw
25 22 0:24 / /homework rw - cifs //server/x rw
26 22 0:25 / /twice rw - ext4 /dev/sdb1 rw
27 22 0:26 / /twice rw - fuse.sshfs ada@server: rw
nonsense

28 22 0:27 / /odd\
"""


@pytest.mark.parametrize(
    ("folder", "point", "kind"),
    [
        ("/", "/", "ext4"),
        ("/srv/x", "/", "ext4"),
        ("/home/ada/work", "/home", "nfs4"),
        ("/home/ada/my disk/work", "/home/ada/my disk", "tmpfs"),
        ("/homework/x", "/homework", "cifs"),
        ("/homes", "/", "ext4"),
        ("/twice/x", "/twice", "fuse.sshfs"),
    ],
)
def test_a_folder_lies_on_the_nearest_mount_above(tmp_path: Path, folder: str, point: str, kind: str) -> None:
    (tmp_path / "mountinfo").write_bytes(TABLE)
    mount = find_mount(folder, table=str(tmp_path / "mountinfo"))
    assert mount is not None
    assert (mount.point, mount.kind) == (point, kind)
    assert mount.is_network is (kind in ("nfs4", "cifs", "fuse.sshfs"))
    assert mount.is_fleeting is (kind == "tmpfs")


def test_a_machine_without_a_table_of_mounts_says_nothing(tmp_path: Path) -> None:
    assert find_mount("/", table=str(tmp_path / "none")) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the table")
def test_the_mount_here_is_found(tmp_path: Path) -> None:
    mount = find_mount(str(tmp_path))
    assert mount is not None
    assert os.stat(mount.point).st_dev == tmp_path.stat().st_dev  # noqa: PTH116 - as it is named


def test_there_is_some_room(tmp_path: Path) -> None:
    room = measure_free_space(str(tmp_path))
    assert room.free_bytes > 0
    assert room.free_files is None or room.free_files > 0


# Programs


def make_program(file: Path, script: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def test_a_program_is_found_where_the_path_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    second = make_program(tmp_path / "second/tool", "true")
    make_program(root / "bin/tool", "true")
    (tmp_path / "first").mkdir()
    (tmp_path / "first/tool").write_text("no program")
    monkeypatch.setenv("PATH", f"{tmp_path}/first:bin:{root}/bin:{tmp_path}/second")
    monkeypatch.chdir(root)
    found = find_program("tool", root=str(root))
    assert found is not None
    assert (found.file, found.is_foreign) == (str(second), False)
    assert find_program("none", root=str(root)) is None


@pytest.mark.parametrize("way", ["inside", "link to the folder", "link to the file"])
def test_a_program_in_the_workspace_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    root = tmp_path / "root"
    program = make_program(root / "bin/tool", "true")
    folder = root / "bin"
    if way == "link to the folder":
        folder = tmp_path / "linked"
        folder.symlink_to(root / "bin")
    elif way == "link to the file":
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "tool").symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))
    found = find_program("tool", root=str(root))
    assert found is not None
    assert found.is_foreign


def test_an_answer_is_how_it_ended_and_what_it_said(tmp_path: Path) -> None:
    program = make_program(tmp_path / "tool", "pwd; echo complaint >&2; read line || exit 3")
    assert run_program([str(program)], seconds=5) == (3, "/\ncomplaint\n")
    assert run_program([str(tmp_path / "none")], seconds=5) == (127, "no such file or directory")


SCRIPTS = ("sleep 60", "sleep 60 & sleep 60", "trap '' TERM; sleep 60", "yes", "exec 1>&- 2>&-; sleep 60")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_program_that_does_not_end_is_ended_with_all_it_started(tmp_path: Path, script: str) -> None:
    os.mkfifo(tmp_path / "alive")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    program = make_program(tmp_path / "tool", f"exec 3>{tmp_path}/alive; echo begun >&3; {script}")
    began = time.monotonic()
    assert run_program([str(program)], seconds=1).code is None
    assert 1 <= time.monotonic() - began < 20
    assert os.read(reader, 100) == b"begun\n"
    ready, _, _ = select.select([reader], [], [], 5)
    assert ready, "one of them still has the pipe open"
    assert os.read(reader, 100) == b""
    os.close(reader)


def test_only_the_beginning_of_an_answer_is_kept(tmp_path: Path) -> None:
    program = make_program(tmp_path / "tool", "head -c 20000 /dev/zero")
    told = run_program([str(program)], seconds=5)
    assert (told.code, 4096 <= len(told.text) <= 8192) == (0, True)


def test_a_machine_that_has_no_more_files_to_open_is_an_answer() -> None:
    told = []
    for number in range(12):
        with few_files(number):
            told.append(run_program(["/bin/true"], seconds=5.0))
    assert told[0] == (127, "too many open files")
    assert told[-1] == (0, "")
    assert {answer for answer in told if answer.code == 127} == {told[0]}


def test_a_pipe_that_cannot_be_listened_to_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = []

    def fail() -> None:
        failed.append(True)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(selectors, "DefaultSelector", fail)
    assert run_program(["/bin/true"], seconds=5.0) == (127, "too many open files")
    assert failed


def test_processes_are_alive_or_not() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert is_alive(os.getpid())
    assert is_alive(1)
    assert not is_alive(process.pid)
    assert not is_alive(0)
    assert not is_alive(-5)
    assert not is_alive(10**30)
