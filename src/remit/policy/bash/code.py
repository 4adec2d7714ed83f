"""Code: files that a script writes and then lets somebody run.

Owns the look at what is in them. Where that is known it is judged as if it stood in the command; where it is not, and
the file is one that a program takes its orders from, it is a doubt.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.lazy import lazy
from remit.policy.bash.acts import Hint, Run
from remit.policy.bash.commands import base_name, list_tokens
from remit.policy.bash.names import read_names
from remit.policy.bash.opened import RUN_OPENED
from remit.policy.bash.shell import EVALUATED
from remit.policy.bash.words import HOLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Reader
    from remit.policy.bash.words import Word

WRITTEN = "it runs what it has written itself"
_DATA = (".md", ".txt", ".csv", ".log", ".html", ".css", ".svg", ".rst", ".out", ".tsv", ".diff", ".patch", ".adoc")
"""Endings of files that nobody runs."""
_CONTROL = read_names(
    """
Makefile makefile GNUmakefile package.json .npmrc .yarnrc .yarnrc.yml conftest.py setup.py sitecustomize.py
usercustomize.py build.rs CMakeLists.txt build.ninja justfile Justfile Rakefile Gemfile Dockerfile build.gradle
settings.gradle build.gradle.kts pom.xml tox.ini noxfile.py .bashrc .bash_profile .bash_login .profile .zshrc
.zshenv .zprofile .bash_logout .inputrc .vimrc .exrc .emacs .screenrc .tmux.conf .gdbinit .sqliterc .psqlrc
.gitconfig .gitmodules .gitattributes config .envrc .env hosts crontab sudoers .ssh/config Taskfile.yml
tasks.py fabfile.py dodo.py SConstruct wscript meson.build .mailrc .netrc .wgetrc .curlrc .pythonrc .irbrc .Rprofile
"""
)
"""Files that programs take orders from without being told."""
_GIT_CONTROL = (".git/config", "/hooks/", ".gitconfig", ".gitmodules", ".gitattributes", "/git/config", ".git/info")
_SHELL_CONTROL = read_names(".bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .bash_logout")
_SHELLS = read_names("bash sh dash zsh ksh su ssh login")
_ODD = read_names(
    """
system popen popen2 subprocess Popen spawn spawnSync exec execSync execv execve execvp execl execlp execFile
child_process eval fork ProcessBuilder Runtime execute_process run_command execute shell Shell posix_spawn dlopen
importlib __import__ ctypes pty open3 IO.popen Kernel backticks qx proc_open shell_exec passthru getattr compile
base64 fromCharCode chr unhexlify fromhex b64decode decode process Process constructor __attribute__ runInContext
load_module os.system os.popen os.execute subprocess.run subprocess.call add_custom_command add_custom_target
"""
)
"""Names by which code in any language starts programs, or makes names."""


_CARRYING = read_names(
    "kubectl oc docker podman aws gcloud az helm terraform curl wget rsync scp psql pip npm ssh xargs"
)
"""Programs that take files for what they are, and run nothing that is in them."""


def finish(reader: Reader) -> None:
    """Look at all files that are run, when it is known what the whole script writes."""
    seen: set[tuple[str, str]] = set()
    _run_given(reader)
    for _ in range(MAX_ROUNDS):
        if (len(reader.ran) + len(reader.around)) * len(reader.written) > MAX_PAIRS:
            reader.doubt("it writes and runs more files than are held against each other", always=True)
            break
        known = len(reader.ran), len(reader.around), len(reader.written)
        for word, language, cwds, _ in list(reader.ran):
            _check_run(reader, word, language, cwds, seen)
        for name, words, own in list(reader.around):
            _check_surroundings(reader, name, words, own)
        if known == (len(reader.ran), len(reader.around), len(reader.written)):
            break
    else:
        reader.doubt(WRITTEN)
    if reader.own_path and reader.bare and reader.written:
        reader.doubt("it says itself where programs are looked for, and writes files")
    _check_mentions(reader)
    if reader.hands_opened and reader.opens_program:
        reader.doubt(RUN_OPENED)
    if reader.counts and reader.holds_code:
        reader.doubt(EVALUATED)


MAX_ROUNDS = 4
MAX_PAIRS = 10_000


def _run_given(reader: Reader) -> None:
    """What functions are given that run it; with `shift`, it may begin further on."""
    sets = any(isinstance(act, Run) and act.words[0].text == "set" for act in reader.acts)
    if (reader.passing and sets) or reader.passing - {name for name, _ in reader.called}:
        reader.doubt("a function runs what it is given, and nobody can tell what that is")
    calls, reader.called = reader.called, []
    for name, words in calls:
        for at in range(1, min(len(words), MAX_SHIFTS)) if name in reader.passing else ():
            reader.run(words[at:], None)
            if not reader.shifts:
                break
    if any(name in reader.passing for name, _ in reader.called):
        reader.doubt("a function runs what it is given, and nobody can tell what that is")


MAX_SHIFTS = 4


def _check_run(
    reader: Reader, word: Word, language: str, cwds: tuple[str, ...] | None, seen: set[tuple[str, str]]
) -> None:
    """A script or program that the script has written itself: what is in it is looked at here, or not at all."""
    known = reader.written
    if not known and not reader.edited:
        return
    ends = [posixpath.normpath(posixpath.join(cwd, word.text)) for cwd in cwds or ("",)]
    ends += [_follow(reader, end) for end in ends if HOLE not in end]
    paths = {path: path for path in known} | {_follow(reader, path): path for path in known if path != HOLE}
    near = any(end.startswith(f"{path}/") or path.startswith(f"{end}/") for end in ends for path in paths)
    same = any(base_name(path) == base_name(word.text) for path in known if cwds is None or "/" not in path)
    texts = [known[paths[end]] for end in ends if end in paths]
    if texts and all(text is not None for text in texts) and not same and HOLE not in known and HOLE not in word.text:
        if (ends[0], language) not in seen:
            seen.add((ends[0], language))
            judge_text(reader, texts[0] or "", language)
    elif HOLE in known or HOLE in word.text or near or same or texts:
        reader.doubt(f"it runs '{word.text.replace(HOLE, '…')}', which it has written itself")
    for end in ends:
        if end in reader.edited:
            judge_edit(reader, reader.edited[end])


def _follow(reader: Reader, path: str) -> str:
    try:
        return reader.ground.resolve(path)
    except (OSError, ValueError):
        return path


def _check_mentions(reader: Reader) -> None:
    """A file that is run and that another command names: it may have been written by that."""
    runs = [act for act in reader.acts if isinstance(act, Run) and base_name(act.words[0].text) not in _LOOKING]
    named: dict[str, list[Run]] = {}
    for run in runs:
        for part in {base_name(part) for word in run.words[1:] for part in _split_word(word.text)}:
            named.setdefault(part, []).append(run)
    for word, _, _, underway in reader.ran:
        name = base_name(word.text)
        if not name.strip(".") or HOLE in name:
            continue
        if any(not any(run is each for each in underway) for run in named.get(name, ())):
            reader.doubt("it runs a file that another command of its own names")
            return
        if name in reader.mentioned:
            reader.doubt("it runs a file that code of its own names")
            return


def _split_word(text: str) -> list[str]:
    """A word, what is behind its equals sign, and what is behind a letter of an option."""
    return [text, text.rpartition("=")[2], text[2:] if text[:1] == "-" and text[1:2] != "-" else text]


_LOOKING = read_names(
    """
gcc g++ cc c++ clang clang++ rustc go make cargo git python bash sh ls cat head tail less more wc stat file grep rg
chmod chown test [ echo printf diff cmp md5sum sha256sum sha1sum shellcheck shfmt touch git-add basename dirname
realpath readlink which type command tree du sort jq cd rm export declare local read
"""
)


def _check_surroundings(reader: Reader, name: str, words: Sequence[Word], own_files: frozenset[str]) -> None:
    """What a program may find around it: files that the script has written before."""
    named = {base_name(word.text.rpartition("=")[2]) for word in words[1:]}
    for path, text in list(reader.written.items()):
        own = base_name(path)
        is_control = own in _CONTROL or (own[:1] == "." and own.endswith("rc"))
        if path in own_files:
            continue
        if name in ("git", "gh"):
            if own == "config" or any(part in path for part in _GIT_CONTROL):
                reader.doubt(WRITTEN)
        elif own in _SHELL_CONTROL and name in _SHELLS:
            judge_text(reader, text or HOLE, "sh")
        elif own.endswith(_DATA) and not is_control:
            continue
        elif text is not None:
            if is_control or own in named or "." not in own or own.endswith(_CODE):
                _judge_unknown(reader, text)
        elif is_control or (own in named and name not in _CARRYING):
            reader.doubt(WRITTEN)


_CODE = tuple(
    sorted(
        read_names(
            """
.py .js .mjs .cjs .ts .sh .bash .mk .cmake .ninja .java .go .rs .c .h .cpp .cc .rb .pl .pm .lua .php .tcl .gradle
.kts .sql .vim .el .awk .sed .yml .yaml .toml .ini .cfg .json .conf .pth .R .jl .nse .exp .gdb .zsh
"""
        )
    )
)


def _judge_unknown(reader: Reader, text: str | None) -> None:
    """A text in whatever language: it must not name a denied program, nor a way to start one."""
    if text is None or HOLE in text or list_tokens(text) & _ODD or any(sign in text for sign in ("`", "\\x", "\\u")):
        reader.doubt(WRITTEN)
    reader.add(Hint((text or "").replace(HOLE, " ")))


def judge_text(reader: Reader, text: str, language: str) -> None:
    """A file that is run, by what is in it."""
    from remit.policy.bash.programs.node import is_harmless_node  # noqa: PLC0415 - only where a script runs its own
    from remit.policy.bash.programs.python import judge_python  # noqa: PLC0415

    first = text.partition("\n")[0]
    if first.startswith("#!"):
        program = base_name(first[2:].replace("/usr/bin/env", "").strip().partition(" ")[0])
        language = language or program.rstrip("0123456789.")
    if language in ("", "sh", "bash", "dash", "zsh", "ksh"):
        reader.read(text)
    elif language == "other" and _COMPILED.search(text):
        reader.doubt(WRITTEN)
    elif language == "python":
        judge_python(reader, text)
    elif language != "node" or not is_harmless_node(text):
        _judge_unknown(reader, text)


_COMPILED = lazy(
    r"##|asm|__|/dev/|#\s*include\s*[<\"](?!(?:stdio|string|math|stdbool|stdint|ctype|limits|time|assert|iostream|vector)\b)"
)
"""What code that is compiled and run may not have in it."""


def judge_edit(reader: Reader, text: str) -> None:
    """A file that is edited and then run: the edit must not bring in anything that runs something."""
    _judge_unknown(reader, text)
