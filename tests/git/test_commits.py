"""Commits: exactly the named paths, whatever the repository holds and whoever else works in it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.git import commits, process
from remit.git.commits import Committed, Uncommitted, commit_paths, find_uncommitted, render_message
from tests.support.git_checkout import Checkout, make_checkout


def commit(checkout: Checkout, *paths: str, message: str = "task 1: try") -> Committed:
    return commit_paths(str(checkout.root), paths, message)


def codes(done: Committed) -> list[str]:
    return [finding.code for finding in done.diagnostics]


def refused(done: Committed, code: str) -> str:
    """The sentence of the only finding of a commit that was not made."""
    assert (done.commit, done.paths, codes(done)) == (None, (), [code])
    assert done.diagnostics[0].hint
    return done.diagnostics[0].message


# --- what is committed -----------------------------------------------------------------------------------------------


def test_new_changed_and_deleted_paths_are_committed_and_no_other(checkout: Checkout) -> None:
    """S6: only the named files."""
    before = checkout.git("rev-parse", "HEAD").strip()
    checkout.put("a.md", "two\n")
    checkout.put("new/deep.md", "new\n")
    checkout.put("unnamed.md", "x\n")
    checkout.put("specs/TODO.md", "changed, and not named\n")
    (checkout.root / "b.md").unlink()
    done = commit(checkout, "a.md", "b.md", "new/deep.md", message="task 7: three files\n\nWhy not.\n")
    assert done == Committed(checkout.git("rev-parse", "HEAD").strip(), ("a.md", "b.md", "new/deep.md"), ())
    assert checkout.tell_changes() == ["M a.md", "D b.md", "A new/deep.md"]
    assert checkout.git("log", "-1", "--format=%P|%an|%ae|%B").strip() == (
        f"{before}|Ada|ada@example.org|task 7: three files\n\nWhy not."
    )
    assert checkout.git("status", "--porcelain") == " M specs/TODO.md\n?? unnamed.md\n"
    assert "commit: task 7: three files" in checkout.git("reflog")
    assert "HEAD -> refs/heads/main" in checkout.git("log", "-1", "--decorate=full")
    checkout.git("fsck", "--strict")


def test_nothing_to_commit_is_no_finding(checkout: Checkout) -> None:
    """S6: "nothing to commit" is no error."""
    before = checkout.git("rev-parse", "HEAD")
    assert commit(checkout, "a.md", "never-was.md") == Committed(None)
    assert commit(checkout) == Committed(None)
    (checkout.root / "a.md").touch()
    assert commit(checkout, "a.md") == Committed(None)
    assert checkout.git("rev-parse", "HEAD") == before


def test_what_others_have_staged_stays_staged(checkout: Checkout) -> None:
    checkout.put("b.md", "staged\n")
    checkout.put("staged-new.md", "staged\n")
    checkout.put("noted.md", "later\n")
    checkout.git("add", "b.md", "staged-new.md")
    checkout.git("add", "-N", "noted.md")
    checkout.git("rm", "-q", "--cached", "specs/TODO.md")
    checkout.put("b.md", "staged, and changed since\n")
    checkout.git("update-index", "--chmod=+x", "b.md")
    entries, staged = checkout.git("ls-files", "-s", "--debug"), checkout.git("diff", "--cached")
    checkout.put("c.md", "mine\n")
    done = commit(checkout, "c.md")
    assert checkout.tell_changes(done.commit or "") == ["A c.md"]
    assert checkout.git("diff", "--cached") == staged
    after = checkout.git("ls-files", "-s", "--debug")
    assert "\tc.md\n" in after
    head, _, rest = after.partition("100644 " + checkout.git("rev-parse", "HEAD:c.md").strip())
    own_end = rest.index("flags: 0\n") + len("flags: 0\n")
    assert head + rest[own_end:] == entries


def test_a_path_that_is_partly_staged_is_committed_as_it_is_on_disk(checkout: Checkout) -> None:
    checkout.put("a.md", "staged\n")
    checkout.git("add", "a.md")
    checkout.put("a.md", "on disk\n")
    assert commit(checkout, "a.md").commit
    assert checkout.read("a.md") == b"on disk\n"
    assert checkout.git("status", "--porcelain") == ""


def test_a_path_that_was_only_staged_and_is_gone_is_nothing(checkout: Checkout) -> None:
    checkout.put("new.md", "x\n")
    checkout.git("add", "new.md")
    (checkout.root / "new.md").unlink()
    assert commit(checkout, "new.md") == Committed(None)


NAMES = [
    "with space.md", " leading.md", "new\nline.md", "-rf", "--amend", ":(glob)**", ":!a.md", "*.md", "[ab].md",
    "ünïcödé.md", "日本.md", "emoji 😀.md", 'quo"te.md', "back\\slash.md", "tab\there.md", "~", "$(touch x)", "a;b",
    "HEAD", "@{u}", "refs/heads/main", "\udcff\udcfe.md", "deep/-x/:y/ z",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_only_a_name(checkout: Checkout, name: str) -> None:
    file = checkout.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("content\n")
    checkout.put("a.md", "changed, and not named\n")
    done = commit(checkout, name)
    assert done.paths == (name,)
    assert done.diagnostics == ()
    listed = subprocess.run(
        ["git", "diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "HEAD", "--"],
        cwd=checkout.root, capture_output=True, check=True,
    )  # fmt: skip
    assert os.fsdecode(listed.stdout) == f"{name}\0"
    file.unlink()
    assert commit(checkout, name).paths == (name,)
    assert checkout.git("status", "--porcelain") == " M a.md\n"


@pytest.mark.slow
def test_many_paths_are_committed_together(checkout: Checkout) -> None:
    names = [f"many/{number:04}.md" for number in range(1200)]
    for name in names:
        checkout.put(name, name)
    assert commit(checkout, *names).paths == tuple(names)
    assert checkout.git("status", "--porcelain") == ""


def test_links_and_modes_are_kept(checkout: Checkout) -> None:
    (checkout.root / "link").symlink_to("/nowhere/at/all")
    checkout.put("run.sh", "#!/bin/sh\n").chmod(0o755)
    assert commit(checkout, "link", "run.sh").commit
    assert checkout.git("ls-tree", "--format=%(objectmode) %(path)", "HEAD", "link", "run.sh") == (
        "120000 link\n100755 run.sh\n"
    )
    assert checkout.read("link") == b"/nowhere/at/all"


def test_a_file_where_a_folder_was_and_the_other_way_round(checkout: Checkout) -> None:
    (checkout.root / "specs/TODO.md").unlink()
    (checkout.root / "specs").rmdir()
    checkout.put("specs", "a file now\n")
    (checkout.root / "a.md").unlink()
    checkout.put("a.md/inside.md", "a folder now\n")
    done = commit(checkout, "specs", "specs/TODO.md", "a.md/inside.md", "a.md")
    assert done.diagnostics == ()
    assert checkout.git("ls-files") == "a.md/inside.md\nb.md\nspecs\n"
    assert checkout.git("status", "--porcelain") == ""


def test_lines_end_as_the_repository_wants_them(checkout: Checkout) -> None:
    checkout.put(".gitattributes", "*.txt text\n*.bin -text\n")
    checkout.put("a.txt", b"one\r\ntwo\r\n")
    checkout.put("a.bin", b"one\r\ntwo\r\n")
    checkout.put("a.other", b"one\r\n")
    assert commit(checkout, "a.txt", "a.bin", "a.other", ".gitattributes").commit
    assert [checkout.read(name) for name in ("a.txt", "a.bin", "a.other")] == [
        b"one\ntwo\n", b"one\r\ntwo\r\n", b"one\r\n",
    ]  # fmt: skip
    checkout.git("config", "core.autocrlf", "input")
    checkout.put("b.other", b"one\r\n")
    assert commit(checkout, "b.other").commit
    assert checkout.read("b.other") == b"one\n"
    assert checkout.git("status", "--porcelain") == ""


# --- where -----------------------------------------------------------------------------------------------------------


def test_the_first_commit_of_a_repository(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.git("init", "-q", "-b", "trunk")
    checkout.git("config", "user.name", "Ada")
    checkout.git("config", "user.email", "ada@example.org")
    checkout.put("a.md", "x\n")
    checkout.put("other.md", "y\n")
    checkout.git("add", "other.md")
    assert commit(checkout, "gone.md") == Committed(None)
    done = commit(checkout, "a.md", "gone.md")
    assert done.paths == ("a.md",)
    assert checkout.git("log", "--format=%H%d").strip() == f"{done.commit} (HEAD -> trunk)"
    assert checkout.git("status", "--porcelain") == "A  other.md\n"


def test_a_head_on_no_branch_moves_alone(checkout: Checkout) -> None:
    checkout.git("checkout", "-q", "--detach")
    main = checkout.git("rev-parse", "main")
    checkout.put("a.md", "two\n")
    done = commit(checkout, "a.md")
    assert checkout.git("rev-parse", "HEAD", "main") == f"{done.commit}\n{main}"


def test_a_linked_worktree_has_its_own_head_and_index(checkout: Checkout, tmp_path: Path) -> None:
    checkout.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Checkout(tmp_path / "side")
    side.put("a.md", "two\n")
    done = commit(side, "a.md")
    assert checkout.git("rev-parse", "side").strip() == done.commit
    assert checkout.git("rev-parse", "main").strip() != done.commit
    assert (side.git("status", "--porcelain"), checkout.git("status", "--porcelain")) == ("", "")


def test_a_workspace_below_the_top_of_its_repository(checkout: Checkout) -> None:
    checkout.put("specs/TODO.md", "two\n")
    checkout.put("TODO.md", "another one\n")
    done = commit_paths(str(checkout.root / "specs"), ["TODO.md"], "task 1: x")
    assert done.paths == ("TODO.md",)
    assert checkout.tell_changes() == ["M specs/TODO.md"]
    assert "outside" in refused(commit_paths(str(checkout.root / "specs"), ["../TODO.md"], "x"), "GIT005")


def test_a_root_behind_a_link_is_the_same_root(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(checkout.root)
    checkout.put("a.md", "two\n")
    assert commit_paths(str(tmp_path / "link"), ["a.md"], "x").paths == ("a.md",)


def test_a_repository_that_counts_by_sha256(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path, "--object-format=sha256")
    checkout.put("a.md", "two\n")
    (checkout.root / "b.md").unlink()
    done = commit(checkout, "a.md", "b.md")
    assert len(done.commit or "") == 64
    assert checkout.git("status", "--porcelain") == ""
    checkout.git("fsck", "--strict")


def test_an_index_in_two_parts_stays_whole(checkout: Checkout) -> None:
    checkout.git("update-index", "--split-index")
    checkout.put("b.md", "staged\n")
    checkout.git("add", "b.md")
    assert list((checkout.root / ".git").glob("sharedindex.*"))
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").paths == ("a.md",)
    assert checkout.git("status", "--porcelain") == "M  b.md\n"
    checkout.git("fsck", "--strict")


def test_a_checkout_of_a_part_stays_one(checkout: Checkout) -> None:
    checkout.git("sparse-checkout", "set", "--cone", "--sparse-index", "other")
    assert not (checkout.root / "specs").exists()
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md", "specs/TODO.md").paths == ("a.md",)
    assert find_uncommitted(str(checkout.root), ["specs/TODO.md"]) == Uncommitted()
    assert checkout.git("status", "--porcelain") == ""
    assert checkout.read("specs/TODO.md") == b"specs/TODO.md one\n"


def test_git_s_variables_of_a_hook_lead_nowhere(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Remit may itself be called from a hook, which has them set."""
    other = make_checkout(tmp_path / "other")
    before = other.git("rev-parse", "HEAD")
    for key, value in {
        "GIT_DIR": f"{other.root}/.git", "GIT_WORK_TREE": str(other.root), "GIT_INDEX_FILE": f"{other.root}/.git/index",
        "GIT_OBJECT_DIRECTORY": f"{other.root}/.git/objects", "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
        "GIT_TRACE": f"{tmp_path}/trace",
    }.items():  # fmt: skip
        monkeypatch.setenv(key, value)
    checkout.put("a.md", "two\n")
    done = commit(checkout, "a.md")
    assert checkout.git("rev-parse", "HEAD").strip() == done.commit
    assert other.git("rev-parse", "HEAD") == before
    assert not (tmp_path / "trace").exists()


# --- what never runs -------------------------------------------------------------------------------------------------

HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change",
)  # fmt: skip


def plant(checkout: Checkout, mark: Path) -> str:
    """A program that leaves a mark, and what to call it by."""
    program = checkout.put(".git/program", f'#!/bin/sh\necho "$0 $*" >> "{mark}"\n')
    program.chmod(0o755)
    return str(program)


def test_hooks_do_not_run(checkout: Checkout, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    program = plant(checkout, mark)
    for name in HOOKS:
        (checkout.root / ".git/hooks" / name).symlink_to(program)
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").commit
    assert not mark.exists()
    checkout.put("a.md", "three\n")
    checkout.git("commit", "-q", "-m", "plain", "a.md")
    assert all(name in mark.read_text() for name in HOOKS)


def test_hooks_from_another_folder_do_not_run(checkout: Checkout, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    folder = checkout.put("hooks/pre-commit", f'#!/bin/sh\necho x >> "{mark}"\n')
    folder.chmod(0o755)
    checkout.git("config", "core.hooksPath", "hooks")
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").commit
    assert not mark.exists()
    checkout.git("commit", "-q", "--allow-empty", "-m", "plain")
    assert mark.exists()


def test_no_file_system_monitor_runs(checkout: Checkout, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    checkout.git("config", "core.fsmonitor", plant(checkout, mark))
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").commit
    assert find_uncommitted(str(checkout.root), ["a.md", "b.md"]) == Uncommitted()
    assert not mark.exists()
    checkout.git("status", check=False)
    assert mark.exists()


def test_no_commit_is_signed_by_a_program(checkout: Checkout, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    checkout.git("config", "gpg.program", plant(checkout, mark))
    checkout.git("config", "commit.gpgSign", "true")
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").commit
    assert not mark.exists()
    checkout.git("commit", "-q", "--allow-empty", "-m", "plain", check=False)
    assert mark.exists()


@pytest.mark.parametrize("kind", ["clean", "process"])
def test_a_path_with_a_filter_is_refused_and_the_filter_does_not_run(
    checkout: Checkout, tmp_path: Path, kind: str
) -> None:
    mark = tmp_path / "mark"
    checkout.git("config", f"filter.Big.Files.{kind}", f"{plant(checkout, mark)} {kind}")
    checkout.put(".gitattributes", "*.png filter=Big.Files\n")
    checkout.put("chart.png", "big\n")
    checkout.put("a.md", "two\n")
    assert "'chart.png' has the git filter 'Big.Files'" in refused(commit(checkout, "a.md", "chart.png"), "GIT007")
    assert commit(checkout, "a.md").commit
    assert not mark.exists()
    checkout.git("add", "chart.png", check=False)
    assert mark.exists()


def test_a_filter_that_appears_in_between_does_not_run(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contents are read where no filter is known, so there is no moment at which one could be slipped in."""
    mark = tmp_path / "mark"
    program = plant(checkout, mark)
    original = commits._write_tree  # noqa: SLF001 - the moment after the last check
    planted = []

    def write_tree(*arguments: object) -> str:
        checkout.git("config", "filter.late.clean", program)
        checkout.put(".gitattributes", "*.md filter=late\n")
        planted.append(True)
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(commits, "_write_tree", write_tree)
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").commit
    assert planted
    assert not mark.exists()
    assert checkout.read("a.md") == b"two\n"
    checkout.put("a.md", "three\n")
    checkout.git("add", "a.md")
    assert mark.exists()


def test_a_filter_that_nobody_set_up_is_no_filter(checkout: Checkout) -> None:
    """Git itself takes such files as they are."""
    checkout.put(".gitattributes", "*.md filter=unknown\n")
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").paths == ("a.md",)


def test_a_program_called_git_in_the_repository_is_not_taken(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    (checkout.root / "git").symlink_to(plant(checkout, mark))
    monkeypatch.chdir(checkout.root)
    monkeypatch.setenv("PATH", f".::bin:{os.environ['PATH']}")
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").commit
    assert not mark.exists()
    subprocess.run(["git", "--version"], check=True, capture_output=True, cwd=checkout.root)
    assert mark.exists()


def test_objects_that_are_missing_are_not_fetched(checkout: Checkout, tmp_path: Path) -> None:
    """A repository can say that a program brings what it lacks."""
    mark = tmp_path / "mark"
    for key, value in {
        "extensions.partialClone": "origin", "remote.origin.promisor": "true", "core.repositoryFormatVersion": "1",
        "remote.origin.url": f"ext::{plant(checkout, mark)}", "protocol.ext.allow": "always",
    }.items():  # fmt: skip
        checkout.git("config", key, value)
    tree = checkout.git("rev-parse", "HEAD^{tree}").strip()
    (checkout.root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    checkout.put("a.md", "two\n")
    assert refused(commit(checkout, "a.md"), "GIT009")
    assert not mark.exists()
    checkout.git("read-tree", "HEAD", check=False)
    assert mark.exists()


# --- what is refused -------------------------------------------------------------------------------------------------


def test_paths_outside_and_behind_links_are_refused(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("x")
    (checkout.root / "up").symlink_to(tmp_path)
    (checkout.root / "here").symlink_to("specs")
    os.mkfifo(checkout.root / "pipe")
    with (checkout.root / "giant").open("wb") as giant:
        giant.truncate(1 << 40)
    for path, reason in {
        "../outside.md": "outside", str(tmp_path / "outside.md"): "outside", "specs/../../x": "outside", ".": "outside",
        "": "outside", "up/outside.md": "behind a symbolic link", "here/TODO.md": "behind a symbolic link", ".git/config": "inside .git",
        "x/.GIT/y": "inside .git", "specs": "is a folder", "pipe": "neither a file", "giant": "larger than",
        "a\0b": "isn't a valid path", "\ud800": "isn't a valid path", "n" * 300: "can't be read",
    }.items():  # fmt: skip
        checkout.put("a.md", f"{path!r}\n")
        assert reason in refused(commit(checkout, "a.md", path), "GIT005"), path
    assert checkout.git("rev-list", "--count", "HEAD") == "1\n"
    assert commit(checkout, "a.md", "up", "here").paths == ("a.md", "here", "up")


def test_an_absolute_path_inside_is_the_same_path(checkout: Checkout) -> None:
    checkout.put("a.md", "two\n")
    assert commit(checkout, str(checkout.root / "a.md"), "./specs/../a.md").paths == ("a.md",)


def test_submodules_and_other_repositories_are_refused(checkout: Checkout, tmp_path: Path) -> None:
    library = make_checkout(tmp_path / "library")
    checkout.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "library")
    checkout.git("commit", "-q", "-m", "a submodule")
    make_checkout(checkout.root / "nested")
    checkout.put("library/a.md", "two\n")
    for path in ("library", "library/a.md", "nested", "nested/a.md"):
        assert "nested repository" in refused(commit(checkout, path), "GIT005")
    checkout.git("submodule", "--quiet", "deinit", "--force", "library")
    checkout.put("library/new.md", "x\n")
    assert refused(commit(checkout, "library/new.md"), "GIT009")
    assert checkout.git("ls-tree", "--format=%(objectmode)", "HEAD", "library") == "160000\n"


def test_ignored_paths_are_left_out_unless_they_are_tracked(checkout: Checkout) -> None:
    checkout.put(".gitignore", "*.log\n/specs/\n")
    checkout.put("x.log", "noise\n")
    checkout.put("specs/TODO.md", "two\n")
    done = commit(checkout, "specs/TODO.md", "x.log", "gone.log", ".gitignore")
    assert (done.paths, codes(done)) == ((".gitignore", "specs/TODO.md"), ["GIT006"])
    assert "'x.log'" in done.diagnostics[0].message
    only = commit(checkout, "x.log")
    assert (only.commit, codes(only)) == (None, ["GIT006"])


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert"])
def test_what_is_in_the_middle_of_something_is_left_alone(checkout: Checkout, what: str) -> None:
    checkout.git("checkout", "-q", "-b", "side")
    checkout.put("a.md", "side\n")
    checkout.git("commit", "-q", "-a", "-m", "side")
    checkout.git("checkout", "-q", "main")
    checkout.put("a.md", "main\n")
    checkout.git("commit", "-q", "-a", "-m", "main")
    checkout.git(what, "side" if what != "revert" else "HEAD~1", check=False)
    checkout.put("b.md", "two\n")
    before = checkout.git("rev-parse", "HEAD"), checkout.git("ls-files", "-s")
    if what == "revert":  # of the first commit: both files would go
        assert "is in progress" in refused(commit(checkout, "b.md"), "GIT003")
    else:
        message = refused(commit(checkout, "b.md"), "GIT003")
        assert what in message
    assert (checkout.git("rev-parse", "HEAD"), checkout.git("ls-files", "-s")) == before


def test_a_conflict_without_a_merge_is_left_alone(checkout: Checkout) -> None:
    checkout.put("a.md", "stashed\n")
    checkout.git("stash", "-q")
    checkout.put("a.md", "main\n")
    checkout.git("commit", "-q", "-a", "-m", "main")
    checkout.git("stash", "pop", check=False)
    assert "UU a.md" in checkout.git("status", "--porcelain")
    assert "'a.md' has an unresolved conflict" in refused(commit(checkout, "a.md"), "GIT003")
    checkout.put("b.md", "two\n")
    assert commit(checkout, "b.md").paths == ("b.md",)
    assert "UU a.md" in checkout.git("status", "--porcelain")


def test_without_an_identity_it_is_told_what_to_set(checkout: Checkout) -> None:
    checkout.git("config", "--unset", "user.email")
    checkout.put("a.md", "two\n")
    assert "user.email" in refused(commit(checkout, "a.md"), "GIT004")
    assert checkout.git("status", "--porcelain") == " M a.md\n"


def test_an_identity_of_the_environment_is_taken(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Bob")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "bob@example.org")
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md").commit
    assert checkout.git("log", "-1", "--format=%an %cn") == "Bob Bob\n"


def test_a_folder_without_a_repository_and_a_bare_one_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.md").write_text("x")
    assert "git checkout" in refused(commit_paths(str(plain), ["a.md"], "x"), "GIT002")
    bare = Checkout(plain)
    bare.git("init", "-q", "--bare", "bare.git")
    assert refused(commit_paths(str(plain / "bare.git"), ["HEAD"], "x"), "GIT002")
    found = find_uncommitted(str(plain), ["a.md"])
    assert (found.paths, [finding.code for finding in found.diagnostics]) == ((), ["GIT002"])


def test_a_machine_without_git_is_told(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert refused(commit(checkout, "a.md"), "GIT001")


def test_an_object_that_cannot_be_written_is_told_and_nothing_has_changed(checkout: Checkout) -> None:
    objects = checkout.root / ".git/objects"
    for number in range(256):  # one whose folder isn't there by chance
        checkout.put("a.md", f"two {number}\n")
        blocked = objects / checkout.git("hash-object", "a.md").strip()[:2]
        if not blocked.exists():
            break
    blocked.touch()
    before = checkout.git("rev-parse", "HEAD"), checkout.git("ls-files", "-s")
    assert refused(commit(checkout, "a.md"), "GIT009")
    assert (checkout.git("rev-parse", "HEAD"), checkout.git("ls-files", "-s")) == before


def test_settings_that_are_broken_are_told(checkout: Checkout) -> None:
    with (checkout.root / ".git/config").open("a") as config:
        config.write("[core\n")
    assert "bad config" in refused(commit(checkout, "a.md"), "GIT002")


def test_a_git_that_hangs_is_ended(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository can have git open a pipe; it is waited for only so long."""
    os.mkfifo(checkout.root / ".git/pipe")
    checkout.git("config", "include.path", "pipe")
    monkeypatch.setattr(process, "MAX_SECONDS", 0.3)
    start = time.monotonic()
    assert "timed out after" in refused(commit(checkout, "a.md"), "GIT009")
    assert 0.3 <= time.monotonic() - start < 20


def test_a_git_that_floods_is_ended(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OUTPUT_BYTES", 100_000)
    with (checkout.root / ".git/config").open("a") as config:
        config.write("[x]\n" + "".join(f'y{number} = "{"z" * 80}"\n' for number in range(5000)))
    assert "printed more than" in refused(commit(checkout, "a.md"), "GIT009")


# --- others at work --------------------------------------------------------------------------------------------------


def test_an_index_that_stays_locked_is_told_and_nothing_has_changed(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_RETRY_PAUSES", (0.01, 0.0))
    checkout.put("a.md", "two\n")
    lock = checkout.put(".git/index.lock", "")
    assert "index.lock" in refused(commit(checkout, "a.md"), "GIT008")
    lock.unlink()
    assert checkout.git("status", "--porcelain") == " M a.md\n"
    assert commit(checkout, "a.md").commit


def test_a_lock_that_goes_away_is_waited_for(checkout: Checkout) -> None:
    checkout.put("a.md", "two\n")
    lock = checkout.put(".git/index.lock", "")
    program = "import os, sys, time; time.sleep(0.4); os.unlink(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", program, str(lock)]):
        assert commit(checkout, "a.md").paths == ("a.md",)
    assert not lock.exists()


def test_a_branch_that_stays_locked_leaves_the_index_as_it_was(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_RETRY_PAUSES", (0.01, 0.0))
    checkout.put("a.md", "staged\n")
    checkout.git("add", "a.md")
    entries = checkout.git("ls-files", "-s")
    checkout.put("a.md", "two\n")
    checkout.put("new.md", "two\n")
    (checkout.root / "b.md").unlink()
    checkout.put(".git/refs/heads/main.lock", "")
    assert refused(commit(checkout, "a.md", "new.md", "b.md"), "GIT008")
    assert checkout.git("ls-files", "-s") == entries


def test_a_commit_that_comes_in_between_is_built_upon(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    original = commits._write_commit  # noqa: SLF001 - the moment between reading the branch and moving it
    others: list[str] = []

    def write_commit(*arguments: object) -> str:
        made = original(*arguments)  # type: ignore[arg-type]
        if not others:
            checkout.put("b.md", "theirs\n")
            checkout.git("commit", "-q", "-m", "theirs", "b.md")
            others.append(checkout.git("rev-parse", "HEAD").strip())
        return made

    monkeypatch.setattr(commits, "_write_commit", write_commit)
    checkout.put("a.md", "mine\n")
    done = commit(checkout, "a.md")
    assert others
    assert checkout.git("rev-parse", "HEAD", "HEAD~1").split() == [done.commit, *others]
    assert (checkout.read("a.md"), checkout.read("b.md")) == (b"mine\n", b"theirs\n")
    assert checkout.git("status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.thorough
def test_many_that_commit_at_once_lose_nothing(checkout: Checkout) -> None:
    program = """
import sys
from remit.git.commits import commit_paths
root, who = sys.argv[1:]
for number in range(4):
    name = f"{who}-{number}.md"
    open(f"{root}/{name}", "w").write(name)
    for attempt in range(20):
        if commit_paths(root, [name], name).commit:
            break
    else:
        sys.exit(f"{name} was not committed")
"""
    root = str(checkout.root)
    running = [subprocess.Popen([sys.executable, "-c", program, root, str(who)]) for who in range(4)]
    assert [each.wait() for each in running] == [0] * 4
    subjects = checkout.git("log", "--format=%s").split()
    assert sorted(subjects) == sorted(["first", *(f"{who}-{number}.md" for who in range(4) for number in range(4))])
    assert len(checkout.git("ls-tree", "-r", "--name-only", "HEAD").split()) == 3 + 16
    assert checkout.git("status", "--porcelain") == ""


# --- what is missing -------------------------------------------------------------------------------------------------


def test_what_is_not_committed_yet_is_found_and_nothing_is_written(checkout: Checkout) -> None:
    """C19: a finish step checks the actual commit and does only what is missing."""
    root = str(checkout.root)
    paths = ["a.md", "b.md", "new.md", "never.md", "specs/TODO.md"]
    assert find_uncommitted(root, paths) == Uncommitted()
    checkout.put("a.md", "two\n")
    checkout.git("add", "a.md")
    checkout.put("new.md", "x\n")
    (checkout.root / "b.md").unlink()
    objects, entries = checkout.git("count-objects"), checkout.git("ls-files", "-s")
    assert find_uncommitted(root, paths) == Uncommitted(("a.md", "b.md", "new.md"))
    assert find_uncommitted(root, []) == Uncommitted()
    assert (checkout.git("count-objects"), checkout.git("ls-files", "-s")) == (objects, entries)
    commit(checkout, *paths)
    assert find_uncommitted(root, paths) == Uncommitted()


def test_before_the_first_commit_all_that_is_there_is_missing(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.git("init", "-q")
    checkout.put("a.md", "x\n")
    assert find_uncommitted(str(tmp_path), ["a.md", "b.md"]) == Uncommitted(("a.md",))


# --- messages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "phase", "message"), [
    ("complete research", None, "task 12: complete research"),
    ("  two\n lines\tof text ", 3, "task 12 phase 3: two lines of text"),
    ("red \x1b[31m, bell \x07, bidi \u202e, half \ud800", None, "task 12: red [31m, bell , bidi , half"),
    ("", None, "task 12"),
    ("\n\0", 1, "task 12 phase 1"),
    ("größe 日本", None, "task 12: größe 日本"),
])  # fmt: skip
def test_a_subject_is_one_line_that_can_be_seen(text: str, phase: int | None, message: str) -> None:
    """S6: "task {n}: …", "task {n} phase {p}: …"."""
    assert render_message(12, text, phase=phase) == message


def test_a_subject_is_short() -> None:
    subject = render_message(1, "word " * 1_000_000)
    assert len(subject) <= 120
    assert subject.endswith("…")


@pytest.mark.parametrize("message", ["nul \0 inside", "half \ud800", "-m x", "日本", "#no comment", ""])
def test_any_message_can_be_committed(checkout: Checkout, message: str) -> None:
    checkout.put("a.md", "two\n")
    assert commit(checkout, "a.md", message=message).commit
    kept = message.replace("\0", "").replace("\ud800", "?")
    assert checkout.git("log", "-1", "--format=%B").strip() == kept
