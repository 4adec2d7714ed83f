"""Python code: what a piece of it would start and write.

Owns the look at inline Python. Only code that is known in all its parts passes: imports that start nothing, no way to
a module by another's attributes, nothing evaluated. Files that it opens to write are taken note of.
"""

from __future__ import annotations

import ast
import sys
import warnings
from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.names import read_names
from remit.policy.bash.words import HOLE, Word

if TYPE_CHECKING:
    from remit.policy.bash.reading import Reader

_SAFE = read_names(
    """
__future__ zipfile pstats site sysconfig warnings contextlib threading queue inspect logging unittest asyncio types
concurrent abc argparse array ast base64 binascii bisect calendar collections colorsys copy csv dataclasses datetime
decimal difflib enum fractions functools glob graphlib hashlib heapq html io itertools json keyword locale math
numbers operator os pathlib pprint random re secrets statistics string struct sys tempfile textwrap time token
tokenize tomllib traceback typing unicodedata urllib uuid zlib zoneinfo platform shutil xml configparser sqlite3
"""
)
_RISKY = read_names(
    """
sh plumbum pexpect ptyprocess fabric invoke psutil git delegator envoy sarge paramiko cffi cloudpickle dill joblib
pip setuptools distutils IPython nose executor pwn conda win32api shellingham
"""
)
_OS = read_names(
    """
path environ getcwd listdir walk scandir sep linesep name cpu_count getpid getenv stat access pathsep curdir pardir
extsep lstat fspath sched_getaffinity getuid getlogin R_OK W_OK X_OK F_OK uname readlink environb
"""
)
_OS_WRITES = read_names(
    """
makedirs mkdir remove unlink rename replace rmdir removedirs symlink link chmod truncate utime
"""
)
_SYS = read_names(
    """
argv stdin stdout stderr exit path version version_info executable platform maxsize getsizeof byteorder
setrecursionlimit getdefaultencoding prefix base_prefix implementation stdlib_module_names float_info
"""
)
_NO_NAMES = read_names(
    """
eval exec compile __import__ getattr setattr delattr globals locals vars breakpoint input __builtins__ __loader__
__spec__ help
"""
)
_NO_ATTRIBUTES = read_names(
    """
os sys subprocess builtins importlib modules system popen fork forkpty Popen call check_call check_output getoutput
getstatusoutput import_module load_module exec_module run_path run_module CDLL dlopen eval exec query read_pickle
unsafe_load full_load UnsafeLoader FullLoader Loader load_all dictConfig fileConfig f2py exec_command attrgetter
methodcaller get_type_hints open_code load_library ctypes enable_load_extension load_extension posix shutil CodeType
FunctionType addsitedir create_subprocess_exec create_subprocess_shell run_in_executor startfile literal_compile
"""
)
_WRITES = read_names(
    """
write_text write_bytes unlink rename replace_file rmdir mkdir touch chmod symlink_to hardlink_to rmtree copy
copyfile copy2 copytree move copymode to_csv to_json to_excel to_parquet savefig dump save extractall extract
"""
)
_GOOD_DUNDERS = read_names(
    """
__table__ __tablename__ __annotations__ __members__ __fields__ __slots__ __qualname__ __version__ __file__ __name__
__doc__ __path__ __all__ __main__ __class__
"""
)


def look_through(reader: Reader, text: str) -> bool:
    """Whether code starts nothing, as far as all of it is known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return _Look(reader).take(tree)


_UNSAFE = frozenset({"logging.config", "logging.handlers", "asyncio.subprocess", "concurrent.futures.process"})


class _Look:
    """One look through one tree."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.modules: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.unknown = False

    def take(self, tree: ast.AST) -> bool:  # noqa: C901 - a branch per kind of node
        nodes = list(ast.walk(tree))
        seen: set[int] = set()
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not self._take_import(node):
                return False
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                for target in node.targets:
                    name = target.id if isinstance(target, ast.Name) else ""
                    self.texts[name] = HOLE if name in self.texts else node.value.value
        for node in nodes:
            if isinstance(node, ast.Attribute):
                if not self._take_attribute(node):
                    return False
                seen.add(id(node.value))
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name):
                    seen.add(id(node.func))
                self._take_call(node)
        if not all(self._is_good_name(node, id(node) in seen) for node in nodes if isinstance(node, ast.Name)):
            return False
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        self.reader.mentioned |= {text.rpartition("/")[2] for text in texts}
        if self.unknown:
            names = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
            self.reader.add(Hint(" ".join([*texts, *names])))
        return True

    def _take_import(self, node: ast.Import | ast.ImportFrom) -> bool:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                self.modules[alias.asname or top] = alias.name if alias.asname else top
                if not self._is_good_module(alias.name):
                    return False
            return True
        module = node.module or ""
        if not node.level and not self._is_good_module(module):
            return False
        return all(self._is_good_import(module, alias.name, alias.asname or alias.name) for alias in node.names)

    def _is_good_import(self, module: str, name: str, known_as: str) -> bool:
        if module == "os":
            return name in _OS
        if module == "sys":
            return name in _SYS
        if name in ("Path", "PurePath"):
            self.modules[known_as] = "Path"
        return (
            name not in _NO_ATTRIBUTES
            and name not in _NO_NAMES
            and (not name.startswith("_") or name in _GOOD_DUNDERS)
            and name != "*"
        )

    def _is_good_module(self, name: str) -> bool:
        top = name.partition(".")[0]
        if name in ("importlib.metadata", "importlib.resources"):
            return True
        if name in _UNSAFE or (name.startswith("urllib.") and name != "urllib.parse"):
            return False
        if top in _SAFE:
            return name != "xml.sax.expatreader"
        if top in _RISKY or top in sys.stdlib_module_names or top.startswith("_"):
            return False
        self.unknown = True
        return True

    def _take_attribute(self, node: ast.Attribute) -> bool:
        name = node.attr
        of = self.modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if of == "os":
            if name in _OS_WRITES:
                self.reader.note_file(Word(HOLE), "write")
                return True
            return name in _OS
        if of == "sys":
            return name in _SYS
        if name.startswith("_") and name not in _GOOD_DUNDERS:
            return False
        return name not in _NO_ATTRIBUTES and not name.startswith(
            ("spawn", "execv", "execl", "posix_spawn", "popen", "subprocess")
        )

    def _is_good_name(self, node: ast.Name, is_held: bool) -> bool:  # noqa: FBT001 - two of a kind
        if node.id in _NO_NAMES or (node.id.startswith("__") and node.id not in _GOOD_DUNDERS):
            return False
        if self.modules.get(node.id) in ("os", "sys", "shutil", "pathlib") or node.id == "open":
            return is_held
        return True

    def _take_call(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Name) and func.id == "open":
            mode = (
                node.args[1]
                if len(node.args) > 1
                else next((each.value for each in node.keywords if each.arg == "mode"), None)
            )
            writes = mode is not None and not (isinstance(mode, ast.Constant) and str(mode.value).strip("rbtU") == "")
            self.reader.note_file(self._read_path(node.args[0] if node.args else None), "write" if writes else "read")
        elif isinstance(func, ast.Attribute) and func.attr == "open":
            mode = node.args[0] if node.args else None
            reads = mode is None or (isinstance(mode, ast.Constant) and str(mode.value).strip("rbtU") == "")
            self.reader.note_file(self._read_path(func.value), "read" if reads else "write")
        elif isinstance(func, ast.Attribute) and func.attr in _WRITES:
            self.reader.note_file(self._read_path(func.value), "write")
            for each in node.args:
                if (
                    isinstance(each, ast.Constant)
                    and isinstance(each.value, str)
                    and func.attr not in ("write_text", "write_bytes")
                ):
                    self.reader.note_file(Word(each.value), "write")

    def _read_path(self, node: ast.expr | None) -> Word:
        """The text of a path: a string, a name that was given one, or `Path` of either."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            node = node.args[0] if self.modules.get(node.func.id) == "Path" else None
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "Path"
            and node.args
        ):
            node = node.args[0]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return Word(node.value)
        if isinstance(node, ast.Name):
            return Word(self.texts.get(node.id, HOLE))
        return Word(HOLE)
