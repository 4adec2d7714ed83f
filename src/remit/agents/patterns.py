"""Patterns: what a permission's path pattern or bash pattern covers.

Owns the comparison of patterns with each other. Whether a real call may happen is not decided here: this tells a
linter which rules contradict each other, cover each other, or can be got round by another spelling.

How patterns are read: in a path `*` stays within one folder and `**` crosses them; a bash pattern is the beginning of
a command, by words, in which `*` stands for anything. A chain (`a && b`, `a; b`) is taken apart and each command
judged by itself, as the harnesses do it, so a chain is no way round.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from remit.globs import EVERYTHING, expand_braces, is_pattern, match_segments, match_tokens, tokenize
from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MAX_CHARS = 300
"""A longer pattern is only equal to itself: nobody writes one, and comparing it takes time."""


# --- paths -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def covers(wide: str, narrow: str) -> bool:
    """Whether every path that one pattern matches is matched by the other, as far as their texts show it."""
    wide, narrow = _plain(wide), _plain(narrow)
    if wide == narrow:
        return True
    if wide.startswith("!") or narrow.startswith("!") or len(wide) > MAX_CHARS or len(narrow) > MAX_CHARS:
        return False
    if wide in EVERYTHING or narrow in EVERYTHING:
        return wide in EVERYTHING
    choices = [_split(each) for each in expand_braces(wide)]
    return all(_is_absorbed(_split(each), choices) for each in expand_braces(narrow))


def _is_absorbed(narrow: list[str], choices: list[list[str]]) -> bool:
    return ".." not in narrow and any(_absorbs(wide, narrow) for wide in choices)


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern matches one path; a path with a star in it is none."""
    return not is_pattern(path) and covers(pattern, path)


def covered_by_any(narrow: str, wide: Iterable[str]) -> bool:
    """Whether one of several patterns covers a pattern."""
    return any(covers(each, narrow) for each in wide)


def _plain(pattern: str) -> str:
    return pattern.strip().removeprefix("./")


def _split(pattern: str) -> list[str]:
    """The folders of a pattern; `a/**` means whatever is in `a`, as `a/**/*` does."""
    parts = pattern.split("/")
    parts = [part for index, part in enumerate(parts) if part != "**" or parts[index - 1 : index] != ["**"]]
    return [*parts, "*"] if parts[-1] == "**" else parts


def _absorbs(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Match one pattern against the text of the other, whose own stars only a star can stand for."""
    return len(narrow) in match_segments(wide, narrow, _absorbs_part)


def _absorbs_part(wide: str, narrow: str) -> bool:
    """The same within one folder's name."""
    if wide == narrow:
        return True
    if not is_pattern(wide) or "{" in wide or "**" in narrow:
        return False
    return wide == "*" or match_tokens(tokenize(wide), tokenize(narrow), _absorbs_sign)


def _absorbs_sign(wide: str, narrow: str) -> bool:
    return wide == narrow or (wide == "?" and narrow != "*")


# --- bash ------------------------------------------------------------------------------------------------------------

RUNNERS = {
    "bash": "bash -c '{}'", "sh": "sh -c '{}'", "dash": "dash -c '{}'", "zsh": "zsh -c '{}'", "fish": "fish -c '{}'",
    "ksh": "ksh -c '{}'", "eval": "eval '{}'", "exec": "exec {}", "command": "command {}", "env": "env {}",
    "nohup": "nohup {}", "nice": "nice {}", "ionice": "ionice {}", "time": "time {}", "timeout": "timeout 9 {}",
    "setsid": "setsid {}", "stdbuf": "stdbuf -o0 {}", "sudo": "sudo {}", "doas": "doas {}", "su": "su -c '{}'",
    "watch": "watch -g '{}'", "script": "script -qc '{}' /dev/null", "flock": "flock . {}",
    "busybox": "busybox sh -c '{}'", "xargs": "xargs {} < /dev/null", "parallel": "parallel '{}' ::: 1",
    "find": "find . -maxdepth 0 -exec {} \\;",
    "git": "git -c alias.x='!{}' x", "make": "make --eval='x:;{}' x",
    "tar": "tar cf /dev/null /dev/null --checkpoint=1 --checkpoint-action=exec='{}'",
    "awk": "awk 'BEGIN{{system(\"{}\")}}'", "gawk": "gawk 'BEGIN{{system(\"{}\")}}'",
    "sed": "sed -n '1e {}' /etc/passwd",
    "python": "python -c 'import os; os.system(\"{}\")'", "python3": "python3 -c 'import os; os.system(\"{}\")'",
    "perl": "perl -e 'system(\"{}\")'", "ruby": "ruby -e 'system(\"{}\")'", "php": "php -r 'system(\"{}\");'",
    "lua": "lua -e 'os.execute(\"{}\")'", "node": "node -e 'require(\"child_process\").execSync(\"{}\")'",
    "bun": "bun -e 'require(\"child_process\").execSync(\"{}\")'", "vim": "vim -es -c '!{}' -c q",
    "vi": "vi -c '!{}' -c q", "nvim": "nvim --headless -c '!{}' -c q", "ed": "ed <<< '!{}'",
    "tsx": "tsx -e 'require(\"child_process\").execSync(\"{}\")'",
    "ts-node": "ts-node -e 'require(\"child_process\").execSync(\"{}\")'",
    "deno": "deno eval 'new Deno.Command(\"sh\", {{args: [\"-c\", \"{}\"]}}).outputSync()'",
    "pwsh": "pwsh -c '{}'", "tmux": "tmux new -d '{}'", "screen": "screen -dm {}", "strace": "strace -o /dev/null {}",
    "gdb": "gdb -nx -batch -ex '!{}'", "unshare": "unshare -r {}", "cmake": "cmake -E env {}",
    "ssh": "ssh -o ProxyCommand='{}' x", "scp": "scp -o ProxyCommand='{}' x: .", "fd": "fd -d 1 -x {}",
    "rsync": "rsync -e 'sh -c \"{}\"' x: .", "zip": "zip x.zip /etc/passwd -T -TT '{} #'",
    "sqlite3": "sqlite3 /dev/null '.shell {}'", "go": "go run -exec '{}' .",
    "cargo": "cargo run --config 'target.\"cfg(all())\".runner=\"{}\"'",
    "docker": "docker run --rm -v .:/w -w /w alpine {}", "podman": "podman run --rm -v .:/w -w /w alpine {}",
    "npx": "npx -c '{}'", "npm": "npm exec -c '{}'", "pnpm": "pnpm exec {}", "uv": "uv run {}",
    "poetry": "poetry run {}", "bundle": "bundle exec {}", "lake": "lake env {}",
}  # fmt: skip
"""Programs that run what they are given, and how."""
_OTHER_WAYS = {"tar": ("tar xf FILE --to-command='{}'", "tar -xf FILE --to-command='{}'")}
"""For a program of which not all may be allowed: how else."""

_UNSPEAKABLE = frozenset("|&;<>$`\"'\\*?[](){}!#~\n")
"""What has a meaning of its own to a shell: a command with one of these is not respelled."""


@lru_cache(maxsize=4096)
def normalize_command(pattern: str) -> str:
    """A bash pattern without what only says that more may follow: `git push:*` and `git push *` are `git push`."""
    pattern = " ".join(pattern.split())
    for ending in (":*", " *"):
        pattern = pattern.removesuffix(ending)
    return pattern


def allows_everything(pattern: str) -> bool:
    """Whether a bash pattern matches every command."""
    return not normalize_command(pattern).strip("*")


def matches_command(pattern: str, command: str) -> bool:
    """Whether a bash pattern matches a command: as its beginning, by words, or with stars."""
    pattern = normalize_command(pattern)
    if "*" not in pattern:
        return command.startswith(pattern) and (not pattern or command[len(pattern) : len(pattern) + 1] in ("", " "))
    first, *rest = pattern.split("*")
    if not command.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        at = command.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return _ends_a_word(command, rest[-1], at)


def _ends_a_word(command: str, part: str, at: int) -> bool:
    """Whether the last part of a pattern stands somewhere in the rest of a command, with a word's end after it."""
    if not part:
        return True
    found = command.find(part, at)
    while found >= 0:
        end = found + len(part)
        if end == len(command) or command[end] == " ":
            return True
        found = command.find(part, found + 1)
    return False


@lru_cache(maxsize=4096)
def covers_command(wide: str, narrow: str) -> bool:
    """Whether every command that one bash pattern matches is matched by the other, as far as their texts show it."""
    if len(wide) > MAX_CHARS or len(narrow) > MAX_CHARS:
        return wide == narrow
    wide, narrow = normalize_command(wide), normalize_command(narrow)
    if allows_everything(narrow):
        return allows_everything(wide)
    return wide == narrow or matches_command(wide, narrow)


def find_way_round(
    denied: str, *, deny: Iterable[str], allow: Iterable[str] | None, through_others: bool = True
) -> str | None:
    """Another spelling of a denied command that no rule stops; None where each known one is stopped.

    With an `allow` list only what it matches can be run at all; without one, whatever is not denied can. Spellings
    that let another program run the command count unless told not to.
    """
    deny, allow = list(deny), None if allow is None else list(allow)
    command = normalize_command(denied)
    if not is_plain(command):
        return None
    for spelling in _respell_all(command):
        if passes(spelling, deny=deny, allow=allow):
            return spelling
    if not through_others:
        return None
    programs = ["env", "bash"] if allow is None else allow
    return next((way for _, way in find_runners(command, programs, deny=deny, allow=allow)), None)


@lru_cache(maxsize=1024)
def _respell_all(command: str) -> tuple[str, ...]:
    return *respell(command), *_respell_name(command)


def passes(command: str, *, deny: Iterable[str], allow: Iterable[str] | None) -> bool:
    """Whether a command can be run: nothing denies it, and what is allowed, if that is said, matches it."""
    if allow is not None and not any(matches_command(pattern, command) for pattern in allow):
        return False
    return not any(matches_command(pattern, command) for pattern in deny)


def is_plain(command: str) -> bool:
    """Whether a command is nothing but words, so that it can be spelled in another way."""
    return bool(command) and len(command) <= MAX_CHARS and _UNSPEAKABLE.isdisjoint(command)


def find_runners(
    command: str, programs: Iterable[str], *, deny: Sequence[str], allow: Sequence[str] | None
) -> Iterator[tuple[str, str]]:
    """Those of some bash patterns that let a program through which runs others, and how it would run a command."""
    for pattern in programs:
        program = normalize_command(pattern).split(" ", 1)[0]
        for spelling in _run_through(program, command):
            if matches_command(pattern, spelling) and passes(spelling, deny=deny, allow=allow):
                yield pattern, spelling
                break


def _run_through(program: str, command: str) -> Iterator[str]:
    """How a program runs another command; nothing where it runs none, or is that command's own."""
    if program in RUNNERS and program != command.split(" ", 1)[0]:
        yield from (way.format(command) for way in (RUNNERS[program], *_OTHER_WAYS.get(program, ())))


def matches_whole(pattern: str, command: str) -> bool:
    """Whether a pattern matches a whole command as opencode reads it: `*` is anything, ` *` at the end nothing too."""
    if len(pattern) > MAX_CHARS or len(command) > 2 * MAX_CHARS:
        return pattern in (command, "*")
    ends = (pattern, pattern[:-2]) if pattern.endswith(" *") else (pattern,)
    return any(match_tokens(each, command, _absorbs_sign) for each in ends)


def find_way_past(command: str, programs: Iterable[str], may_run: Callable[[str], bool]) -> str | None:
    """Another spelling of a command, or a way to run it through one of some programs, that somebody lets through."""
    if not is_plain(command):
        return None
    through = (way for program in programs for way in _run_through(program, command))
    return next((spelling for spelling in (*_respell_all(command), *through) if may_run(spelling)), None)


def _respell_name(command: str) -> Iterator[str]:
    """The same program under another name: its path in full, or through the shell's own word for it."""
    program, _, rest = command.partition(" ")
    if program == "git" and rest and not rest.startswith("-"):
        yield f"git -C . {rest}"
    if "/" not in program:
        if program not in _BUILT_INS:
            yield f"/usr/bin/{command}"
        yield f"command {command}"


_BUILT_INS = frozenset({"eval", "exec", "source", "alias", "export", "cd", "ulimit", "umask", "trap", "command"})
"""Words of the shell itself: no file is called that."""


class Flags(NamedTuple):
    """What is known of the flags of a command, so that it can be spelled in another way and still do the same."""

    letters: str
    """Those that take no value: they can be written together, apart and in any order."""
    names: Mapping[str, tuple[str, ...]] = {}
    """The other names of a flag."""
    argument: str = "FILE"
    """What can stand before the flags."""


_FLAGS = {
    "rm": Flags("rRfvid", {"-r": ("-R", "--recursive"), "-f": ("--force",)}, "DIR"),
    "cp": Flags("rRfvaiun", {"-r": ("-R", "--recursive"), "-f": ("--force",)}),
    "mv": Flags("fviun", {"-f": ("--force",)}),
    "ln": Flags("sfvn", {"-s": ("--symbolic",), "-f": ("--force",)}),
    "chmod": Flags("Rvcf", {"-R": ("--recursive",)}, "777"),
    "chown": Flags("Rvcfh", {"-R": ("--recursive",)}, "root"),
    "git push": Flags("fdnuqv", {"-f": ("--force",), "-d": ("--delete",)}, "origin"),
    "git branch": Flags("dDfqvra", {"-d": ("--delete",)}, "NAME"),
    "git checkout": Flags("fq", {"-f": ("--force",)}, "HEAD"),
    "git clean": Flags("fdxXqn", {"-f": ("--force",)}, "."),
    "git commit": Flags("anqsv", {"-a": ("--all",), "-n": ("--no-verify",)}),
    "git add": Flags("Afnvu", {"-A": ("--all",), "-f": ("--force",)}, "."),
    "git reset": Flags("q", {}, "HEAD"),
    "npm install": Flags("gDEO", {"-g": ("--global",)}, "NAME"),
}
_SYNONYMS = {
    "chmod +x": ("chmod a+x", "chmod 755"),
    "chmod 777": ("chmod 0777", "chmod a+rwx"),
    "npm install": ("npm i",),
    "pip install": ("python3 -m pip install",),
}


def split_flags(command: str) -> tuple[str, list[str], list[str]]:
    """A command as what comes before its flags, the flags, and the rest."""
    words = command.split()
    first = next((at for at, word in enumerate(words) if at and word.startswith("-")), len(words))
    last = next((at for at in range(first, len(words)) if not words[at].startswith("-")), len(words))
    return " ".join(words[:first]), words[first:last], words[last:]


def respell(command: str) -> Iterator[str]:
    """Other spellings of the same call of the same program: flags apart, in another order, in full, or further back."""
    yield from _SYNONYMS.get(command, ())
    stem, flags, rest = split_flags(command)
    known = _FLAGS.get(stem)
    if known is None or not flags or any(flag in ("-", "--") for flag in flags):
        return
    single = _take_apart(flags, known)
    for other in _reorder(single, known):
        if other != flags:
            yield " ".join([stem, *other, *rest])
    for index, flag in enumerate(single):
        for name in list_names(stem, flag)[1:]:
            yield " ".join([stem, *single[:index], name, *single[index + 1 :], *rest])
    if not rest:
        yield " ".join([stem, known.argument, *flags])


def list_names(stem: str, flag: str) -> tuple[str, ...]:
    """A flag and its other names, whichever of them is given."""
    known = _FLAGS.get(stem)
    for first, others in known.names.items() if known else ():
        if flag == first or flag in others:
            return (flag, *(name for name in (first, *others) if name != flag))
    return (flag,)


def _take_apart(flags: list[str], known: Flags) -> list[str]:
    """`-rf` as `-r -f`."""
    single: list[str] = []
    for flag in flags:
        together = not flag.startswith("--") and set(flag[1:]) <= set(known.letters)
        single += [f"-{letter}" for letter in flag[1:]] if together else [flag]
    return single


def _reorder(single: list[str], known: Flags) -> Iterator[list[str]]:
    """Apart, the other way round, together: where no flag takes a value, all of these mean the same."""
    yield single
    if all(flag[1:] in known.letters or flag.startswith("--") for flag in single):
        yield single[::-1]
    if all(flag[1:] in known.letters for flag in single):
        letters = "".join(flag[1] for flag in single)
        yield [f"-{letters}"]
        yield [f"-{letters[::-1]}"]
