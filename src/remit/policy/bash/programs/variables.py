"""Variables: those that programs take commands from, load code by, or look for programs by."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.names import read_names
from remit.policy.bash.opened import RUN_OPENED, is_opened
from remit.policy.bash.programs.git import check_editor
from remit.policy.bash.programs.scripts import read_given
from remit.policy.bash.words import HOLE, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Reader

MAX_FOLDERS = 20
_LOADING = read_names(
    """
BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS4 SHELLOPTS BASHOPTS BASH_ALIASES BASH_CMDS PERL5OPT PERL5DB RUBYOPT
PYTHONSTARTUP PYTHONHOME PYTHONINSPECT LESSOPEN LESSCLOSE GIT_EXEC_PATH GIT_TEMPLATE_DIR MAKEFLAGS GNUMAKEFLAGS
MFLAGS TAR_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS GCONV_PATH GCC_EXEC_PREFIX COMPILER_PATH ZDOTDIR
EXINIT VIMINIT MYVIMRC INPUTRC TCLLIBPATH PHPRC PHP_INI_SCAN_DIR NODE_REPL_EXTERNAL_MODULE npm_config_script_shell
NPM_CONFIG_SCRIPT_SHELL OPENSSL_CONF LUA_INIT R_PROFILE ERL_AFLAGS ERL_FLAGS ELIXIR_ERL_OPTIONS LESS LESSKEY WGETRC
CURL_HOME XDG_CONFIG_HOME GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS SSH_AUTH_SOCK_CMD
EMACSLOADPATH GDBHISTFILE CARGO_HOME RUSTC RUSTDOC CDPATH MANOPT POSIXLY_CORRECT_CMD
"""
)
"""Variables through which programs are made to load or run something."""
_COMMANDS = read_names(
    """
SHELL BROWSER VISUAL EDITOR PAGER CC CXX LD AR AS CPP FC LEX YACC GIT_SSH GIT_EXTERNAL_DIFF
"""
)
_COMMAND_ENDINGS = (
    "_EDITOR", "_PAGER", "PAGER", "_COMMAND", "_SSH", "_RSH", "_WRAPPER", "_RUNNER", "_SHELL", "ASKPASS", "_LINKER",
    "_OPENER", "_HOOK", "_EXEC", "_CMD",
)  # fmt: skip


def check_variable(reader: Reader, name: str, value: Word, *, is_exported: bool = True) -> None:
    """A variable that is set: some are taken for commands, some make programs load code."""
    text = value.text
    if "$(" in text or "`" in text:
        reader.doubt("a variable gets a text with a substitution in it")
    if name in _LOADING or name.startswith(("LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_", "npm_config_script")):
        # What git puts into a repository is run later, by others.
        reader.doubt(f"'{name}' makes programs run something else", always=name == "GIT_TEMPLATE_DIR")
    elif name == "PATH":
        _check_path(reader, text)
    elif name in _COMMANDS or name.endswith(_COMMAND_ENDINGS):
        if HOLE in text:
            reader.doubt(f"'{name}' names a program that is not written out")
        elif text.strip():
            read_given(reader, text)
            check_editor(reader, name, text)
    elif name == "NODE_OPTIONS":
        if HOLE in text or any(part in text for part in ("-r", "--import", "--loader", "-e", "--eval")):
            reader.doubt(f"'{name}' makes programs run something else")
    elif text and is_exported:
        reader.add(Hint(text.replace(HOLE, " ")))
        reader.add(Hint(text, is_place=True))


def _check_path(reader: Reader, text: str) -> None:
    """Where programs are looked for: folders that are named are as good as programs that are."""
    reader.own_path = True
    for part in text.split(":")[:20]:
        if HOLE not in part and part and len(reader.folders) < MAX_FOLDERS:
            found = [posixpath.join(cwd, part) for cwd in reader.cwds or ("",)]
            reader.folders += [folder for folder in found if folder not in reader.folders]
            if is_opened(reader, part):
                reader.doubt(RUN_OPENED)
        if HOLE in part and part != HOLE:
            reader.doubt("where programs are looked for is not written out")
    if text.startswith((".", ":")) or "::" in text:
        reader.doubt("programs are looked for in the folder that the shell is in")
