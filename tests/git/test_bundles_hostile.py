"""Parcels of somebody who means no good: nothing runs, nothing hangs, nothing leaves the root."""

import hashlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from remit.errors import StorageError
from remit.git import apply_changes
from remit.git.apply_changes import AppliedChanges, apply_agent_changes, fetch
from remit.git.bundles import AgentChanges, BundledFile, pack
from remit.git.clones import collect
from remit.git.tree_snapshot import snapshot_tree
from tests.support.file_trees import list_files
from tests.support.git_bundles import Trip, come_back, send
from tests.support.git_checkout import ENVIRONMENT, Checkout

NAMES = (
    b"two\nlines", b"tab\there", b" space ", b"-rf", b'"quoted"', b"\\back", b"caf\xe9 latin", b"\xff\xfe",
    "ÄÖ 猫".encode(), b"*", b"?[a]", b":(top)x", b"#x", b"!x", b"a'b", b"$(touch x)", b"x" * 255, b"CON",
    b"A.MD", b"\x01\x7f",
)  # fmt: skip


def put(folder: Path, name: bytes, data: bytes) -> None:
    (folder / os.fsdecode(name)).write_bytes(data)


# --- names -----------------------------------------------------------------------------------------------------------


def test_any_name_comes_there_and_back(checkout: Checkout, tmp_path: Path) -> None:
    for name in NAMES:
        put(checkout.root, name, b"sent " + name)
    trip = send(str(checkout.root), tmp_path / "worker")
    assert trip.base.left == ()
    assert list_files(trip.clone) == list_files(checkout.root)
    (trip.clone / "new").mkdir()
    for name in NAMES:
        put(trip.clone, name, b"made " + name)
        put(trip.clone / "new", name, b"new " + name)
    made, arrived = come_back(trip)
    assert (len(made.files), len(arrived.applied), arrived.conflicts) == (2 * len(NAMES), 2 * len(NAMES), ())
    assert list_files(checkout.root) == list_files(trip.clone)


def test_a_name_that_git_refuses_is_left_and_told_and_the_others_come(trip: Trip, checkout: Checkout) -> None:
    for name in ("git~1", "sub/GIT~1", ".Git", "sub/.GIT/config", "sub/.remit/x"):
        Checkout(trip.clone).put(name, "x")
    for number in range(20):
        Checkout(trip.clone).put(f"good/{number}", f"{number}")
    made, arrived = come_back(trip)
    assert made.left == ("git~1", "sub/GIT~1")
    assert len(arrived.applied) == 20
    assert not (checkout.root / "sub").exists()


# --- what is no file -------------------------------------------------------------------------------------------------


def test_pipes_and_folders_in_the_place_of_files_are_no_files(trip: Trip, checkout: Checkout) -> None:
    os.mkfifo(trip.clone / "pipe")
    (trip.clone / "a.md").unlink()
    os.mkfifo(trip.clone / "a.md")
    (trip.clone / "b.md").unlink()
    (trip.clone / "b.md").mkdir()
    began = time.monotonic()
    made, arrived = come_back(trip, "pipe", "b.md")
    assert time.monotonic() - began < 50
    assert {file.path: file.mode for file in made.files} in ({"b.md": "000000"}, {"a.md": "000000", "b.md": "000000"})
    assert {"pipe", "b.md"} <= set(made.left)
    assert not arrived.conflicts
    assert not (checkout.root / "pipe").exists()


def test_a_pipe_that_git_would_wait_at_is_told_at_once(trip: Trip) -> None:
    began = time.monotonic()
    for name in (".gitignore", "sub/.gitignore", "sub/.gitattributes", "sub/.git/HEAD"):
        pipe = trip.clone / name
        pipe.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(pipe)
        for look in (
            lambda: collect(str(trip.clone), trip.base),
            lambda: snapshot_tree(str(trip.clone), with_history=False),
        ):
            with pytest.raises(StorageError, match="isn't a regular file, so git would block on it; move it away"):
                look()
        pipe.unlink()
    assert time.monotonic() - began < 50


def test_rules_without_end_are_not_read(trip: Trip) -> None:
    with (trip.clone / ".gitignore").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(StorageError, match="has more than"):
        collect(str(trip.clone), trip.base)


def test_a_giant_is_left_and_told(trip: Trip, checkout: Checkout) -> None:
    for name in ("giant", "a.md"):
        with (trip.clone / name).open("wb") as file:
            file.truncate(1 << 40)
    (trip.clone / "b.md").write_text("two\n")
    made, arrived = come_back(trip)
    assert made.left == ("a.md", "giant")
    assert arrived == AppliedChanges(("b.md",), ())
    assert (checkout.root / "a.md").read_text() == "a.md one\n"


def test_another_repository_in_the_tree_is_left_and_told(checkout: Checkout, tmp_path: Path) -> None:
    for folder in ("lib", "vendor"):
        (checkout.root / folder).mkdir()
        inner = Checkout(checkout.root / folder)
        inner.git("init", "-q")
        inner.put("x", "x")
        inner.git("add", ".")
        inner.git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x")
    checkout.git("add", "lib")
    for _ in range(2):
        assert snapshot_tree(str(checkout.root), with_history=False).left == ("lib", "vendor")
    trip = send(str(checkout.root), tmp_path / "worker")
    assert "160000" in Checkout(trip.clone).git("ls-files", "-s", "lib")
    assert list_files(trip.clone).keys() == {"a.md", "b.md", "specs/TODO.md"}
    (trip.clone / "lib/x").write_text("work in it\n")
    (trip.clone / "a.md").write_text("two\n")
    made, arrived = come_back(trip)
    assert (made.left, arrived) == (("lib",), AppliedChanges(("a.md",), ()))


# --- links -----------------------------------------------------------------------------------------------------------


def test_nothing_is_written_through_a_link(trip: Trip, checkout: Checkout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "TODO.md").write_text("specs/TODO.md one\n")
    for name in ("specs/TODO.md", "specs/new.md", "a.md"):
        (trip.clone / name).write_text("by the agent\n")
    (trip.clone / "b.md").unlink()
    for name, target in (("specs", outside), ("a.md", outside / "a.md"), ("b.md", outside / "TODO.md")):
        (checkout.root / name).rename(tmp_path / f"moved-{name}")
        (checkout.root / name).symlink_to(target)
    _, arrived = come_back(trip)
    assert arrived == AppliedChanges((), ("a.md", "b.md", "specs/TODO.md", "specs/new.md"))
    assert list_files(outside) == {"TODO.md": b"specs/TODO.md one\n"}


def test_a_link_that_leads_out_is_not_brought_in(trip: Trip, checkout: Checkout) -> None:
    inside = ("specs/TODO.md", "./a.md", "nowhere", "specs/../b.md")
    outside = ("/etc/passwd", "../x", "specs/../../x", ".git/hooks/x", ".remit", "specs/../.GIT/x")
    for number, target in enumerate((*inside, *outside)):
        (trip.clone / f"link{number}").symlink_to(target)
    (trip.clone / "specs/up").symlink_to("../a.md")
    made, arrived = come_back(trip)
    assert len(made.files) == 11
    assert arrived == AppliedChanges(
        ("link0", "link1", "link2", "link3", "specs/up"), (), tuple(f"link{number}" for number in range(4, 10))
    )
    assert apply_agent_changes(trip.root, trip.base, made) == arrived
    assert (checkout.root / "specs/up").read_text() == "a.md one\n"


def test_a_folder_that_became_a_link_is_one(trip: Trip, checkout: Checkout) -> None:
    (trip.clone / "specs").rename(trip.clone / "other")
    (trip.clone / "specs").symlink_to("other")
    _, arrived = come_back(trip)
    assert arrived == AppliedChanges(("other/TODO.md", "specs", "specs/TODO.md"), ())
    assert (checkout.root / "specs").is_symlink()
    assert (checkout.root / "specs/TODO.md").read_text() == "specs/TODO.md one\n"


def test_a_store_that_is_a_link_is_refused(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (checkout.root / ".remit").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="is a symbolic link"):
        snapshot_tree(str(checkout.root), with_history=False)
    assert list(Path(tmp_path / "elsewhere").iterdir()) == []


# --- programs --------------------------------------------------------------------------------------------------------


def test_nothing_of_the_repository_runs_and_every_byte_stays(checkout: Checkout, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    arrange_programs(checkout, mark)
    checkout.put(
        ".gitattributes",
        "* text=auto\n*.crlf eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n*.big filter=big\n",
    )
    checkout.put("x.crlf", b"a\r\nb\n")
    checkout.put("x.id", "$Id$ $Id: abc $\n")
    checkout.put("x.u16", "text".encode("utf-16"))
    checkout.put("x.big", "big\n")
    checkout.git("add", ".")
    assert mark.exists()
    mark.unlink()
    trip = send(str(checkout.root), tmp_path / "worker")
    assert list_files(trip.clone) == list_files(checkout.root)
    arrange_programs(Checkout(trip.clone), mark)
    (trip.clone / "x.crlf").write_bytes(b"c\r\nd\n")
    (trip.clone / "x.big").write_bytes(b"larger\r\n")
    _, arrived = come_back(trip)
    assert arrived == AppliedChanges(("x.big", "x.crlf"), ())
    assert list_files(trip.clone) == list_files(checkout.root)
    assert not mark.exists()


def arrange_programs(checkout: Checkout, mark: Path) -> None:
    """Have git call a program wherever it can be told to."""
    program = checkout.put(".git/program", f'#!/bin/sh\necho "$0" >> "{mark}"; cat\n')
    program.chmod(0o755)
    (checkout.root / ".git/hooks").mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-push", "post-commit"):
        (checkout.root / ".git/hooks" / name).symlink_to(program)
    for key in (
        "filter.big.smudge",
        "filter.big.clean",
        "core.fsmonitor",
        "core.alternateRefsCommand",
        "core.sshCommand",
    ):
        checkout.git("config", key, str(program))


@pytest.mark.parametrize("damage", ["no git", "a pipe for git", "a file for git", "bad config", "other objects"])
def test_what_an_agent_does_to_its_own_repository_does_not_matter(
    trip: Trip, checkout: Checkout, tmp_path: Path, damage: str
) -> None:
    (trip.clone / "a.md").write_text("two\n")
    git = trip.clone / ".git"
    if damage == "bad config":
        (git / "config").write_text("[core\n")
    elif damage == "other objects":
        (git / "objects").rename(tmp_path / "objects")
    else:
        git.rename(tmp_path / "git")
        if damage == "a pipe for git":
            os.mkfifo(git)
        elif damage == "a file for git":
            git.write_text("gitdir: /nowhere\n")
    assert come_back(trip)[1] == AppliedChanges(("a.md",), ())
    assert (checkout.root / "a.md").read_text() == "two\n"


# --- trees that no git would make ------------------------------------------------------------------------------------


Entries = list[tuple[bytes, bytes, "bytes | Entries"]]


class Forger:
    """Writes whatever objects into a store."""

    def __init__(self, store: Path) -> None:
        self.store = store

    def ask(self, *command: str, given: bytes = b"") -> str:
        """Call the plain program."""
        done = subprocess.run(
            ["git", *command], cwd=self.store, env=ENVIRONMENT, input=given, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def forge_tree(self, entries: Entries) -> str:
        """Write a tree of entries that may be none."""
        lines = []
        for mode, name, data in entries:
            if isinstance(data, list):
                blob = self.forge_tree(data)
            else:
                blob = data.decode() if mode == b"160000" else self.ask("hash-object", "-w", "--stdin", given=data)
            lines.append(mode + b" " + name + b"\0" + bytes.fromhex(blob))
        return self.ask("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=b"".join(lines))

    def forge_commit(self, tree: str, parent: str) -> str:
        """Write a commit of it."""
        body = f"tree {tree}\nparent {parent}\nauthor x <x@x> 0 +0000\ncommitter x <x@x> 0 +0000\n\nx\n"
        return self.ask("hash-object", "-t", "commit", "-w", "--stdin", given=body.encode())


def list_told(entries: Entries, above: str = "") -> list[BundledFile]:
    """What an honest worker would tell of a tree."""
    told = []
    for mode, name, data in entries:
        path = f"{above}{os.fsdecode(name)}"
        if isinstance(data, list):
            told += list_told(data, f"{path}/")
        else:
            told.append(BundledFile(path, mode.decode(), hashlib.sha256(data).hexdigest()))
    return told


X = b"100644", b"x", b"x"
EVIL: list[Entries] = [
    [(b"100644", b".git", b"x")],
    [(b"40000", b".git", [(b"40000", b"hooks", [(b"100755", b"post-checkout", b"x")])])],
    [(b"100644", b"..", b"x")],
    [(b"40000", b"..", [X])],
    [(b"40000", b"sub", [(b"40000", b"..", [(b"40000", b"..", [X])])])],
    [(b"40000", b".", [X])],
    [(b"100644", b"a/b", b"x"), (b"100644", b"a/../../x", b"x")],
    [(b"100644", b"../x", b"x")],
    [(b"100644", b"/dev/shm/x", b"x")],
    [(b"40000", b".GIT", [X])],
    [(b"40000", b".git ", [X])],
    [(b"40000", b".git::$INDEX_ALLOCATION", [X])],
    [(b"40000", ".g\u200cit".encode(), [X])],
    [(b"40000", b".remit", [X])],
    [(b"40000", b".Remit", [X])],
    [(b"40000", b"git~1", [X])],
    [X, X],
    [X, (b"100644", b"x", b"y")],
    [(b"160000", b"sub", b"1" * 40)],
    [(b"020000", b"device", b"x")],
]


@pytest.mark.slow
@pytest.mark.thorough
def test_a_tree_that_no_git_would_make_is_refused(trip: Trip, checkout: Checkout) -> None:
    """By either of two walls: what arrives is looked at, and whoever brings it in looks for himself."""
    forger = Forger(trip.clone / ".remit/parcels.git")
    gone = [BundledFile(name, "000000", "") for name in list_files(checkout.root)]
    found = []
    for evil in EVIL:
        tree = forger.forge_tree(evil)
        made = AgentChanges(forger.forge_commit(tree, trip.base.commit), tree, (*list_told(evil), *gone))
        bundle = pack(str(trip.clone), made.commit, without=trip.base.commit)
        try:
            fetch(trip.root, trip.base, made, bundle=bundle)
        except StorageError as error:
            if "not what was sent" in error.message:
                found.append(evil)
        assert {path.split("/")[0] for path in apply_agent_changes(trip.root, trip.base, made).applied} <= {
            "a.md", "b.md", "specs", "a", "x",
        }  # fmt: skip
    assert found == EVIL
    assert list_files(checkout.root).keys() <= {"a/b", "x"}
    assert {file.name for file in checkout.root.parent.iterdir()} == {"project", "worker"}
    for place in (".git", ".remit"):
        assert not list((checkout.root / place).rglob("x"))
        assert not list((checkout.root / place).rglob("post-checkout"))


def test_what_is_behind_a_link_that_came_along_is_not_written(trip: Trip, checkout: Checkout) -> None:
    entries: Entries = [(b"120000", b"x", b"specs"), (b"40000", b"x", [(b"100644", b"y", b"x")])]
    forger = Forger(trip.clone / ".remit/parcels.git")
    tree = forger.forge_tree(entries)
    made = AgentChanges(forger.forge_commit(tree, trip.base.commit), tree, ())
    bundle = pack(str(trip.clone), made.commit, without=trip.base.commit)
    with pytest.raises(StorageError, match="other files differ than announced"):
        fetch(trip.root, trip.base, made, bundle=bundle)
    checkout.put("specs/kept.md", "so that the folder stays\n")
    arrived = apply_agent_changes(trip.root, trip.base, made)
    assert "x/y" in arrived.conflicts
    assert (checkout.root / "x").is_symlink()
    assert [file.name for file in (checkout.root / "specs").iterdir()] == ["kept.md"]


@pytest.mark.slow
def test_a_small_parcel_with_a_giant_in_it_is_refused(trip: Trip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_changes, "MAX_FILE_BYTES", 12 << 20)
    forger = Forger(trip.clone / ".remit/parcels.git")
    told: Entries = [(b"100644", b"zeros", bytes(14 << 20))]
    tree = forger.forge_tree(told)
    commit = forger.forge_commit(tree, trip.base.commit)
    bundle = pack(str(trip.clone), commit, without=trip.base.commit)
    assert len(bundle) < 100_000
    gone = [BundledFile(name, "000000", "") for name in ("a.md", "b.md", "specs/TODO.md")]
    made = AgentChanges(commit, tree, (*list_told(told), *gone))
    with pytest.raises(StorageError, match="it is too large"):
        fetch(trip.root, trip.base, made, bundle=bundle)
    monkeypatch.setattr(apply_changes, "MAX_FILE_BYTES", 16 << 20)
    fetch(trip.root, trip.base, made, bundle=bundle)
    assert "zeros" in apply_agent_changes(trip.root, trip.base, made).applied
