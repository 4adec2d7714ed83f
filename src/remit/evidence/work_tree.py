"""Scan a folder into a git tree with a private repository in `.remit/evidence/`.

Each work tree has a git folder with its own index and tree objects. The index starts as a copy of the user's and stays
warm between runs. Nothing in the user's repository is written, no hook or filter runs, and no content is copied: git
only hashes files. Attributes are disabled, so a file's id is the id of its raw bytes.
"""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from remit.evidence.ignore_rules import NAME, find_ignored, keep_rules, load_rules, read_rules
from remit.git.git_errors import GitRefused, commit_failed
from remit.git.process import GitOutput, run
from remit.git.repository import Repository, find_repository, parse_settings
from remit.light_hash import take_sha256
from remit.light_namedtuple import NamedTuple
from remit.storage.files import remove, write_bytes
from remit.storage.locks import hold_lock
from remit.storage.safe_path import name_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FOLDER = "evidence"
_MAX_OUTPUT_BYTES = 1 << 30
_BATCH = 4000
"""The number of files that are added at once. Each batch is saved: a tree that is too large for the time limit takes
several runs."""
_MIN_STAGED = 200
"""When status lists this many paths as staged, it is cheaper to run one more git process that prevents it."""
_MAX_FILE_BYTES = 16 << 30
_SPARSE_FROM_BYTES, _SPARSE_PART = 16 << 20, 8
_VERBATIM_ATTRIBUTES = "* -text -crlf -ident -filter !eol !working-tree-encoding\n"
_OPTIONS = (
    "core.attributesFile=/dev/null", "core.fileMode=false", "core.symlinks=true", "core.protectHFS=false",
    "core.protectNTFS=false", "core.bigFileThreshold=1000g", "core.untrackedCache=false",
    "core.fsync=none", "index.sparse=false",
)  # fmt: skip
_SPLIT = (
    "-c", "core.splitIndex=true", "-c", "splitIndex.maxPercentChange=50", "-c", "splitIndex.sharedIndexExpire=now",
)  # fmt: skip
"""With these, git writes a small file for a small change instead of the whole index.

Only for changes of the repository's own index, under its lock: git removes the shared part of this index when it writes
another one."""
_CARRIED = ("core.ignorecase", "core.precomposeunicode")
_LINKED = "160000"
_PLAIN = ("H 100", "H 120")
"""The start of a line for a file or link without flags."""
_GONE = "gone"
NOT_THERE = "000000"
"""The mode of a path that is missing in a tree."""


class TreeScan(NamedTuple):
    """The result of a scan of a folder."""

    tree: str
    """The id of its git tree."""
    rules: str
    """The name of the ignore rules that applied."""
    nested: tuple[str, ...] = ()
    """Repositories in it, each a work tree of its own, relative to the folder."""
    unread: Mapping[str, str] = {}
    """The files that couldn't be hashed, and why."""


class TreeDifference(NamedTuple):
    """A path that differs between two trees; its mode is `000000` if it is missing in one of them."""

    path: str
    old_mode: str
    mode: str
    old_id: str
    id: str


class Trees:
    """The trees in a private repository."""

    def __init__(self, place: str, prefix: str, *, seconds: float) -> None:
        self.place = place
        self.prefix = prefix
        """The path of the folder below the top of its repository: empty, or with a slash at its end."""
        self.deadline = time.monotonic() + seconds

    def run_git(self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None) -> GitOutput:
        """Run git with the private repository."""
        environment = {"HOME": self.place, "XDG_CONFIG_HOME": self.place, "GIT_DIR": self.place, **(more or {})}
        return run(
            self.place, *(part for option in _OPTIONS for part in ("-c", option)), *arguments, given=given,
            more=environment, alone=True, seconds=max(self.deadline - time.monotonic(), 0.1),
            max_bytes=_MAX_OUTPUT_BYTES,
        )  # fmt: skip

    def check_git(self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        """Run git with the private repository; raise `GitRefused` if it fails."""
        answer = self.run_git(*arguments, given=given, more=more)
        if answer.code:
            raise GitRefused(commit_failed(answer.reason))
        return answer.out

    def compare(self, old: str, new: str) -> list[TreeDifference]:
        """Return the paths that differ between two trees, relative to the folder. An empty id means an empty tree."""
        if old == new:
            return []
        empty = (
            "" if old and new else self.check_git("hash-object", "-t", "tree", "-w", "--stdin").decode("ascii").strip()
        )
        out = self.check_git(
            "diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old or empty, new or empty,
            more={"GIT_INDEX_FILE": f"{self.place}/none"},
        )  # fmt: skip
        fields = os.fsdecode(out).split("\0")
        found = []
        for facts, path in zip(fields[::2], fields[1::2], strict=False):
            old_mode, mode, old_id, new_id, _ = facts[1:].split(" ")
            if path.startswith(self.prefix):
                found.append(TreeDifference(path[len(self.prefix) :], old_mode, mode, old_id, new_id))
        return found

    def find(self, tree: str, paths: Iterable[str]) -> dict[str, str]:
        """Return the ids of paths in a tree; missing paths are left out."""
        out = self.check_git(
            "ls-tree", "-r", "-z", "--full-tree", tree, "--", *(f"{self.prefix}{path}" for path in paths)
        )
        found = {}
        for line in os.fsdecode(out).split("\0"):
            facts, parted, path = line.partition("\t")
            if parted:
                found[path[len(self.prefix) :]] = facts.split(" ")[2]
        return found

    def find_ignored(self, rules: str, paths: Iterable[str]) -> frozenset[str]:
        """Return the paths, relative to the top, that the rules of an earlier scan ignore."""
        from shutil import rmtree  # noqa: PLC0415 - only if a run changed the rules
        from tempfile import mkdtemp  # noqa: PLC0415

        place = mkdtemp(prefix="rules-", dir=self.place)

        def check(*arguments: str, given: bytes) -> GitOutput:
            excludes = f"core.excludesFile={place}/global"
            more = {
                "GIT_DIR": f"{place}/git",
                "GIT_WORK_TREE": f"{place}/tree",
                "HOME": place,
                "XDG_CONFIG_HOME": place,
                "GIT_LITERAL_PATHSPECS": "0",  # check-ignore doesn't support it
            }
            left = max(self.deadline - time.monotonic(), 0.1)
            return run(f"{place}/tree", "-c", excludes, *arguments, given=given, more=more, alone=True, seconds=left,
                       max_bytes=_MAX_OUTPUT_BYTES)  # fmt: skip

        try:
            return find_ignored(place, read_rules(self.place, rules), paths, check)
        except (OSError, ValueError) as error:
            raise GitRefused(
                commit_failed(f"the ignore rules of the earlier scan can't be applied: {error}")
            ) from error
        finally:
            rmtree(place, ignore_errors=True)

    def blend(self, tree: str, entries: Iterable[TreeDifference]) -> str:
        """Return a tree with the earlier state of some entries."""
        zeros = "0" * len(tree)
        lines = [
            f"{'0' if each.old_mode == NOT_THERE else each.old_mode} "
            f"{zeros if each.old_mode == NOT_THERE else each.old_id}\t{self.prefix}{each.path}\0"
            for each in entries
        ]
        more = {"GIT_INDEX_FILE": f"{self.place}/blend-{os.getpid()}-{os.urandom(4).hex()}"}
        try:
            self.check_git("read-tree", tree, more=more)
            self.check_git(
                "update-index", "--replace", "-z", "--index-info", given=os.fsencode("".join(lines)), more=more
            )
            return self.check_git("write-tree", "--missing-ok", more=more).decode("ascii").strip()
        finally:
            remove(more["GIT_INDEX_FILE"])


def find_checkout(folder: str, *, seconds: float) -> Repository | None:
    """The repository around a folder; None if there is none that git accepts."""
    try:
        return find_repository(folder, seconds=seconds)
    except GitRefused as refused:
        if refused.diagnostic.code == "GIT002":
            return None
        raise


def find_place(own: str, folder: str) -> str:
    """Return the folder of the private repository for a folder. `own` is the workspace's `.remit` folder."""
    return f"{own}/{FOLDER}/{take_sha256(os.fsencode(folder))[:16]}"


@contextmanager
def open_folder_repo(own: str, folder: str, repository: Repository | None, *, seconds: float) -> Iterator[FolderRepo]:
    """Open the private repository of a folder, locked. The folder is a real path."""
    place = find_place(own, folder)
    os.makedirs(place, mode=0o700, exist_ok=True)
    with hold_lock(f"{place}.lock", seconds=seconds):
        remove(f"{place}/index.lock")  # left by a git process that was killed; the lock excludes others
        yield FolderRepo(own, folder, repository, seconds=seconds)


class FolderRepo(Trees):
    """A folder, with the private repository that stores its trees."""

    def __init__(self, own: str, folder: str, repository: Repository | None, *, seconds: float) -> None:
        super().__init__(find_place(own, folder), repository.prefix if repository else "", seconds=seconds)
        self.folder = folder
        self.repository = repository
        self.top = repository.top if repository else folder
        below = name_below(self.top, own)
        self.own_name = f"{below}/" if below else ""
        self.settings = repository.settings if repository else _load_settings(folder)
        self.hashing = repository.hashing if repository else "sha1"
        self.excludes = _find_excludes(self.top, self.settings)
        self.info = f"{repository.common}/info/exclude" if repository else ""
        self.unread: dict[str, str] = {}
        carried = [f"{key}={self.settings[key]}" for key in _CARRIED if key in self.settings]
        self.options = [part for each in (f"core.excludesFile={self.excludes or '/dev/null'}", *carried)
                        for part in ("-c", each)]  # fmt: skip

    def run_git(self, *arguments: str, given: bytes = b"", more: Mapping[str, str] | None = None) -> GitOutput:
        """Run git with the private repository and the work tree."""
        environment = {"GIT_WORK_TREE": self.top, "GIT_OPTIONAL_LOCKS": "1", **(more or {})}
        return super().run_git("-C", self.top, *self.options, *arguments, given=given, more=environment)

    # --- scanning
    # ---------------------------------------------------------------------------------------------------------

    def scan(self, *, expected: Sequence[str] = (), rules: str = "", everything: bool = False) -> TreeScan:
        """Return the tree as it is now.

        `expected`: subfolders whose files are included, even if git ignores them; with `everything` no rule applies.
        `rules` names the ignore rules of an earlier scan, which apply instead of the current ones.
        """
        try:
            return self._scan(expected, rules, everything=everything)
        except GitRefused:
            if time.monotonic() >= self.deadline:
                raise
            self._discard_state()  # after a crash of the machine, or if the repository lost objects
            return self._scan(expected, rules, everything=everything)

    def _scan(self, expected: Sequence[str], rules: str, *, everything: bool) -> TreeScan:
        known = self._load_note()
        note = known or self._initialize()
        exclude = _load_capped(self.info) if self.info else b""
        if _load_capped(f"{self.place}/info/exclude") != exclude:
            write_bytes(f"{self.place}/info/exclude", exclude, durable=False)
        is_known = bool(note["tree"]) and note["mark"] == _fingerprint(f"{self.place}/index")
        # The first scan leaves the index whole: writing it once more takes a tenth of its time.
        changed, others, ignored = self._list_status(_SPLIT if known else (), everything=everything)
        # A rule file may itself be ignored, so both lists count.
        seen = {path for path in (*others, *ignored) if path.rpartition("/")[2] == NAME}
        files = {*note["rules"], *seen, *_list_above(self.prefix)}
        current = "" if everything else keep_rules(
            self.place, load_rules(self.top, files, excludes=self.excludes, info=self.info)
        )  # fmt: skip
        users = _count_entries(f"{self.repository.own}/index") if self.repository else 0
        has_new_rules = bool(note["current"]) and current != note["current"]
        if not rules and (has_new_rules or users != note["users"]):
            forced, is_dropped = self._refresh_rules(expected, has_new_rules=has_new_rules)
            others += forced
            is_known = is_known and not is_dropped
        if rules and rules != current:
            others, ignored = self._apply_earlier_rules(rules, others, ignored)
        others += ignored if everything else self._list_expected(expected, ignored)
        nested = {path for path in others if path.endswith("/") and os.path.lexists(f"{self.top}/{path}.git")}
        nested |= {path for path in note["linked"] if os.path.lexists(f"{self.top}/{path}.git")}
        is_new = self._update(changed, [path for path in others if not path.endswith("/")])
        tree = note["tree"]
        if is_new or not is_known:
            written = self.check_git(*_SPLIT, "write-tree", "--missing-ok").decode("ascii").strip()
            if written != tree and len(changed) + len(others) > _MIN_STAGED:
                self._set_head(written)
            tree = written
        kept = {path for path in files if os.path.lexists(f"{self.top}/{path}")}
        self._save_note({**note, "tree": tree, "rules": sorted(kept), "mark": _fingerprint(f"{self.place}/index")}
                        | ({} if rules else {"current": current, "users": users}), note)  # fmt: skip
        below = len(self.prefix)
        return TreeScan(tree, rules or current, tuple(sorted(path[below:] for path in nested)), self.unread)

    def _list_status(self, options: Sequence[str], *, everything: bool) -> tuple[list[str], list[str], list[str]]:
        """Return the paths that differ from the index, those that aren't in it, and ignored ones, relative to the top.

        Also refreshes the index. Git doesn't enter an ignored folder, unless `everything` is set.
        """
        mode = "traditional" if everything else "matching"
        where = ("--", self.prefix.rstrip("/")) if self.prefix else ()
        out = self.check_git(*options, "status", "--porcelain=v1", "-z", "--untracked-files=all", f"--ignored={mode}",
                        "--ignore-submodules=all", "--no-renames", *where)  # fmt: skip
        changed: list[str] = []
        others: list[str] = []
        ignored: list[str] = []
        for line in os.fsdecode(out).split("\0"):
            kind, path = line[:2], line[3:]
            if not path or kind[1] == " " or self._is_own(path):
                continue
            (others if kind == "??" else ignored if kind == "!!" else changed).append(path)
        return changed, others, ignored

    def _is_own(self, path: str) -> bool:
        """Return whether a path is in the workspace's `.remit` folder."""
        return bool(self.own_name) and f"{path.rstrip('/')}/".startswith(self.own_name)

    def _list_expected(self, expected: Sequence[str], ignored: Iterable[str]) -> list[str]:
        """Return the ignored files in folders where artifacts are expected."""
        places = [f"{self.prefix}{each}".rstrip("/") + "/" for each in expected if each]
        places = [place for place in places if os.path.isdir(f"{self.top}/{place}")]
        paths = [*ignored]
        found = [path for path in paths if not path.endswith("/") and path.startswith(tuple(places))]
        entered = [path for path in paths if path.endswith("/")]
        inside = [path for path in entered if path.startswith(tuple(places))]
        inside += [place for place in places if place.startswith(tuple(entered))] if entered else []
        return found + self._list_all(inside)

    def _list_all(self, folders: Sequence[str]) -> list[str]:
        """Return all files in some folders that aren't in the index, whether ignored or not."""
        if not folders:
            return []
        out = self.check_git("ls-files", "-z", "--others", "--", *(folder.rstrip("/") for folder in folders))
        return [path for path in os.fsdecode(out).split("\0") if path and not self._is_own(path)]

    def _apply_earlier_rules(self, rules: str, others: list[str], ignored: list[str]) -> tuple[list[str], list[str]]:
        """Return the same two lists by the rules of an earlier scan."""
        earlier = self.find_ignored(rules, (*others, *ignored))
        freed = [path for path in ignored if path not in earlier]
        inside = self._list_all([path for path in freed if path.endswith("/")])
        hidden = self.find_ignored(rules, inside) if inside else frozenset()
        others = [path for path in others if path not in earlier]
        others += [path for path in freed if not path.endswith("/")] + [path for path in inside if path not in hidden]
        return others, sorted(earlier | hidden)

    def _refresh_rules(self, expected: Sequence[str], *, has_new_rules: bool) -> tuple[list[str], bool]:
        """Return tracked files that the index lacks, and whether files were dropped because of new rules.

        A tracked file counts even if it is ignored.
        """
        tracked: set[str] = set()
        if self.repository is not None and os.path.exists(index := f"{self.repository.own}/index"):
            answer = self.run_git("ls-files", "-z", more={"GIT_INDEX_FILE": index, "GIT_OPTIONAL_LOCKS": "0"})
            tracked = {*os.fsdecode(answer.out).split("\0")} - {""} if answer.code == 0 else set()
        missing = tracked.difference(os.fsdecode(self.check_git("ls-files", "-z")).split("\0")) if tracked else set()
        forced = [path for path in missing if path.startswith(self.prefix) and not self._is_own(path)]
        stale: set[str] = set()
        if has_new_rules:
            places = tuple(f"{self.prefix}{each}".rstrip("/") + "/" for each in expected if each)
            listed = os.fsdecode(self.check_git("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")).split(
                "\0"
            )
            stale = {path for path in listed if path and not path.startswith(places)} - tracked
            self._drop(stale)
        return forced, bool(stale)

    # --- the index ----------------------------------------------------------------------------------------------------

    def _update(self, changed: Iterable[str], others: Iterable[str] = ()) -> bool:
        """Update paths in the index to the state on disk; return whether the index changed.

        `others` are the paths that aren't in it yet.
        """
        there: list[str] = []
        gone: list[str] = []
        known = dict.fromkeys(changed)
        for path in dict.fromkeys((*known, *others)):
            try:
                reason = _explain_unhashed(os.lstat(f"{self.top}/{path}"))
            except OSError:
                reason = _GONE
            if not reason:
                there.append(path)
                continue
            if path in known:
                gone.append(path)
            if reason != _GONE:
                self.unread[path[len(self.prefix) :]] = reason
        self._drop(gone)
        for start in range(0, len(there), _BATCH):
            self._add(there[start : start + _BATCH])
        return bool(there or gone)

    def _add(self, paths: list[str]) -> None:
        command = (*_SPLIT, "update-index", "--add", "--remove", "--replace", "--info-only", "-z", "--stdin")
        answer = self.run_git(*command, given=b"".join(os.fsencode(path) + b"\0" for path in paths))
        if answer.code == 0:
            return
        blocked = {path: reason for path in paths if (reason := _try_to_read(f"{self.top}/{path}"))}
        if not blocked:
            raise GitRefused(commit_failed(answer.reason))
        self.unread |= {path[len(self.prefix) :]: reason for path, reason in blocked.items()}
        self._drop(blocked)
        rest = [path for path in paths if path not in blocked]
        self.check_git(*command, given=b"".join(os.fsencode(path) + b"\0" for path in rest))

    def _drop(self, paths: Iterable[str]) -> None:
        """Remove paths from the index."""
        zeros = "0" * (64 if self.hashing == "sha256" else 40)
        given = os.fsencode("".join(f"0 {zeros}\t{path}\0" for path in paths))
        if given:
            self.check_git(*_SPLIT, "update-index", "-z", "--index-info", given=given)

    def _set_head(self, tree: str) -> None:
        """Point HEAD to a commit of this tree, so that status lists no staged files."""
        who = "remit <> 0 +0000"
        text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n\n"
        commit = (
            self.check_git("hash-object", "-t", "commit", "-w", "--stdin", given=text.encode()).decode("ascii").strip()
        )
        write_bytes(f"{self.place}/HEAD", f"{commit}\n".encode(), durable=False)

    # --- the first scan
    # ---------------------------------------------------------------------------------------------------

    def _initialize(self) -> dict[str, Any]:
        """Create the private repository, with an index that starts as a copy of the user's."""
        self._discard_state()
        version = 1 if self.hashing == "sha256" else 0
        config = f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n"
        config += f"[extensions]\n\tobjectformat = {self.hashing}\n" if version else ""
        borrowed = f"{self.repository.common}/objects\n" if self.repository else ""
        texts = {"config": config, "info/attributes": _VERBATIM_ATTRIBUTES, "objects/info/alternates": borrowed,
                 "HEAD": "ref: refs/heads/none\n", "folder": self.folder}  # fmt: skip
        os.makedirs(f"{self.place}/refs", exist_ok=True)
        for name, text in texts.items():
            os.makedirs(os.path.dirname(f"{self.place}/{name}"), exist_ok=True)
            write_bytes(f"{self.place}/{name}", os.fsencode(text), durable=False)
        note: dict[str, Any] = {"tree": "", "mark": "", "rules": [], "linked": [], "current": "", "users": 0,
                                "hashing": self.hashing, "prefix": self.prefix}  # fmt: skip
        if self.repository is not None and self._copy_index(self.repository):
            note["users"] = _count_entries(f"{self.place}/index")
            try:
                self._clean_index(self.repository, note)
            except GitRefused:  # git can't read the index
                remove(f"{self.place}/index")
                note |= {"rules": [], "linked": [], "users": 0}
        with suppress(GitRefused):  # unmerged files can't be in a tree
            note["tree"] = self.check_git("write-tree", "--missing-ok").decode("ascii").strip()
            self._set_head(note["tree"])
        note["mark"] = _fingerprint(f"{self.place}/index")
        self._save_note(note, {})  # if the time limit ends the scan, the next one continues
        return note

    def _copy_index(self, repository: Repository) -> bool:
        """Copy the user's index with its timestamp; return False if it can't be used.

        Git compares the timestamp with that of each file.
        """
        is_sparse = repository.settings.get("core.sparsecheckout", "false") not in ("false", "0", "no", "off", "")
        if is_sparse or any(name.startswith("sharedindex.") for name in os.listdir(repository.own)):
            return False
        try:
            with open(f"{repository.own}/index", "rb") as stream:
                found = os.fstat(stream.fileno())
                write_bytes(f"{self.place}/index", stream.read(), durable=False)
        except FileNotFoundError:
            return False
        os.utime(f"{self.place}/index", ns=(found.st_atime_ns, found.st_mtime_ns))
        return True

    def _clean_index(self, repository: Repository, note: dict[str, Any]) -> None:
        """Remove from the copy what would hide a change: flags, nested repositories, converted contents."""
        # Substring searches on the whole text: a loop over 20,000 lines takes as long as a git process.
        listed = "\0" + os.fsdecode(self.check_git("ls-files", "-s", "-v", "-z"))
        is_plain = sum(listed.count(f"\0{start}") for start in _PLAIN) == listed.count("\0") - 1
        lines = [] if is_plain and not self.prefix else listed.split("\0")[1:-1]
        odd = [line for line in lines if not line.startswith(_PLAIN)]
        flags = {
            "--no-assume-unchanged": [line for line in odd if line[0].islower()],
            "--no-skip-worktree": [line for line in odd if line[0] in "Ss"],
        }
        for option, flagged in flags.items():
            if flagged:
                given = os.fsencode("".join(f"{_get_path(line)}\0" for line in flagged))
                self.check_git("update-index", option, "-z", "--stdin", given=given)
        linked = [path for line in odd if line.startswith(_LINKED, 2) and (path := _get_path(line))]
        note["linked"] = [f"{path}/" for path in linked if path.startswith(self.prefix)]
        outside = [line for line in lines if not _get_path(line).startswith(self.prefix)] if self.prefix else []
        outside += _find_lines(listed, f"\t{self.own_name}") if self.own_name else []
        self._drop({*linked, *map(_get_path, outside)})
        named = [_get_path(line) for name in (NAME, ".gitattributes") for line in _find_lines(listed, f"{name}\0")]
        note["rules"] = [path for path in named if path.startswith(self.prefix) and path.rpartition("/")[2] == NAME]
        attributes = self._list_attributes(repository, named)
        if attributes or self.settings.get("core.autocrlf", "false").lower() not in ("false", "0", "no", "off", ""):
            converted = self._list_converted(attributes)
            self._drop(converted)
            self._update(converted)

    def _list_attributes(self, repository: Repository, names: Iterable[str]) -> list[str]:
        """Return the files that may make git convert contents."""
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        named = self.settings.get("core.attributesfile")
        found = [f"{repository.common}/info/attributes", "/etc/gitattributes", f"{home}/git/attributes"]
        found += [os.path.join(self.top, os.path.expanduser(named))] if named else []
        found += [f"{self.top}/{name}" for name in names if name.endswith(".gitattributes")]
        return [file for file in found if os.path.isfile(file)]

    def _list_converted(self, attributes: Iterable[str]) -> list[str]:
        """Return the paths whose id in the user's index may be that of converted content, not of the file's own bytes.

        An entry has the size of the file. If the content in git has another size, git converted it.
        """
        import re  # noqa: PLC0415 - only for the first scan of a repository that converts contents

        sized = re.compile(rb"\d{6} ([0-9a-f]+) \d\t([^\0]*)\0  ctime[^\0]*?size: (\d+)\tflags: [0-9a-f]+\n")
        entries = sized.findall(self.check_git("ls-files", "-s", "--debug", "-z"))
        given = b"".join(name + b"\n" for name, _, _ in entries)
        sizes = self.check_git("cat-file", "--buffer", "--batch-check=%(objectsize)", given=given).split(b"\n")
        found = [os.fsdecode(path) for (_, path, size), known in zip(entries, sizes, strict=False) if size != known]
        if any(b"filter" in _load_capped(file) for file in attributes):  # a filter may keep the size
            given = b"".join(path + b"\0" for _, path, _ in entries)
            answer = run(self.top, "check-attr", "-z", "--stdin", "filter", given=given, max_bytes=_MAX_OUTPUT_BYTES)
            attributes_out = os.fsdecode(answer.out).split("\0")
            found += [
                path
                for path, value in zip(attributes_out[::3], attributes_out[2::3], strict=False)
                if value not in ("unspecified", "unset")
            ]
        return [*dict.fromkeys(found)]

    # --- state between scans
    # ----------------------------------------------------------------------------------------------

    def _load_note(self) -> dict[str, Any]:
        """Return the state of the last scan; empty if it can't be used."""
        try:
            with open(f"{self.place}/note.json", "rb") as stream:
                note = json.load(stream)
        except (OSError, ValueError):
            return {}
        is_usable = isinstance(note, dict) and note.get("hashing") == self.hashing and note.get("prefix") == self.prefix
        return note if is_usable else {}

    def _save_note(self, note: dict[str, Any], last: dict[str, Any]) -> None:
        if note != last:
            write_bytes(f"{self.place}/note.json", json.dumps(note).encode(), durable=False)

    def _discard_state(self) -> None:
        """Discard the state, so that everything is read again. The trees stay: earlier scans refer to them."""
        for name in ("note.json", "index", "index.lock"):
            remove(f"{self.place}/{name}")


def _load_settings(folder: str) -> dict[str, str]:
    """Return the user's settings of git outside of a repository."""
    try:
        settings = parse_settings(run(folder, "config", "-z", "--list"))
    except GitRefused:
        settings = {}
    # `git init` checks whether the file system ignores case. Without a repository, check it here.
    names = os.path.split(folder)
    other = os.path.join(names[0], names[1].swapcase())
    with suppress(OSError):
        if other != folder and os.path.samefile(folder, other):
            settings["core.ignorecase"] = "true"
    return settings


def _find_excludes(top: str, settings: Mapping[str, str]) -> str:
    """Return the user's global ignore file; empty if there is none."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    named = settings.get("core.excludesfile") or f"{home}/git/ignore"
    file = os.path.join(top, os.path.expanduser(named))
    return file if os.path.isfile(file) else ""


def _list_above(prefix: str) -> Iterator[str]:
    """Yield the rule files in the folders between the top and a folder below it."""
    yield NAME
    parts = prefix.rstrip("/").split("/") if prefix else []
    for count in range(1, len(parts) + 1):
        yield "/".join((*parts[:count], NAME))


def _get_path(line: str) -> str:
    """Return the path in a line of `ls-files -s -v`."""
    return line[line.index("\t") + 1 :]


def _find_lines(listed: str, part: str) -> list[str]:
    """Return the lines that contain a text, from a text with NUL between lines."""
    found = []
    at = listed.find(part)
    while at >= 0:
        end = listed.index("\0", at)
        found.append(listed[listed.rindex("\0", 0, at) + 1 : end])
        at = listed.find(part, end)
    return found


def _count_entries(index: str) -> int:
    """Return the number of entries in an index, from its header."""
    try:
        with open(index, "rb") as stream:
            return int.from_bytes(stream.read(12)[8:], "big")
    except OSError:
        return 0


def _fingerprint(file: str) -> str:
    """Return a fingerprint that changes when a file is replaced; empty if it is missing."""
    try:
        found = os.stat(file)
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"


def _explain_unhashed(found: os.stat_result) -> str:
    """Return why a path isn't hashed; empty if it is. Only files and links are in a tree."""
    if stat.S_ISLNK(found.st_mode):
        return ""
    if not stat.S_ISREG(found.st_mode):
        return _GONE
    on_disk = found.st_blocks * 512
    if found.st_size > _SPARSE_FROM_BYTES and on_disk < found.st_size // _SPARSE_PART:
        return f"it claims {found.st_size} bytes and has {on_disk} of them on disk"
    return "it is too large to hash" if found.st_size > _MAX_FILE_BYTES else ""


def _try_to_read(file: str) -> str:
    """Return why a file can't be read; empty if it can, or if it is gone."""
    try:
        if not os.path.islink(file):
            os.close(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"it can't be read: {(error.strerror or str(error)).lower()}"
    return ""


def _load_capped(file: str) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(1 << 20)
    except OSError:
        return b""
