"""The rules on programs at the start of each one: whether a program may start with its arguments.

The judge (`remit/confine/judge.py`) asks at every start of a program, so modules are loaded only
if a rule may match. All arguments are known at that time. If a deny rule may match, the program is refused, because
there is no user to ask.
"""

from __future__ import annotations

from remit.policy.bash.program_aliases import base_name, find_family, read_names

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.confine.judge import Judge, JudgeServer

_COMPOSED = "|;&>"
_MAGIC = "*?["
PASSING = read_names(
    "sh bash dash ash zsh ksh env nice nohup setsid timeout time stdbuf ionice chrt taskset xargs command"
)
"""Programs that only start other programs, which are judged separately: an allow list need not name these."""

_NEEDED = PASSING | {"node", "python", "bun", "deno", "uname", "which"}


def is_composed(pattern: str) -> bool:
    """Return whether a pattern names several commands or a file (`curl * | sh`): no single program shows that."""
    return any(sign in pattern for sign in _COMPOSED)


def _get_head(pattern: str) -> str:
    """Return the name of the program that a pattern begins with."""
    return base_name(pattern.split(maxsplit=1)[0].removesuffix(":*"))


def _find_own_family(name: str) -> str:
    return "git" if name.startswith("git-") else find_family(name).lower()


def is_needed(pattern: str) -> bool:
    """Return whether a pattern may mean programs that harnesses and Remit's hooks need."""
    head = base_name(pattern.split(maxsplit=1)[0].removesuffix(":*"))
    return any(sign in head for sign in _MAGIC) or find_family(head) in _NEEDED


class ProgramRules:
    """The patterns of all layers: a program is denied if any layer denies it, and allowed if every list allows it."""

    def __init__(self, deny: Sequence[str], allow: Sequence[Sequence[str]]) -> None:
        self.allow = [*allow]
        self._deny: dict[str, list[str]] = {}
        """The patterns by the family of the program that they name; "" if it has stars."""
        programs = []
        for pattern in deny:
            if pattern.strip() and not is_composed(pattern):
                head = _get_head(pattern)
                is_magic = any(sign in head for sign in _MAGIC)
                programs += [] if is_magic else [head]
                self._deny.setdefault("" if is_magic else find_family(head).lower(), []).append(pattern)
        self.programs = [*dict.fromkeys(programs)]
        """The names of the programs that rules deny, or some uses of them."""

    def concern(self, name: str) -> bool:
        """Return whether a rule that denies may mean a program of this name."""
        return "" in self._deny or _find_own_family(name) in self._deny

    def find_denied(self, names: Sequence[str], words: Sequence[str]) -> str:
        """Return the rule that denies a program; "" if none does. `names`: every name of the program."""
        from remit.policy.bash import command_patterns  # noqa: PLC0415 - only if a rule may mean it
        from remit.policy.bash.words import Invocation, ShellWord  # noqa: PLC0415

        rest = tuple(map(ShellWord, words[1:]))
        for name in names:
            run = Invocation((ShellWord(name), *rest))
            for pattern in self._deny.get(_find_own_family(name), []) + self._deny.get("", []):
                found = command_patterns.fits(pattern, run)
                if found == command_patterns.YES or (
                    found == command_patterns.MAYBE and not _is_alias(pattern, name, words)
                ):
                    return pattern
        return ""

    def is_passing(self, names: Sequence[str]) -> bool:
        """Return whether a program only starts others."""
        return any(name in PASSING for name in names)

    def find_unlisted(self, typed: str, words: Sequence[str]) -> Sequence[str] | None:
        """Return the first list that doesn't allow a program; None if all do. `typed`: its name as a user types it."""
        from remit.policy.bash import command_patterns  # noqa: PLC0415 - only for agents with such a list
        from remit.policy.bash.words import Invocation, ShellWord  # noqa: PLC0415

        run = Invocation((ShellWord(typed), *map(ShellWord, words[1:])))
        for patterns in self.allow:
            if not any(command_patterns.is_allowed(each, run) for each in patterns):
                return patterns
        return None


def _is_alias(pattern: str, name: str, words: Sequence[str]) -> bool:
    """Return whether a doubtful match is only one of git's own helpers: git runs an alias by starting itself."""
    wanted = next((each for each in pattern.split()[1:] if not each.startswith("-")), "").removesuffix(":*")
    if _find_own_family(name) != "git" or wanted in ("", "*", *words[1:]):
        return False
    return wanted != "push" or _PUSHING.isdisjoint({name.removeprefix("git-"), *words[1:]})


_PUSHING = frozenset({"send-pack", "http-push"})
"""Commands of git that do what `push` does."""


def make_server(
    deny: Sequence[str], allow: Sequence[Sequence[str]], *, launcher: int, write: Sequence[bytes],
    take_descriptor: Callable[[int, int], int], find_type: Callable[[int], int],
) -> JudgeServer:  # fmt: skip
    """Return the server that judges a launcher's programs. `write`: the paths that its command can write to."""
    from remit.confine.judge import Judge, JudgeServer  # noqa: PLC0415 - it needs Linux

    def make_judge(asking: int, deny: Sequence[str], allow: Sequence[Sequence[str]]) -> Judge:
        return Judge(ProgramRules(deny, allow), asking, write, find_type)

    return JudgeServer(make_judge(launcher, deny, allow), make_judge, take_descriptor)
