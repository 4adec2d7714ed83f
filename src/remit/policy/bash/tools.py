"""Tools: programs that start others through an option, a setting or a subcommand of theirs.

Owns what is known of git, make, tar, ssh, editors, package managers and their like. What is a command in their words
is taken out and judged like any other; what cannot be taken out is a doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint, Run
from remit.policy.bash.commands import GIT_COMMANDS, base_name, could_be_flag, find_git_command, list_tokens
from remit.policy.bash.names import WRAPPERS, read_names, read_table
from remit.policy.bash.options import parse_options
from remit.policy.bash.words import HOLE, SPLIT, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.policy.bash.reading import Reader, Stdin


def read_given(reader: Reader, text: str) -> None:
    """A text that a program hands to a shell, or takes apart as one would."""
    if HOLE in text:
        reader.doubt("a command that a program is given is not written out")
        reader.add(Hint(text.replace(HOLE, " ")))
    elif text.strip():
        reader.read(text)
        words = text.split()
        first = base_name(words[0])
        # What it puts behind it is not known, and a pattern may look at that.
        reader.add(Run((*(Word(word) for word in words), Word(HOLE, SPLIT)), passes_on=True))
        if first in WRAPPERS or first in STARTERS:
            # The program puts words of its own behind it, and those may be a command.
            reader.doubt("a command that a program is given starts whatever follows it")


def _join(words: Sequence[Word]) -> str:
    return " ".join(word.text.replace(HOLE, " ") for word in words)


# --- options that are commands ---------------------------------------------------------------------------------------

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
scp S -
sftp S -
install - --strip-program
wget - --use-askpass
dpkg - --pre-invoke --post-invoke
nano s --speller
diff3 - --diff-program
sdiff - --diff-program
coreutils - --coreutils-prog
cpio - --rsh-command
less - -
more - -
most - -
fzf - --preview --bind --preview-window
logrotate m --mail
nodemon x --exec
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
        _take_value(reader, _join(words[2:]))
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
    elif name in ("less", "more", "most") and any(text.startswith("+") or "!" in text for text in texts):
        reader.doubt("a viewer is given commands of its own")
        reader.add(Hint(" ".join(texts)))


# --- git -------------------------------------------------------------------------------------------------------------

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
        reader.add(Hint(_join(rest)))
    if command.text not in GIT_COMMANDS:
        reader.add(Hint(_join(rest)))
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
        reader.add(Hint(_join(rest)))
    elif command == "for-each-repo":
        reader.run([Word("git"), *operands], None)
    elif command == "config":
        _take_config(reader, rest)
    if command in ("clone", "init", "submodule"):
        for at, word in enumerate(rest):
            if word.text.startswith("--template"):
                reader.doubt("git is told where its hooks come from")
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


# --- make ------------------------------------------------------------------------------------------------------------


def _take_make(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """Rules that were there are trusted; rules and variables in its words are not."""
    from remit.policy.bash.programs import run_file  # noqa: PLC0415 - programs know of tools

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


# --- other machines and containers -----------------------------------------------------------------------------------


def _take_ssh(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    from remit.policy.bash.programs import run_file  # noqa: PLC0415 - programs know of tools

    found = parse_options(words[1:], "B: b: c: D: E: e: F: I: i: J: L: l: m: O: o: P: p: Q: R: S: W: w: X:")
    if found.is_doubtful:
        reader.doubt("options of 'ssh' are not written out")
    for name, value in found.options:
        if name == "-o":
            key, sign, text = value.text.replace("=", " ", 1).strip().partition(" ")
            if (
                key.lower() in ("proxycommand", "localcommand", "knownhostscommand", "remotecommand")
                and sign
                and text.strip() != "none"
            ):
                read_given(reader, text)
            elif HOLE in key:
                reader.doubt("options of 'ssh' are not written out")
        elif name == "-F":
            run_file(reader, value, None, "other")
    if base_name(words[0].text) in ("ssh", "slogin", "autossh", "mosh") and len(found.operands) > 1:
        read_given(reader, " ".join(word.text for word in found.operands[1:]))


_AFTER = read_table(
    """
poetry run
pipenv run
pdm run
rye run
hatch run
bundle exec
conda run
mamba run
micromamba run
lake env
opam exec
stack exec
cabal exec
mise exec x
asdf exec
pyenv exec
rbenv exec
nodenv exec
volta run
nvm exec run
fnm exec
uv run
yarn exec dlx node run
pnpm exec dlx
npm exec x explore
bun x run exec
lerna exec
foreman run
op run
doppler run
aws-vault exec
chamber exec
infisical run
kubectl exec run debug
oc exec run
docker exec run create
podman exec run create
nerdctl exec run
docker-compose exec run
lxc exec
flatpak run
toolbox run
distrobox enter
perf stat record trace
rr record
cmake env time chdir
nix run shell develop
direnv exec
go run
cargo run
heroku run
mvn
gradle
dotenv run
turbo run
nx run exec
ip exec
vagrant ssh
tsh ssh
gcloud ssh
pipx run
guix environment shell
rustup run
sdk
jbang
mill
meson devenv
"""
)
"""Programs after one of whose subcommands a command stands."""
_EXACT = read_names(
    """
poetry pipenv pdm rye bundle opam stack cabal pyenv rbenv nodenv mise asdf lake uv pipx volta fnm
"""
)


def _take_after(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:  # noqa: C901, PLR0912 - one walk
    """The command after a subcommand: after `--` where there is one, else after its options."""
    name = base_name(words[0].text)
    _check_scripts(reader, name, words)
    if name in ("bun", "go") and any(
        word.text.startswith(("-e", "-p", "--eval", "--print", "-exec")) for word in words
    ):
        reader.doubt("code is run that cannot be looked at")
    marks = _AFTER.get(name, "").split()
    at = next((number for number, word in enumerate(words[1:], 1) if word.text in marks), 0)
    if at or name not in _CLIENTS:
        reader.add(Hint(_join(words[1:])))
    if not at:
        return
    rest = words[at + 1 :]
    if reader.is_tainted and any(not word.is_sure for word in rest):
        reader.doubt(f"what '{name}' starts is not written out")
    dashes = next((number for number, word in enumerate(rest) if word.text == "--"), -1)
    if dashes >= 0:
        rest = rest[dashes + 1 :]
    elif name in _EXACT:
        rest = list(
            parse_options(
                rest,
                "p: n: w: --with: --python: --package: --from: --project: --directory: --extra: --group: --env-file:",
            ).operands
        )
    else:
        for number, word in enumerate(rest):
            if not word.is_sure and word.kind == SPLIT:
                reader.doubt(f"what '{name}' starts is not written out")
            if word.is_sure and base_name(word.text) in STARTERS:
                reader.run(rest[number:], None)
                break
        for number, word in enumerate(rest):
            own = ("--entrypoint",) if name in ("docker", "podman") else ("-c", "--call", "--command", "--shell")
            if word.text in own and number + 1 < len(rest) and name in _TEXTUAL:
                read_given(reader, rest[number + 1].text)
        return
    if rest:
        reader.run(rest, None)


_CLIENTS = read_names("npm pnpm yarn bun docker podman kubectl oc conda uv heroku gcloud ip nix")
"""Programs whose other subcommands start nothing that they are given."""
_TEXTUAL = frozenset({"npm", "nix", "vagrant", "gcloud", "docker", "podman"})
STARTERS = read_names(
    """
sh bash dash zsh ksh ash busybox env command sudo su xargs eval exec python python3 perl ruby node timeout nohup
nice find awk
"""
)


def _check_scripts(reader: Reader, name: str, words: list[Word]) -> None:
    """Settings of package managers that are commands."""
    if name not in ("npm", "pnpm", "yarn", "bun"):
        return
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if "script-shell" in text or text.startswith("--node-options") or text == "set-script":
            reader.doubt("it sets what scripts are run by")
        elif text.startswith("scripts."):
            read_given(reader, text.partition("=")[2] or (words[at + 1].text if at + 1 < len(words) else ""))


def _take_npx(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    found = parse_options(words[1:], "p: c: w: --package: --call: --workspace: --python: --with: --from: --spec:")
    if not found.is_certain:
        reader.add(Hint(_join(words[1:])))
    for name, value in found.options:
        if name in ("-c", "--call"):
            read_given(reader, value.text)
    if found.operands:
        reader.run(list(found.operands), None)


# --- programs with commands of their own -----------------------------------------------------------------------------


def _take_editor(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    quiet = ("-R", "-n", "--version", "-h", "--help", "--noplugin", "-N", "--clean", "-q")
    if any(not word.is_sure or (word.text[:1] in "-+" and word.text not in quiet) for word in words[1:]) or stdin:
        reader.doubt("an editor is given commands of its own")
        reader.add(Hint(_join(words[1:])))


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
            read_given(reader, " ".join(word.text for word in found.operands))
            return
    reader.doubt("a terminal is given something to type")
    reader.add(Hint(_join(words[1:])))


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
        reader.add(Hint(_join(words[1:])))


def _take_later(reader: Reader, words: list[Word], stdin: Stdin | None) -> None:
    """`at`, `batch`: commands on standard input, for later."""
    from remit.policy.bash.programs import read_stdin  # noqa: PLC0415 - programs know of tools

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
        reader.add(Hint(_join(words[1:])))


def _take_apt(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    for word in words[1:]:
        if word.text.startswith(("-o", "--option", "-c", "--config-file")) or "Invoke" in word.text:
            reader.doubt("settings of a package manager may start something")
            reader.add(Hint(_join(words[1:])))
            break


def _take_rpm(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any(
        word.text.startswith(("-E", "--eval", "-D", "--define", "--pipe", "--macros", "--rcfile", "--load"))
        for word in words[1:]
    ):
        reader.doubt("settings of a package manager may start something")
        reader.add(Hint(_join(words[1:])))


def _take_compiler(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any(word.text.startswith(("-wrapper", "-B", "-fplugin", "-specs", "--specs", "@")) for word in words[1:]):
        reader.doubt("a compiler is told what to run")
        reader.add(Hint(_join(words[1:])))


def _take_gh(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    texts = [word.text for word in words[1:3]]
    dashes = next((at for at, word in enumerate(words) if word.text == "--"), 0)
    if dashes and texts[:1] == ["repo"]:
        reader.run([Word("git"), Word("clone"), *words[dashes + 1 :]], None)
    elif dashes:
        reader.add(Hint(_join(words[1:])))
    if (texts[:1] in (["alias"], ["extension"], ["ext"]) and texts[1:] not in (["list"], ["ls"])) or texts == [
        "config",
        "set",
    ]:
        reader.doubt("'gh' is told what to run")
        reader.add(Hint(_join(words[1:])))


def _take_client(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    """Clients of services start nothing, but what is set in them may, and so may what they let others do."""
    risky = {"configure", "config", "plugin", "plugins", "alias", "extension", "ssh", "exec", "console", "shell", "run"}
    if any(word.text in risky for word in words[1:]):
        reader.add(Hint(_join(words[1:])))


def _take_wget(reader: Reader, words: list[Word], _stdin: Stdin | None) -> None:
    if any(word.text.startswith(("-e", "--exe", "--config")) for word in words[1:]):
        reader.doubt("settings of a program may start something")
        reader.add(Hint(_join(words[1:])))


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
            reader.add(Hint(_join(words[at:])))


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


def find_command(words: Sequence[Word]) -> str:
    """Git's subcommand, "" where it has none."""
    found = find_git_command(words)
    return found.text if found else ""


_EDITORS = read_names("vi vim nvim ex view vimdiff rvim rview gvim emacs emacsclient nano pico joe micro hx kak")
_DOUBTFUL = read_names(
    "crontab fc run-mailcap xdg-open capsh pexec groff troff nroff pic tcpdump run-parts incrontab anacron debugfs"
)
HANDLERS: dict[str, Callable[[Reader, list[Word], Stdin | None], None]] = {
    "git": _take_git, "make": _take_make, "gmake": _take_make, "ssh": _take_ssh,
    "slogin": _take_ssh, "autossh": _take_ssh, "mosh": _take_ssh,
    "scp": _take_ssh, "sftp": _take_ssh,
    **dict.fromkeys(_AFTER, _take_after),
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx"), _take_npx),
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
