"""Parcels that go by a remote, and branches that are kept of them."""

from pathlib import Path

import pytest

from remit.errors import StorageError, UsageError
from remit.git.apply_changes import AppliedChanges, apply_agent_changes, fetch
from remit.git.branches import keep_branch
from remit.git.bundles import AgentChanges, BaseTree, delete_remote_branches, pack, push
from remit.git.clones import check_out, collect
from remit.git.tree_snapshot import snapshot_tree
from tests.support.git_checkout import Checkout


@pytest.fixture
def remote(checkout: Checkout, tmp_path: Path) -> Checkout:
    """A bare repository that has what the checkout has."""
    checkout.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    return Checkout(tmp_path / "remote.git")


def make_something(checkout: Checkout, folder: Path, *, with_history: bool) -> tuple[BaseTree, AgentChanges]:
    """Something that was made of a base and fetched."""
    root = str(checkout.root)
    base = snapshot_tree(root, with_history=with_history)
    clone = check_out(str(folder / "store"), str(folder / "s1"), base, bundle=pack(root, base.commit))
    Path(clone, "b.md").write_text("by the agent\n")
    made = collect(clone, base)
    fetch(root, base, made, bundle=pack(clone, made.commit, without=base.commit))
    return base, made


def test_there_and_back_by_a_remote(checkout: Checkout, remote: Checkout, tmp_path: Path) -> None:
    root, url, store = str(checkout.root), f"file://{remote.root}", str(tmp_path / "store")
    checkout.put("a.md", "not committed\n")
    base = snapshot_tree(root, with_history=True)
    push(root, base.commit, url, "remit/base-s1")
    clone = check_out(store, str(tmp_path / "s1"), base, remote=url, branch="remit/base-s1")
    assert Path(clone, "a.md").read_text() == "not committed\n"
    assert "first" in Checkout(Path(clone)).git("log", "--format=%s")
    Path(clone, "b.md").write_text("an early save\n")
    push(clone, collect(clone, base).commit, url, "remit/s1")
    Path(clone, "b.md").write_text("by the agent\n")
    made = collect(clone, base)
    push(clone, made.commit, url, "remit/s1")
    assert remote.read("b.md", "remit/s1") == b"by the agent\n"
    fetch(root, base, made, remote=url, branch="remit/s1")
    assert apply_agent_changes(root, base, made) == AppliedChanges(("b.md",), ())
    assert (checkout.root / "b.md").read_text() == "by the agent\n"
    delete_remote_branches(root, url, ["remit/s1", "remit/base-s1", "remit/never-was"])
    assert remote.git("for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
    assert checkout.git("for-each-ref", "--format=%(refname)") == "refs/heads/main\n"


@pytest.mark.parametrize("with_history", [False, True])
def test_a_repository_without_its_whole_history_is_sent_too(
    checkout: Checkout, tmp_path: Path, *, with_history: bool
) -> None:
    checkout.put("a.md", "two\n")
    checkout.git("commit", "-qam", "second")
    checkout.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    checkout.git("clone", "-q", "--depth=1", f"file://{checkout.root}", str(tmp_path / "shallow"))
    root, remote = str(tmp_path / "shallow"), str(tmp_path / "remote.git")
    Checkout(tmp_path / "shallow").put("b.md", "changed\n")
    base = snapshot_tree(root, with_history=with_history)
    push(root, base.commit, remote, "remit/base")
    clone = check_out(str(tmp_path / "store"), str(tmp_path / "s1"), base, remote=remote, branch="remit/base")
    assert Path(clone, "b.md").read_text() == "changed\n"
    assert Checkout(Path(clone)).git("log", "--format=%s") == ("base\nsecond\nfirst\n" if with_history else "base\n")


def test_only_what_is_new_is_sent_to_a_remote(checkout: Checkout, remote: Checkout) -> None:
    """Of many files that the remote has, none goes there again."""
    for number in range(50):
        checkout.put(f"many/{number}", f"{number}\n" * 100)
    checkout.git("add", ".")
    checkout.git("commit", "-q", "-m", "many")
    checkout.git("push", "-q", str(remote.root), "main")
    checkout.put("a.md", "two\n")
    before = count_objects(remote)
    push(str(checkout.root), snapshot_tree(str(checkout.root), with_history=True).commit, str(remote.root), "remit/s1")
    assert count_objects(remote) == before + 3


def count_objects(repository: Checkout) -> int:
    """How many objects a repository has of its own."""
    facts = dict(line.split(": ") for line in repository.git("count-objects", "-v").splitlines())
    return int(facts["count"]) + int(facts["in-pack"])


def test_a_remote_that_is_none_is_told_without_its_password(checkout: Checkout, tmp_path: Path) -> None:
    root = str(checkout.root)
    base = snapshot_tree(root, with_history=True)
    with pytest.raises(StorageError, match="git can't push to") as told:
        push(root, base.commit, f"file://ada:secret@{tmp_path}/none.git", "remit/s1")
    assert "secret" not in str(told.value)
    with pytest.raises(StorageError, match="can't fetch from"):
        check_out(str(tmp_path / "store"), str(tmp_path / "s1"), base, remote=str(tmp_path / "none.git"), branch="x")
    for wrong in ("--upload-pack=touch", "ext::touch x", ""):
        with pytest.raises((StorageError, UsageError)):
            push(root, base.commit, wrong, "remit/s1")
    for branch in ("--force", "a..b", "/a", "a/", "a b", "a:b", "a.lock"):
        with pytest.raises(UsageError, match="valid branch name"):
            push(root, base.commit, str(tmp_path), branch)
    with pytest.raises(UsageError, match="isn't a commit"):
        push(root, "HEAD", str(tmp_path), "remit/s1")


def test_a_branch_of_a_remote_that_is_another_is_refused(checkout: Checkout, remote: Checkout, tmp_path: Path) -> None:
    checkout.put("a.md", "two\n")
    base = snapshot_tree(str(checkout.root), with_history=True)
    with pytest.raises(StorageError, match="contain the commit"):
        check_out(str(tmp_path / "store"), str(tmp_path / "s1"), base, remote=str(remote.root), branch="main")
    assert not (tmp_path / "s1").exists()


@pytest.mark.thorough("False-True", "True-False")
@pytest.mark.parametrize("with_history", [False, True])
@pytest.mark.parametrize("is_dirty", [False, True])
def test_a_branch_that_is_kept_can_be_merged(
    checkout: Checkout, tmp_path: Path, *, with_history: bool, is_dirty: bool
) -> None:
    if is_dirty:
        checkout.put("a.md", "not committed\n")
    _, made = make_something(checkout, tmp_path, with_history=with_history)
    commit = keep_branch(str(checkout.root), made, "remit/s1")
    assert commit == checkout.git("rev-parse", "remit/s1").strip()
    assert keep_branch(str(checkout.root), made, "remit/s1") == commit
    (checkout.root / ".remit/parcels.git").rename(tmp_path / "moved")
    checkout.git("fsck", "--strict", "--full")
    checkout.git("checkout", "-q", "a.md")
    checkout.git("merge", "-q", "remit/s1")
    assert checkout.read("b.md") == b"by the agent\n"
    assert checkout.read("a.md") == (b"not committed\n" if is_dirty else b"a.md one\n")


def test_a_branch_of_that_name_with_something_else_is_left(checkout: Checkout, tmp_path: Path) -> None:
    _, made = make_something(checkout, tmp_path, with_history=False)
    checkout.git("branch", "remit/s1")
    with pytest.raises(StorageError, match="there is a branch remit/s1 already"):
        keep_branch(str(checkout.root), made, "remit/s1")
    assert checkout.git("rev-parse", "remit/s1") == checkout.git("rev-parse", "main")


def test_without_a_repository_there_is_no_branch(tmp_path: Path) -> None:
    plain = Checkout(tmp_path / "plain")
    plain.put("b.md", "one\n")
    _, made = make_something(plain, tmp_path, with_history=True)
    assert keep_branch(str(plain.root), made, "remit/s1") == ""
