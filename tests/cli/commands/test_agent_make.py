"""`remit agent new`, `upgrade` and `build`: every place and option, on real files, in real repositories."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.agents.document import parse_document
from remit.agents.profiles import KINDS
from tests.support.agent_samples import CLAUDE, STANDARD, change
from tests.support.commands import Ended, Inside, Remit, put
from tests.support.file_trees import list_files
from tests.support.git_command import git
from tests.support.made_agents import CODEX, OPENCODE

COMMAND = "---\ndescription: Does it.\n---\n\nDo it.\n"
OLD = """\
---
name: old-reviewer
description: Reviews code for others.
tools: Read, Grep
---

# Old

You are a reviewer.

## Workflow

1. Look at every line that was changed.
2. Say what is wrong with it.
"""
PROFILES = ("standard", "claude", "opencode", "codex")
TARGETS = {"claude": ".claude/agents/a.md", "opencode": ".opencode/agent/a.md", "codex": ".codex/agents/a.toml"}
INDEX = "docs/context/index.md"


def load(ended: Ended) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(ended.out)


def write_source(name: str) -> str:
    return STANDARD.replace("planner", name)


# New

WORKSPACES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "empty": ({}, {"standard": "agents"}),
    "opencode": (
        {".opencode/agent/subagents/old.md": OPENCODE},
        {"standard": ".opencode/agent/subagents", "opencode": ".opencode/agent/subagents"},
    ),
    "claude": ({".claude/agents/code-reviewer.md": CLAUDE}, {"standard": "agents"}),
    "plain": ({"agents/code-reviewer.md": CLAUDE}, {"standard": "agents", "claude": "agents"}),
    "codex": ({".codex/agents/x.toml": CODEX}, {"standard": "agents"}),
}
"""What a workspace has, and where new agents of a profile go then."""
HOMES = {"claude": ".claude/agents", "opencode": ".opencode/agent", "codex": ".codex/agents"}


@pytest.mark.parametrize("workspace", WORKSPACES)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_new_agent_lies_with_its_like_and_lints_clean(inside: Inside, profile: str, workspace: str) -> None:
    files, places = WORKSPACES[workspace]
    for name, text in files.items():
        put(inside, name, text)
    place = (HOMES | places)[profile]
    stop_reason = "toml" if profile == "codex" else "md"
    for kind in KINDS:
        created = load(inside("agent", "new", kind, f"my-{kind}", "--profile", profile, "--json"))["created"]
        assert created[0] == f"{place}/my-{kind}.{stop_reason}"
        ended = inside("lint")
        assert (ended.code, "no problems" in ended.text, ended.err) == (0, True, b""), ended.text
    assert set(files) < set(list_files(inside.folder)) or not files


@pytest.mark.parametrize(("workspace", "path"), [
    ("empty", "agents/a.md"),
    ("opencode", ".opencode/agent/subagents/a.md"),
    ("claude", ".claude/agents/a.md"),
    ("plain", "agents/a.md"),
    ("codex", ".codex/agents/a.toml"),
])  # fmt: skip
def test_without_a_profile_a_new_agent_is_like_the_others(inside: Inside, workspace: str, path: str) -> None:
    files, _ = WORKSPACES[workspace]
    for name, text in files.items():
        put(inside, name, text)
    assert load(inside("agent", "new", "review", "a", "--json"))["created"][0] == path
    profiles = {parse_document(name, text).profile for name, text in files.items()} or {"standard"}
    assert parse_document(path, (inside.folder / path).read_bytes()).profile in profiles
    assert inside("lint").code == 0


def test_what_it_needs_is_made_once(inside: Inside) -> None:
    ended = inside("agent", "new", "planning", "a")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text == snapshot(
        """\
✓ agents/a.md
✓ docs/context/index.md
✓ docs/context/subagent-return-format.md
Fill in the details of your agent, then run: remit lint agents/a.md
To run it: remit run a PROMPT; on a task: remit task plan N --agent a
"""
    )
    assert load(inside("agent", "new", "planning", "b", "--json")) == {"created": ["agents/b.md"]}
    assert f'index: "{INDEX}"' in (inside.folder / "agents/b.md").read_text()


def test_the_index_that_most_agents_name_is_used(inside: Inside) -> None:
    for name in ("own/list.md", INDEX, "docs/context/return-format.md", "docs/context/plans.md"):
        put(inside, name, "text\n")
    for name in ("a", "b", "c"):
        index = INDEX if name == "c" else " ./own/list.md"
        put(inside, f"agents/{name}.md", write_source(name).replace(INDEX, index))
    for name in ("d", "e", "f"):  # more, but of an index that is not there, or not here
        put(inside, f"agents/{name}.md", write_source(name).replace(INDEX, "../../own/list.md"))
    assert load(inside("agent", "new", "review", "x", "--json")) == {"created": ["agents/x.md"]}
    assert 'index: "own/list.md"' in (inside.folder / "agents/x.md").read_text()
    assert inside("lint", "agents/x.md").code == 0


def test_an_index_that_is_there_is_not_written_over(inside: Inside) -> None:
    put(inside, INDEX, "mine\n")
    assert inside("agent", "new", "planning", "a").code == 0
    assert (inside.folder / INDEX).read_text() == "mine\n"
    assert inside("lint").code == 0


@pytest.mark.parametrize("specs", [".opencode/specs", ".claude/specs", "specs"])
def test_the_folder_of_specifications_is_found(inside: Inside, specs: str) -> None:
    (inside.folder / specs).mkdir(parents=True)
    inside("agent", "new", "planning", "a")
    assert f'write: ["{specs}/**/*"]' in (inside.folder / "agents/a.md").read_text()
    assert inside("lint").code == 0


@pytest.mark.parametrize("folder", ["prompts", "deep/er/agents", ".", ".codex/agents"])
def test_a_folder_may_be_named(inside: Inside, folder: str) -> None:
    path = f"{folder}/a.md".removeprefix("./")
    assert load(inside("agent", "new", "utility", "a", "--folder", folder, "--json"))["created"][0] == path
    ended = inside("lint", path)
    assert (ended.code, ended.text) == (0, snapshot("✓ 1 file: no problems\n"))


def test_paths_are_told_as_seen_from_here(remit: Remit) -> None:
    """The root is found above; a folder is named from here."""
    git(remit.folder, "init")
    below = remit.folder / "src"
    below.mkdir()
    ended = remit("agent", "new", "utility", "a", "--folder", "agents", "--json", cwd=below)
    full = str(remit.folder / INDEX)
    assert load(ended)["created"] == ["agents/a.md", full, full.replace("index", "subagent-return-format")]
    assert (below / "agents/a.md").is_file()
    assert remit("lint").text == snapshot("✓ 1 file: no problems\n")


NAME = "an agent's name is at most 64 of a-z, 0-9 and single hyphens, not "


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["plannin", "a"], "unknown agent type 'plannin'; did you mean 'planning'?"),
        (["zzz", "a"], "unknown agent type 'zzz'; available: planning, implementation, research, "),
        (["planning", "a", "--profile", "claud"], "no agent can be made for claud; did you mean 'claude'?"),
        (["planning", "a", "--profile", "command"], "no agent can be made for command; available: standard, "),
        (["planning", "My_Agent"], f"{NAME}'My_Agent'; use 'my-agent'"),
        (["planning", "../a"], f"{NAME}'../a'; use 'a'"),
        (["planning", "a\nb"], f"{NAME}'a\\nb'; use 'a-b'"),
        (["planning", ""], f"{NAME}''; use a name like 'api-planner'"),
        (["planning", "taken"], "there is already an agent taken, in .claude/agents/taken.md; choose another name"),
        (["planning", "code-reviewer", "--profile", "codex"], "there is already an agent code-reviewer, in "),
        (["planning", "lost", "--profile", "standard", "--folder", "docs"], "docs/lost.md already exists; choose "),
        (["planning", "a", "--folder", ".."], "'..' is outside of the workspace "),
        (["planning", "a", "--folder", "/"], "'/' is outside of the workspace "),
        (["planning", "a", "--folder", ""], "--folder is empty; "),
        (["planning", "a", "--folder", ".claude/commands"], "'.claude/commands' is a folder for commands; "),
        (["planning", "a", "--profile", "standard", "--folder", "docs/lost.md"], "'"),
        (["planning", "a", "--profile", "claude", "--folder", "docs"], "claude reads no agents from 'docs'; "),
        (["planning", "a", "--profile", "codex", "--folder", "agents"], "codex reads no agents from 'agents'; "),
        (["planning", "a", "--profile", "opencode", "--folder", ".claude/agents"], "opencode reads no agents from "),
        (["planning"], "NAME is missing; see 'remit agent new --help'"),
        ([], "KIND is missing; see 'remit agent new --help'"),
    ],
)
def test_what_cannot_be_made_is_2_and_one_line(inside: Inside, args: list[str], sentence: str) -> None:
    put(inside, ".claude/agents/taken.md", CLAUDE)
    put(inside, "docs/lost.md", "")
    before = list_files(inside.folder)
    ended = inside("agent", "new", *args)
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint.startswith(sentence)
    assert "bug" not in ended.complaint
    made = list_files(inside.folder).keys() - before.keys()
    assert not [path for path in made if "context" not in path]


def test_a_command_takes_no_name(inside: Inside) -> None:
    put(inside, ".claude/commands/plan.md", COMMAND)
    assert inside("agent", "new", "planning", "plan", "--profile", "claude").code == 0


def test_a_dangling_link_is_not_written_through(inside: Inside) -> None:
    (inside.folder / "agents").mkdir()
    (inside.folder / "agents/a.md").symlink_to("../elsewhere.md")
    ended = inside("agent", "new", "planning", "a")
    assert (ended.code, ended.complaint) == (
        2,
        snapshot("agents/a.md already exists; choose another name, or remove it"),
    )
    assert not (inside.folder / "elsewhere.md").exists()


def test_after_a_failure_it_can_be_made_again(inside: Inside) -> None:
    """What the agent needs is written before it: nothing is half there that would be in the way."""
    put(inside, "docs", "a file")
    ended = inside("agent", "new", "planning", "a")
    assert ended.code == 2
    assert re.fullmatch(r"'.*' can't be written: .*; check the folder and its permissions", ended.complaint)
    (inside.folder / "docs").unlink()
    assert inside("agent", "new", "planning", "a").code == 0


# Migrate


@pytest.mark.slow
@pytest.mark.thorough
def test_a_diff_changes_nothing_and_applies(remit: Remit) -> None:
    git(remit.folder, "init")
    for name, text in {
        "agents/old-reviewer.md": OLD,
        "agents/win.md": OLD.replace("\n", "\r\n"),
        "agents/last.md": OLD.rstrip("\n"),
        ".claude/agents/empty.md": "",
        ".claude/agents/plain.md": "You work.\n",
        ".opencode/agent/find.md": OPENCODE,
    }.items():
        put(remit, name, text.replace("old-reviewer", Path(name).stem))
    git(remit.folder, "add", "--all")
    git(remit.folder, "-c", "core.autocrlf=false", "commit", "--message", "before")
    before = list_files(remit.folder)
    ended = remit("agent", "upgrade", ".", "--diff")
    assert (ended.code, list_files(remit.folder)) == (1, before)
    assert b"to write (line " in ended.err
    git(remit.folder, "apply", "-", data=ended.out)
    applied = list_files(remit.folder)
    assert all(applied[name] != before[name] for name in before)
    git(remit.folder, "checkout", ".")
    ended = remit("agent", "upgrade", ".")
    assert (ended.code, ended.err) == (1, b"")
    assert list_files(remit.folder) == applied
    assert applied["agents/win.md"].count(b"\n") == applied["agents/win.md"].count(b"\r\n")

    again = remit("agent", "upgrade", ".")
    assert (again.code, "✓" in again.text) == (1, False)
    assert list_files(remit.folder) == applied
    assert remit("agent", "upgrade", ".", "--diff").out == b""


def test_what_is_left_is_what_lint_says(inside: Inside) -> None:
    put(inside, "agents/old-reviewer.md", OLD)
    [first] = load(inside("agent", "upgrade", "agents", "--json"))["items"]
    assert (first["filename"], first["passed_over"]) == ("agents/old-reviewer.md", None)
    assert "wrote agent_type: utility" in first["done"]
    assert set(first["left"][0]) == {"code", "message", "hint", "location"}
    [again] = load(inside("agent", "upgrade", "agents", "--json"))["items"]
    assert again["done"] == []
    codes = {finding["code"] for finding in load(inside("lint", "--json"))["items"] if finding["severity"] != "note"}
    assert {left["code"] for left in again["left"]} == codes


def test_a_file_of_the_standard_is_0(inside: Inside) -> None:
    inside("agent", "new", "planning", "a")
    before = list_files(inside.folder)
    ended = inside("agent", "upgrade", "agents")
    assert (ended.code, ended.text) == (0, snapshot("agents/a.md: nothing to do\n"))
    assert list_files(inside.folder) == before


def test_the_kind_may_be_given_and_specifications_are_found(inside: Inside) -> None:
    (inside.folder / ".claude/specs").mkdir(parents=True)
    put(inside, "agents/old-reviewer.md", OLD)
    inside("agent", "upgrade", "agents", "--kind", "planning")
    text = (inside.folder / "agents/old-reviewer.md").read_text()
    assert "agent_type: planning\n" in text
    assert ".claude/specs/" in text


def test_what_is_passed_over_is_told(inside: Inside, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "b.md"
    outside.write_text(CLAUDE)
    put(inside, ".claude/commands/do.md", COMMAND)
    put(inside, ".codex/agents/x.toml", CODEX)
    put(inside, "prompts/a.md", write_source("a"))
    inside("agent", "build", "prompts/a.md", "--to", "claude")
    (inside.folder / ".claude/agents/b.md").symlink_to(outside)
    before = list_files(inside.folder)
    ended = inside("agent", "upgrade", ".")
    assert (ended.code, ended.text.splitlines()) == (0, snapshot([
        ".claude/agents/a.md: unchanged: compiled from prompts/a.md",
        ".claude/agents/b.md: unchanged: a link that leads out of the workspace",
        ".claude/commands/do.md: unchanged: a command, not an agent",
        ".codex/agents/x.toml: unchanged: an agent of Codex, which is TOML",
    ]))  # fmt: skip
    assert list_files(inside.folder) == before
    assert outside.read_text() == CLAUDE
    shapes = load(inside("agent", "upgrade", ".", "--json"))["items"]
    assert [shape["passed_over"] for shape in shapes][2] == "a command, not an agent"


def test_what_cannot_be_read_stops_no_other(inside: Inside) -> None:
    put(inside, ".claude/agents/a.md", b"---\nname: a\ndescription: \xff\n---\n\nYou work.\n")
    put(inside, ".claude/agents/b.md", "x" * 1_100_000)
    put(inside, ".claude/agents/c.md", b"---\nname: a\0\n---\n")
    os.mkfifo(inside.folder / ".claude/agents/d.md")
    (inside.folder / ".claude/agents/e.md").symlink_to("gone.md")
    (inside.folder / ".claude/agents/f.md").mkdir()
    put(inside, ".claude/agents/old-reviewer.md", OLD)
    before = list_files(inside.folder)
    ended = inside("agent", "upgrade", ".")
    assert (ended.code, ended.err) == (1, b"")
    assert ended.text.count("the file can't be migrated: it ") == 6
    after = list_files(inside.folder)
    assert [name for name in after if after[name] != before[name]] == [".claude/agents/old-reviewer.md"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("missing.md", "'missing.md' can't be read: no such file or directory; check the path"),
        ("agents --kind plannin", "unknown agent type 'plannin'; did you mean 'planning'?"),
        ("empty --kind zzz", "unknown agent type 'zzz'; available: "),
        ("", "PATH… is missing; see 'remit agent upgrade --help'"),
        ("agents --output-format github", "there is no output format 'github'; available: full, json"),
    ],
)
def test_what_cannot_be_migrated_is_2_and_one_line(inside: Inside, args: str, sentence: str) -> None:
    put(inside, "agents/old-reviewer.md", OLD)
    (inside.folder / "empty").mkdir()
    ended = inside("agent", "upgrade", *args.split())
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint.startswith(sentence)
    assert (inside.folder / "agents/old-reviewer.md").read_text() == OLD


def test_a_folder_without_agents_is_told(inside: Inside) -> None:
    (inside.folder / "empty").mkdir()
    ended = inside("agent", "upgrade", "empty")
    assert (ended.code, ended.text) == (0, snapshot("no agent files found; name a file or a folder with agents\n"))
    assert load(inside("agent", "upgrade", "empty", "--json"))["items"] == []


def test_no_raw_text_of_a_file_reaches_the_output(inside: Inside) -> None:
    put(inside, "agents/\x1b[31m.md", OLD.replace("tools: Read", "tools: \u202eX, Read"))
    out = inside("agent", "upgrade", "agents").text
    assert not {"\x1b", "\u202e"} & set(out)


# Compile


def make_context(remit: Remit) -> None:
    for name in ("index.md", "return-format.md", "plans.md"):
        put(remit, f"docs/context/{name}", "text\n")


def make_sources(remit: Remit, *names: str) -> None:
    make_context(remit)
    for name in names:
        put(remit, f"agents/{name}.md", write_source(name))


@pytest.mark.slow
@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.thorough
def test_agents_are_compiled_and_checked(remit: Remit, to: str) -> None:
    make_sources(remit, "a")
    path = TARGETS[to]
    before = list_files(remit.folder)
    ended = remit("agent", "build", "--to", to, "--check")
    assert (ended.code, ended.err) == (1, b"")
    assert ended.text == (
        f"agents/a.md:2:1: CMP008 error {path} doesn't exist\n✗ {path}: out of date\n1 agent: 1 out of date\n"
    )
    assert list_files(remit.folder) == before

    ended = remit("agent", "build", "--to", to)
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text.endswith(f"\n✓ {path}: written\n1 agent: 1 written\n")
    assert "agents/a.md:9:1: CMP001 warning " in ended.text
    written = list_files(remit.folder)
    assert written.keys() - before.keys() == {path}
    assert remit("agent", "build", "--to", to, "--check").text == f"✓ {path}: up to date\n1 agent: 1 up to date\n"
    lint = remit("lint")
    assert (lint.code, lint.text) == (0, snapshot("✓ 2 files: no problems\n"))

    stamp = (remit.folder / path).stat().st_mtime_ns
    assert remit("agent", "build", "--to", to).text.endswith("1 agent: 1 up to date\n")
    assert (remit.folder / path).stat().st_mtime_ns == stamp
    assert list_files(remit.folder) == written


@pytest.mark.parametrize("damage", ["source", "compiled"])
def test_whatever_changed_is_out_of_date_and_written_again(inside: Inside, damage: str) -> None:
    make_sources(inside, "a", "b")
    inside("agent", "build", "--to", "claude")
    file = {"source": "agents/a.md", "compiled": TARGETS["claude"]}[damage]
    with (inside.folder / file).open("a") as stream:
        stream.write("More.\n")
    before = list_files(inside.folder)
    ended = inside("agent", "build", "--to", "claude", "--check")
    assert ended.code == 1
    assert "agents/a.md:2:1: CMP008 error .claude/agents/a.md is out of date\n" in ended.text
    assert ended.text.endswith("2 agents: 1 up to date, 1 out of date\n")
    assert list_files(inside.folder) == before
    assert inside("agent", "build", "--to", "claude").code == 0
    assert inside("agent", "build", "--to", "claude", "--check").code == 0


def test_line_breaks_of_a_checkout_are_no_change(inside: Inside) -> None:
    make_sources(inside, "a")
    inside("agent", "build", "--to", "claude")
    for name, content in list_files(inside.folder).items():
        put(inside, name, content.replace(b"\n", b"\r\n"))
    ended = inside("agent", "build", "--to", "claude", "--check")
    assert (ended.code, "up to date" in ended.text) == (0, True), ended.text


def test_each_format_says_what_is_out_of_date(inside: Inside) -> None:
    make_sources(inside, "a")
    check = ("agent", "build", "--to", "claude", "--check", "--output-format")
    assert inside(*check, "concise").text == snapshot(
        "agents/a.md:2:1: CMP008 error .claude/agents/a.md doesn't exist\n1 agent: 1 out of date\n"
    )
    assert inside(*check, "github").text == snapshot(
        "::error file=agents/a.md,line=2,col=1,endLine=2,title=CMP008::.claude/agents/a.md doesn't exist%0A"
        "Run `remit agent build` without --check.\n"
    )
    [shape] = load(inside(*check, "json"))["items"]
    assert (shape["source"], shape["path"]) == ("agents/a.md", ".claude/agents/a.md")
    assert shape["state"] == "out of date"
    assert shape["diagnostics"][0]["code"] == "CMP008"
    assert inside("explain", "CMP008").code == inside("explain", "CMP009").code == 0
    [shape] = load(inside("agent", "build", "--to", "claude", "--json"))["items"]
    assert shape["state"] == "written"
    assert {finding["filename"] for finding in shape["diagnostics"]} == {"agents/a.md"}


def test_a_source_is_not_written_over(inside: Inside) -> None:
    put(inside, ".claude/agents/a.md", write_source("a"))
    put(inside, ".claude/agents/deep/b.md", write_source("b"))
    ended = inside("agent", "build", "--to", "claude")
    assert ended.code == 1
    assert "CMP007 error the compiled file would overwrite its source\n" in ended.text
    assert "✗ .claude/agents/a.md: can't be built\n" in ended.text
    assert ".claude/agents/deep/b.md:1:1: CMP006 warning " in ended.text.replace(":2:1", ":1:1")
    assert (inside.folder / ".claude/agents/a.md").read_text() == write_source("a")
    assert (inside.folder / ".claude/agents/b.md").is_file()


HAND_WRITTEN = f"{OLD}\nThis is not the one that was\n# Generated from agents/a.md by `remit agent build`.\n"


@pytest.mark.parametrize("check", [(), ("--check",)])
def test_a_file_that_somebody_wrote_is_not_written_over(inside: Inside, check: tuple[str, ...]) -> None:
    make_sources(inside, "a", "b")
    put(inside, ".claude/agents/a.md", HAND_WRITTEN)
    ended = inside("agent", "build", "--to", "claude", *check)
    assert ended.code == 1
    told = ".claude/agents/a.md already exists and wasn't created by `remit agent build`"
    assert f"agents/a.md:2:1: CMP007 error {told}\n✗ agents/a.md: can't be built\n" in ended.text
    assert (inside.folder / ".claude/agents/a.md").read_text() == HAND_WRITTEN
    assert (inside.folder / ".claude/agents/b.md").exists() is not bool(check)


@pytest.mark.parametrize("what", ["folder", "pipe", "dangling link", "link to the source"])
def test_what_is_no_file_of_ours_is_not_replaced(inside: Inside, what: str) -> None:
    make_sources(inside, "a", "b")
    target = inside.folder / ".claude/agents/a.md"
    target.parent.mkdir(parents=True)
    if what == "folder":
        target.mkdir()
    elif what == "pipe":
        os.mkfifo(target)
    else:
        target.symlink_to("gone.md" if what == "dangling link" else "../../agents/a.md")
    before = target.lstat()
    ended = inside("agent", "build", "agents", "--to", "claude")
    assert (ended.code, ended.err) == (1, b"")
    reason = "already exists" if what == "link to the source" else "is in the way"
    assert f"CMP007 error .claude/agents/a.md {reason}" in ended.text
    assert target.lstat().st_ino == before.st_ino
    assert (inside.folder / "agents/a.md").read_text() == write_source("a")
    assert not (inside.folder / ".claude/agents/gone.md").exists()
    assert (inside.folder / ".claude/agents/b.md").is_file()


@pytest.mark.parametrize("check", [(), ("--check",)])
@pytest.mark.parametrize(("name", "path"), [("a", "a.md"), ("A.", "A.md")])
def test_two_sources_for_one_file_are_refused_before_anything_is_written(
    inside: Inside, name: str, path: str, check: tuple[str, ...]
) -> None:
    """Also where they differ only in capitals: some file systems do not tell them apart."""
    make_sources(inside, "0", "a")
    put(inside, "agents/b.md", write_source(name))
    before = list_files(inside.folder)
    ended = inside("agent", "build", "--to", "claude", *check)
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint == (
        f"agents/a.md and agents/b.md both compile to .claude/agents/{path}; give one of the agents another name"
    )
    assert list_files(inside.folder) == before


def test_another_source_is_not_written_over_either(inside: Inside) -> None:
    """Also where only one of the two is compiled."""
    make_sources(inside, "a")
    inside("agent", "build", "--to", "claude")
    put(inside, "agents/b.md", write_source("a"))
    ended = inside("agent", "build", "--to", "claude", "agents/b.md")
    assert ended.code == 1
    assert "CMP007 error .claude/agents/a.md already exists, compiled from agents/a.md\n" in ended.text
    (inside.folder / "agents/a.md").unlink()  # moved, not doubled
    assert inside("agent", "build", "--to", "claude").text.endswith("1 agent: 1 written\n")


def test_names_may_be_swapped(inside: Inside) -> None:
    make_sources(inside, "a", "b")
    inside("agent", "build", "--to", "claude")
    put(inside, "agents/a.md", write_source("b"))
    put(inside, "agents/b.md", write_source("a"))
    assert inside("agent", "build", "--to", "claude").text.endswith("2 agents: 2 written\n")
    assert inside("agent", "build", "--to", "claude", "--check").code == 0


def test_a_broken_source_stops_no_other(inside: Inside) -> None:
    make_sources(inside, "a", "c")
    put(inside, "agents/b.md", change("description: ", "description: [").replace("planner", "b"))
    put(inside, "agents/d.md", write_source("d").encode() + b"\xff")
    ended = inside("agent", "build", "--to", "claude", "--output-format", "concise")
    assert ended.code == 1
    assert "agents/b.md:2:1: CMP007 error the frontmatter can't be read reliably: " in ended.text
    assert "CMP007 error the file can't be compiled: it isn't UTF-8\n" in ended.text
    assert ended.text.endswith("4 agents: 2 written, 2 can't be built\n")
    assert {file.name for file in (inside.folder / ".claude/agents").glob("*.md")} == {"a.md", "c.md"}


def test_compiled_files_are_no_sources(inside: Inside) -> None:
    make_sources(inside, "a")
    for to in TARGETS:
        inside("agent", "build", "--to", to)
    for paths in ((), (".",), ("agents",)):
        ended = inside("agent", "build", "--to", "claude", "--check", *paths)
        assert (ended.code, ended.text) == (0, snapshot("✓ .claude/agents/a.md: up to date\n1 agent: 1 up to date\n"))
    ended = inside("agent", "build", "--to", "claude", TARGETS["opencode"])  # but one that is named is looked at
    assert (ended.code, "only standard agent files can be compiled" in ended.text) == (1, True)


@pytest.mark.parametrize("to", TARGETS)
def test_a_compiled_file_whose_source_is_gone_is_told(inside: Inside, to: str) -> None:
    make_sources(inside, "a", "b")
    for each in TARGETS:
        inside("agent", "build", "--to", each)
    (inside.folder / "agents/a.md").unlink()
    before = list_files(inside.folder)
    path = TARGETS[to]
    for check in ((), ("--check",)):
        ended = inside("agent", "build", "--to", to, *check)
        assert ended.code == 1
        told = "CMP009 error this file was compiled from agents/a.md, which no longer defines this agent"
        assert re.search(
            rf"^{re.escape(path)}:\d:1: {told}\n✗ {re.escape(path)}: source is gone$", ended.text, re.MULTILINE
        )
        assert ended.text.endswith("2 agents: 1 up to date, 1 source is gone\n")
    assert list_files(inside.folder) == before
    assert inside("agent", "build", "--to", to, "agents").code == 0, "nobody asked for the others"
    (inside.folder / path).unlink()
    assert inside("agent", "build", "--to", to, "--check").code == 0


def test_an_agent_with_another_name_leaves_its_old_file(inside: Inside) -> None:
    make_sources(inside, "a")
    inside("agent", "build", "--to", "claude")
    put(inside, "agents/a.md", write_source("b"))
    assert inside("agent", "build", "--to", "claude").text.endswith("2 agents: 1 written, 1 source is gone\n")


def test_a_source_outside_of_the_folders_is_not_gone(inside: Inside) -> None:
    make_context(inside)
    put(inside, "prompts/a.md", write_source("a"))
    inside("agent", "build", "--to", "claude", "prompts/a.md")
    ended = inside("agent", "build", "--to", "claude", "--check")
    assert (ended.code, ended.text.startswith("no standard agents found; ")) == (0, True)


def test_a_broken_source_is_not_gone(inside: Inside) -> None:
    make_sources(inside, "a")
    inside("agent", "build", "--to", "claude")
    put(inside, "agents/a.md", write_source("a").replace("description: ", "description: ["))
    assert inside("agent", "build", "--to", "claude").text.endswith("1 agent: 1 can't be built\n")


def test_a_workspace_without_sources_is_told(inside: Inside) -> None:
    put(inside, ".claude/agents/code-reviewer.md", CLAUDE)
    ended = inside("agent", "build", "--to", "claude")
    assert ended.code == 0
    assert ended.text == snapshot(
        "no standard agents found; to create one, run: remit agent new; to convert one: remit agent upgrade\n"
    )
    assert load(inside("agent", "build", "--to", "claude", "--json"))["items"] == []


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("", "--to HARNESS is missing; see 'remit agent build --help'"),
        ("--to claud", "there is no harness 'claud'; did you mean 'claude'?"),
        ("--to clod", "there is no harness 'clod'; did you mean 'claude'?"),
        ("--to standard", "there is no harness 'standard'; available: claude, opencode, codex"),
        ("--to claude missing", "'missing' can't be read: no such file or directory; check the path"),
        ("--to claude --output-format sarif", "there is no output format 'sarif'; available: "),
    ],
)
def test_what_cannot_be_compiled_is_2_and_one_line(inside: Inside, args: str, sentence: str) -> None:
    """Also where there is nothing to compile."""
    ended = inside("agent", "build", *args.split())
    assert (ended.code, ended.out) == (2, b"")
    assert ended.complaint.startswith(sentence)


def test_a_place_that_cannot_be_written_is_one_line(inside: Inside) -> None:
    make_sources(inside, "a")
    put(inside, ".claude", "a file")
    ended = inside("agent", "build", "--to", "claude")
    assert (ended.code, ended.out) == (2, b"")
    assert re.fullmatch(r"'.*a\.md' can't be written: not a directory; .*", ended.complaint)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_one_line(inside: Inside) -> None:
    make_sources(inside, "a")
    folder = inside.folder / ".claude/agents"
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    try:
        ended = inside("agent", "build", "--to", "claude")
        assert inside("agent", "build", "--to", "claude", "--check").code == 1
    finally:
        folder.chmod(0o700)
    assert (ended.code, ended.out) == (2, b"")
    assert "can't be written: permission denied" in ended.complaint
    assert not list(folder.iterdir())


def test_what_a_new_agent_is_compiled_to_lints_clean(inside: Inside) -> None:
    for kind in KINDS:
        inside("agent", "new", kind, f"my-{kind}")
    for to in TARGETS:
        assert inside("agent", "build", "--to", to).text.endswith("5 agents: 5 written\n")
    assert inside("lint").text == snapshot("✓ 20 files: no problems\n")


# Help


@pytest.mark.parametrize("command", ["new", "upgrade", "build"])
def test_each_command_has_its_help(inside: Inside, command: str) -> None:
    ended = inside("agent", command, "--help")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text.startswith(f"Usage: remit agent {command} [OPTIONS] ")
    assert "--output-format FORMAT" in ended.text
    assert f"\n  {command} " in inside("agent", "--help").text


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_agent_runs_on_a_prompt_alone(inside: Inside, kind: str) -> None:
    """R1.10: what `remit agent new` writes requires no input that only a task answers."""
    assert inside("agent", "new", kind, "scout").code == 0
    ended = inside("run", "scout", "How is the cache invalidated?", "--command", "cat")
    assert "You are scout." in inside("logs", "-").text
    assert b"was not started" not in ended.err
