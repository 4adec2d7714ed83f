"""A work tree as git trees: one test for each thing that plain `git add -A` gets wrong, and for each kind of checkout."""

import os
import random
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from remit.errors import StorageError
from remit.evidence.take_tree import take_tree
from remit.evidence.tree import parse_tree
from remit.evidence.tree_comparison import compare, find_ids, join_trees
from remit.evidence.work_tree import FOLDER
from remit.ledger.home import Home
from tests.support.evidence_projects import Project, git


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git's settings of the user who runs the tests don't count."""
    for name, value in {"GIT_CONFIG_GLOBAL": "/dev/null", "XDG_CONFIG_HOME": str(tmp_path / "settings")}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a few tracked files."""
    return Project(tmp_path / "project", {"a.txt": "one\n", "src/b.txt": "two\n", "src/c.txt": "three\n"})


@pytest.mark.parametrize("plain", [False, True])
def test_files_are_created_changed_and_deleted(tmp_path: Path, plain: bool) -> None:  # noqa: FBT001
    project = Project(tmp_path / "project", {"a.txt": "one\n", "b.txt": "two\n", "c/d.txt": "x"}, plain=plain)
    before = project.take()
    assert project.show(before) == {}
    project.write({"a.txt": "ONE\n", "new/e.txt": "new"})
    (project.root / "b.txt").unlink()
    (project.root / "c/d.txt").touch()
    assert project.show(before) == {"new/e.txt": "created", "a.txt": "changed", "b.txt": "deleted"}
    assert parse_tree(before.as_json()) == before


def test_the_users_repository_is_left_alone(project: Project) -> None:
    git(project.root, "config", "core.fsmonitor", "touch executed; false")
    hook = project.root / ".git/hooks/post-index-change"
    hook.write_text("#!/bin/sh\ntouch executed\n")
    hook.chmod(0o755)
    project.write({"staged.txt": "x", "a.txt": "edited\n"})
    git(project.root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "staged.txt")
    files = {path: path.read_bytes() for path in (project.root / ".git").rglob("*") if path.is_file()}
    before = project.take()
    project.write({"a.txt": "again\n", "n.txt": "y"})
    assert project.show(before) == {"a.txt": "changed", "n.txt": "created"}
    assert files == {path: path.read_bytes() for path in (project.root / ".git").rglob("*") if path.is_file()}
    assert not (project.root / "executed").exists()


def test_a_second_edit_within_the_same_moment_is_seen(project: Project) -> None:
    for number in range(6):  # the size stays, and the time of change may too
        before = project.take()
        project.write({"a.txt": f"{number}{number}{number}\n"})
        assert project.show(before) == {"a.txt": "changed"}


def test_a_time_that_was_set_back_hides_nothing(project: Project) -> None:
    file = project.root / "a.txt"
    old = file.stat()
    before = project.take()
    file.write_text("ONE\n")
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert project.show(before) == {"a.txt": "changed"}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_flags_of_the_users_index_hide_nothing(project: Project, flag: str) -> None:
    git(project.root, "update-index", flag, "a.txt")
    before = project.take()
    project.write({"a.txt": "other\n"})
    assert project.show(before) == {"a.txt": "changed"}


@pytest.mark.parametrize("kind", ["submodule", "nested", "nested in a submodule"])
def test_edits_in_other_repositories_are_seen(tmp_path: Path, kind: str) -> None:
    inner = Project(tmp_path / "inner", {"x.txt": "1\n", ".gitignore": "*.log\n"})
    project = Project(tmp_path / "project", {"a.txt": "one\n"})
    name = "lib"
    if kind == "nested":
        git(project.root, "clone", "-q", str(inner.root), name)
    else:
        git(project.root, "submodule", "--quiet", "add", str(inner.root), name)
        git(project.root, "commit", "-q", "-m", "with a submodule")
    if kind == "nested in a submodule":
        git(project.root / name, "clone", "-q", str(inner.root), "deep")
        name = "lib/deep"
    before = project.take()
    project.write({f"{name}/x.txt": "2\n", f"{name}/new.txt": "n", f"{name}/skipped.log": "x"})
    assert project.show(before) == {f"{name}/new.txt": "created", f"{name}/x.txt": "changed"}


@pytest.mark.parametrize("how", ["removed", "only its git folder", "moved", "objects"])
def test_a_repository_that_is_gone_makes_only_its_own_files_unclear(tmp_path: Path, how: str) -> None:
    """Its tree before the run was in its own objects."""
    project = Project(tmp_path / "project", {"a.txt": "one\n"})
    sub = Project(project.root / "sub", {"f.txt": "old\n"}).root
    before = project.take()
    if how == "removed":
        shutil.rmtree(sub)
    elif how == "moved":
        sub.rename(project.root / "other")
    else:
        shutil.rmtree(sub / (".git" if how == "only its git folder" else ".git/objects"))
    project.write({"n.txt": "new\n"})
    found = project.compare(before)
    assert [change.path for change in found.created if not change.path.startswith("other/")] == ["n.txt"]
    assert [*found.unclear] == ["sub/"]
    assert "git can't compare 'sub' with what it was before the run" in found.find_unclear("sub/f.txt")
    assert not found.find_unclear("n.txt")
    assert [change.path for change in found.doubtful] == ["sub"]


def test_a_project_without_its_repository_is_unclear_as_a_whole(project: Project, tmp_path: Path) -> None:
    before = project.take()
    shutil.rmtree(project.root / ".git")
    project.write({"n.txt": "new\n"})
    found = project.compare(before)
    assert [*found.unclear] == [""]
    assert found.find_unclear("a.txt")
    assert not found.find_unclear(f"{tmp_path}/outside.txt")


def test_a_folder_that_becomes_a_repository_keeps_its_files(project: Project) -> None:
    project.write({"sub/old.txt": "old\n"})
    before = project.take()
    git(project.root / "sub", "init", "-q")
    project.write({"sub/new.txt": "new\n"})
    (project.root / FOLDER).mkdir()
    assert {path: kind for path, kind in project.show(before).items() if ".git/" not in path} == {
        "sub/new.txt": "created"
    }


@pytest.mark.parametrize("setting", ["attributes", "autocrlf", "filter"])
def test_contents_are_compared_as_they_are_on_disk(tmp_path: Path, setting: str) -> None:
    root = tmp_path / "project"
    files = {"a.txt": "one\r\ntwo\r\n", "b.txt": "plain\n"}
    if setting == "attributes":
        files[".gitattributes"] = "*.txt text eol=crlf\n"
    if setting == "filter":
        files[".gitattributes"] = "*.txt filter=turn\n"
    project = Project(root, plain=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "filter.turn.clean", f"echo x >> {tmp_path}/ran; tr a-z n-za-m")
    if setting == "autocrlf":
        git(root, "config", "core.autocrlf", "true")
    project.write(files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    (tmp_path / "ran").unlink(missing_ok=True)
    before = project.take()
    os.utime(root / "a.txt", (1, 1))
    os.utime(root / "b.txt", (1, 1))
    assert project.show(before) == {}, "a touched file is the same file"
    project.write({"a.txt": "one\ntwo\n"})
    assert project.show(before) == {"a.txt": "changed"}, "a change of line endings is a change"
    assert not (tmp_path / "ran").exists(), "no filter ran"


def test_all_ignore_rules_count(tmp_path: Path, project: Project) -> None:
    (tmp_path / "settings/git").mkdir(parents=True)
    (tmp_path / "settings/git/ignore").write_text("*.global\n")
    (project.root / ".git/info").mkdir(exist_ok=True)
    (project.root / ".git/info/exclude").write_text("*.private\n")
    project.write({".gitignore": "*.log\n!keep.log\n", "src/.gitignore": "/out/\n"})
    before = project.take()
    project.write(dict.fromkeys(("a.global", "b.private", "c.log", "keep.log", "src/out/d", "out/e"), "x"))
    assert project.show(before) == {"keep.log": "created", "out/e": "created"}


@pytest.mark.parametrize("how", ["written", "removed", "info", "own"])
def test_ignore_rules_are_fixed_at_the_first_look(project: Project, how: str) -> None:
    project.write({".gitignore": "*.log\n", "old.log": "old\n", "build/x": "1"})
    before = project.take()
    if how == "written":
        project.write({".gitignore": "*\n"})
    elif how == "removed":
        (project.root / ".gitignore").unlink()
    elif how == "info":
        (project.root / ".git/info").mkdir(exist_ok=True)
        (project.root / ".git/info/exclude").write_text("new.txt\nbuild/\n")
    else:
        project.write({"build/.gitignore": "*\n"})
    project.write({"new.txt": "new\n", "build/y": "2", "new.log": "log"})
    found = project.show(before)
    assert {path: found[path] for path in ("new.txt", "build/y")} == {"new.txt": "created", "build/y": "created"}
    assert not {"old.log", "new.log"} & found.keys()
    later = project.take()
    assert project.show(later) == {}, "the next run takes the rules as they are now"


def test_rules_of_an_earlier_look_are_applied_as_git_does(tmp_path: Path) -> None:
    """Whatever the rules: a second look after they are gone finds what git found with them."""
    choice = random.Random(7)  # noqa: S311 - a choice that repeats
    names = ["a", "b", "log.txt", "x y", "[k]", "!n", "#h"]
    patterns = ["a", "/a", "a/", "b/*", "!b/a", "**/a", "*.txt", "!log.txt", "x y", "x\\ y", "\\[k\\]", "[k]", "\\!n",
                "\\#h", "# comment", "a/**", "*", "!*/", "/b/a", "trailing  ", "*\r"]  # fmt: skip
    for number in range(8):
        project = Project(tmp_path / f"p{number}", {"tracked/a": "t"})
        folders = ["", "a/", "b/", "b/a/", "x y/", "[k]/"]
        for folder in choice.sample(folders, 3):
            text = "\n".join(choice.sample(patterns, choice.randint(1, 5)))
            project.write({f"{folder}.gitignore": f"{text}\n"})
        before = project.take()
        project.write({f"{folder}{name}/new": "new" for folder in folders for name in names})
        listed = git(project.root, "ls-files", "-z", "-o", "--exclude-standard").split("\0")
        expected = {path for path in listed if path.endswith("/new")}
        for file in project.root.rglob(".gitignore"):
            if ".remit" not in file.parts:
                file.unlink()
        found = {path for path, kind in project.show(before).items() if kind == "created"}
        assert found == expected


def test_ignored_bulk_is_not_read(project: Project) -> None:
    project.write(
        {".gitignore": "/.venv/\n", ".cache/.gitignore": "*\n", **{f".venv/lib/{n}.py": "x" for n in range(300)}}
    )
    project.write({f".cache/v/{n}": "x" for n in range(300)})
    before = project.take()
    project.write({".venv/lib/new.py": "x", ".cache/v/new": "x", "a.txt": "2\n"})
    assert project.show(before) == {"a.txt": "changed"}
    listed = subprocess.run(
        ["git", f"--git-dir={_find_place(project)}", "ls-files"], capture_output=True, text=True, check=True
    )
    assert not any("/lib/" in line or "/v/" in line for line in listed.stdout.splitlines())


def test_a_tracked_file_counts_though_it_is_ignored(project: Project) -> None:
    project.write({".gitignore": "*.log\n", "kept.log": "1\n", "later.log": "1\n"})
    git(project.root, "add", "-f", "kept.log")
    first = project.take()
    project.write({"kept.log": "2\n"})
    assert project.show(first) == {"kept.log": "changed"}
    git(project.root, "add", "-f", "later.log")
    second = project.take()
    project.write({"later.log": "2\n"})
    assert project.show(second) == {"later.log": "changed"}


def test_expected_folders_count_though_they_are_ignored(tmp_path: Path, project: Project) -> None:
    outside = Project(tmp_path / "outside", {"old.md": "1", ".gitignore": "*\n"}, plain=True)
    project.write({".gitignore": "/specs/\n/deep/\n", "specs/1_x/old.md": "1", "deep/er/w/old.md": "1", "deep/z": "1"})
    before = project.take(expected=("specs", "deep/er/w", str(outside.root)))
    project.write({"specs/1_x/old.md": "2", "specs/2_y/new.md": "2", "deep/er/w/new.md": "2", "deep/z": "2"})
    outside.write({"old.md": "2", "new/new.md": "2"})
    assert project.show(before) == {
        "specs/2_y/new.md": "created", "deep/er/w/new.md": "created", "specs/1_x/old.md": "changed",
        f"{outside.root}/old.md": "changed", f"{outside.root}/new/new.md": "created",
    }  # fmt: skip


def test_a_mode_alone_is_no_change(project: Project) -> None:
    before = project.take()
    (project.root / "a.txt").chmod(0o755)
    assert project.show(before) == {}


def test_a_link_in_the_place_of_a_file_is_a_change(project: Project) -> None:
    project.write({"name": "a.txt"})
    before = project.take()
    (project.root / "name").unlink()
    (project.root / "name").symlink_to("a.txt")  # its text is that of the file
    assert project.show(before) == {"name": "changed"}


def test_a_file_and_a_folder_take_each_others_place(project: Project) -> None:
    before = project.take()
    (project.root / "a.txt").unlink()
    shutil.rmtree(project.root / "src")
    project.write({"a.txt/inner": "x", "src": "file"})
    assert project.show(before) == {"a.txt/inner": "created", "src": "created", "a.txt": "deleted",
                                    "src/b.txt": "deleted", "src/c.txt": "deleted"}  # fmt: skip


def test_large_files_are_hashed_and_not_copied(project: Project) -> None:
    data = os.urandom(1 << 20) * 24
    (project.root / "large.bin").write_bytes(data)
    (project.root / "sparse.bin").touch()
    os.truncate(project.root / "sparse.bin", 1 << 40)
    before = project.take()
    (project.root / "large.bin").write_bytes(data[:-1] + b"!")
    assert project.show(before) == {"large.bin": "changed", "sparse.bin": "doubtful"}
    size = sum(file.stat().st_size for file in (project.root / ".remit").rglob("*"))
    assert size < 100_000


def test_a_pipe_and_an_unreadable_file_stop_nothing(project: Project) -> None:
    os.mkfifo(project.root / "pipe")
    (project.root / "a.txt").unlink()
    os.mkfifo(project.root / "a.txt")
    before = project.take()
    project.write({"src/b.txt": "2\n"})
    assert project.show(before) == {"src/b.txt": "changed"}


@pytest.mark.parametrize("kind", ["worktree", "unborn", "conflict", "intent", "split", "sparse", "damaged", "sha256"])
def test_every_kind_of_checkout_works(tmp_path: Path, project: Project, kind: str) -> None:
    root = project.root
    if kind == "worktree":
        git(root, "worktree", "add", "-q", str(tmp_path / "other"))
        project.root = tmp_path / "other"
    elif kind == "unborn":
        git(root, "checkout", "-q", "--orphan", "none")
    elif kind == "conflict":
        git(root, "checkout", "-q", "-b", "side")
        project.write({"a.txt": "side\n"})
        git(root, "commit", "-q", "-am", "side")
        git(root, "checkout", "-q", "main")
        project.write({"a.txt": "main\n"})
        git(root, "commit", "-q", "-am", "main")
        with pytest.raises(subprocess.CalledProcessError):
            git(root, "merge", "side")
        assert "UU a.txt" in git(root, "status", "--porcelain")
    elif kind == "intent":
        project.write({"later.txt": "x"})
        git(root, "add", "-N", "later.txt")
    elif kind == "split":
        git(root, "update-index", "--split-index")
        assert [*(root / ".git").glob("sharedindex.*")]
    elif kind == "sparse":
        git(root, "sparse-checkout", "set", "--no-cone", "/a.txt", "/src/c.txt")
        assert not (root / "src/b.txt").exists()
    elif kind == "damaged":
        (root / ".git/index").write_bytes(b"nonsense")
    elif kind == "sha256":
        shutil.rmtree(root / ".git")
        git(root, "init", "-q", "--object-format=sha256")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "first")
    before = project.take()
    assert project.show(before) == {}
    project.write({"a.txt": "edited\n", "new.txt": "new\n"})
    (project.root / "src/c.txt").unlink()
    assert project.show(before) == {"new.txt": "created", "a.txt": "changed", "src/c.txt": "deleted"}


def test_a_root_below_the_top_of_its_repository(tmp_path: Path) -> None:
    top = Project(tmp_path / "top", {"a.txt": "1\n", "sub/b.txt": "1\n", ".gitignore": "*.log\n", "sub/x.log": "1\n"})
    project = Project(top.root / "sub", plain=True)
    before = project.take()
    top.write({"a.txt": "2\n", "sub/b.txt": "2\n", "sub/new.txt": "x", "sub/y.log": "x", "other.txt": "x"})
    assert project.show(before) == {"new.txt": "created", "b.txt": "changed"}


@pytest.mark.parametrize("is_linked", [False, True])
def test_what_git_executes_is_in_view(tmp_path: Path, project: Project, is_linked: bool) -> None:  # noqa: FBT001
    own = project.root / ".git"
    inner = Project(tmp_path / "inner", {"x.txt": "1\n"})
    git(project.root, "submodule", "--quiet", "add", str(inner.root), "lib")
    if is_linked:
        git(project.root, "worktree", "add", "-q", str(tmp_path / "other"))
        project.root = tmp_path / "other"
    before = project.take()
    for name in ("hooks/post-merge", "modules/lib/hooks/post-checkout", "info/attributes"):
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).write_text("#!/bin/sh\n")
    git(own.parent, "config", "core.pager", "touch x")
    kinds = {"config": "changed", "hooks/post-merge": "created", "info/attributes": "created",
             "modules/lib/hooks/post-checkout": "created"}  # fmt: skip
    begin = f"{own}/" if is_linked else ".git/"
    assert project.show(before) == {f"{begin}{name}": kind for name, kind in kinds.items()}


def test_a_file_that_was_there_before_is_not_created_by_other_rules(project: Project) -> None:
    project.write({".gitignore": "*.log\n", "old.log": "old\n"})
    before = project.take()
    (project.root / ".gitignore").unlink()
    after = project.take()  # by a run that began later, with the rules of then
    assert find_ids(after, ["old.log"])
    found = compare(before, after)
    assert found.older == {"old.log"}
    assert [change.path for change in found.created] == []


def test_a_file_that_came_with_its_folder_is_created(project: Project) -> None:
    before = project.take()
    (project.root / "src").rename(project.root / "lib")  # the files in it keep all their times
    kinds = {"lib/b.txt": "created", "lib/c.txt": "created", "src/b.txt": "deleted", "src/c.txt": "deleted"}
    assert project.show(before) == kinds


def test_concurrent_looks_agree(project: Project) -> None:
    before = project.take()
    project.write({f"n{number}.txt": "x" for number in range(50)})
    trees = []
    threads = [threading.Thread(target=lambda: trees.append(project.take(like=before))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tree.parts for tree in trees}) == 1
    assert len(trees) == 4


def test_what_happened_between_two_sessions_is_not_the_agents(project: Project) -> None:
    earlier = project.take()
    project.write({"own.txt": "own\n", "a.txt": "own\n"})
    time.sleep(0.05)
    last_ns = time.time_ns()
    time.sleep(0.05)
    project.write({"foreign.txt": "x\n", "src/b.txt": "x\n"})
    before = join_trees(earlier, project.take(), last_ns=last_ns)
    project.write({"src/c.txt": "own\n"})
    assert project.show(before) == {"own.txt": "created", "a.txt": "changed", "src/c.txt": "changed"}


def test_damage_to_the_private_repository_is_repaired(project: Project) -> None:
    project.take()
    place = _find_place(project)
    (place / "index").write_bytes(b"nonsense")
    before = project.take()
    project.write({"a.txt": "2\n"})
    (place / "note.json").write_text("{")
    assert project.show(before) == {"a.txt": "changed"}


@pytest.mark.parametrize("fault", ["missing", "slow", "failing"])
def test_a_failure_of_git_is_an_error_with_its_reason(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    if fault != "missing":
        program.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran\n{'sleep 30' if fault == 'slow' else 'exit 9'}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/bin" if fault == "slow" else str(program.parent))
    with pytest.raises(StorageError) as raised:
        take_tree(Home(str(project.root)), str(project.root), seconds=0.5)
    reasons = {"missing": "it isn't in PATH", "slow": "git timed out after", "failing": "git failed with exit code 9"}
    assert reasons[fault] in raised.value.message
    assert (tmp_path / "ran").exists() is (fault != "missing")


def _find_place(project: Project) -> Path:
    found = [each for each in (project.root / f".remit/{FOLDER}").iterdir() if each.is_dir()]
    assert len(found) == 1
    return found[0]
