"""Signals: whom a script would stop or end.

Owns the look at `kill` and its like. Whoever stops the program that judges calls, or the harness that asks it, is
judged no more, so nobody sends signals to these: by their names, by patterns that mean them too, or to all at once.
Processes of one's own, by number, job or port, are ended as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.globs import matches_name
from remit.policy.bash.acts import Hint, Refusal, Run
from remit.policy.bash.commands import base_name, list_tokens
from remit.policy.bash.names import read_names
from remit.policy.bash.options import parse_options
from remit.policy.bash.words import HOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.policy.bash.reading import Reader
    from remit.policy.bash.words import Word

_OWN = read_names("remit claude codex opencode")
_SHARED = read_names("python python3 python3.11 python3.12 python3.13 sh bash dash node bun")
"""Names under which the same programs may run, and many others too."""
_LINES = (
    "/usr/bin/python3 -I -S /usr/lib/python3/site-packages/remit/doors/hook.py",
    "/bin/sh -c '/usr/bin/python3' -I -S '/usr/lib/python3/site-packages/remit/doors/hook.py' || exit 2",
    "/usr/bin/python3 /usr/bin/remit hook", "/usr/bin/python3 /usr/bin/remit mcp",
    "/usr/bin/python3 /usr/bin/remit run", "node /usr/bin/claude", "claude --agent x", "node /usr/bin/codex",
    "codex exec", "opencode run",
)  # fmt: skip
"""How they look in a list of processes."""
_KILLERS = read_names("kill pkill killall killall5 skill snice xkill slay")
_STOPPING = read_names("STOP TSTP TTIN TTOU 17 18 19 20 21 22 23")
_FINDERS = read_names("pgrep pidof")
_FILTERS = read_names("grep egrep fgrep rg ag awk gawk sed")
_CHOOSING = (
    "g: G: P: s: t: u: U: F: A: H: O: --signal: --pgroup: --group: --parent: --session: --terminal: --euid: --uid: "
    "--ns: --nslist: --pidfile: --older: --cgroup: --env: --runstates:"
)
"""Options of `pkill` and `pgrep` that take a value."""
_MAGIC = "()+{}\\"
TELLING = 4
"""So many characters of a name mean it, and no other."""
MANY = "it may stop or end what holds agents to their limits"
CERTAIN = "it would stop or end what holds agents to their limits"


def check_signals(reader: Reader) -> None:
    """Take note of signals that somebody else would get."""
    runs = [act for act in reader.acts if isinstance(act, Run)]
    named = {base_name(run.words[0].text) for run in runs}
    if named & _KILLERS:
        for found in {found for run in runs for found in _judge_run(run)}:
            reader.add(found)
        _check_hunt(reader, runs)
    for run in runs if named & {"fuser", "prlimit", "loginctl"} else ():
        texts = [word.text for word in run.words[1:]]
        if any(_is_sweeping(base_name(run.words[0].text), text) for text in texts):
            reader.add(Refusal(MANY))
    if any(isinstance(act, Hint) and act.is_code and _sends(act.text) for act in reader.acts):
        reader.add(Refusal("code sends signals, and whom it means is not seen here"))


def _is_sweeping(name: str, text: str) -> bool:
    """Whether a word of other programs means processes by what they have open, or by whose they are."""
    if name == "fuser":
        return text[:1] == "-" and "k" in text and bool({"m", "M", "c"} & set(text))
    return text.startswith(("--pid", "-p")) if name == "prlimit" else text.startswith(("kill-", "terminate-"))


def _sends(text: str) -> bool:
    parts = {part for token in list_tokens(text) for part in token.split(".")}
    return bool(parts & {"kill", "killpg", "SIGSTOP", "SIGKILL", "pidfd_send_signal"})


def _judge_run(run: Run) -> Iterator[Refusal]:
    name = base_name(run.words[0].text)
    if name == "kill":
        yield from _judge_kill(run.words[1:])
    elif name == "pkill":
        yield from _judge_pattern(run.words[1:])
    elif name in _KILLERS:
        yield from _judge_names(run.words[1:])


def _judge_kill(words: Sequence[Word]) -> Iterator[Refusal]:
    """`kill [-s SIGNAL] WHOM…`: numbers and jobs pass, groups and all do not."""
    signal, at = "", 0
    whom: list[str] = []
    while at < len(words):
        text = words[at].text
        at += 1
        if text == "--":
            whom += [word.text for word in words[at:]]
            break
        if text in ("-l", "-L", "--list", "--table"):
            return
        if text in ("-s", "-n", "--signal", "-q", "--queue") and not whom:
            signal = words[at].text if at < len(words) and text[1] != "q" else signal
            at += 1
        elif text[:1] == "-" and not signal and not whom:
            signal = text.lstrip("-").rpartition("=")[2]
        else:
            whom.append(text)
    stops = signal.upper().removeprefix("SIG") in _STOPPING or HOLE in signal
    for text in whom:
        if text == "-1" or (text.isalpha() and text.lower() in _OWN):
            yield Refusal(CERTAIN, is_sure=True)
        elif text in ("0", "1") or text[:1] == "-" or text in _SHARED or (stops and text[:1] != "%"):
            yield Refusal(MANY)


def _judge_names(words: Sequence[Word]) -> Iterator[Refusal]:
    """`killall NAME…`: names as they are, or patterns."""
    found = parse_options(
        words, "s: u: o: y: Z: --signal: --user: --older-than: --younger-than: --context:", permute=True
    )
    flags = {name for name, _ in found.options}
    if flags & {"-u", "--user", "-r", "--regexp"} or not found.operands:
        yield Refusal(MANY)
    for word in found.operands:
        text = base_name(word.text)
        if text.lower() in _OWN:
            yield Refusal(CERTAIN, is_sure=True)
        elif text in _SHARED or HOLE in text:
            yield Refusal(MANY)


def _judge_pattern(words: Sequence[Word]) -> Iterator[Refusal]:
    """`pkill PATTERN`: held against the names, or with `-f` the whole lines, of those that are meant to go on."""
    found = parse_options(words, _CHOOSING, permute=True)
    letters = "".join(word.text[1:] for word in words if word.text[:1] == "-" and word.text[1:2] != "-")
    full = "f" in letters.replace("F", "") or any(word.text == "--full" for word in words)
    patterns = [word.text for word in found.operands]
    if "v" in letters or any(word.text == "--inverse" for word in words):
        yield Refusal(MANY)
    chosen = {name for name, _ in found.options} & {"-P", "--parent", "-F", "--pidfile", "-g", "--pgroup", "--session"}
    if not patterns and not chosen:
        yield Refusal(MANY)
    for pattern in patterns:
        sure, maybe = find_meant(pattern, full=full)
        if sure or maybe:
            yield Refusal(CERTAIN if sure else MANY, is_sure=sure)


def find_meant(pattern: str, *, full: bool) -> tuple[bool, bool]:
    """Whether a pattern surely, or maybe, means a program that holds agents."""
    if HOLE in pattern:
        return False, True
    for part in pattern.split("|"):
        plain = part.strip("^$ ")
        if any(sign in plain for sign in _MAGIC) or "*" in plain.replace(".*", ""):
            return False, True
        shape = "*" + plain.replace(".*", "\0").replace(".", "?").replace("\0", "*") + "*"
        own = (*_OWN, "remit/doors/hook.py") if full else _OWN
        if len(plain.strip(".*?")) >= TELLING and any(matches_name(shape, name) for name in own):
            return True, False
        lines = _LINES if full else (*_SHARED, *_OWN)
        if any(matches_name(shape, line) for line in lines):
            return False, True
    return False, False


def _check_hunt(reader: Reader, runs: Sequence[Run]) -> None:
    """Processes that are looked for by name, and then sent a signal by number."""
    for run in runs:
        name, texts = base_name(run.words[0].text), [word.text for word in run.words[1:]]
        if name in _FINDERS:
            operands = parse_options(run.words[1:], _CHOOSING, permute=True).operands
            found = [find_meant(word.text, full=True) for word in operands]
            if any(sure for sure, _ in found):
                reader.add(Refusal(CERTAIN, is_sure=True))
            elif any(maybe for _, maybe in found):
                reader.add(Refusal(MANY))
        elif name in _FILTERS and any(list_tokens(text) & (_OWN | {"hook.py", "hook"}) for text in texts):
            reader.add(Refusal(MANY))
    if "ppid" in reader.heard.lower() or "/proc/" in reader.heard:
        reader.add(Refusal(MANY))
