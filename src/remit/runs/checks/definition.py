"""The acceptance checks of a run: which ones, and what is fixed about each when the run is admitted."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, Literal

from remit.errors import UsageError
from remit.harnesses import SESSION_VARIABLES
from remit.light_namedtuple import NamedTuple
from remit.spelling import did_you_mean, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.config.checks import CheckSettings

MAX_CHECKS = 20
SALT_LETTERS = 32
_CONFIGURATION = {
    "pytest": ("pytest.ini", ".pytest.ini", "tox.ini"),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "ruff": ("ruff.toml", ".ruff.toml"),
    "mypy": ("mypy.ini", ".mypy.ini"),
    "flake8": (".flake8",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", ".justfile"),
    "jest": ("jest.config.*",),
    "vitest": ("vitest.config.*",),
    "eslint": ("eslint.config.*", ".eslintrc*"),
    "playwright": ("playwright.config.*",),
    "pre-commit": (".pre-commit-config.yaml",),
    "golangci-lint": (".golangci.*",),
    "phpunit": ("phpunit.xml*",),
}
"""The files that do nothing but configure a program, by the program's name."""
_INTERPRETERS = ("sh", "bash", "dash", "zsh", "python", "node", "ruby", "perl")
_WRAPPERS = ("env", "exec", "nice", "time", "timeout")
"""Programs that execute the program that follows their options and numbers."""
SETTINGS_FILE = "remit.toml"
OWN_SETTINGS = f"/{SETTINGS_FILE}"
"""The pattern for the workspace's own settings: a sample of the same name in another folder decides nothing."""
_VOLATILE = frozenset((
    "_", "OLDPWD", "PWD", "SHLVL", "COLUMNS", "LINES", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID", "COLORTERM", "WINDOWID", "WINDOW", "STY", "TMUX", "TMUX_PANE", "SSH_CLIENT", "SSH_CONNECTION",
    "SSH_TTY", "SSH_AUTH_SOCK", "XDG_SESSION_ID", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
    "LS_COLORS", "PS1", "PS2", "PROMPT_COMMAND", "HISTFILE",
))  # fmt: skip
"""Variables of the terminal: no check gets them, so its result doesn't depend on where Remit was started."""
_OWN = ("REMIT_", *SESSION_VARIABLES)


class AcceptanceCheck(NamedTuple):
    """A command that has to pass. The fields are those of `[checks.NAME]`."""

    name: str
    run: str
    timeout_s: float = 600
    when: tuple[str, ...] = ()
    cwd: str = ""
    protect: tuple[str, ...] = ()
    baseline: bool = False
    junit: str = ""
    weakened: Literal["warn", "partial"] = "warn"

    def as_details(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, as JSON."""
        usual = AcceptanceCheck("", "")
        return {
            name: [*value] if isinstance(value, tuple) else value
            for name, value in self._asdict().items()
            if value != getattr(usual, name)
        }


def read_check(details: Mapping[str, Any]) -> AcceptanceCheck:
    """Return a check from the details of a run."""
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in details.items()
        if name in AcceptanceCheck._fields
    }
    return AcceptanceCheck(**known)


def make_check(name: str, settings: CheckSettings) -> AcceptanceCheck:
    """Return a check of the workspace."""
    cwd = settings.cwd or ""
    protect = find_configuration(settings.run, cwd) if settings.protect is None else settings.protect
    return AcceptanceCheck(
        name, settings.run, settings.timeout, settings.when, cwd, (*protect, OWN_SETTINGS),
        settings.baseline, settings.junit or "", "partial" if settings.weakened == "partial" else "warn",
    )  # fmt: skip


def make_typed_check(command: str) -> AcceptanceCheck:
    """Return a check for a command that a user typed. Its name is the command."""
    return AcceptanceCheck(command, command, protect=(*find_configuration(command), OWN_SETTINGS))


def find_configuration(command: str, cwd: str = "") -> tuple[str, ...]:
    """Return the files that decide a command: the scripts that it runs, and the configuration of its programs.

    Other files that it names don't count: a test that the agent is to write is one of them.
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";()|&<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        words = [*lexer]
    except ValueError:
        words = command.split()
    found = [name for word in words for name in _CONFIGURATION.get(os.path.basename(word), ())]
    folder = "**/" if "cd" in words else f"/{cwd}/" if cwd else "/"  # after `cd`, a path may start in any folder
    for script in _list_scripts(words):
        path = os.path.normpath(script)
        if path != "." and not path.startswith(("/", "-", "~", "$")) and ".." not in path.split("/"):
            found.append(f"{folder}{path}")
    return tuple(dict.fromkeys(found))


def _list_scripts(words: Iterable[str]) -> Iterator[str]:
    """Yield the files that the words of a command execute, directly or by an interpreter."""
    state: str = "program"
    codes: tuple[str, ...] = ()
    for word in words:
        is_value = word.startswith("-") or word.rstrip("smhd").isdecimal()
        if word and not word.strip(";()|&\n"):
            state = "program"
        elif state == "done" or "=" in word.partition("/")[0] or (state == "wrapped" and is_value):
            continue  # an argument, or an assignment before the program
        elif state == "script":
            if word in codes:  # its program is an argument
                state = "done"
            elif not word.startswith(("-", "<", ">")):
                yield word
                state = "done"
        elif word in _WRAPPERS:
            state = "wrapped"
        elif (name := os.path.basename(word).rstrip("0123456789.")) in _INTERPRETERS:
            state, codes = "script", ("-c",) if name.endswith("sh") else ("-c", "-m", "-e")
        else:
            if "/" in word:
                yield word
            state = "done"


def choose_checks(
    named: Iterable[str], settings: Mapping[str, CheckSettings], *, may_be_commands: bool, origin: str = ""
) -> tuple[AcceptanceCheck, ...]:
    """Return the checks for names or commands, each once.

    `may_be_commands`: a user typed them, so what names no check of the workspace is a command, unless it is a single
    word that is nearly the name of one. `origin` says where the names come from, for the error about an unknown one.
    """
    chosen: dict[str, AcceptanceCheck] = {}
    for each in named:
        if each in settings:
            chosen.setdefault(each, make_check(each, settings[each]))
        elif not each.strip():
            raise UsageError("a check has neither a name nor a command", hint='write it like "make test"')
        elif may_be_commands and "\0" not in each and not (each.isidentifier() and find_similar(each, settings)):
            chosen.setdefault(each, make_typed_check(each))
        else:
            where = f"{origin} names the check {each!r}, which" if origin else f"the check {each!r}"
            hint = did_you_mean(each, tuple(settings)) if settings else f"add [checks.{each}] to {SETTINGS_FILE}"
            raise UsageError(f"{where} isn't in {SETTINGS_FILE}", hint=hint)
    if len(chosen) > MAX_CHECKS:
        raise UsageError(f"{len(chosen)} checks are too many", hint=f"at most {MAX_CHECKS}: combine some in a script")
    return tuple(chosen.values())


def make_check_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of checks: the user's, without variables of the terminal, of Remit and of a harness."""
    return {name: value for name, value in environ.items() if name not in _VOLATILE and not name.startswith(_OWN)}


def check_seal(seal: str, environ: Mapping[str, str]) -> str:
    """Return why checks may not run in an environment: another one was fixed at admission. Empty: they may."""
    if not seal or seal_environment(environ, seal[:SALT_LETTERS]) == seal:
        return ""
    return "the environment isn't the one in which the run was admitted"


def seal_environment(environ: Mapping[str, str], salt: str) -> str:
    """Return a keyed hash of the environment of checks; the ledger has no values."""
    from hashlib import blake2b  # noqa: PLC0415 - only for runs with checks

    text = "\0".join(f"{name}={value}" for name, value in sorted(make_check_environment(environ).items()))
    return salt + blake2b(text.encode("utf-8", "surrogatepass"), key=salt.encode(), digest_size=32).hexdigest()
