"""Finding agent files: in every place of a harness, in plain folders, and behind links."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remit.agent_files import discovery
from remit.agent_files.discovery import find_agent_files, search_agent_files
from remit.agent_files.lint import check_files
from remit.errors import InputError
from tests.support.agent_samples import CLAUDE, CODEX
from tests.support.file_trees import open_tree, unprivileged


def put(root: Path, name: str, text: str | bytes = CLAUDE) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def find(root: Path, *paths: Path | str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [each.path for each in find_agent_files([str(path) for path in paths], root=str(root), exclude=exclude)]


def check(root: Path, *, cache: bool = False, jobs: int = 1) -> dict[str, list[str]]:
    """The codes that are found in each file."""
    sources = find_agent_files((), root=str(root))
    file = f"{root}/.remit/cache/lint.json" if cache else None
    checked = check_files(sources, root=str(root), cache=file, jobs=jobs)
    return {each.path: [finding.code for finding in each.diagnostics] for each in checked}


# Finding

HOMES = [
    ".claude/agents/a.md",
    ".claude/commands/a.md",
    ".codex/agents/a.toml",
    ".opencode/agent/a.md",
    ".opencode/agents/a.md",
    ".opencode/command/a.md",
    ".opencode/commands/a.md",
    "agents/a.md",
    "packages/one/.claude/agents/deep/er/a.md",
    "packages/one/agents/a.md",
]


def test_files_are_found_in_every_harness_s_place_at_any_depth(tmp_path: Path) -> None:
    for name in HOMES:
        put(tmp_path, name)
    assert find(tmp_path) == sorted(HOMES)


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/a.md",
        ".claude/settings.json",
        ".claude/agents/notes.txt",
        ".claude/agents/a.toml",
        ".claude/a.md",
        ".opencode/a.md",
        ".git/agents/a.md",
        "node_modules/x/agents/a.md",
        ".venv/agents/a.md",
        ".remit/agents/a.md",
        ".claude/agents/node_modules/a.md",
    ],
)
def test_nothing_else_is_one(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    assert find(tmp_path) == []


def test_in_a_plain_folder_with_an_agent_every_file_is_one_but_a_page_about_it(tmp_path: Path) -> None:
    """Report, never drop: a file that has lost its frontmatter is told."""
    put(tmp_path, "agents/a.md")
    put(tmp_path, "agents/bom.md", b"\xef\xbb\xbf---\nname: b\n---\n")
    put(tmp_path, "agents/sub/lost.md", "\n---\nname: lost\n---\n")
    put(tmp_path, "agents/README.md", "# Agents of this program\n")
    os.mkfifo(tmp_path / "agents/pipe.md")
    (tmp_path / "agents/loop.md").symlink_to("loop.md")
    names = ["a.md", "bom.md", "loop.md", "pipe.md", "sub/lost.md"]
    assert find(tmp_path) == [f"agents/{name}" for name in names]


def test_a_plain_folder_without_an_agent_is_a_part_of_a_program(tmp_path: Path) -> None:
    put(tmp_path, "src/agents/notes.md", "# How the agents of this program work\n")
    put(tmp_path, "src/agents/base.py", "class Agent: ...\n")
    assert find(tmp_path) == []


def test_a_linked_folder_of_agents_is_followed_once(tmp_path: Path) -> None:
    put(tmp_path, "shared/x/a.md")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/agents").symlink_to("../shared/x")
    (tmp_path / "shared/x/loop").symlink_to(".")
    assert find(tmp_path) == [".claude/agents/a.md"]


def test_in_a_harness_s_folder_every_file_is_one_whatever_it_is(tmp_path: Path) -> None:
    """Report, never drop."""
    put(tmp_path, ".claude/agents/plain.md", "# no frontmatter\n")
    os.mkfifo(tmp_path / ".claude/agents/pipe.md")
    (tmp_path / ".claude/agents/folder.md").mkdir()
    (tmp_path / ".claude/agents/loop.md").symlink_to("loop.md")
    names = ["folder.md", "loop.md", "pipe.md", "plain.md"]
    assert find(tmp_path) == [f".claude/agents/{name}" for name in names]


def test_linked_folders_are_not_followed_and_linked_files_are(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    put(outside, "a.md")
    root = tmp_path / "root"
    (root / ".claude/agents").mkdir(parents=True)
    (root / ".claude/agents/linked").symlink_to(outside)
    (root / ".claude/agents/up").symlink_to("..")
    (root / ".claude/agents/b.md").symlink_to(outside / "a.md")
    assert find(root) == [".claude/agents/b.md"]


def test_what_lies_above_the_root_says_nothing(tmp_path: Path) -> None:
    """A workspace in a folder that is called `agents` is not full of agents."""
    root = tmp_path / ".claude/agents/project"
    put(root, "docs/a.md")
    put(root, "agents/b.md")
    assert find(root) == ["agents/b.md"]


def test_a_file_that_is_named_is_one_wherever_it_is(tmp_path: Path) -> None:
    file = put(tmp_path, "docs/notes.md", "# no frontmatter\n")
    assert find(tmp_path, file) == ["docs/notes.md"]
    assert find(tmp_path, file, file, tmp_path / "docs/../docs/notes.md") == ["docs/notes.md"]
    assert find(tmp_path, file, exclude=("docs",)) == ["docs/notes.md"]


def test_a_folder_that_is_named_is_looked_through_whole(tmp_path: Path) -> None:
    put(tmp_path, "prompts/a.md")
    put(tmp_path, "prompts/deep/b.md", "# no frontmatter\n")
    put(tmp_path, "agents/README.md", "# Agents\n")
    assert find(tmp_path) == []
    assert find(tmp_path, tmp_path / "prompts") == ["prompts/a.md", "prompts/deep/b.md"]
    assert find(tmp_path, tmp_path / "agents") == ["agents/README.md"]
    put(tmp_path, "prompts/.claude/agents/c.md")
    assert find(tmp_path, tmp_path / "prompts") == ["prompts/.claude/agents/c.md"], "it has a known place in it"


@pytest.mark.parametrize(
    ("here", "path", "found"),
    [
        (".", ".", [".claude/agents/a.md", ".claude/commands/b.md", ".codex/agents/c.toml"]),
        (".claude", ".", [".claude/agents/a.md", ".claude/commands/b.md"]),
        (".claude", "commands", [".claude/commands/b.md"]),
        (".codex/agents", ".", [".codex/agents/c.toml"]),
        (".codex", "agents", [".codex/agents/c.toml"]),
        (".claude/agents", "../../.codex", [".codex/agents/c.toml"]),
    ],
)
def test_a_folder_is_the_same_however_it_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, path: str, found: list[str]
) -> None:
    put(tmp_path, ".claude/agents/a.md")
    put(tmp_path, ".claude/commands/b.md")
    put(tmp_path, ".codex/agents/c.toml", CODEX)
    monkeypatch.chdir(tmp_path / here)
    assert find(tmp_path, path) == found


def test_a_file_outside_has_its_whole_path(tmp_path: Path) -> None:
    file = put(tmp_path, "elsewhere/a.md")
    (tmp_path / "root").mkdir()
    assert find(tmp_path / "root", file) == [str(file)]
    assert find(tmp_path / "root", tmp_path / "elsewhere") == [str(file)]


def test_what_is_excluded_is_left_out(tmp_path: Path) -> None:
    for name in ("agents/a.md", "vendor/agents/b.md", "agents/old/c.md"):
        put(tmp_path, name)
    assert find(tmp_path, exclude=("vendor", "agents/old/**")) == ["agents/a.md"]


@pytest.mark.parametrize("path", ["missing.md", "a\0b"])
def test_a_path_that_cannot_be_read_is_told(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError):
        find(tmp_path, f"{tmp_path}/{path}")


@contextmanager
def closed(root: Path, name: str, mode: int = 0) -> Iterator[None]:
    """A folder that may not be looked into, and somebody whom that binds."""
    (root / name).chmod(mode)
    try:
        with unprivileged():
            with pytest.raises(PermissionError):
                (root / name / "x").stat()
            yield
    finally:
        (root / name).chmod(0o755)


def test_a_folder_that_is_no_place_for_agents_and_cannot_be_read_is_passed_over_and_told() -> None:
    """It may be anything, such as the data of a service."""
    with open_tree() as root:
        put(root, "agents/a.md")
        put(root, "data/agents/b.md")
        with closed(root, "data"):
            search = search_agent_files((), root=str(root))
            assert ([each.path for each in search.sources], search.unread) == (["agents/a.md"], ("data",))
            assert search_agent_files((), root=str(root), exclude=("data",)).unread == ()


@pytest.mark.parametrize("name", [".claude", ".claude/agents", ".opencode/agent", "agents", "pkg/agents/deep", "."])
def test_a_place_for_agents_that_cannot_be_read_is_not_one_without_agents(name: str) -> None:
    with open_tree() as root:
        put(root, f"{name}/x/a.md")
        shown = root if name == "." else name
        with closed(root, name):
            with pytest.raises(InputError, match=f"^'{shown}' can't be read: permission denied; ") as caught:
                find(root)
            assert "lint.exclude" in caught.value.hint
            assert name == "." or find(root, exclude=(name,)) == []


def test_a_place_for_agents_behind_a_closed_folder_is_told() -> None:
    with open_tree() as root:
        put(root, "data/shared/a.md")
        (root / ".claude").mkdir()
        (root / ".claude/agents").symlink_to("../data/shared")
        with closed(root, "data"), pytest.raises(InputError, match=r"^'.claude/agents' can't be read"):
            find(root)


def test_files_of_a_plain_folder_that_may_not_be_opened_could_be_agents() -> None:
    with open_tree() as root:
        put(root, "agents/a.md")
        with closed(root, "agents", 0o744):  # names can be read, and nothing else
            assert find(root) == ["agents/a.md"]
        (root / "agents/a.md").chmod(0)
        with unprivileged():
            assert find(root) == ["agents/a.md"]


def test_more_files_than_anybody_has_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_FILES", 3)
    for number in range(4):
        put(tmp_path, f"docs/{number}.txt", "")
    with pytest.raises(InputError, match="more than 3 files"):
        find(tmp_path)


def test_a_name_that_is_no_unicode_is_found_and_judged(tmp_path: Path) -> None:
    put(tmp_path, ".claude/agents/\udcff.md")
    assert list(check(tmp_path)) == [".claude/agents/\udcff.md"]
