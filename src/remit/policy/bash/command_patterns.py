"""Comparison of simple commands with bash patterns.

A deny pattern is interpreted widely: any name of the program, flags in any order and spelling, options skipped before a
subcommand. An allow pattern is interpreted narrowly: word by word from the beginning. If a match depends on a hole in
a word, the answer is MAYBE.
"""

from __future__ import annotations

from functools import lru_cache

from remit.globs import is_magic, matches_name, matches_stars
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.policy.bash import program_aliases
from remit.policy.bash.words import HOLE, ONE, SPLIT, Invocation, PossibleCommand, ShellWord

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Sequence


base_name, find_family = program_aliases.base_name, program_aliases.find_family
YES, MAYBE, NO = 2, 1, 0
MAX_PATTERN = 300


class CommandPattern(NamedTuple):
    """A parsed bash pattern."""

    program: str
    flags: tuple[str, ...]
    operands: tuple[str, ...]
    words: tuple[str, ...]
    is_everything: bool


@lru_cache(maxsize=1024)
def parse_pattern(text: str) -> CommandPattern:
    """Parse a pattern. `git push:*` and `git push *` mean `git push`."""
    text = " ".join(text[:MAX_PATTERN].split())
    for ending in (":*", " *"):
        text = text.removesuffix(ending)
    words = tuple(text.split())
    if not text.strip("*"):
        return CommandPattern("*", (), (), words, is_everything=bool(text))
    rest = [word for word in words[1:] if word != "*"]
    flags = tuple(word for word in rest if word[0] == "-" and len(word) > 1)
    operands = tuple(word for word in rest if word not in flags)
    return CommandPattern(base_name(words[0]) or words[0], flags, operands, words, is_everything=False)


@lru_cache(maxsize=64)
def split_command(text: str) -> tuple[tuple[str, ...], str]:
    """Return the commands of a composed pattern, and the file that it writes, or ""."""
    text, _, target = text[:MAX_PATTERN].partition(">")
    parts = text.replace("|", ";").replace("&", ";").split(";")
    return tuple(part.strip() for part in parts if part.strip()), target.strip(" >").partition(" ")[0]


# --- to deny ---------------------------------------------------------------------------------------------------------


def fits(text: str, run: Invocation) -> int:
    """Return whether a deny pattern matches a command: YES, MAYBE or NO."""
    pattern = parse_pattern(text)
    if pattern.is_everything:
        return YES
    words = run.words
    name = base_name(words[0].text)
    if name.startswith("git-") and pattern.program == "git":
        words = (ShellWord("git"), ShellWord(name[4:]), *words[1:])
        name = "git"
    found = max((_fits_program(pattern.program, each) for each in (name, *run.names)), default=NO)
    if not found or not (pattern.flags or pattern.operands):
        return found
    rest = _fits_rest(pattern, find_family(name), words[1:])
    if rest < found and pattern.program in _PASSING:
        rest = max(rest, _fits_inner(pattern, words))
    return min(found, rest)


_PASSING = program_aliases.read_names("sudo doas env nohup nice timeout xargs exec command eval bash sh su time")
"""Programs that run others. A pattern may name both."""


def _fits_inner(pattern: CommandPattern, words: Sequence[ShellWord]) -> int:
    """Match the rest of a pattern with an inner command: `sudo rm` also matches `sudo nice rm`."""
    inner = " ".join(pattern.words[1:])
    found = NO
    for at in range(1, min(len(words), MAX_INNER)):
        if found < YES and words[at].text:
            found = max(found, fits(inner, Invocation(tuple(words[at:]))))
        if found < MAYBE and " " in words[at].text and hints_at(inner, PossibleCommand(words[at].text)):
            found = MAYBE
    return found


MAX_INNER = 30


def _fits_program(program: str, name: str) -> int:
    if is_magic(program):
        return YES if matches_name(program, name) else NO
    if program == name or find_family(program) == find_family(name):
        return YES
    return MAYBE if program.lower() == name.lower() else NO


def _fits_rest(pattern: CommandPattern, name: str, words: Sequence[ShellWord]) -> int:
    if name == "chmod" and pattern.operands:
        return _fits_mode(pattern, words)
    operands = [_SYNONYMS.get(name, {}).get(word, word) for word in pattern.operands]
    words = [ShellWord(_FLAGGED.get((name, word.text), word.text), word.kind) for word in words]
    keyed = [word for word in operands if "=" in word]
    ordered = [word for word in operands if "=" not in word]
    found = min(_fits_flags(pattern, name, words), _fits_operands(ordered, name, words), _fits_keyed(keyed, words))
    if not found and operands and ((name == "git" and _is_unknown_to_git(words)) or _is_near(pattern, name, words)):
        return MAYBE
    return found


def _fits_keyed(operands: Sequence[str], words: Sequence[ShellWord]) -> int:
    """Match operands such as `if=x of=y` in any order."""
    if all(any(word.is_sure and matches_operand(each, word.text) for word in words) for each in operands):
        return YES
    return MAYBE if any(not word.is_sure for word in words) else NO


def _is_near(pattern: CommandPattern, name: str, words: Sequence[ShellWord]) -> bool:
    """Return whether a command matches in other spellings: `--request=POST`, `HEAD:main`, `pods/web`.

    Only if the subcommand is the same, or if the pattern has none and names an option with its value.
    """
    operands = pattern.operands
    valued = bool(pattern.flags) and pattern.words[1].startswith("-")
    if not valued and (len(operands) < 2 or _fits_operands(operands[:1], name, words) != YES):  # noqa: PLR2004 - and more
        return False
    pieces = {piece for word in words for piece in _split_word(word.text)}
    if all(pieces & _split_word(operand) for operand in operands):
        return True
    given = [word.text for word in words if word.text[:1] != "-"]
    return name == "git" and operands[:1] == ("push",) and list(operands[: len(given)]) == given


_SHORT_NAMES = {
    "po": "pod",
    "deploy": "deployment",
    "svc": "service",
    "ns": "namespace",
    "cm": "configmap",
    "no": "node",
}


def _split_word(text: str) -> set[str]:
    """Split a word into pieces in the singular."""
    found = "".join(char if char.isalnum() or char in "_.-" else " " for char in text).split()
    found += [text[2:]] if text[:1] == "-" and text[1:2] != "-" else []
    return {_SHORT_NAMES.get(piece, piece.removesuffix("s") or piece) for piece in found}


_FLAGGED = {
    ("terraform", "-destroy"): "destroy",
    ("tofu", "-destroy"): "destroy",
    ("terraform", "--destroy"): "destroy",
}
"""Flags that make a subcommand act like another."""
_ALIASES = {
    "--recursive": "r", "R": "r", "--force": "f", "--all": "a", "--delete": "d", "--global": "g", "--yes": "y",
    "--assume-yes": "y", "--interactive": "i", "--no-verify": "n", "--verbose": "v", "--symbolic": "s",
}  # fmt: skip
"""Flags that mean the same almost everywhere."""


_FLAGS_KNOWN = program_aliases.read_names("rm git cp mv ln chmod chown npm docker pip tar")
"""Programs whose long flags are known. Another program's long flag may mean the short flag with the same letter."""


def _fits_flags(pattern: CommandPattern, name: str, words: Sequence[ShellWord]) -> int:
    wanted = {flag for word in pattern.flags for flag in _list_flags(word)}
    exact = set(pattern.flags)
    doubtful = False
    for word in words:
        if word.text == "--" and word.kind == ONE:
            break
        if not word.is_sure:
            doubtful = doubtful or could_be_flag(word)
        elif word.text.startswith("-") and len(word.text) > 1:
            wanted -= _list_flags(word.text)
            bare = word.text.lstrip("-").partition("=")[0]
            for flag in exact:
                wanted -= _list_flags(flag) if flag.lstrip("-") == bare else set()
            if word.text.startswith("--"):
                wanted = {flag for flag in wanted if not _is_short_for(word.text, flag)}
                doubtful = doubtful or (name not in _FLAGS_KNOWN and any(flag == bare[:1] for flag in wanted))
        elif name == "git" and word.text.startswith("+"):
            wanted.discard("f")
    if not wanted:
        return YES
    return MAYBE if doubtful else NO


@lru_cache(maxsize=2048)
def _list_flags(word: str) -> set[str]:
    """Return the letters of `-rf`, or for `--force` the letter with the same meaning."""
    if word.startswith("--"):
        name = word.partition("=")[0]
        return {_ALIASES.get(name, name)}
    return {_ALIASES.get(letter, letter) for letter in word[1:]}


def _is_short_for(word: str, flag: str) -> bool:
    """Return whether a long flag abbreviates another: `--recurs` means `--recursive`."""
    name = word.partition("=")[0]
    if len(name) < 3:  # noqa: PLR2004 - two dashes and at least a letter
        return False
    return any(long.startswith(name) and _ALIASES.get(long, long) == flag for long in (*_ALIASES, flag))


def could_be_flag(word: ShellWord) -> bool:
    """Return whether an unknown word may be a flag."""
    if word.kind == SPLIT:
        return True
    start = word.text.partition(HOLE)[0]
    if start and not start.startswith("-"):
        return False
    return all(char.isalnum() or char in "-=_" + HOLE for char in word.text)


_VALUED = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"}),
}
"""Options before a subcommand that take the next word. For other programs, any option may."""
_TAKING = program_aliases.read_names(
    """
--prefix --workspace --registry --userconfig --host --context --config --namespace --kubeconfig --manifest-path
--target-dir --cwd --dir --filter --repo --profile --region --project --directory -C -n -w -R -f --file -p
"""
)
"""Options before a subcommand that take the next word, for all programs."""


def _fits_operands(operands: Sequence[str], name: str, words: Sequence[ShellWord]) -> int:
    """Match the pattern's operands in order. Options and their possible values may be between them."""
    sure, maybe = {0}, {0}
    most, valued, after_flag, taken, ended = len(operands), _VALUED.get(name), False, False, False
    synonyms = _SYNONYMS.get(name, {})
    for word in words:
        if most in sure:
            return YES
        if not word.is_sure and word.kind == ONE and taken:
            pass
        elif not word.is_sure:
            maybe = _advance(maybe, operands, word)
            sure = set(sure) if after_flag or valued is None else set()
        elif word.text == "--":
            ended = True
            continue
        elif not ended and word.text.startswith("-") and len(word.text) > 1:
            after_flag = word.text in valued if valued is not None else "=" not in word.text
            taken = after_flag and (valued is not None or word.text in _TAKING)
            continue
        elif valued is not None and after_flag:
            pass
        else:
            text = synonyms.get(word.text, word.text)
            stay = after_flag or text in _GROUPS.get(name, ())
            sure = _match(sure, operands, text, stay=stay, short=name == "npm")
            maybe = _match(maybe, operands, text, stay=stay, short=name == "npm")
        after_flag = taken = False
    if most in sure:
        return YES
    return MAYBE if most in maybe else NO


_GROUPS = {
    "docker": ("container", "image"), "podman": ("container", "image"), "git": ("subtree", "lfs"),
    "yarn": ("npm", "workspace"), "aws": ("s3", "s3api"), "terraform": ("apply",), "tofu": ("apply",),
}  # fmt: skip
"""Words before a subcommand that only name its group."""


def _match(states: set[int], operands: Sequence[str], text: str, *, stay: bool, short: bool) -> set[int]:
    moved = {at + 1 for at in states if at < len(operands) and matches_operand(operands[at], text)}
    if short and len(text) > 1:
        moved |= {at + 1 for at in states if at < len(operands) and operands[at].startswith(text)}
    kept = states if stay else {at for at in states if at == len(operands)}
    return moved | kept


def _advance(states: set[int], operands: Sequence[str], word: ShellWord) -> set[int]:
    if word.kind == SPLIT:
        return set(range(min(states), len(operands) + 1)) if states else states
    # The word may be an option's value, a flag or the operand.
    return states | {at + 1 for at in states if at < len(operands) and _could_be(word, operands[at])}


def matches_operand(operand: str, text: str) -> bool:
    """Return whether a pattern's word matches a command's word, regardless of a trailing slash."""
    if operand == text or (
        len(text) > 1 and operand.removeprefix("./").rstrip("/") == text.removeprefix("./").rstrip("/")
    ):
        return True
    return is_magic(operand) and matches_name(operand, text)


def _could_be(word: ShellWord, operand: str) -> bool:
    if is_magic(operand):
        return True
    start, _, rest = word.text.partition(HOLE)
    return operand.startswith(start) and operand.endswith(rest.rpartition(HOLE)[2])


_SYNONYMS: dict[str, dict[str, str]] = {
    "npm": dict.fromkeys(
        ("i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall", "add"), "install"
    )
    | dict.fromkeys(("un", "unlink", "remove", "rm", "r"), "uninstall")
    | dict.fromkeys(("run-script", "rum", "urn"), "run")
    | {"x": "exec", "t": "test", "tst": "test"},
    "pnpm": {"i": "install", "rm": "remove", "un": "remove", "uninstall": "remove"},
}

GIT_COMMANDS = program_aliases.read_names(
    """
add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap
check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree
config count-objects credential daemon describe diagnose diff diff-files diff-index diff-tree difftool fast-export
fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc grep gui
hash-object help hook index-pack init instaweb interpret-trailers log lfs ls-files ls-remote ls-tree mailinfo
mailsplit maintenance merge merge-base merge-file merge-tree mergetool mktag mktree multi-pack-index mv name-rev
notes pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace
request-pull rerere reset restore rev-list rev-parse revert rm send-email shortlog show show-branch show-index
show-ref sparse-checkout stash status stripspace submodule subtree switch symbolic-ref tag unpack-file update-index
update-ref var verify-commit verify-pack verify-tag version whatchanged worktree write-tree
"""
)


def _is_unknown_to_git(words: Sequence[ShellWord]) -> bool:
    """Return whether the subcommand isn't one of git's own, so that it may be an alias."""
    command = find_git_command(words)
    return command is not None and command.is_sure and command.text not in GIT_COMMANDS


def find_git_command(words: Sequence[ShellWord]) -> ShellWord | None:
    """Git's subcommand, after the options that come before it."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.text in _VALUED["git"]:
            skip = True
        elif not word.text.startswith("-"):
            return word
    return None


# --- modes of chmod --------------------------------------------------------------------------------------------------


def _fits_mode(pattern: CommandPattern, words: Sequence[ShellWord]) -> int:
    """Match modes by their bits: if `chmod +x` is denied, so is every mode that makes a file executable."""
    wanted = read_mode(pattern.operands[0])
    plain = [word for word in words if not (word.is_sure and word.text[:1] == "-" and word.text[1:2] in "RvcfH-LPh")]
    flags = _fits_flags(pattern, "chmod", words)
    if any(word.text.startswith("--ref") for word in words) or not plain:
        return min(MAYBE, flags)
    if not plain[0].is_sure:
        return min(MAYBE, flags)
    given = read_mode(plain[0].text)
    if wanted is not None and any((read_mode(word.text) or 0) & wanted == wanted for word in plain[1:]):
        return min(MAYBE, flags)  # braces may expand to several file names
    if wanted is None or given is None:
        return min(flags, YES if pattern.operands[0] == plain[0].text else NO)
    return min(flags, YES if given & wanted == wanted or (wanted == EXECUTABLE and given & EXECUTABLE) else NO)


EXECUTABLE = 0o111


def read_mode(text: str) -> int | None:
    """Return the bits that a mode sets, or None if it isn't a mode. Without a class, it applies to all."""
    if text and all(char in "01234567" for char in text):
        return int(text[-6:], 8)
    bits = 0
    for clause in text.split(","):
        sign = next((at for at, char in enumerate(clause) if char in "+-="), -1)
        if sign < 0 or any(char not in "ugoa" for char in clause[:sign]):
            return None
        who = sum({"u": 0o100, "g": 0o010, "o": 0o001, "a": 0}[char] for char in set(clause[:sign]))
        who = 0o111 if not clause[:sign] or "a" in clause[:sign] else who
        gives = clause[sign] != "-"
        for at, char in enumerate(clause[sign:]):
            gives = char != "-" if char in "+-=" else gives
            value = {"r": 4, "w": 2, "x": 1}.get(char, 0)
            bits |= who * value if gives and at else 0
            if gives and char in "ugo":
                bits |= who * 7
    return bits


# --- to allow --------------------------------------------------------------------------------------------------------


def is_allowed(text: str, run: Invocation) -> bool:
    """Return whether an allow pattern matches a command, word by word from the beginning."""
    pattern = parse_pattern(text)
    if pattern.is_everything:
        return True
    states = {0}
    words, most = pattern.words, len(pattern.words)
    if most and words[0] != "*" and not is_magic(words[0]) and not run.words[0].is_sure:
        return False
    for word in run.words:
        if most in states:
            return True
        states = {at for state in states for at in _step(words, state, word)}
        if not states:
            return False
    return any(all(word == "*" for word in words[at:]) for at in states)


def _step(pattern: Sequence[str], at: int, word: ShellWord) -> list[int]:
    """Return the possible positions in a pattern after one more word. A single star matches any number of words."""
    if at >= len(pattern):
        return [at]
    if pattern[at] == "*":
        return [at, *_step(pattern, at + 1, word)]
    if word.is_sure and matches_stars(pattern[at], word.text):
        return [at + 1]
    return []


# --- texts that may be commands --------------------------------------------------------------------------------------


_UNFINISHED = lazy(r"\$[@*({'\"!#?\d-]|[\w/]\$\w|`|/bin/[^\s'\"]*[*?\[]")
"""Shell syntax that changes a text, so that the text can't be searched for names."""


def is_unfinished(hint: PossibleCommand) -> bool:
    """Return whether a shell would change the text."""
    return _UNFINISHED.search(hint.text) is not None


def hints_at(text: str, hint: PossibleCommand) -> bool:
    """Return whether a possible command names the program and operands that a pattern denies."""
    pattern = parse_pattern(text)
    if pattern.is_everything:
        return True
    program = find_family(pattern.program)
    tokens = list_tokens(hint.text)
    found = any(_fits_program(program, token) for token in tokens)
    return found and all(any(matches_operand(word, token) for token in tokens) for word in pattern.operands)


@lru_cache(maxsize=256)
def list_tokens(text: str) -> frozenset[str]:
    """Return the names in a text, also without quotes, backslashes and folders."""
    texts = {text, "".join(char for char in text if char not in "'\"\\`")}
    found = set()
    for each in texts:
        plain = "".join(char if char.isalnum() or char in "_.-+:" else " " for char in each)
        for token in plain.split():
            found |= {token, find_family(token), token.strip(".:"), token.rpartition(":")[2]}
    return frozenset(found)
