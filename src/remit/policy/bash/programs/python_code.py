"""Python code: what a piece of it would start and write.

Owns the look at inline Python. Only code that is known in all its parts passes: imports that start nothing, no way to
a module by another's attributes, nothing evaluated. Files that it opens to write are taken note of.
"""

from __future__ import annotations

import ast
import sys
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.links import note_link
from remit.policy.bash.listings import note_pattern
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


_IMPORTING = read_names(
    """
__import__ import_module run_module run_path exec eval compile spec_from_file_location SourceFileLoader load_module
exec_module find_spec get_loader find_loader walk_packages iter_modules load_entry_point resolve_name
"""
)
"""Calls by which code gets at modules without saying `import`."""


def reaches_module(text: str, name: str) -> bool:
    """Whether code imports a module, in so many words or by calls that are given its name, whole or in pieces."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return name in text and any(word in text for word in ("import", "exec", "runpy"))
    called, texts = set(), []
    for node in nodes:
        if isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == name for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == name:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            texts.append(node.value if isinstance(node.value, str) else node.value.decode("latin-1"))
        called.add(node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else "")
    ways = called & _IMPORTING or {"sys", "path"} <= called or "modules" in called
    together = "".join(texts)
    return bool(ways) and (name in together or name in together[::-1])


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


MAX_NAME = 300
_LOOKING = read_names(
    """
print len join exists isfile isdir islink glob iglob rglob match fullmatch search findall startswith endswith split
format get getsize basename dirname abspath realpath expanduser Path PurePath listdir scandir stat getmtime
"""
)
"""Calls that do nothing to a file that they are given the name of."""


def _reads(node: ast.Call, at: int) -> bool:
    """Whether a call opens a file to read it: by the mode that is its argument of that number."""
    given = next((each.value for each in node.keywords if each.arg == "mode"), None)
    mode = node.args[at] if len(node.args) > at else given
    return mode is None or (isinstance(mode, ast.Constant) and not str(mode.value).strip("rbtU"))


_MAKING = read_names("bytes str chr bytearray map reversed list tuple sorted base64 codecs binascii")


def _list_endings(node: ast.AST) -> list[str]:
    """What names are asked to end with."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "endswith"):
        return []
    constants = [each.value for given in node.args for each in ast.walk(given) if isinstance(each, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def _is_computed(node: ast.expr) -> bool:
    """Whether a text is made of nothing but constants, which could have been written out."""
    plain = isinstance(node, (ast.Constant, ast.Name, ast.JoinedStr))
    return not plain and all(each.id in _MAKING for each in ast.walk(node) if isinstance(each, ast.Name))


class _Look:
    """One look through one tree."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.modules: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.endings: set[str] = set()
        self.computed: set[str] = set()
        self.is_blind = False
        """Whether it writes to a file of which nobody can tell the name."""
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
            if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.Subscript)):
                made = _is_computed(node.value)
                self.computed |= {each.id for each in node.targets if isinstance(each, ast.Name) and made}
        self.endings = {text for node in nodes for text in _list_endings(node)}
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
        self._hint_places(nodes)
        if self.unknown:
            names = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
            self.reader.add(Hint(" ".join([*texts, *names])))
        return True

    def _hint_places(self, nodes: list[ast.AST]) -> None:
        """What may be a file's name, besides those of files that are surely only read."""
        read = set() if self.is_blind else {id(each) for node in nodes for each in self._list_read(node)}
        constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in read]
        constants.sort(key=lambda node: (node.lineno, node.col_offset))
        texts = [node.value for node in constants if isinstance(node.value, str)]
        named = [text for text in texts if text and len(text) <= MAX_NAME and not any(map(str.isspace, text))]
        if named:
            pairs = [one + other for one, other in pairwise(named)]
            turned = [text[::-1] for text in named]
            self.reader.add(Hint("\n".join([*named, *pairs, *turned]), is_place=True))

    def _list_read(self, node: ast.AST) -> list[ast.expr]:
        """Texts that are compared, printed, or opened to be read."""
        if isinstance(node, ast.Compare):
            return [node.left, *node.comparators]
        if not isinstance(node, ast.Call):
            return []
        func = node.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if name == "open" and isinstance(func, ast.Name):
            return node.args if _reads(node, 1) else []
        path = isinstance(func, ast.Name) and self.modules.get(func.id) == "Path"
        return node.args if path or name in _LOOKING else []

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

    def _take_listing(self, node: ast.Call) -> None:
        """A list of files; where endings are looked at, those of the names on it."""
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        given = self._read_path(node.args[0]).text if node.args else "."
        if name in ("glob", "iglob", "rglob"):
            own = isinstance(func, ast.Attribute) and not (isinstance(func.value, ast.Name) and func.value.id == "glob")
            folder = self._read_folder(func.value) if own and isinstance(func, ast.Attribute) else "."
            note_pattern(self.reader, folder, f"**/{given}" if name == "rglob" else given)
        elif name in ("walk", "listdir", "scandir", "iterdir"):
            folder = self._read_folder(func.value) if name == "iterdir" and isinstance(func, ast.Attribute) else given
            for ending in sorted(self.endings) or [""]:
                note_pattern(self.reader, folder, f"**/*{ending}")

    def _read_folder(self, node: ast.expr) -> str:
        """A folder's name; the one where it runs, where none is given."""
        bare = isinstance(node, ast.Call) and not node.args
        return "." if bare else self._read_path(node).text

    def _take_call(self, node: ast.Call) -> None:
        func = node.func
        self._take_listing(node)
        if isinstance(func, ast.Name) and func.id == "open":
            self._note_opened(node.args[0] if node.args else None, reads=_reads(node, 1))
        elif isinstance(func, ast.Attribute):
            self._take_method(node, func)

    def _take_method(self, node: ast.Call, func: ast.Attribute) -> None:
        name = func.attr
        if name in ("open", "ZipFile", "connect", "FileHandler"):
            module = isinstance(func.value, ast.Name) and func.value.id in self.modules
            reads = _reads(node, 1 if module else 0) and name in ("open", "ZipFile")
            self._note_opened(node.args[0] if module and node.args else func.value, reads=reads)
        elif name in ("link", "symlink") and len(node.args) > 1:
            source, place = map(self._read_path, node.args[:2])
            note_link(self.reader, source, place, symbolic=name == "symlink", from_here=name == "link")
        elif name in ("symlink_to", "hardlink_to") and node.args:
            place, source = self._read_path(func.value), self._read_path(node.args[0])
            note_link(self.reader, source, place, symbolic=name == "symlink_to", from_here=name == "hardlink_to")
        elif name in _OS_WRITES and self._is_of_os(func):
            for each in node.args:
                self.reader.note_file(self._read_path(each), "write", below=True)
        elif name in _WRITES:
            self._note_opened(func.value, reads=False, below=True)
            texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            for text in texts if name not in ("write_text", "write_bytes") else ():
                self.reader.note_file(Word(text), "write", below=True)

    def _note_opened(self, node: ast.expr | None, *, reads: bool, below: bool = False) -> None:
        """A file that is read or written; a name that only a computer can read is a doubt."""
        path = self._read_path(node)
        self.is_blind = self.is_blind or (path.text == HOLE and not reads)
        self.reader.note_file(path, "read" if reads else "write", below=below)
        inner = node.args[0] if isinstance(node, ast.Call) and self._is_path(node) and node.args else node
        named = isinstance(inner, ast.Name) and inner.id in self.computed
        if inner is not None and not reads and (named or _is_computed(inner)):
            self.reader.doubt("the name of a file that is written is computed", always=True)

    def _is_path(self, node: ast.Call) -> bool:
        func = node.func
        named = isinstance(func, ast.Name) and self.modules.get(func.id) == "Path"
        return named or (isinstance(func, ast.Attribute) and func.attr == "Path")

    def _is_of_os(self, func: ast.Attribute) -> bool:
        return isinstance(func.value, ast.Name) and self.modules.get(func.value.id) == "os"

    def _read_path(self, node: ast.expr | None) -> Word:
        """The text of a path: a string, a name that was given one, or `Path` of either."""
        if isinstance(node, ast.Call):
            node = node.args[0] if len(node.args) == 1 and self._is_path(node) else None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return Word(node.value)
        if isinstance(node, ast.Name):
            return Word(self.texts.get(node.id, HOLE))
        return Word(HOLE)
