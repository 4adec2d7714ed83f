"""Profiles from permissions: the launcher enforces what all layers allow, and the rest is said in sentences."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from remit.policy import PathContext, Permissions, confinement_profile
from remit.policy.confinement_profile import list_new_files, make_profile

if TYPE_CHECKING:
    from tests.support.confined_users import Caller

FILES = (
    "remit.toml", "README.md", "src/a.py", "src/a.txt", "src/deep/b.py", "docs/a.md", "docs/draft/b.md", "secret/key",
    "conf/x.env", "conf/deep/y.env", "other/z",
)  # fmt: skip
NEW = "new.md", "src/new.py", "docs/new.md", "docs/draft/new.md", "conf/new.env", "reports/new.md", "absent.md"
TRY = "for f in {}; do (echo x >> $f) 2>/dev/null && echo $f; done; true"


@pytest.fixture
def root(caller: Caller) -> Path:
    """A workspace of the user with a few files."""
    work = caller.make_folder("work")
    for name in FILES:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("old\n")
    caller.own(work)
    return work


def make_ground(root: Path) -> PathContext:
    return PathContext(str(root), str(root), str(root.parent / "home"), os.path.realpath)


def write_all(caller: Caller, root: Path, *layers: Permissions, **given: tuple[str, ...]) -> tuple[set[str], list[str]]:
    """Return which of the files a confined command can write, and the sentences about the permissions."""
    profile, sentences = make_profile(layers, make_ground(root), **given)
    files = list_new_files(layers, make_ground(root))
    for path in map(Path, profile.write):
        if not os.path.lexists(path):
            path.touch() if str(path) in files else path.mkdir(parents=True)
            caller.own(root)
    ran = caller.run(profile, TRY.format(" ".join((*FILES, *NEW))), cwd=root)
    assert ran.returncode == 0, ran.stderr
    return {*ran.stdout.split()}, sentences


def allow(*patterns: str, **more: tuple[str, ...]) -> Permissions:
    return Permissions(allow={"write": patterns}, deny=more)


EVERY = {*FILES, *NEW} - {"reports/new.md"}
SRC, DOCS = (
    {"src/a.py", "src/a.txt", "src/deep/b.py", "src/new.py"},
    {each for each in EVERY if each.startswith("docs/")},
)
NO_WRITING = Permissions(tools=("read", "bash"))


@pytest.mark.parametrize(
    ("layers", "written"),
    [
        pytest.param((), EVERY, id="no layer"),
        pytest.param((Permissions(),), EVERY, id="no rules"),
        pytest.param((allow("**/*"),), EVERY, id="everything"),
        pytest.param((allow("src/**"),), SRC, id="folder"),
        pytest.param((allow("src/**/*", "docs/"),), SRC | DOCS, id="two folders"),
        pytest.param((allow("{src,docs}/**"),), SRC | DOCS, id="braces"),
        pytest.param((allow("reports/**"),), {"reports/new.md"}, id="missing folder"),
        pytest.param((allow(),), set(), id="empty list"),
        pytest.param((NO_WRITING,), set(), id="no tool that writes"),
        pytest.param((Permissions(unread="agents/x.md"),), set(), id="unread permissions"),
        pytest.param((Permissions(tools=("edit",), allow={"edit": ("src/**",)}),), SRC, id="edit only"),
        pytest.param((allow("src/**"), allow("docs/**")), set(), id="disjoint ancestors"),
        pytest.param((allow("docs/**", "src/**"), allow("docs/draft/**"), Permissions()),
                     {"docs/draft/b.md", "docs/draft/new.md"}, id="ancestor allows less"),
        pytest.param((allow("docs/draft/**"), allow("docs/**")),
                     {"docs/draft/b.md", "docs/draft/new.md"}, id="ancestor allows more"),
        pytest.param((Permissions(), NO_WRITING), set(), id="ancestor without a tool that writes"),
        pytest.param((Permissions(deny={"write": ("docs/draft/**", "remit.toml")}),),
                     EVERY - {"docs/draft/b.md", "docs/draft/new.md", "remit.toml"}, id="deny inside"),
        pytest.param((Permissions(deny={"edit": ("docs",)}),), EVERY - DOCS, id="deny edit of a plain folder"),
        pytest.param((allow("docs/draft/**", write=("docs/**",)),), set(), id="deny around what is allowed"),
        pytest.param((allow("src/**", write=("**",)),), set(), id="deny everything"),
        pytest.param((allow("src/**"), Permissions(deny={"write": ("src/deep/**",)})),
                     SRC - {"src/deep/b.py"}, id="ancestor denies"),
    ],
)  # fmt: skip
@pytest.mark.thorough("unprivileged")
def test_rules_that_the_kernel_enforces(
    caller: Caller, root: Path, layers: tuple[Permissions, ...], written: set[str]
) -> None:
    assert write_all(caller, root, *layers) == (written, [])


def test_patterns_that_the_kernel_enforces_differently(caller: Caller, root: Path) -> None:
    for layer, written, sentence in (
        (allow("src/**/*.py"), SRC,
         f"allow write \"src/**/*.py\": the kernel can't enforce patterns, so everything in '{root}/src' can be written"),
        (allow("README.md"), {"README.md"},
         'allow write "README.md": the file can be changed in place; a program that replaces it fails'),
        (allow("absent.md"), {"absent.md"},
         'allow write "absent.md": the file is made empty before the agent starts; a program that replaces it fails'),
        (allow("docs"), set(), 'allow write "docs": it is a folder, and stays read-only; "docs/**" means what is in it'),
        (allow("!docs"), set(), 'allow write "!docs": the kernel can\'t enforce this pattern, so it allows nothing'),
        (allow("src/**", write=("src/none",)), SRC, "deny write \"src/none\": it doesn't exist, and a command can create it"),
        (allow("conf/**", write=("**/*.env",)), {"conf/new.env"},
         'deny write "**/*.env": 2 that match stay read-only; a command can create others'),
        (Permissions(allow={"write": ("src/**",), "edit": ("docs/**",)}), SRC | DOCS,
         "allow write and allow edit differ: the kernel allows what one of them allows"),
        (Permissions(tools=("write",), allow={"write": ("src/**",), "read": ("src/**",)}), SRC,
         "allow read: the kernel hides what is denied, and every other file can be read"),
    ):  # fmt: skip
        for name in ("conf/new.env", "absent.md"):
            (root / name).unlink(missing_ok=True)
        assert write_all(caller, root, layer) == (written, [sentence]), layer


def test_too_many_matches_close_the_folder(caller: Caller, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement_profile, "MAX_MATCHES", 1)
    written, sentences = write_all(caller, root, allow("src/**", "conf/**", write=("conf/**/*.env",)))
    assert written == SRC
    assert sentences[0] == (
        f"deny write \"conf/**/*.env\": too many files to compare, so everything in '{root}/conf' stays read-only"
    )


def test_places_that_builds_need(caller: Caller, root: Path) -> None:
    cache = caller.make_folder("home") / ".cache"
    cache.mkdir()
    caller.own(cache)
    places = ("~/.cache", str(root.parent), "~/.missing", "/")
    profile, sentences = make_profile((NO_WRITING,), make_ground(root), write=places)
    assert profile.write == (str(cache),)
    assert sentences == [
        f"[confine] write '{root.parent}': it contains the workspace, and stays read-only",
        "[confine] write '/': it contains the workspace, and stays read-only",
    ]
    ran = caller.run(profile, f"touch {cache}/x && ! touch {root}/x")
    assert ran.returncode == 0, ran.stderr
    denied, _ = make_profile((Permissions(deny={"write": ("~/**",)}),), make_ground(root), write=("~/.cache",))
    assert denied.write == (str(root),)


def test_protected_places_win(caller: Caller, root: Path) -> None:
    written, sentences = write_all(caller, root, allow("docs/**", "conf/deep/**"), protect=(f"{root}/conf",))
    assert (written, sentences) == (DOCS, [])


def test_denied_files_cant_be_read(caller: Caller, root: Path) -> None:
    layer = Permissions(deny={"read": ("secret/**", "**/*.env", "later")})
    profile, sentences = make_profile((layer,), make_ground(root))
    assert sentences == [
        'deny read "**/*.env": 2 that match are hidden; others can be read if they are created later',
        'deny read "later": it doesn\'t exist, and can be read if it is created later',
    ]
    ran = caller.run(profile, "cat secret/* conf/*.env conf/deep/*.env README.md 2>/dev/null; mv secret s", cwd=root)
    assert ran.stdout == "old\n"
    everything, sentences = make_profile((Permissions(deny={"read": ("**",)}),), make_ground(root))
    assert (everything.write, everything.hide) == ((), (str(root),))
    assert sentences == ['deny read "**": only the workspace is hidden; programs need the other files']


def test_the_token_of_the_server_cant_be_read(caller: Caller, root: Path) -> None:
    (root / ".remit").mkdir()
    (root / ".remit" / "server.json").write_text("token\n")
    (root / ".remit" / "other").write_text("other\n")
    caller.own(root)
    profile, sentences = make_profile((Permissions(),), make_ground(root), protect=(f"{root}/.remit",))
    ran = caller.run(profile, "cat .remit/server.json .remit/other; wc -c < .remit/server.json", cwd=root)
    assert (ran.stdout, sentences) == ("other\n0\n", [])


def test_links(caller: Caller, root: Path) -> None:
    """A link outside is followed, an allowed one stays read-only, and a denied one that could be replaced refuses."""
    (root / "link").symlink_to("docs")
    outside = root.parent / "outside"
    outside.symlink_to(root / "docs")
    profile, sentences = make_profile((allow("link/**"),), make_ground(root))
    assert (profile.write, sentences) == (
        (), [f"allow write \"link/**\": '{root}/link' leads through a symbolic link, and stays read-only"],
    )  # fmt: skip
    written, sentences = write_all(caller, root, Permissions(deny={"write": (f"{outside}/draft/**",)}))
    assert (written, sentences) == (EVERY - {"docs/draft/b.md", "docs/draft/new.md"}, [])
    profile, _ = make_profile((Permissions(deny={"write": ("link/**",)}),), make_ground(root))
    ran = caller.run(profile, "echo ran", cwd=root)
    assert (ran.returncode, ran.stdout) == (125, "")
    assert "is a symbolic link, and a link can't be protected" in ran.stderr


def test_a_workspace_that_is_reached_by_a_link(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    profile, sentences = make_profile((allow("src/**"),), make_ground(link))
    assert (profile.write, sentences) == ((f"{root}/src",), [])


@pytest.mark.parametrize("name", ["[a]", "*"])
def test_the_name_of_the_workspace_is_no_pattern(caller: Caller, root: Path, name: str) -> None:
    """Folders of web frameworks are called so. The rules of such a workspace named nothing, and protected nothing."""
    moved = root.rename(root.parent / name)
    written, sentences = write_all(
        caller, moved, Permissions(allow={"write": ("docs/**",)}, deny={"write": ("docs/draft/**",)})
    )
    assert (written, sentences) == (DOCS - {"docs/draft/b.md", "docs/draft/new.md"}, [])
    profile, _ = make_profile((Permissions(deny={"read": ("secret/**",)}),), make_ground(moved))
    assert profile.hide == (f"{moved}/secret",)
