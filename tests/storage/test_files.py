"""Files: read up to a cap, and refused by what they are."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.errors import InputError
from remit.storage import files
from remit.storage.files import (
    append_line,
    load_blocks,
    load_bytes,
    load_lines,
    load_tail,
    make_private_folder,
    write_bytes,
    write_texts,
)


def test_a_file_is_read_up_to_one_byte_more_than_the_cap(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"0123456789")
    assert load_bytes(file) == b"0123456789"
    assert load_bytes(str(file), max_bytes=4) == b"01234"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing.md", "no such file"), ("", "isn't a file"), ("a\x00b", "isn't a path"), ("n" * 300, "too long")],
)
def test_a_name_that_cannot_be_read_is_told_in_one_sentence(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        load_bytes(f"{tmp_path}/{name}")
    assert caught.value.hint
    assert caught.value.code == "INPUT_UNREADABLE"


def test_a_pipe_in_a_workspace_is_refused_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="isn't a file"):
        load_bytes(tmp_path / "pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("x")
    file.chmod(0)
    with pytest.raises(InputError, match="permission denied"):
        load_bytes(file)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system has no /dev/fd")
def test_a_pipe_that_the_shell_hands_over_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    try:
        assert load_bytes(f"/dev/fd/{reading}") == b"text"
    finally:
        os.close(reading)


def test_standard_input_is_read_as_bytes() -> None:
    program = "from remit.storage.files import load_stdin; print(load_stdin())"
    done = subprocess.run([sys.executable, "-c", program], input=b"a\xff\n", capture_output=True, check=True)
    assert done.stdout == b"b'a\\xff\\n'\n"


def test_the_tail_of_a_file_is_text(tmp_path: Path) -> None:
    file = tmp_path / "MANIFEST.jsonl"
    file.write_bytes(b"one\ntw\xff\n")
    assert load_tail(file) == "one\ntw\ufffd\n"
    file.write_bytes(b"")
    assert load_tail(file) == ""


def test_of_a_long_file_only_the_end_is_read(tmp_path: Path) -> None:
    file = tmp_path / "MANIFEST.jsonl"
    file.write_bytes(b"x" * (6 * 1024 * 1024) + b"\nlast\n")
    tail = load_tail(file)
    assert tail is not None
    assert tail.endswith("x\nlast\n")
    assert len(tail) == 4 * 1024 * 1024


def test_a_file_that_is_not_there_yet_has_an_empty_tail(tmp_path: Path) -> None:
    """R4.2: the manifest begins with its first line."""
    assert load_tail(tmp_path / "MANIFEST.jsonl") == ""


@pytest.mark.parametrize("name", [".", "a\x00b", "n" * 300])
def test_what_is_no_file_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        load_tail(tmp_path / name)


def test_a_pipe_is_refused_and_nobody_waits_for_it(tmp_path: Path) -> None:
    """A pipe that somebody left in a workspace is not found out by hanging on it."""
    os.mkfifo(tmp_path / "MANIFEST.jsonl")
    program = "import sys, pathlib; from remit.storage.files import load_tail; load_tail(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(tmp_path / "MANIFEST.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    assert "isn't a file" in done.stderr


def test_lines_come_one_at_a_time_and_say_whether_they_end(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"12345\n\n123456\n" + b"x" * 3_000_000 + b"\nlast")
    assert list(load_lines(str(file), max_bytes=5)) == [
        (b"12345", True), (b"", True), (b"123456", True), (b"xxxxxx", True), (b"last", False),
    ]  # fmt: skip
    file.write_bytes(b"x" * 3_000_000)
    assert list(load_lines(str(file), max_bytes=5)) == [(b"xxxxxx", False)]
    file.write_bytes(b"")
    assert list(load_lines(str(file), max_bytes=5)) == []


@pytest.mark.parametrize("name", ["missing", "", "a\0b"])
def test_lines_of_what_cannot_be_read_are_told_in_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        list(load_lines(f"{tmp_path}/{name}", max_bytes=5))
    assert caught.value.hint


# Writing


def test_a_new_file_is_written_with_the_usual_permissions(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        write_bytes(f"{tmp_path}/a.md", b"text")
    finally:
        os.umask(old)
    assert (tmp_path / "a.md").read_bytes() == b"text"
    assert (tmp_path / "a.md").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_bytes(str(file), b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", mode)
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]


def test_whoever_has_a_file_open_goes_on_reading_the_old_one(tmp_path: Path) -> None:
    """Replaced at once: nobody sees half of it."""
    file = tmp_path / "a.md"
    file.write_bytes(b"old")
    with file.open("rb") as stream:
        write_bytes(str(file), b"new")
        assert stream.read() == b"old"
    assert file.read_bytes() == b"new"


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "target.md"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "link.md"
    link.symlink_to("deep/target.md")
    write_bytes(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert [each.name for each in target.parent.iterdir()] == ["target.md"]


@pytest.mark.parametrize("name", ["ü" * 127, "語" * 85, "a" * 255])
def test_a_name_as_long_as_names_may_be_is_written(tmp_path: Path, name: str) -> None:
    write_bytes(f"{tmp_path}/{name}", b"text")
    assert (tmp_path / name).read_bytes() == b"text"


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"old")

    def fail(*args: object) -> None:
        del args
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_bytes(str(file), b"new")
    assert file.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]


@pytest.mark.parametrize("name", ["missing/a.md", "folder"])
def test_a_place_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"No such file|directory"):
        write_bytes(f"{tmp_path}/{name}", b"text")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_a_reader_always_sees_the_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"a" * 100_000)
    program = """
import sys
from remit.storage.files import write_bytes
for number in range(60):
    write_bytes(sys.argv[1], (b"a" if number % 2 else b"b") * 100_000)
"""
    with subprocess.Popen([sys.executable, "-c", program, str(file)]) as process:
        while process.poll() is None:
            data = file.read_bytes()
            assert data in (b"a" * 100_000, b"b" * 100_000)
    assert process.returncode == 0


def test_a_folder_of_remit_s_own_tells_git_to_leave_it_alone_and_is_for_nobody_else(tmp_path: Path) -> None:
    make_private_folder(f"{tmp_path}/.remit/cache")
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (".remit", ".remit/cache")} == {0o700}
    marker = tmp_path / ".remit/.gitignore"
    assert marker.read_text() == "*\n"
    marker.write_text("mine\n")
    make_private_folder(f"{tmp_path}/.remit/cache")
    assert marker.read_text() == "mine\n"
    make_private_folder(f"{tmp_path}/other")
    assert (tmp_path / "other/.gitignore").read_text() == "*\n"


# A text in parts


def test_a_text_is_written_part_by_part_and_there_once_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "export"
    file.write_text("old")
    seen: list[str] = []

    def parts() -> Iterator[str]:
        for part in ("one\n", "two\n", "\udcff"):
            seen.append(file.read_text())
            yield part

    write_texts(str(file), parts())
    assert seen == ["old"] * 3
    assert file.read_bytes() == b"one\ntwo\n\xff"


def test_a_text_whose_parts_end_early_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "export"
    file.write_text("old")

    def parts() -> Iterator[str]:
        yield "one\n"
        raise KeyError("two")

    with pytest.raises(KeyError):
        write_texts(str(file), parts())
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


# Lines at the end of a file


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("size", [1, 7, 64, 1 << 16])
def test_blocks_have_whole_lines_and_no_more_of_a_long_one_than_the_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, *, ended: bool
) -> None:
    file = tmp_path / "lines"
    lines = [b"one", b"", b"x" * 5000, b"two" * 5, b"", b"y" * 90]
    file.write_bytes(b"\n".join(lines) + (b"\n" if ended else b""))
    monkeypatch.setattr(files, "_BLOCK_BYTES", size)
    blocks = list(load_blocks(str(file), max_line_bytes=20))
    assert all(block.endswith(b"\n") for block in blocks[: None if ended else -1])
    found = b"".join(blocks).removesuffix(b"\n").split(b"\n")
    assert [line[:20] for line in found] == [line[:20] for line in lines]
    assert [len(line) > 20 for line in found] == [len(line) > 20 for line in lines]
    assert max(map(len, blocks)) <= size + 22 + 70


def test_a_line_that_the_disk_refuses_is_taken_back_and_the_file_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lines"
    append_line(str(file), b"one")
    failed: list[int] = []

    def fail(handle: int) -> None:
        failed.append(handle)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output"):
            append_line(str(file), b"two")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(failed[0])
    append_line(str(file), b"three")
    assert file.read_bytes() == b"one\nthree\n"


def test_a_line_is_appended_with_one_write_and_its_place_told(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    assert append_line(str(file), b"one") == 0
    assert append_line(str(file), b"two") == 4
    assert file.read_bytes() == b"one\ntwo\n"


def test_a_torn_line_is_ended_before_the_next(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b'one\n{"torn')
    assert append_line(str(file), b"two") == 11
    assert file.read_bytes() == b'one\n{"torn\ntwo\n'


def test_nothing_is_appended_to_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="isn't a file"):
        append_line(str(tmp_path / "pipe"), b"one")


def test_a_write_that_fails_half_way_is_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"one\n")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
        try:
            append_line(str(file), b"x" * 100)
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WEXITSTATUS(status) in {errno.ENOSPC, errno.EFBIG}
    assert file.read_bytes() == b"one\n"


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """As is a device: a report into /dev/null must not replace it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    write_texts(str(pipe), ("a", "b"))
    assert reader.communicate(timeout=30)[0] == b"ab"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_texts("/dev/null", ("a",))
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
