"""Trust: consent to exactly these settings, of this workspace, by this user, or none."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.errors import BusyError, InputError, StorageError
from remit.storage import trust as room
from remit.storage.locks import hold_lock
from remit.storage.trust import Trusted, check_trust, is_trusted, list_trusted, make_digest, revoke, trust

DIGEST = make_digest('show = "cleo show {id}"')


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the list will be."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config/remit/trust.json"


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A workspace."""
    (tmp_path / "project").mkdir()
    return str((tmp_path / "project").resolve())


def tell(root: str, digest: str = DIGEST) -> str | None:
    """The code of why settings are not trusted."""
    finding = check_trust(root, digest)
    assert is_trusted(root, digest) is (finding is None)
    return finding and finding.code


# --- consent ---------------------------------------------------------------------------------------------------------


def test_consent_is_to_these_settings_of_this_workspace(file: Path, root: str, tmp_path: Path) -> None:
    assert tell(root) == "TRU001"
    assert not file.exists()
    entry = trust(root, DIGEST)
    assert tell(root) is None
    assert tell(root, make_digest('show = "cleo show {id}" ')) == "TRU002"
    assert tell(str(tmp_path / "other")) == "TRU001"
    assert tell(f"{root}/deeper") == "TRU001"
    assert list_trusted() == (entry,)
    assert (entry.root, entry.digest, len(entry.time)) == (root, DIGEST, 20)


def test_a_change_needs_consent_again_and_replaces_the_one_before(file: Path, root: str) -> None:
    trust(root, DIGEST)
    trust(root, make_digest("other"))
    assert tell(root) == "TRU002"
    assert tell(root, make_digest("other")) is None
    assert len(list_trusted()) == 1
    assert file.exists()


def test_consent_can_be_taken_back(file: Path, root: str, tmp_path: Path) -> None:
    assert not revoke(root)
    assert not file.parent.exists()
    trust(root, DIGEST)
    trust(str(tmp_path / "other"), DIGEST)
    assert revoke(root)
    assert not revoke(root)
    assert tell(root) == "TRU001"
    assert tell(str(tmp_path / "other")) is None


def test_a_workspace_is_the_same_by_any_name(file: Path, root: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    trust(str(tmp_path / "link"), DIGEST)
    assert tell(f"{root}/../project/") is None
    assert file.exists()


def test_a_name_may_be_any_bytes(file: Path, tmp_path: Path) -> None:
    root = str(tmp_path / "\udcff\udcfe ü \n")
    trust(root, DIGEST)
    assert tell(root) is None
    assert list_trusted()[0].root == os.path.realpath(root)
    assert file.read_bytes().isascii()


def test_the_list_is_for_its_user_alone(file: Path, root: str) -> None:
    old = os.umask(0)
    try:
        trust(root, DIGEST)
    finally:
        os.umask(old)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(each.name for each in file.parent.iterdir()) == ["trust.json", "trust.json.lock"]


def test_a_digest_is_of_every_character() -> None:
    texts = ["", "a", "a ", "A", "a\n", "ä", "a\u0308", "\ud800", "\0"]
    assert len({make_digest(text) for text in texts}) == len(texts)
    assert len(make_digest("")) == 64


# --- where it is -----------------------------------------------------------------------------------------------------


def test_without_a_folder_for_settings_it_is_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for value in (None, "", "relative/config"):
        if value is None:
            monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CONFIG_HOME", value)
        assert room.find_file() == f"{tmp_path}/home/.config/remit/trust.json"
    trust(root, DIGEST)
    assert (tmp_path / "home/.config/remit/trust.json").exists()


def test_a_home_that_is_not_known_is_told(monkeypatch: pytest.MonkeyPatch, root: str) -> None:
    monkeypatch.setenv("HOME", "somewhere")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    for ask in (trust, is_trusted):
        with pytest.raises(InputError, match="home folder") as caught:
            ask(root, DIGEST)
        assert caught.value.hint


def test_a_list_that_the_workspace_brings_along_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str, file: Path
) -> None:
    trust(root, DIGEST)
    brought = Path(root) / "config/remit/trust.json"
    brought.parent.mkdir(parents=True)
    brought.write_bytes(file.read_bytes())
    brought.chmod(0o600)
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{root}/config")
    assert tell(root) == "TRU003"
    with pytest.raises(InputError, match="inside the workspace"):
        trust(root, DIGEST)
    (tmp_path / "elsewhere").symlink_to(brought.parents[1])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
    assert tell(root) == "TRU003"
    assert tell(str(tmp_path / "other")) == "TRU001"


@pytest.mark.parametrize("name", ["a file", "no such disk"])
def test_a_home_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str, name: str
) -> None:
    (tmp_path / "a file").touch()
    base = tmp_path / name if name == "a file" else Path("/proc/none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(base))
    with pytest.raises(StorageError, match="can't be written") as caught:
        trust(root, DIGEST)
    assert "XDG_CONFIG_HOME" in caught.value.hint
    assert not is_trusted(root, DIGEST)


def test_a_disk_that_fails_leaves_the_list_as_it_was(
    file: Path, root: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trust(root, DIGEST)
    before = file.read_bytes()
    failed = []

    def fail(*arguments: object) -> None:
        del arguments
        failed.append(True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="no space left"):
        trust(str(tmp_path / "other"), DIGEST)
    with pytest.raises(StorageError, match="no space left"):
        revoke(root)
    assert len(failed) == 2
    assert file.read_bytes() == before


# --- a list that cannot be relied on ---------------------------------------------------------------------------------


def render(root: str, **changes: object) -> str:
    entry = {"digest": DIGEST, "time": "2026-01-01T00:00:00Z", **changes}
    return json.dumps({"version": 1, "workspaces": {root: entry}})


BROKEN: dict[str, Callable[[str], str]] = {
    "cut off": lambda root: render(root)[:-3],
    "no JSON": lambda _: "trusted = all",
    "no table": lambda _: "[]",
    "null": lambda _: "null",
    "no version": lambda root: render(root).replace('"version": 1, ', ""),
    "another version": lambda root: render(root).replace('"version": 1', '"version": 2'),
    "no workspaces": lambda _: '{"version": 1}',
    "a list of workspaces": lambda _: '{"version": 1, "workspaces": []}',
    "no digest": lambda root: render(root).replace("digest", "hash"),
    "a digest that is none": lambda root: render(root, digest=True),
    "a time that is none": lambda root: render(root, time=None),
    "more than there is": lambda root: render(root, everything=True),
    "a relative root": lambda _: render("project"),
    "a key twice": lambda root: render(root).replace('"version": 1', '"version": 2, "version": 1'),
    "two objects": lambda root: render(root) * 2,
    "too deep": lambda root: render(root)[:-1] + ', "x": ' + "[" * 100_000,
    "too large": lambda root: render(root) + " " * (5 * 1024 * 1024),
    "no text": lambda _: "\udcff\udcfe",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_list_trusts_nothing_and_a_new_consent_begins_a_new_one(file: Path, root: str, kind: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(render(root))
    file.chmod(0o600)
    assert tell(root) is None
    text = BROKEN[kind](root).encode("utf-8", "surrogateescape")
    file.write_bytes(text)
    finding = check_trust(root, DIGEST)
    assert finding is not None
    assert (finding.code, list_trusted()) == ("TRU003", ())
    assert str(file) in finding.message
    assert not revoke(root)
    trust(root, DIGEST)
    assert tell(root) is None
    assert file.with_name("trust.json.bad").read_bytes() == text


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_list_that_others_can_write_is_none(file: Path, root: str, mode: int) -> None:
    trust(root, DIGEST)
    file.chmod(mode)
    finding = check_trust(root, DIGEST)
    assert finding is not None
    assert "written by others" in finding.message
    trust(root, DIGEST)
    assert tell(root) is None
    assert file.stat().st_mode & 0o777 == 0o600


def test_consent_that_is_taken_back_does_not_come_back(file: Path, root: str) -> None:
    """Also where the list could not be relied on at that moment."""
    trust(root, DIGEST)
    file.chmod(0o666)
    assert not revoke(root)
    assert not file.exists()
    assert tell(root) == "TRU001"


def test_a_list_of_another_user_is_none(file: Path, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trust(root, DIGEST)
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    finding = check_trust(root, DIGEST)
    assert finding is not None
    assert "another user" in finding.message
    assert file.exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_is_no_list_and_nobody_waits_for_it(
    file: Path, root: str, make: Callable[[Path, int], None]
) -> None:
    file.parent.mkdir(parents=True)
    program = "import sys; from remit.storage.trust import check_trust; print(check_trust(sys.argv[1], 'x').code)"
    command = [sys.executable, "-c", program, root]
    make(file, 0o600)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout == "TRU003\n"
    trust(root, DIGEST)
    assert tell(root) is None


def test_an_empty_list_is_one_without_entries(file: Path, root: str) -> None:
    """It is made empty at first; whoever was killed then has left it so."""
    file.parent.mkdir(parents=True)
    file.touch(0o600)
    assert tell(root) == "TRU001"


# --- several at once -------------------------------------------------------------------------------------------------


def test_several_that_consent_at_once_lose_nothing(file: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from remit.storage.trust import trust\n"
        "for number in range(10): trust(f'{sys.argv[1]}-{number}', 'x')"
    )
    names = [str(tmp_path / f"p{number}") for number in range(4)]
    running = [subprocess.Popen([sys.executable, "-c", program, name]) for name in names]
    assert [each.wait() for each in running] == [0] * 4
    assert len(list_trusted()) == 40
    assert file.exists()


def test_a_lock_that_is_not_given_back_is_told(file: Path, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trust(root, DIGEST)
    monkeypatch.setattr(room, "hold_lock", lambda path: hold_lock(path, seconds=0.05))
    with hold_lock(f"{file}.lock"), pytest.raises(BusyError):
        revoke(root)
    assert list_trusted() == (Trusted(root, DIGEST, list_trusted()[0].time),)
