"""Harness settings: Remit's entries in files that belong to a harness and to the user.

Owns those files as far as Remit writes them: hooks and servers in JSON settings, and whole files such as a plugin. An
entry is Remit's if it has the exact form of Remit's own command line; nothing else is ever changed. `.remit/harness`
records what was inserted, without a copy of anybody's settings, so that uninstalling restores the bytes from before. A
file that is broken, a link or not a file is reported and never touched.
"""

from __future__ import annotations

import json
import os
import shlex
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError, RemitError
from remit.git.git_errors import GitRefused
from remit.git.process import run
from remit.git.repository import find_repository
from remit.harnesses import HOOKED, claude, opencode
from remit.hooks.command_tickets import FOLDER as COMMAND_FOLDER
from remit.lazy_regex import lazy
from remit.storage.files import name_half_written, storage_error
from remit.storage.json_edit import (
    DECODER,
    TextChange,
    add_items,
    apply,
    blank_comments,
    explain_breakage,
    measure_depth,
    remove_parts,
    set_members,
    skip_space,
    walk_items,
    walk_members,
)
from remit.storage.safe_path import (
    move_target,
    open_folder,
    open_target,
    read_target,
    remove_target,
    replace_inside,
    write_target,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.ledger.home import Home

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
_GUARD = lazy(r" \|\| (?:exit 2|\{ echo '[^']{0,200}' >&2; exit 2; \})\Z")
"""The end of a guarding hook's command line: a killed hook also blocks. Codex needs a text on standard error."""
_LIMIT = lazy(r"\A\$\(command -v timeout >/dev/null && echo timeout -s KILL \d{1,4}\) ")
"""The beginning of a guarding hook of Codex: Codex ignores a late hook, so a stopped hook is killed in time."""
_THERE = lazy(r"""\A\{ \[ -e ((?:[\w@%+=:,./-]|'[^']*'|"'")+) \] \|\| \(exit 127\); \} && """)
"""The beginning of a command line that checks whether the program's file exists."""
_GONE = lazy(
    r""" \|\| \{ \[ \$\? -eq 127 \] && echo '[^']{0,200}' >&2 && (?:grep -qE '"""
    rf""""{claude.STOP_ACTIVE_KEY}": \?true'"""
    r"""|\[ -z "\$REMIT_TICKET" \] && \{ grep -qE '"agent_\(id\|type\)"'; \[ \$\? -eq 1 \]; \}) && exit 1; \}\Z"""
)
"""The part before the end, with which the user's own session continues if the program is missing."""
_SECONDS = lazy(r" (\d{1,6})\Z")
PROGRAM = "/remit/hooks/entry.py"
COMMAND = "remit hook"
SERVERS = (claude.SERVERS_KEY, opencode.SERVERS_KEY)
_TABLES = (*SERVERS, claude.ENVIRONMENT_KEY)
_OURS = ("hooks", *_TABLES)
"""The keys under which Remit has entries."""
NAME = "remit"
_FOLDER = ".remit/harness"
_LOCK = "harness"
_NAMED, _GROUP, _HOOK = 2, 3, 5
"""The depth of a server or a variable, of a group of hooks (hooks, event, group), and of a hook in a group."""
_MAX_KEPT_BYTES, _MAX_PIECES = 4 * 1024 * 1024, 200
_STAMP = "// Installed by remit hooks install opencode, removed by remit hooks uninstall. sha256:"


class Hook(NamedTuple):
    """A hook in settings: its event, the tools that it is for, its command and its time limit."""

    event: str
    matcher: str | None
    command: str
    timeout_s: int | None


class SettingsEdit(NamedTuple):
    """The change of a file below the root. None means that there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    kept: EditRecord | None = None
    """The record of the change to store; None removes the record."""
    is_guess: bool = False
    """Whether there is no record of the original, so that an empty list or object of the user's may be removed, too."""

    @property
    def is_change(self) -> bool:
        """Whether the edit changes the file."""
        return self.before != self.after


class EditRecord(NamedTuple):
    """The texts that Remit inserted into a file, and the containers and folders that it created for them."""

    is_ours: bool
    """Whether Remit created the file."""
    pieces: tuple[tuple[int, str], ...] = ()
    """The inserted texts, each with its offset in the original text."""
    made: tuple[tuple[str, ...], ...] = ()
    """The created lists and objects, each by its path of keys."""
    folders: tuple[str, ...] = ()


class SettingsFile(NamedTuple):
    """A settings file with one JSON object: its text, the text without comments, and the value."""

    text: str
    plain: str
    start: int
    value: dict[str, Any]


# --- reading ---------------------------------------------------------------------------------------------------------


def parse_settings(data: bytes, file: str, *, comments: bool = False) -> SettingsFile:
    """Return the parsed settings file. `comments`: comments and trailing commas are permitted.

    Raise `InputError` if the file can't be edited safely.
    """
    hint = "correct it by hand, then run the command again"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InputError(f"'{file}' isn't UTF-8 text", hint=hint) from None
    plain = blank_comments(text) if comments else text
    start = skip_space(plain, 1 if text.startswith("\ufeff") else 0)
    if measure_depth(plain) > MAX_DEPTH:
        raise InputError(f"'{file}' is nested too deeply: more than {MAX_DEPTH} levels", hint=hint)
    try:
        value, end = _DECODER.raw_decode(plain, start)
        if (rest := skip_space(plain, end)) < len(plain):
            raise json.JSONDecodeError("Extra data", plain, rest)
    except ValueError as error:
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) and plain[start:] else ""
        raise InputError(f"{explain_breakage(error, text, repr(file)).message}{line}", hint=hint) from None
    if not isinstance(value, dict):
        raise InputError(f"'{file}' isn't a JSON object", hint=hint)
    return SettingsFile(text, plain, start, value)


def _refuse_constant(word: str) -> None:
    raise ValueError(f"a number can't be {word}")


_DECODER = json.JSONDecoder(parse_int=DECODER.parse_int, parse_constant=_refuse_constant)


def load_values(root: str, path: str) -> dict[str, Any]:
    """Return the values of a settings file below the root; empty if there is no file."""
    data = load_file(root, path)
    return {} if data is None else parse_settings(data, f"{root}/{path}").value


# --- what is Remit's -------------------------------------------------------------------------------------------------


def is_own_command(command: object) -> bool:
    """Return whether Remit installed exactly this command line, in this version or another one."""
    return split_command(command) is not None


def split_command(command: object) -> list[str] | None:
    """Return the words of a command line that Remit installed, up to the harness; None for any other command line."""
    if not isinstance(command, str) or "remit" not in command:
        return None
    there = _THERE.match(command)
    plain = _LIMIT.sub("", _GONE.sub("", _GUARD.sub("", command[there.end() if there else 0 :])))
    try:
        words = shlex.split(plain)
    except ValueError:
        return None
    if there and there[1] not in map(shlex.quote, words):
        return None
    if shlex.join(words) != plain:
        return None
    words = words[:-1] if words and words[-1].isdecimal() else words  # the seconds for checks
    if not words or words[-1] not in HOOKED:
        return None
    by_file = len(words) == 5 and words[1:3] == ["-I", "-S"] and words[3].endswith(PROGRAM)  # noqa: PLR2004 - two options
    return words if by_file or words[:-1] == COMMAND.split() else None


def read_check_seconds(command: str) -> int | None:
    """Return the seconds for acceptance checks in a command line that Remit installed; None if it has none."""
    found = _SECONDS.search(_GONE.sub("", _GUARD.sub("", command)))
    return int(found[1]) if found else None


def mentions_remit(command: object) -> bool:
    """Return whether a command line that Remit didn't install seems to call its hook."""
    return isinstance(command, str) and (COMMAND in command or PROGRAM in command) and not is_own_command(command)


def is_own_server(key: str, value: object) -> bool:
    """Return whether an MCP server is the one that Remit installs."""
    if key != NAME or not isinstance(value, dict):
        return False
    command, args = value.get("command"), value.get("args", [])
    words = command if isinstance(command, list) else [command, *(args if isinstance(args, list) else [])]
    return words[1:] in (["mcp"], ["-P", "-m", "remit", "mcp"]) and isinstance(words[0], str)


def is_own_shell(key: str, value: object) -> bool:
    """Return whether a variable names Remit's shell for commands."""
    return key == claude.SHELL_VARIABLE and isinstance(value, str) and f"/{COMMAND_FOLDER}/" in value


def list_hooks(values: Mapping[str, Any]) -> list[Hook]:
    """Return all hooks in a settings file."""
    return [
        _shape_hook(event, group, hook)
        for event, groups in _get_table(values, "hooks").items()
        for group in (groups if isinstance(groups, list) else ())
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for hook in group["hooks"]
        if isinstance(hook, dict)
    ]


def _shape_hook(event: str, group: dict[str, Any], hook: dict[str, Any]) -> Hook:
    matcher, timeout = group.get("matcher"), hook.get("timeout")
    return Hook(
        event,
        matcher if isinstance(matcher, str) else None,
        str(hook.get("command") or ""),
        timeout if isinstance(timeout, int) else None,
    )


def _get_table(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def find_variable(values: Mapping[str, Any], name: str) -> str:
    """Return the value of a variable that a settings file sets for the harness; "" if it sets none."""
    value = _get_table(values, claude.ENVIRONMENT_KEY).get(name)
    return value if isinstance(value, str) else ""


def shape_hooks(hooks: Sequence[Hook]) -> dict[str, Any]:
    """Hooks as settings have them."""
    events: dict[str, list[dict[str, Any]]] = {}
    for event, matcher, command, timeout_s in hooks:
        head = {} if matcher is None else {"matcher": matcher}
        entry = {"type": "command", "command": command, "timeout": timeout_s}
        events.setdefault(event, []).append({**head, "hooks": [entry]})
    return {"hooks": events}


# --- planning --------------------------------------------------------------------------------------------------------


def plan_entries(home: Home, path: str, wanted: Mapping[str, Any], *, comments: bool = False) -> SettingsEdit:
    """Return the edit that gives a settings file these entries of Remit's and no others."""
    file = f"{home.root}/{path}"
    before = load_file(home.root, path)
    kept = _load_kept(home, path)
    base = None
    if before is not None:
        found = parse_settings(before, file, comments=comments)
        if _list_ours(found.value) == _list_ours(wanted):
            return SettingsEdit(path, before, before, kept)
        base = _find_base(found, kept, comments=comments)
    start = parse_settings(base or b"{\n}\n", file, comments=comments)
    changes, made = _merge(start, start.start, wanted, (), file)
    after = apply(start.text, changes).encode()
    pieces = tuple(piece for change in sorted(changes) for piece in _list_pieces(start.text, change))
    folders = kept.folders if kept is not None else _list_missing(home.root, path)
    return SettingsEdit(path, before, after, EditRecord(base is None, pieces, tuple(made), folders))


def plan_removal(home: Home, path: str, *, comments: bool = False) -> SettingsEdit:
    """Return the edit that removes everything that Remit inserted into a settings file."""
    before = load_file(home.root, path)
    if before is None:
        return SettingsEdit(path, None, None)
    kept = _load_kept(home, path)
    found = parse_settings(before, f"{home.root}/{path}", comments=comments)
    base = _find_base(found, kept, comments=comments)
    return SettingsEdit(path, before, base, is_guess=kept is None and base != before)


def plan_file(home: Home, path: str, text: str) -> SettingsEdit:
    """Return the edit that creates a file of Remit's own; raise if another program wrote or changed it."""
    before = load_file(home.root, path)
    if before is not None and not is_stamped(before):
        problem = "was changed since it was installed" if _has_stamp(before) else "isn't Remit's"
        raise InputError(f"'{home.root}/{path}' {problem}", hint="move it away")
    after = stamp(text)
    kept = _load_kept(home, path)
    folders = kept.folders if kept is not None else _list_missing(home.root, path)
    return SettingsEdit(path, before, after, EditRecord(is_ours=True, folders=folders))


def plan_file_removal(home: Home, path: str) -> SettingsEdit:
    """Return the edit that removes a file of Remit's own; raise if another program wrote or changed it."""
    before = load_file(home.root, path)
    if before is None or not _has_stamp(before):
        return SettingsEdit(path, before, before)
    if not is_stamped(before):
        raise InputError(f"'{home.root}/{path}' was changed since it was installed", hint="remove it by hand")
    return SettingsEdit(path, before, None)


def stamp(text: str) -> bytes:
    """Return a file with a first line that names Remit and has a hash of the rest."""
    return f"{_STAMP}{sha256(text.encode()).hexdigest()}\n{text}".encode()


def is_stamped(data: bytes) -> bool:
    """Return whether a file is unchanged since Remit wrote it."""
    head, _, rest = data.partition(b"\n")
    return head == f"{_STAMP}{_hash(rest)}".encode()


def _has_stamp(data: bytes) -> bool:
    return data.startswith(_STAMP.encode())


def _list_ours(values: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Return the entries that are Remit's: hooks in any order, servers and variables."""
    hooks = sorted(repr(hook) for hook in list_hooks(values) if is_own_command(hook.command))
    tables = [(key, name, value) for key in _TABLES for name, value in _get_table(values, key).items()]
    return hooks, [each for each in tables if _is_own((each[0], each[1]), each[2])]


def _is_own(path: tuple[str, ...], value: object) -> bool:
    """Return whether the value at a path of keys is an entry of Remit's. The key of a list item is ""."""
    if path[0] not in _OURS:
        return False
    if path[0] == "hooks":
        is_place = len(path) == _HOOK and path[3] == "hooks"
        return is_place and isinstance(value, dict) and is_own_command(value.get("command"))
    is_own = is_own_shell if path[0] == claude.ENVIRONMENT_KEY else is_own_server
    return len(path) == _NAMED and is_own(path[1], value)


# --- inserting -------------------------------------------------------------------------------------------------------


def _merge(
    base: SettingsFile, start: int, wanted: Mapping[str, Any], path: tuple[str, ...], file: str
) -> tuple[list[TextChange], list[tuple[str, ...]]]:
    """Return the changes that add members to the object at `start` and items to its lists, and the new containers."""
    members = [member for member in walk_members(base.plain, start) if member.key in wanted]
    known = {member.key: member for member in members}
    if len(known) < len(members):
        raise InputError(f"'{file}' gives '{'.'.join((*path, members[0].key))}' twice", hint="keep one of them")
    changes: list[TextChange] = []
    made: list[tuple[str, ...]] = []
    for key, value in wanted.items():
        where = (*path, key)
        there = known.get(key)
        if there is None:
            lists = [name for name, each in value.items() if isinstance(each, list)] if isinstance(value, dict) else []
            made += [where, *((*where, name) for name in lists)]
        elif isinstance(value, dict) and isinstance(there.value, dict):
            inner, inner_made = _merge(base, there.start, value, where, file)
            changes += inner
            made += inner_made
        elif isinstance(value, list) and isinstance(there.value, list):
            changes.append(add_items(base.text, there.start, [*walk_items(base.plain, there.start)], value))
        else:
            kind = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "Remit's"
            problem = f"'{file}' has a '{'.'.join(where)}' that isn't {kind}"
            raise InputError(problem, hint="correct or remove it by hand, then run the command again")
    new = {key: value for key, value in wanted.items() if key not in known}
    return [*changes, *set_members(base.text, start, new, plain=base.plain)], made


def _list_pieces(text: str, change: TextChange) -> list[tuple[int, str]]:
    """Return a replacement as insertions before and after the unchanged text in it."""
    old = text[change.start : change.end]
    at = change.new.index(old)
    pieces = ((change.start, change.new[:at]), (change.end, change.new[at + len(old) :]))
    return [(place, piece) for place, piece in pieces if piece]


# --- removing --------------------------------------------------------------------------------------------------------


def _find_base(found: SettingsFile, kept: EditRecord | None, *, comments: bool) -> bytes | None:
    """Return a file without Remit's entries; None if Remit created it and it contains nothing else."""
    changes, _ = _remove_ours(found, found.start, (), kept)
    base = apply(found.text, changes).encode()
    if kept is None or not changes:
        return base
    value = parse_settings(base, "", comments=comments).value
    exact = _undo(found.text, kept.pieces)
    with suppress(InputError):  # the record may be forged, so both ways must give the same result
        if exact is not None and parse_settings(exact.encode(), "", comments=comments).value == value:
            base = exact.encode()
    return base if value or not kept.is_ours else None


def _undo(text: str, pieces: Sequence[tuple[int, str]]) -> str | None:
    """Return the text without the inserted pieces; None if a piece has changed or is ambiguous."""
    drift = 0
    for index in range(len(pieces) - 1, -1, -1):
        at, piece = pieces[index]
        at += sum(len(each) for _, each in pieces[:index])
        start = at + drift
        if start < 0 or not text.startswith(piece, start):
            if text.count(piece) != 1:
                return None
            start = text.index(piece)
            drift = start - at  # a user's edit has moved it and the insertions before it
        text = text[:start] + text[start + len(piece) :]
    return text


def _remove_ours(
    found: SettingsFile, start: int, path: tuple[str, ...], kept: EditRecord | None
) -> tuple[list[TextChange], bool]:
    """Return the changes that remove Remit's entries from an object or a list, and whether it is removed as a whole.

    A container that is empty then goes if Remit made it. If no one remembers, that is likely. A group without hooks is
    nothing, whatever else it says.
    """
    walk = walk_members if found.plain[start] == "{" else walk_items
    parts = [*walk(found.plain, start)]
    changes: list[TextChange] = []
    gone = []
    for index, part in enumerate(parts):
        where = (*path, part.key)
        is_gone = _is_own(where, part.value)
        if where[0] in _OURS and len(where) < _HOOK and not is_gone and isinstance(part.value, (dict, list)):
            inner, is_gone = _remove_ours(found, part.start, where, kept)
            changes += [] if is_gone else inner
        if is_gone:
            gone.append(index)
    changes += remove_parts(found.text, parts, gone)
    is_empty = len(gone) == len(parts) or len(path) == _GROUP
    may_go = len(path) >= _GROUP or kept is None or path in kept.made
    return changes, bool(path and gone and is_empty and may_go)


# --- files -----------------------------------------------------------------------------------------------------------


def load_file(root: str, path: str) -> bytes | None:
    """Return the content of a file below the root, without following links; None if there is no file."""
    file = f"{root}/{path}"
    try:
        with open_target(root, path) as spot:
            data = read_target(spot, max_bytes=MAX_BYTES)
    except FileNotFoundError:
        return None
    except InputError:
        raise InputError(f"'{file}' isn't a file", hint="move it away") from None
    except OSError as error:
        raise _read_error(root, path, error) from error
    if data is not None and len(data) > MAX_BYTES:
        hint = "make it shorter"
        raise InputError(f"'{file}' has more than {MAX_BYTES:,} bytes", hint=hint)
    return data


def _read_error(root: str, path: str, error: OSError) -> InputError:
    steps = path.split("/")
    for depth in range(1, len(steps) + 1):
        place = f"{root}/{'/'.join(steps[:depth])}"
        if os.path.islink(place):
            return InputError(
                f"'{place}' is a symbolic link, and Remit doesn't write through links",
                hint="replace it by the file that it leads to",
            )
        if depth < len(steps) and os.path.lexists(place) and not os.path.isdir(place):
            return InputError(f"'{place}' isn't a folder", hint="move it away")
    reason = (error.strerror or str(error)).lower()
    return InputError(f"'{root}/{path}' can't be read: {reason}", hint="check its permissions")


def is_ignored(root: str, path: str) -> bool | None:
    """Return whether git ignores a file; None if there is no repository or git fails."""
    try:
        repository = find_repository(root)
        answer = run(
            repository.top,
            "check-ignore",
            "-q",
            "--",
            f"{repository.prefix}{path}",
            more={"GIT_LITERAL_PATHSPECS": "0"},
        )
    except (GitRefused, RemitError):
        return None
    return {0: True, 1: False}.get(answer.code)


def write_edits(home: Home, edits: Sequence[SettingsEdit]) -> None:
    """Write the edits in order. Raise InputError if a file has changed since the plan."""
    with home.lock(_LOCK):
        for edit in edits:
            _check_unchanged(home, edit)
        for edit in edits:
            try:
                _write_edit(home, edit)
            except OSError as error:
                raise storage_error(f"{home.root}/{edit.path}", error) from error


def _check_unchanged(home: Home, edit: SettingsEdit) -> None:
    if load_file(home.root, edit.path) != edit.before:
        raise InputError(f"'{home.root}/{edit.path}' changed meanwhile", hint="run the command again")


def _write_edit(home: Home, edit: SettingsEdit) -> None:
    """Write an edit. Its record is written first and removed last, so that each entry always has a record."""
    if edit.kept is not None:
        _write_kept(home, edit.path, edit.kept)
    if edit.is_change and edit.after is not None:
        home.make_folder("pending")
        replace_inside(home.root, edit.path, edit.after, before=edit.before)
    elif edit.is_change:
        with open_target(home.root, edit.path) as spot:
            _check_unchanged(home, edit)
            os.unlink(spot.name, dir_fd=spot.folder)
            os.fsync(spot.folder)
    if edit.kept is None:
        kept = _load_kept(home, edit.path)
        _remove_folders(home.root, kept.folders if kept is not None and edit.after is None else ())
        _remove_kept(home, edit.path)


def _list_missing(root: str, path: str) -> tuple[str, ...]:
    """Return the missing folders of a file, the outermost first."""
    steps = path.split("/")[:-1]
    folders = ["/".join(steps[: depth + 1]) for depth in range(len(steps))]
    return tuple(folder for folder in folders if not os.path.lexists(f"{root}/{folder}"))


def _remove_folders(root: str, folders: Sequence[str]) -> None:
    """Remove the folders that were created for a file, unless they have other content."""
    for folder in sorted(folders, reverse=True):
        above, _, name = folder.rpartition("/")
        with suppress(OSError):
            handle = open_folder(root, above)
            try:
                os.rmdir(name, dir_fd=handle)
            finally:
                os.close(handle)


# --- records of edits ------------------------------------------------------------------------------------------------


def has_record(home: Home, path: str) -> bool:
    """Return whether there is a record of an edit of a file."""
    return os.path.lexists(f"{home.root}/{_FOLDER}/{_name_kept(path)}")


def _name_kept(path: str) -> str:
    return f"{path.lstrip('.').replace('/', '-')}.json"


def _load_kept(home: Home, path: str) -> EditRecord | None:
    """Return the record of an edit of a file; None if there is none or it is unreadable."""
    try:
        with open_target(home.root, f"{_FOLDER}/{_name_kept(path)}") as spot:
            data = read_target(spot, max_bytes=_MAX_KEPT_BYTES)
        values = json.loads(data or b"")
        return EditRecord(
            bool(values["is_ours"]),
            tuple((int(at), str(text)) for at, text in values["pieces"][:_MAX_PIECES]),
            tuple(tuple(map(str, place)) for place in values["made"]),
            tuple(folder for folder in map(str, values["folders"]) if path.startswith(f"{folder}/")),
        )
    except (OSError, RemitError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _write_kept(home: Home, path: str, kept: EditRecord) -> None:
    home.make_folder("harness")
    data = json.dumps({"version": 1, "path": path, **kept._asdict()}).encode()
    with open_target(home.root, f"{_FOLDER}/{_name_kept(path)}") as spot:
        waiting = spot._replace(name=name_half_written(spot.name))
        write_target(waiting, data, like=spot)
        move_target(waiting, spot)
        os.fsync(spot.folder)


def _remove_kept(home: Home, path: str) -> None:
    with suppress(FileNotFoundError), open_target(home.root, f"{_FOLDER}/{_name_kept(path)}") as spot:
        remove_target(spot)


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
