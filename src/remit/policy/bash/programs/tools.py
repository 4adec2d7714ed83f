"""Tools: programs that start others through an option, a setting or a word of theirs.

Owns what is known of make, tar, ssh, editors, package managers and their like. What is a command in their words is
taken out and judged like any other; what cannot be taken out is a doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import base_name, could_be_flag
from remit.policy.bash.names import read_names, read_table
from remit.policy.bash.options import parse_options
from remit.policy.bash.programs.scripts import join, read_given, read_stdin, run_file
from remit.policy.bash.words import HOLE, SPLIT, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.reading import Handler, Reader, Stdin

_OPTIONS = read_table(
    """
tar IF --to-command --use-compress-program --checkpoint-action --rmt-command --rsh-command --info-script --new-volume
sort - --compress-program
helm - --post-renderer
pip - --python --editor
pip3 - --python --editor
split - --filter
rsync e --rsh --rsync-path
zip - --unzip-command
man PH --pager --html
rg - --pre --hostname-bin
ag - --pager
ack - --pager
bat - --pager
batcat - --pager
install - --strip-program
wget - --use-askpass
dpkg - --pre-invoke --post-invoke
nano s --speller
diff3 - --diff-program
sdiff - --diff-program
coreutils - --coreutils-prog
cpio - --rsh-command --rmt-command
less - -
more - -
most - -
fzf - --preview --bind --preview-window
logrotate m --mail
nodemon x --exec
mysql - --pager
mariadb - --pager
mosh - --ssh --client --server
"""
)
"""Options whose value is a command: letters, and names in full; a dash where there are none."""


def read_marks(row: str) -> tuple[str, list[str]]:
    """The letters and the long names of a row."""
    letters, *longs = row.split()
    return letters.strip("-"), [long for long in longs if long != "-"]


def check_options(reader: Reader, name: str, words: Sequence[Word]) -> None:
    """Take the commands out of a program's options."""
    known = _OPTIONS.get(name)
    if known is None:
        return
    letters, longs = read_marks(known)
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if not word.is_sure and could_be_flag(word):
            if reader.is_tainted:
                reader.doubt(f"options of '{name}' are not written out")
            continue
        following = words[at + 1].text if at + 1 < len(words) else ""
        if text.startswith("--"):
            option, equals, value = text.partition("=")
            if len(option) > 3 and any(long.startswith(option) for long in longs):  # noqa: PLR2004 - dashes and a letter
                _take_value(reader, value if equals else following)
        elif text[:1] == "-" and letters:
            found = next((letter for letter in text[1:] if letter in letters), "")
            if found:
                _take_value(reader, text.partition(found)[2] or following)
    if name == "tar" and len(words) > 1 and words[1].text[:1] != "-" and set(words[1].text) & set("IF"):
        _take_value(reader, join(words[2:]))
    _check_others(reader, name, words)


def _take_value(reader: Reader, value: str) -> None:
    """`exec=CMD` of a checkpoint; other actions are none."""
    if value.startswith("exec="):
        value = value[5:]
    elif value.partition("=")[0] in ("dot", ".", "echo", "ttyout", "sleep", "totals", "bell", "wait"):
        return
    read_given(reader, value)


def _check_others(reader: Reader, name: str, words: Sequence[Word]) -> None:
    texts = [word.text for word in words[1:]]
    if name == "zip" and any(text.startswith("-TT") for text in texts):
        reader.doubt("a command that a program is given is not plain")
        reader.add(Hint(" ".join(texts)))
    elif name in ("less", "more", "most") and any(
        text.startswith(("+", "--lesskey-c", "--cmd")) or "!" in text for text in texts
    ):
        reader.doubt("a viewer is given commands of its own")
        reader.add(Hint(" ".join(texts)))


def _take_make(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """Rules that were there are trusted; rules and variables in its words are not."""
    found = parse_options(
        words[1:],
        "f: C: I: o: W: E: j= l= --file: --makefile: --directory: --eval: --include-dir: --assume-old: --jobs=",
        permute=True,
    )
    if reader.is_tainted and any(not word.is_sure and could_be_flag(word) for word in words[1:]):
        reader.doubt("options of 'make' are not written out")
    for name, value in found.options:
        if name in ("-E", "--eval"):
            reader.doubt("a rule stands in the command itself")
            reader.add(Hint(value.text.replace(HOLE, " ")))
        elif name in ("-f", "--file", "--makefile"):
            if value.text == "-":
                reader.doubt("rules come from somewhere else")
                reader.add(Hint(stdin[1].text.replace(HOLE, " ") if stdin else ""))
            else:
                run_file(reader, value, stdin)
    for word in found.operands:
        variable, equals, text = word.text.partition("=")
        variable = variable.rstrip(":?+!")
        if not equals:
            continue
        if variable in _MAKE_OWN or any(sign in text for sign in ("$(", "${", "`")):
            reader.doubt(f"'{variable}' makes 'make' run something else")
        reader.add(Hint(text.replace(HOLE, " ")))


_MAKE_OWN = frozenset({"SHELL", ".SHELLFLAGS", "MAKEFLAGS", "MAKE", "MAKEFILES"})


_SSH = "B: b: c: D: E: e: F: I: i: J: L: l: m: O: o: P: p: Q: R: S: W: w:"
_SSH_COMMANDS = read_names("proxycommand localcommand knownhostscommand remotecommand xauthlocation")
"""Settings of ssh that are commands."""


def _take_ssh(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    found = parse_options(words[1:], _SSH)
    behind = parse_options(found.operands[1:], _SSH)  # ssh reads options behind the host's name as well
    if found.is_doubtful or behind.is_doubtful:
        reader.doubt("options of 'ssh' are not written out")
    for name, value in (*found.options, *behind.options):
        _take_ssh_option(reader, name, value)
    if found.operands and not behind.operands:
        reader.note_typed("ssh")
    elif behind.operands:
        read_given(reader, " ".join(word.text for word in behind.operands))


def _take_copying(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Of scp and sftp the other side is a program, too: with `-D` one of this machine, with `-s` one of the host."""
    sftp = base_name(words[0].text) == "sftp"
    found = parse_options(words[1:], f"{_SSH} X: s:" if sftp else f"{_SSH} X:")
    if found.is_doubtful:
        reader.doubt("options of 'ssh' are not written out")
    for name, value in found.options:
        if name in ("-D", "-S") or (sftp and name == "-s"):
            read_given(reader, value.text)
        else:
            _take_ssh_option(reader, name, value)


def _take_ssh_option(reader: Reader, name: str, value: Word) -> None:
    if name == "-o":
        key, sign, text = value.text.replace("=", " ", 1).strip().partition(" ")
        if key.lower() in _SSH_COMMANDS and sign and text.strip() != "none":
            read_given(reader, text)
        elif HOLE in key:
            reader.doubt("options of 'ssh' are not written out")
    elif name == "-F":
        run_file(reader, value, None, "other")


def _take_editor(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    if not any(word.text in ("--version", "-h", "--help", "-es", "-Es", "--headless", "--batch") for word in words[1:]):
        reader.note_typed(base_name(words[0].text), always=True)
    quiet = ("-R", "-n", "--version", "-h", "--help", "--noplugin", "-N", "--clean", "-q")
    if any(not word.is_sure or (word.text[:1] in "-+" and word.text not in quiet) for word in words[1:]) or stdin:
        reader.doubt("an editor is given commands of its own")
        reader.add(Hint(join(words[1:])))


def _take_terminal(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Tmux and screen type what they are given."""
    quiet = (
        "ls",
        "list-sessions",
        "-ls",
        "-list",
        "kill-session",
        "kill-server",
        "has-session",
        "has",
        "capture-pane",
        "list-windows",
        "-V",
        "display-message",
    )
    if len(words) > 1 and words[1].text in quiet:
        return
    if len(words) > 1 and words[1].text in ("new", "new-session", "new-window", "neww", "split-window", "splitw"):
        found = parse_options(words[2:], "c: e: F: f: n: s: t: x: y: l: p:")
        if not any(";" in word.text for word in words) and not found.is_doubtful:
            if not found.operands:
                reader.note_typed(base_name(words[0].text), always=True)
            read_given(reader, " ".join(word.text for word in found.operands))
            return
    reader.note_typed(base_name(words[0].text), always=True)
    reader.doubt("a terminal is given something to type")
    reader.add(Hint(join(words[1:])))


def _take_socket(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    texts = [word.text for word in words[1:]]
    starts = any(text.upper().startswith(("EXEC", "SYSTEM", "SHELL")) or ",EXEC" in text.upper() for text in texts)
    starts = starts or any(
        text[:1] == "-" and text[1:2] != "-" and set(text[1:]) & set("ec")
        for text in texts
        if base_name(words[0].text) != "socat"
    )
    if (
        starts
        or any(text.startswith(("--ex", "--sh", "--lua")) for text in texts)
        or any(word.kind == SPLIT for word in words)
    ):
        reader.doubt("a connection is tied to a program")
        reader.add(Hint(join(words[1:])))


def _take_later(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`at`, `batch`: commands on standard input, for later."""
    if not any(word.text in ("-l", "-r", "-d", "-q", "-c") for word in words[1:]):
        read_stdin(reader, stdin)


def _take_doubtful(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Programs that nobody needs often and that can start anything."""
    if base_name(words[0].text) in ("groff", "troff", "nroff", "pic") and not any(
        "U" in word.text for word in words[1:]
    ):
        return
    looks = {"crontab": ("-l",), "tcpdump": ("-D", "-i", "-r")}.get(base_name(words[0].text), ())
    if not any(word.text in looks for word in words[1:]) or any(word.text.startswith("-z") for word in words[1:]):
        reader.doubt(f"'{base_name(words[0].text)}' runs what it is given")
        reader.add(Hint(join(words[1:])))


def _take_apt(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    for word in words[1:]:
        if word.text.startswith(("-o", "--option", "-c", "--config-file")) or "Invoke" in word.text:
            reader.doubt("settings of a package manager may start something")
            reader.add(Hint(join(words[1:])))
            break


def _take_rpm(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any(
        word.text.startswith(("-E", "--eval", "-D", "--define", "--pipe", "--macros", "--rcfile", "--load"))
        for word in words[1:]
    ):
        reader.doubt("settings of a package manager may start something")
        reader.add(Hint(join(words[1:])))


def _take_compiler(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any(word.text.startswith(("-wrapper", "-B", "-fplugin", "-specs", "--specs", "@")) for word in words[1:]):
        reader.doubt("a compiler is told what to run")
        reader.add(Hint(join(words[1:])))


def _take_gh(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    texts = [word.text for word in words[1:3]]
    dashes = next((at for at, word in enumerate(words) if word.text == "--"), 0)
    if dashes and texts[:1] == ["repo"]:
        reader.run([Word("git"), Word("clone"), *words[dashes + 1 :]], None)
    elif dashes:
        reader.add(Hint(join(words[1:])))
    if (texts[:1] in (["alias"], ["extension"], ["ext"]) and texts[1:] not in (["list"], ["ls"])) or texts == [
        "config",
        "set",
    ]:
        reader.doubt("'gh' is told what to run")
        reader.add(Hint(join(words[1:])))


def _take_client(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Clients of services start nothing, but what is set in them may, and so may what they let others do."""
    risky = {"configure", "config", "plugin", "plugins", "alias", "extension", "ssh", "exec", "console", "shell", "run"}
    if any(word.text in risky for word in words[1:]):
        reader.add(Hint(join(words[1:])))


def _take_wget(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any(word.text.startswith(("-e", "--exe", "--config")) for word in words[1:]):
        reader.doubt("settings of a program may start something")
        reader.add(Hint(join(words[1:])))


def _take_fd(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if text in ("-x", "-X", "--exec", "--exec-batch") or text.startswith(("--exec=", "--exec-batch=", "--exe")):
            inner = [Word(text.partition("=")[2])] if "=" in text else []
            inner += [Word(each.text.replace("{}", HOLE), each.kind) for each in words[at + 1 :] if each.text != ";"]
            reader.run([*inner, Word(HOLE)], None)
            return
        if text[:1] == "-" and text[1:2] != "-" and set(text[1:]) & set("xX"):
            reader.doubt("a command that a program is given is not plain")
            reader.add(Hint(join(words[at:])))


def _take_entr(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    rest = list(words[1:])
    while rest and rest[0].text[:1] == "-":
        shell = "s" in rest[0].text
        rest = rest[1:]
        if shell and rest:
            read_given(reader, rest[0].text)
            return
    if rest:
        reader.run(
            [Word(word.text.replace("/_", HOLE) if word.text == "/_" else word.text, word.kind) for word in rest], None
        )


_EDITORS = read_names("vi vim nvim ex view vimdiff rvim rview gvim emacs emacsclient nano pico joe micro hx kak")
_DOUBTFUL = read_names(
    "crontab fc run-mailcap xdg-open capsh pexec groff troff nroff pic tcpdump run-parts incrontab anacron debugfs"
)
HANDLERS: dict[str, Handler] = {
    "make": _take_make, "gmake": _take_make, "ssh": _take_ssh,
    "slogin": _take_ssh, "autossh": _take_ssh, "mosh": _take_ssh,
    "scp": _take_copying, "sftp": _take_copying,
    **dict.fromkeys(_EDITORS, _take_editor),
    **dict.fromkeys(("tmux", "screen", "zellij", "dtach", "abduco"), _take_terminal),
    **dict.fromkeys(("socat", "nc", "ncat", "netcat"), _take_socket),
    **dict.fromkeys(("at", "batch"), _take_later),
    **dict.fromkeys(_DOUBTFUL, _take_doubtful),
    **dict.fromkeys(("apt", "apt-get", "aptitude", "apt-cache"), _take_apt),
    **dict.fromkeys(("rpm", "rpmbuild"), _take_rpm),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "gfortran"), _take_compiler),
    **dict.fromkeys(("aws", "az", "terraform", "tofu", "pulumi", "helm", "vercel", "netlify", "fly"), _take_client),
    "wget": _take_wget,
    "gh": _take_gh, "fd": _take_fd, "fdfind": _take_fd, "entr": _take_entr,
}  # fmt: skip
