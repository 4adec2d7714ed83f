"""Code: files that a script writes and then lets somebody run.

Owns the look at what is in them. Where that is known it is judged as if it stood in the command; where it is not, and
the file is one that a program takes its orders from, it is a doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash import inline
from remit.policy.bash.acts import Hint
from remit.policy.bash.commands import base_name, list_tokens
from remit.policy.bash.names import read_names
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
.perltidyrc .gitconfig .gitmodules .gitattributes config .envrc .env hosts crontab sudoers .ssh/config Taskfile.yml
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


def check_surroundings(reader: Reader, name: str, words: Sequence[Word]) -> None:
    """What a program may find around it: files that the script has written before."""
    named = {base_name(word.text.rpartition("=")[2]) for word in words[1:]}
    for path, text in list(reader.written.items()):
        own = base_name(path)
        if name in ("git", "gh"):
            if any(part in path for part in _GIT_CONTROL):
                reader.doubt(WRITTEN)
        elif own in _SHELL_CONTROL and name in _SHELLS:
            judge_text(reader, text or HOLE, "sh")
        elif own.endswith(_DATA) and own not in _CONTROL:
            continue
        elif text is not None:
            if own in _CONTROL or own in named or "." not in own or own.endswith(_CODE):
                _judge_unknown(reader, text)
        elif own in _CONTROL or (own in named and name not in _CARRYING):
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
    first = text.partition("\n")[0]
    if first.startswith("#!"):
        program = base_name(first[2:].replace("/usr/bin/env", "").strip().partition(" ")[0])
        language = language or program.rstrip("0123456789.")
    if language in ("", "sh", "bash", "dash", "zsh", "ksh"):
        reader.read(text)
    elif language == "python":
        inline.judge_python(reader, text)
    elif language == "node" and inline.is_harmless_node(text):
        return
    else:
        _judge_unknown(reader, text)


def judge_edit(reader: Reader, text: str) -> None:
    """A file that is edited and then run: the edit must not bring in anything that runs something."""
    _judge_unknown(reader, text)
