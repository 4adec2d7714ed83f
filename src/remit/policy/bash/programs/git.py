"""Git: the commands in its settings, its options and its subcommands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import GIT_COMMANDS, could_be_flag, list_tokens
from remit.policy.bash.names import read_names, read_table
from remit.policy.bash.options import parse_options
from remit.policy.bash.programs.scripts import join, read_given
from remit.policy.bash.programs.tools import read_marks
from remit.policy.bash.words import HOLE, SPLIT, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Handler, Reader, Stdin

_PLAIN_KEYS = tuple(
    sorted(
        read_names(
            """
user. color. advice. log. fetch. column. blame. format. feature. index. pack. status. push. pull. rebase.auto
rerere. branch. gc. safe. http.sslverify http.extraheader http.postbuffer http.version http.proxy http.lowspeed
protocol.version init.defaultbranch commit.gpgsign tag.gpgsign tag.sort core.quotepath core.autocrlf core.eol
core.filemode core.longpaths core.ignorecase core.abbrev core.bare core.commentchar core.preloadindex core.symlinks
core.untrackedcache core.whitespace core.safecrlf core.precomposeunicode core.compression core.bigfilethreshold
core.sparsecheckout core.excludesfile diff.renames diff.renamelimit diff.algorithm diff.colormoved diff.noprefix
diff.mnemonicprefix diff.submodule diff.context merge.conflictstyle merge.ff merge.renames merge.renormalize
submodule.recurse submodule.fetchjobs commit.template commit.verbose commit.status grep.linenumber stash.
transfer.fsckobjects receive.fsckobjects remote.origin.url remote.origin.fetch clone. checkout. worktree. notes.
maintenance. lfs. versionsort. help.
"""
        )
    )
)
"""Settings that start nothing."""
_COMMAND_KEYS = (
    "pager", "editor", "sshcommand", "command", "cmd", "external", "helper", "program", "textconv", "driver", "askpass",
    "difffilter", "clean", "smudge", "process", "fsmonitor", "gitproxy", "uploadpack", "receivepack", "hook",
)  # fmt: skip


def _take_setting(reader: Reader, key: str, value: Word) -> None:
    """One of git's settings: an alias and a helper are commands, others start nothing or are not known."""
    key = key.lower()
    text = value.text
    if key.startswith("alias."):
        if value.is_sure:
            read_given(reader, text[1:] if text.startswith("!") else f"git {text}")
        else:
            reader.doubt("an alias of git's is not written out")
    elif key.startswith("pager.") or key.rpartition(".")[2] in _COMMAND_KEYS:
        if text not in ("true", "false", "0", "1", "no", "yes"):
            read_given(reader, text.removeprefix("!"))
            check_editor(reader, key, text)
    elif key == "init.templatedir":
        reader.doubt("git is told where its hooks come from", always=True)
    elif not key.startswith(_PLAIN_KEYS) or HOLE in key:
        reader.doubt(f"git's setting '{key.replace(HOLE, '…')}' may start something")
        reader.add(Hint(text.replace(HOLE, " ")))


def check_editor(reader: Reader, name: str, text: str) -> None:
    """An editor of a list of things to do can put commands into it."""
    reader.add(Hint(text.replace(HOLE, " ")))
    if "sequence" in name.lower() and list_tokens(text) & {"exec", "x", "e"}:
        reader.doubt("commands are put into a list of things to do")


_GIT_TEXTS = read_table(
    """
rebase x --exec
difftool x --extcmd
mergetool - --extcmd
grep O --open-files-in-pager
clone u --upload-pack
fetch - --upload-pack
pull - --upload-pack
ls-remote - --upload-pack --exec
fetch-pack - --upload-pack --exec
push - --receive-pack --exec
send-pack - --receive-pack --exec
archive - --exec
send-email - --smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd
remote - -
svn - -
"""
)


def _take_git(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    rest, at = words[1:], 0
    while at < len(rest) and (rest[at].text.startswith("-") or not rest[at].is_sure):
        word = rest[at]
        text = word.text
        at += 1
        if not word.is_sure and (word.kind == SPLIT or text.startswith((HOLE, "-" + HOLE, "-c" + HOLE))):
            reader.doubt("what comes before git's subcommand is not written out")
            return
        if text in ("-C", "--git-dir", "--work-tree", "--namespace", "--attr-source"):
            if at < len(rest) and rest[at].kind == SPLIT:
                reader.doubt("what comes before git's subcommand is not written out")
            at += 1
        elif text == "-c" and at < len(rest):
            key, _, value = rest[at].text.partition("=")
            _take_setting(reader, key, Word(value, rest[at].kind))
            at += 1
        elif text.startswith(("--exec-path=", "--config-env")):
            reader.doubt("git is told where its commands come from")
    command = rest[at] if at < len(rest) else None
    if command is None:
        return
    if any("ext::" in word.text or word.text.startswith("fd::") for word in rest):
        reader.doubt("git is given a command in the place of an address")
        reader.add(Hint(join(rest)))
    if command.text not in GIT_COMMANDS:
        reader.add(Hint(join(rest)))
    _take_git_command(reader, command.text, rest[at + 1 :])


def _take_git_command(reader: Reader, command: str, rest: list[Word]) -> None:  # noqa: C901 - a branch per subcommand
    if command in _GIT_TEXTS:
        letters, longs = read_marks(_GIT_TEXTS[command])
        _take_git_texts(reader, rest, letters, longs)
    operands = [word for word in rest if word.text[:1] != "-"]
    if command == "bisect" and operands and operands[0].text == "run":
        reader.run(operands[1:] and rest[rest.index(operands[0]) + 1 :], None)
    elif command == "submodule" and any(word.text == "foreach" for word in rest):
        at = next(number for number, word in enumerate(rest) if word.text == "foreach")
        inner = [word for word in rest[at + 1 :] if word.text not in ("--recursive", "--quiet", "-q", "--")]
        read_given(reader, " ".join(word.text for word in inner))
    elif command in ("filter-branch", "filter-repo", "daemon", "instaweb", "cvsserver", "shell", "hook", "credential"):
        reader.doubt(f"'git {command}' runs what it is given")
        reader.add(Hint(join(rest)))
    elif command in ("read-tree", "checkout-index", "fast-import"):
        reader.doubt(f"'git {command}' writes whatever a tree has in it", always=True)
    elif command == "for-each-repo":
        reader.run([Word("git"), *operands], None)
    elif command == "config":
        _take_config(reader, rest)
    if command in ("clone", "init", "submodule"):
        for at, word in enumerate(rest):
            if word.text.startswith("--template"):
                reader.doubt("git is told where its hooks come from", always=True)
            if word.text in ("-c", "--config") and command == "clone" and at + 1 < len(rest):
                key, _, value = rest[at + 1].text.partition("=")
                _take_setting(reader, key, Word(value, rest[at + 1].kind))
            elif word.text.startswith("--config=") and command == "clone":
                key, _, value = word.text[9:].partition("=")
                _take_setting(reader, key, Word(value, word.kind))


def _take_git_texts(reader: Reader, rest: list[Word], letters: str, longs: list[str]) -> None:
    for at, word in enumerate(rest):
        text = word.text
        if not word.is_sure and could_be_flag(word) and reader.is_tainted:
            reader.doubt("options of 'git' are not written out")
        following = rest[at + 1].text if at + 1 < len(rest) else ""
        option, equals, value = text.partition("=")
        if text.startswith("--") and len(option) > 3 and any(long.startswith(option) for long in longs):  # noqa: PLR2004
            if option != "--open-files-in-pager" or equals:
                read_given(reader, value if equals else following)
        elif text[:1] == "-" and text[1:2] != "-" and letters and letters in text:
            read_given(reader, text.partition(letters)[2] or ("" if letters == "O" else following))


def _take_config(reader: Reader, rest: list[Word]) -> None:
    looks = (
        "--get",
        "--list",
        "-l",
        "--unset",
        "--show",
        "--name-only",
        "--remove",
        "--get-all",
        "--get-regexp",
        "get",
        "list",
        "unset",
    )
    if any(word.text.startswith(looks) for word in rest):
        return
    found = parse_options(rest, "f: t: --file: --blob: --type: --default: --comment: --value:", permute=True)
    operands = [word for word in found.operands if word.text != "set"]
    if any(word.text in ("-e", "--edit", "edit") for word in rest):
        reader.doubt("git opens an editor")
    if len(operands) > 1:
        _take_setting(reader, operands[0].text, operands[1])
        if not operands[0].text.lower().startswith(_PLAIN_KEYS):
            reader.doubt("git's settings may start something, in other commands than this one", always=True)


HANDLERS: dict[str, Handler] = {"git": _take_git}
