"""Harness settings: Remit's entries in files that belong to a harness and to the person who uses it.

Owns those files as far as Remit writes them: hooks and servers in JSON settings, and whole files such as a plugin. What
is Remit's is known by what it says, the exact form of its own command line, and nothing else is ever changed. What was
put in is remembered in `.remit/harness`, without a copy of anybody's settings, so that taking it out gives the bytes
from before. A file that is broken, a link or no file is told and never touched.
"""

from __future__ import annotations

import json
import os
import shlex
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError, RemitError
from remit.harnesses import HOOKED, claude, opencode
from remit.lazy import lazy
from remit.workspace.command_tickets import FOLDER as COMMAND_FOLDER
from remit.workspace.files import name_half_written, tell_failure
from remit.workspace.git.process import run
from remit.workspace.git.repository import find_repository
from remit.workspace.git.told import Refused
from remit.workspace.inside import (
    PENDING,
    choose_waiting,
    hold_spot,
    move_spot,
    open_folder,
    read_spot,
    remove_spot,
    write_spot,
)
from remit.workspace.settings_text import (
    BrokenSettingsError,
    Piece,
    cut_out,
    find_out,
    put_in,
    scan,
    take_out,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from remit.workspace.home import Home
    from remit.workspace.inside import Spot
    from remit.workspace.settings_text import Node, Part

MAX_BYTES = 1024 * 1024
_GUARD = lazy(r" \|\| (?:exit 2|\{ echo '[^']{0,200}' >&2; exit 2; \})\Z")
"""How a guarding hook's command line ends: a hook that is killed blocks, too. Codex wants a word on standard error."""
_LIMIT = lazy(r"\A\$\(command -v timeout >/dev/null && echo timeout -s KILL \d{1,4}\) ")
"""How a guarding hook of Codex begins: Codex runs a command whose hook is late, so one that is stopped is killed."""
_GONE = lazy(
    r""" \|\| \{ \[ \$\? -eq 127 \] && echo '[^']{0,200}' >&2 && (?:grep -qE '"""
    rf""""{claude.STOP_ACTIVE_KEY}": \?true'"""
    r"""|\[ -z "\$REMIT_TICKET" \] && \{ grep -qE '"agent_\(id\|type\)"'; \[ \$\? -eq 1 \]; \}) && exit 1; \}\Z"""
)
"""What stands before that: without the program, a person's own session goes on."""
PROGRAM = "/remit/doors/hook.py"
COMMAND = "remit hook"
SERVERS = (claude.SERVERS_KEY, opencode.SERVERS_KEY)
NAME = "remit"
_FOLDER = ".remit/harness"
_LOCK = "harness"
_GROUP = 3
"""How deep a group of hooks is: below the object, its hooks, and the event's list."""
_MAX_KEPT_BYTES = 4 * 1024 * 1024
_STAMP = "// Installed by remit init --harness opencode, removed by remit uninstall. sha256:"


class Hook(NamedTuple):
    """A hook as settings have it: when it fires, for which tools, what it runs and for how long at most."""

    event: str
    matcher: str | None
    command: str
    timeout_s: int | None


class Edit(NamedTuple):
    """What becomes of a file below the root. None where there is none, or shall be none."""

    path: str
    before: bytes | None
    after: bytes | None
    kept: Kept | None = None
    """What is to be remembered of it; nothing any more where it is None."""
    is_guess: bool = False
    """Whether nobody remembers what the file was, so that an empty list or object of a person's may go, too."""

    @property
    def is_change(self) -> bool:
        """Whether the file becomes another one."""
        return self.before != self.after


class Kept(NamedTuple):
    """What was put into a file, and what was made for it."""

    after: str
    """The hash of the file as Remit left it."""
    is_ours: bool
    """Whether there was no file before."""
    pieces: tuple[Piece, ...] = ()
    made: tuple[tuple[str, ...], ...] = ()
    folders: tuple[str, ...] = ()


class _Step(NamedTuple):
    """A step of the way to an entry: a list or object, and which of its parts."""

    holder: Node
    number: int

    @property
    def key(self) -> str:
        return self.holder.parts[self.number].key


# --- what is Remit's -------------------------------------------------------------------------------------------------


def is_own_command(command: object) -> bool:
    """Whether a command line is exactly one that Remit installs: of this version, or of another one elsewhere."""
    return split_command(command) is not None


def split_command(command: object) -> list[str] | None:
    """The words of a command line of Remit's; None for anybody else's."""
    if not isinstance(command, str) or "remit" not in command:
        return None
    plain = _LIMIT.sub("", _GONE.sub("", _GUARD.sub("", command)))
    try:
        words = shlex.split(plain)
    except ValueError:
        return None
    if shlex.join(words) != plain or words[-1:] == [] or words[-1] not in HOOKED:
        return None
    by_file = len(words) == 5 and words[1:3] == ["-I", "-S"] and words[3].endswith(PROGRAM)  # noqa: PLR2004 - two options
    return words if by_file or words[:-1] == COMMAND.split() else None


def mentions_remit(command: object) -> bool:
    """Whether a command line of somebody else's seems to call the same hook."""
    return isinstance(command, str) and (COMMAND in command or PROGRAM in command) and not is_own_command(command)


def is_own_server(key: str, value: object) -> bool:
    """Whether an MCP server is the one that Remit installs."""
    if key != NAME or not isinstance(value, dict):
        return False
    command, args = value.get("command"), value.get("args", [])
    words = command if isinstance(command, list) else [command, *(args if isinstance(args, list) else [])]
    return words[1:] in (["mcp"], ["-P", "-m", "remit", "mcp"]) and isinstance(words[0], str)


def is_own_shell(key: str, value: object) -> bool:
    """Whether a variable is the one that names Remit's shell for commands."""
    return key == claude.SHELL_VARIABLE and isinstance(value, str) and f"/{COMMAND_FOLDER}/" in value


def list_hooks(data: bytes) -> list[Hook]:
    """Every hook of a settings file, whoever's it is."""
    return [hook for _, hook in _walk_hooks(_scan(data, comments=False))]


def _walk_hooks(top: Node) -> Iterator[tuple[tuple[_Step, ...], Hook]]:
    """Each hook, with the way to it from the top down."""
    for first, events in _walk_parts(top, dict):
        if events.key != "hooks":
            continue
        for second, event in _walk_parts(events.node, dict):
            for third, group in _walk_parts(event.node, list):
                for fourth, inner in _walk_parts(group.node, dict):
                    for fifth, hook in _walk_parts(inner.node, list) if inner.key == "hooks" else ():
                        if isinstance(hook.node.value, dict):
                            told = _read_hook(event.key, group.node.value, hook.node.value)
                            yield (first, second, third, fourth, fifth), told


def _walk_parts(holder: Node, kind: type) -> Iterator[tuple[_Step, Part]]:
    if type(holder.value) is kind:
        for number, part in enumerate(holder.parts):
            yield _Step(holder, number), part


def _read_hook(event: str, group: dict[str, Any], told: dict[str, Any]) -> Hook:
    matcher, timeout = group.get("matcher"), told.get("timeout")
    return Hook(
        event,
        matcher if isinstance(matcher, str) else None,
        str(told.get("command") or ""),
        timeout if isinstance(timeout, int) else None,
    )


def _walk_servers(top: Node) -> Iterator[tuple[tuple[_Step, ...], Part]]:
    """Each MCP server of Remit's, with the way to it."""
    for first, servers in _walk_parts(top, dict):
        for second, server in _walk_parts(servers.node, dict) if servers.key in SERVERS else ():
            if is_own_server(server.key, server.node.value):
                yield (first, second), server


def _walk_shells(top: Node) -> Iterator[tuple[tuple[_Step, ...], Part]]:
    """Each variable that names Remit's shell, with the way to it."""
    for first, variables in _walk_parts(top, dict):
        for second, variable in _walk_parts(variables.node, dict) if variables.key == claude.ENVIRONMENT_KEY else ():
            if is_own_shell(variable.key, variable.node.value):
                yield (first, second), variable


def find_variable(data: bytes, name: str) -> str:
    """Return the value of a variable that a settings file sets for the harness; "" if it sets none."""
    for _, variables in _walk_parts(_scan(data, comments=False), dict):
        if variables.key == claude.ENVIRONMENT_KEY and isinstance(variables.node.value, dict):
            value = variables.node.value.get(name)
            return value if isinstance(value, str) else ""
    return ""


def shape_hooks(hooks: Sequence[Hook]) -> dict[str, Any]:
    """Hooks as settings have them."""
    events: dict[str, list[dict[str, Any]]] = {}
    for event, matcher, command, timeout_s in hooks:
        head = {} if matcher is None else {"matcher": matcher}
        entry = {"type": "command", "command": command, "timeout": timeout_s}
        events.setdefault(event, []).append({**head, "hooks": [entry]})
    return {"hooks": events}


# --- planning --------------------------------------------------------------------------------------------------------


def plan_entries(home: Home, path: str, wanted: Mapping[str, Any], *, comments: bool = False) -> Edit:
    """How a settings file becomes one with these entries, and with no others of Remit's."""
    before = load_file(home.root, path)
    with _naming(home, path):
        if before is not None and _has_exactly(before, wanted, comments=comments):
            return Edit(path, before, before, _load_kept(home, path))
        base, kept = _find_base(home, path, before, comments=comments)
        text = "{\n}\n" if base is None else _decode(base)
        added = put_in(text, wanted, comments=comments)
        after = added.text.encode()
        folders = kept.folders if kept is not None else _list_missing(home.root, path)
        return Edit(path, before, after, Kept(_hash(after), base is None, added.pieces, added.made, folders))


def plan_removal(home: Home, path: str, *, comments: bool = False) -> Edit:
    """How a settings file becomes what it was before Remit put anything in."""
    before = load_file(home.root, path)
    if before is None:
        return Edit(path, None, None)
    with _naming(home, path):
        base, kept = _find_base(home, path, before, comments=comments)
        return Edit(path, before, base, is_guess=kept is None and base != before)


def plan_file(home: Home, path: str, text: str) -> Edit:
    """How a file that is Remit's as a whole comes to be there; one that somebody has written or changed is refused."""
    before = load_file(home.root, path)
    if before is not None and not is_stamped(before):
        told = "was changed since it was installed" if _has_stamp(before) else "is not Remit's"
        raise InputError(f"'{home.root}/{path}' {told}", hint="move it away")
    after = stamp(text)
    kept = _load_kept(home, path)
    folders = kept.folders if kept is not None else _list_missing(home.root, path)
    return Edit(path, before, after, Kept(_hash(after), is_ours=True, folders=folders))


def plan_file_removal(home: Home, path: str) -> Edit:
    """How a file that is Remit's as a whole goes; one that somebody has written or changed stays."""
    before = load_file(home.root, path)
    if before is None or not _has_stamp(before):
        return Edit(path, before, before)
    if not is_stamped(before):
        raise InputError(f"'{home.root}/{path}' was changed since it was installed", hint="remove it by hand")
    return Edit(path, before, None)


def stamp(text: str) -> bytes:
    """A file with a first line that says whose it is, and shows whether the rest was changed."""
    return f"{_STAMP}{sha256(text.encode()).hexdigest()}\n{text}".encode()


def is_stamped(data: bytes) -> bool:
    """Whether a file is as Remit left it."""
    head, _, rest = data.partition(b"\n")
    return head == f"{_STAMP}{_hash(rest)}".encode()


def _has_stamp(data: bytes) -> bool:
    return data.startswith(_STAMP.encode())


def _has_exactly(data: bytes, wanted: Mapping[str, Any], *, comments: bool) -> bool:
    """Whether a file has these entries of Remit's and no others, wherever somebody has moved them."""
    top = _scan(data, comments=comments)
    there = [hook for _, hook in _walk_hooks(top) if is_own_command(hook.command)]
    asked = [hook for _, hook in _walk_hooks(_scan(json.dumps(wanted).encode(), comments=False))]
    servers = [server.node.value for _, server in _walk_servers(top)]
    shells = [variable.node.value for _, variable in _walk_shells(top)]
    return (sorted(there, key=repr) == sorted(asked, key=repr)
            and shells == [*wanted.get(claude.ENVIRONMENT_KEY, {}).values()]
            and servers == [value[NAME] for key, value in wanted.items() if key in SERVERS])  # fmt: skip


def _find_base(home: Home, path: str, data: bytes | None, *, comments: bool) -> tuple[bytes | None, Kept | None]:
    """A file as it would be without Remit, and what is remembered of it."""
    kept = _load_kept(home, path)
    if data is None:
        return None, kept
    text = _decode(data)
    plain = _take_ours(text, kept, comments=comments)
    if kept is not None:
        is_untouched = _hash(data) == kept.after
        exact = cut_out(text, kept.pieces) if is_untouched else find_out(text, kept.pieces)
        plain = exact if exact is not None and _says_same(exact, plain, comments=comments) else plain
        if kept.is_ours and plain != text and not scan(plain, comments=comments).parts:
            return None, kept
    return plain.encode(), kept


def _says_same(text: str, other: str, *, comments: bool) -> bool:
    """Whether two texts say the same; what is remembered could be anybody's word."""
    try:
        found = scan(text, comments=comments).value
    except BrokenSettingsError:
        return False
    return bool(found == scan(other, comments=comments).value)


def _take_ours(text: str, kept: Kept | None, *, comments: bool) -> str:
    """A text without Remit's entries, found by what they say; lists and objects that were made for them go, too."""
    top = scan(text, comments=comments)
    gone: dict[int, set[int]] = {}
    ways = [way for way, hook in _walk_hooks(top) if is_own_command(hook.command)]
    ways += [way for way, _ in (*_walk_servers(top), *_walk_shells(top))]
    for way in ways:
        for depth in range(len(way) - 1, -1, -1):
            holder, number = way[depth]
            numbers = gone.setdefault(holder.start, set())
            numbers.add(number)
            is_group = depth == _GROUP  # one without hooks is nothing, whatever else it says
            if not (is_group or len(numbers) == len(holder.parts)) or not _may_go(way[:depth], kept):
                break
    return take_out(text, top, gone)


def _may_go(way: Sequence[_Step], kept: Kept | None) -> bool:
    """Whether the list or object at the end of a way was made by Remit: where nobody remembers, that is likely."""
    if not way:
        return False
    return len(way) >= _GROUP or kept is None or tuple(step.key for step in way) in kept.made


def _scan(data: bytes, *, comments: bool) -> Node:
    return scan(_decode(data), comments=comments)


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BrokenSettingsError("is not a text in UTF-8", hint="put it right, or remove it") from None


@contextmanager
def _naming(home: Home, path: str) -> Iterator[None]:
    """Say of which file something is told, and that it was not touched."""
    try:
        yield
    except BrokenSettingsError as error:
        told = f"'{home.root}/{path}' {error.message}, so it was not touched"
        raise InputError(told, hint=error.hint) from None


# --- files -----------------------------------------------------------------------------------------------------------


def load_file(root: str, path: str) -> bytes | None:
    """The content of a file below the root, reached through no link; None where there is none."""
    file = f"{root}/{path}"
    try:
        with hold_spot(root, path) as spot:
            data = read_spot(spot, max_bytes=MAX_BYTES)
    except FileNotFoundError:
        return None
    except InputError:
        raise InputError(f"'{file}' is not a file", hint="move it away") from None
    except OSError as error:
        raise _tell_unreadable(root, path, error) from error
    if data is not None and len(data) > MAX_BYTES:
        hint = "see what is in it, and make it shorter"
        raise InputError(f"'{file}' has more than {MAX_BYTES:,} bytes", hint=hint)
    return data


def _tell_unreadable(root: str, path: str, error: OSError) -> InputError:
    steps = path.split("/")
    for depth in range(1, len(steps) + 1):
        place = f"{root}/{'/'.join(steps[:depth])}"
        if os.path.islink(place):
            return InputError(f"'{place}' is a link, and Remit writes through none", hint="put what it leads to there")
        if depth < len(steps) and os.path.lexists(place) and not os.path.isdir(place):
            return InputError(f"'{place}' is not a folder", hint="move it away")
    reason = (error.strerror or str(error)).lower()
    return InputError(f"'{root}/{path}' cannot be read: {reason}", hint="check its permissions")


def is_ignored(root: str, path: str) -> bool | None:
    """Whether git leaves a file alone; None where there is no repository, or git does not say."""
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
    except (Refused, RemitError):
        return None
    return {0: True, 1: False}.get(answer.code)


def write_edits(home: Home, edits: Sequence[Edit]) -> None:
    """Make files what was planned, one after the other, unless one has changed since."""
    with home.lock(_LOCK):
        for edit in edits:
            _check_unchanged(home, edit)
        for edit in edits:
            try:
                _write_edit(home, edit)
            except OSError as error:
                raise tell_failure(f"{home.root}/{edit.path}", error) from error


def _check_unchanged(home: Home, edit: Edit) -> None:
    if load_file(home.root, edit.path) != edit.before:
        raise InputError(f"'{home.root}/{edit.path}' was changed meanwhile", hint="run it again")


def _write_edit(home: Home, edit: Edit) -> None:
    """What is remembered is written first and forgotten last: at no time is there an entry that nobody knows of."""
    if edit.kept is not None:
        _write_kept(home, edit.path, edit.kept)
    if edit.is_change and edit.after is not None:
        with hold_spot(home.root, edit.path, make=True) as spot:
            _replace(home, edit, spot)
    elif edit.is_change:
        with hold_spot(home.root, edit.path) as spot:
            _check_unchanged(home, edit)
            os.unlink(spot.name, dir_fd=spot.folder)
            os.fsync(spot.folder)
    if edit.kept is None:
        kept = _load_kept(home, edit.path)
        _remove_folders(home.root, kept.folders if kept is not None and edit.after is None else ())
        _remove_kept(home, edit.path)


def _replace(home: Home, edit: Edit, spot: Spot) -> None:
    home.make_folder("pending")
    with hold_spot(home.root, f"{PENDING}/x") as own:
        waiting = choose_waiting(spot, own, name_half_written(spot.name))
        write_spot(waiting, edit.after or b"", like=spot)
        try:
            _check_unchanged(home, edit)
            move_spot(waiting, spot)
        except BaseException:
            remove_spot(waiting)
            raise
    os.fsync(spot.folder)


def _list_missing(root: str, path: str) -> tuple[str, ...]:
    """The folders that have to be made for a file, the outermost first."""
    steps = path.split("/")[:-1]
    folders = ["/".join(steps[: depth + 1]) for depth in range(len(steps))]
    return tuple(folder for folder in folders if not os.path.lexists(f"{root}/{folder}"))


def _remove_folders(root: str, folders: Sequence[str]) -> None:
    """Remove folders that were made for a file, unless something else is in them by now."""
    for folder in sorted(folders, reverse=True):
        above, _, name = folder.rpartition("/")
        with suppress(OSError):
            handle = open_folder(root, above)
            try:
                os.rmdir(name, dir_fd=handle)
            finally:
                os.close(handle)


# --- what is remembered ----------------------------------------------------------------------------------------------


def is_remembered(home: Home, path: str) -> bool:
    """Whether Remit has put something into a file."""
    return os.path.lexists(f"{home.root}/{_FOLDER}/{_name_kept(path)}")


def _name_kept(path: str) -> str:
    return f"{path.lstrip('.').replace('/', '-')}.json"


def _load_kept(home: Home, path: str) -> Kept | None:
    """What was put into a file; None where nobody remembers, or in another way than this."""
    try:
        with hold_spot(home.root, f"{_FOLDER}/{_name_kept(path)}") as spot:
            data = read_spot(spot, max_bytes=_MAX_KEPT_BYTES)
        told = json.loads(data or b"")
        return Kept(
            str(told["after"]),
            bool(told["is_ours"]),
            tuple(Piece(int(at), str(text)) for at, text in told["pieces"]),
            tuple(tuple(map(str, place)) for place in told["made"]),
            tuple(folder for folder in map(str, told["folders"]) if path.startswith(f"{folder}/")),
        )
    except (OSError, RemitError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _write_kept(home: Home, path: str, kept: Kept) -> None:
    home.make_folder("harness")
    data = json.dumps({"version": 1, "path": path, **kept._asdict()}).encode()
    with hold_spot(home.root, f"{_FOLDER}/{_name_kept(path)}") as spot:
        waiting = spot._replace(name=name_half_written(spot.name))
        write_spot(waiting, data, like=spot)
        move_spot(waiting, spot)
        os.fsync(spot.folder)


def _remove_kept(home: Home, path: str) -> None:
    with suppress(FileNotFoundError), hold_spot(home.root, f"{_FOLDER}/{_name_kept(path)}") as spot:
        remove_spot(spot)


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
