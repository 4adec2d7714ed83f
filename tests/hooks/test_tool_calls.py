"""Tool calls: the files and commands of a call, by any name that a harness gives the tool."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harnesses.tool_names import get_name, get_operation
from remit.hooks.events import HookEvent
from remit.hooks.tool_calls import list_files, make_call
from remit.hooks.tool_records import find_written

PATCH = (
    "*** Begin Patch\n*** Add File: a.md\n+x\n*** Update File: b/c.md\n*** Move to: b/d.md\n*** Delete File: e\n*** End"
)


def make_event(tool: str, cwd: str = "/w", **given: Any) -> HookEvent:  # noqa: ANN401 - any JSON value
    return HookEvent({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, "cwd": cwd}, "claude")


@pytest.mark.parametrize(
    ("tool", "name", "operation"),
    [
        ("Bash", "bash", "run"), ("bash", "bash", "run"), ("exec_command", "bash", "run"), ("shell", "bash", "run"),
        ("Write", "write", "write"), ("write", "write", "write"), ("Edit", "edit", "write"), ("edit", "edit", "write"),
        ("MultiEdit", "edit", "write"), ("NotebookEdit", "edit", "write"), ("apply_patch", "edit", "write"),
        ("Read", "read", "read"), ("Grep", "grep", "read"), ("Glob", "glob", "read"),
        ("Agent", "Agent", "delegate"), ("spawn_agent", "spawn_agent", "delegate"),
        ("mcp__lab__add", "mcp__lab__add", "other"),
    ],
)  # fmt: skip
def test_a_tool_is_known_by_any_name(tool: str, name: str, operation: str) -> None:
    assert (get_name(tool), get_operation(tool)) == (name, operation)


@pytest.mark.parametrize(
    ("tool", "given", "files"),
    [
        ("Write", {"file_path": "/w/a"}, ["/w/a"]), ("write", {"filePath": "a"}, ["a"]),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb"}, ["/w/n.ipynb"]),
        ("Grep", {"pattern": "x", "path": "src"}, ["src"]), ("Bash", {"command": "ls"}, []),
        ("apply_patch", {"input": PATCH}, ["a.md", "b/c.md", "e", "b/d.md"]),
        ("patch", {"patchText": PATCH}, ["a.md", "b/c.md", "e", "b/d.md"]),
        ("Write", {"file_path": 7}, []),
    ],
)  # fmt: skip
def test_the_files_of_a_call_are_found(tool: str, given: dict[str, Any], files: list[str]) -> None:
    assert list_files(tool, given) == files


@pytest.mark.parametrize(
    ("tool", "given", "paths"),
    [
        ("Grep", {"pattern": "KEY", "glob": ".env"}, ("/w", "/w/.env")),
        ("Grep", {"pattern": "KEY", "path": "/w/src", "glob": "*.pem"}, ("/w/src", "/w/src/*.pem")),
        ("grep", {"pattern": "KEY", "include": ".env"}, ("/w", "/w/.env")),
        ("Glob", {"pattern": "secrets/*"}, ("/w", "/w/secrets/*")), ("Glob", {"pattern": "/etc/*"}, ("/w", "/etc/*")),
        ("Grep", {"pattern": "KEY"}, ("/w",)), ("Grep", {"pattern": "KEY", "glob": "!*.lock"}, ("/w",)),
    ],
)  # fmt: skip
def test_a_search_names_the_files_that_it_looks_for(tool: str, given: dict[str, Any], paths: tuple[str, ...]) -> None:
    assert make_call(make_event(tool, **given)).paths == paths


def test_a_command_of_words_is_put_as_a_shell_has_it() -> None:
    assert make_call(make_event("shell", command=["bash", "-lc", "rm -r x"])).command == "rm -r x"
    assert make_call(make_event("shell", command=["rm", "it's"])).command == "'rm' 'it'\\''s'"


def test_what_was_written_is_named_from_the_root(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "way").symlink_to("sub")
    for name, expected in (("a.md", ["a.md"]), ("way/b.md", ["sub/b.md"]), ("sub/../c.md", ["c.md"]), ("../d.md", [])):
        event = make_event("Write", str(tmp_path), file_path=str(tmp_path / name))
        assert find_written(event, str(tmp_path)) == expected
    assert find_written(make_event("Write", str(tmp_path / "sub"), file_path="e.md"), str(tmp_path)) == ["sub/e.md"]
    assert find_written(make_event("Read", str(tmp_path), file_path="a.md"), str(tmp_path)) == []
    assert find_written(make_event("Write", str(tmp_path), file_path="a\0b"), str(tmp_path)) == []


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
KEYS = st.sampled_from(
    ["file_path", "filePath", "path", "command", "input", "patch", "patchText", "notebook_path", "x"]
)


@given(
    st.sampled_from(["Bash", "Write", "apply_patch", "Grep", "mcp__a__b", ""]), st.dictionaries(KEYS, JSON, max_size=4)
)
def test_whatever_is_given_a_call_is_made_of_it(tool: str, given: dict[str, Any]) -> None:
    call = make_call(make_event(tool, **given))
    assert all(isinstance(path, str) for path in call.paths)
    assert isinstance(call.command, str)
