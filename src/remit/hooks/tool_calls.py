"""Tool calls: the files and commands in the input of a harness's tool, by the standard's name of the tool."""

from __future__ import annotations

import os

from remit.harnesses import claude, codex, opencode
from remit.harnesses.tool_names import OPERATIONS, get_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from remit.hooks.events import HookEvent
    from remit.policy import ToolCall

WRITING = ("write", "edit")
MAX_VALUES = 2000
"""How many values of a tool's input are checked. A call with more is refused."""
_SCRIPT_KEYS = frozenset({"command", "commands", "cmd", "cmds", "commandline", "shell", "bash", "script"})
_CODE_KEYS = frozenset({"code", "source_code", "sourcecode", "expression", "javascript", "python", "function"})
_FILES = (*claude.PATH_KEYS, *opencode.PATH_KEYS, "path", "filename")
_COMMANDS = (*dict.fromkeys((claude.COMMAND_KEY, opencode.COMMAND_KEY, *codex.COMMAND_KEYS, "script")),)
_PATCHES = (*codex.PATCH_KEYS, opencode.PATCH_KEY)
_PATCHED = (*codex.PATCH_MARKS, "+++ b/", "--- a/")


def list_files(tool: str, given: Mapping[str, Any]) -> list[str]:
    """Return the files that a call names."""
    found = [value for key in _FILES if isinstance(value := given.get(key), str) and value]
    if get_name(tool) == "edit":  # also if the call names a file beside the patch
        found += [path for key in _PATCHES if isinstance(text := given.get(key), str) for path in list_patched(text)]
    return found


class InputValues:
    """The values in the input of an unknown tool, at any depth."""

    __slots__ = ("codes", "is_whole", "scripts", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        """Every text, because each of them may be the name of a file."""
        self.scripts: list[str] = []
        """Texts under a key such as `command`: shell commands."""
        self.codes: list[str] = []
        """Texts under a key such as `code`: code of some language."""
        self.is_whole = True
        """Whether all values were read."""


def list_values(given: Mapping[str, Any]) -> InputValues:
    """Return the texts in a tool's input, with the shell commands and the code among them."""
    found = InputValues()
    waiting: list[tuple[str, Any]] = [("", given)]
    for _ in range(MAX_VALUES):
        if not waiting:
            return found
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(str(inner).lower(), each) for inner, each in value.items()]
        elif isinstance(value, list):
            if key in _SCRIPT_KEYS and value and all(isinstance(each, str) for each in value):
                found.scripts.append(_join(value))
            waiting += [("", each) for each in value]
        elif isinstance(value, str) and value:
            found.texts.append(value)
            found.scripts.extend([value] if key in _SCRIPT_KEYS else [])
            found.codes.extend([value] if key in _CODE_KEYS else [])
    found.is_whole = not waiting
    return found


def list_patched(text: str) -> list[str]:
    """Return the files that a patch in a text names."""
    lines = [line.lstrip() for line in text.splitlines()]
    return [line[len(mark) :].strip() for mark in _PATCHED for line in lines if line.startswith(mark)]


def make_call(event: HookEvent) -> ToolCall:
    """Return the call in the form of the policy."""
    from remit.policy import ToolCall

    name, given = get_name(event.tool), event.tool_input
    command = _find_command(given)
    if command and name not in OPERATIONS and not name.startswith("mcp__"):  # an unknown tool may run it
        name = "bash"
    if isinstance(given.get("code"), str) and name == "bash":
        command = f"{command}\nnode -e {_join([given['code']])}"
    files = tuple(list_files(event.tool, given))
    if name in ("grep", "glob"):
        files = _list_searched(name, given, files or (event.cwd,))
    return ToolCall(name, files, command if name == "bash" else "")


def _list_searched(name: str, given: Mapping[str, Any], folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders of a search, and the patterns of files in them, which may name a single file."""
    keys = ("glob", "include") if name == "grep" else ("pattern",)
    patterns = [value for key in keys if isinstance(value := given.get(key), str) and value]
    patterns = [each for each in patterns if not each.startswith("!")]  # these exclude files
    return (*folders, *(os.path.join(folder, pattern) for folder in folders for pattern in patterns))


def _find_command(given: Mapping[str, Any]) -> str:
    """Return the command as one text. Some harnesses pass a list of words."""
    found = [given[key] for key in _COMMANDS if isinstance(given.get(key), str | list)]
    return "\n".join(_join(each) if isinstance(each, list) else each for each in found)


def _join(words: list[Any]) -> str:
    """Return words as a shell command; of a shell with a script, only the script."""
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) == 3 and texts[0].rpartition("/")[2] in ("bash", "sh", "zsh") and texts[1] in ("-c", "-lc"):  # noqa: PLR2004 - shell, option, script
        return texts[2]
    return " ".join("'" + text.replace("'", "'\\''") + "'" for text in texts)
