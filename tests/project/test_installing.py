"""Remit installs into an empty environment, and no later release of a package can break a lock.

The wheels of `make wheels` and newer releases of psycopg and click, made here, are a local index: a resolver takes the
newer. Every day uv installs the locks for users, developers and installers, and pip 22.3 the part that a newer release
once broke; `make test-all` installs every lock with pip 22.3, the newest pip and uv.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
WHEELS = ROOT / ".wheels"
USED = {
    ".ready": ("dev.txt", "installers.txt", "installers-oldest.txt"),
    ".all": ("bench.txt", "examples.txt", "fuzz.txt"),
}
"""The locks whose wheels the Makefile downloads, in its order, by the file that says so; core.txt is a part of dev.txt."""
NEWER = "99.0"
OLDEST_PIP = "pip-22.3-"


def has_wheels(mark: str) -> bool:
    """Whether the wheels of some locks are there."""
    wanted = "".join((ROOT / "requirements" / each).read_text("utf-8") for each in USED[mark])
    return (WHEELS / mark).exists() and (WHEELS / mark).read_text("utf-8") == wanted


needs_wheels = pytest.mark.skipif(
    not has_wheels(".ready"), reason="the wheels of these locks are not there: run `make wheels`"
)


def read_lines(file: Path) -> list[str]:
    """The requirements of a lock, each as it is written, with its hashes."""
    text = re.sub(r"^\s*#.*\n", "", file.read_text("utf-8"), flags=re.MULTILINE)
    return text.replace("\\\n", " ").splitlines()


def read_lock(file: Path) -> dict[str, str]:
    """The requirements of a lock by name."""
    return {canonicalize_name(Requirement(line.partition(" --hash")[0]).name): line for line in read_lines(file)}


def list_here(lines: Iterable[str]) -> dict[str, str]:
    """The versions that some requirements pin for this platform, by name."""
    pinned = [Requirement(line.partition(" --hash")[0]) for line in lines]
    return {
        canonicalize_name(each.name): str(each.specifier).removeprefix("==")
        for each in pinned
        if each.marker is None or each.marker.evaluate()
    }


def list_below(name: str, extras: frozenset[str] = frozenset(), *, seen: set[str] | None = None) -> set[str]:
    """A package of this environment and all that it requires here, with the extras that are asked for."""
    seen = set() if seen is None else seen
    seen.add(f"{canonicalize_name(name)}[{','.join(sorted(extras))}]")
    for each in map(Requirement, requires(name) or ()):
        applies = each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in {"", *extras})
        if applies and f"{canonicalize_name(each.name)}[{','.join(sorted(each.extras))}]" not in seen:
            list_below(each.name, frozenset(each.extras), seen=seen)
    return {known.partition("[")[0] for known in seen}


# --- what the files say -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", LOCKS, ids=[file.stem for file in LOCKS])
def test_a_lock_pins_every_package_with_its_hashes(file: Path) -> None:
    lines = read_lines(file)
    assert lines
    for line in lines:
        assert re.fullmatch(r"[a-z0-9.-]+==[\w.]+( ; [^#]*?)?( +--hash=sha256:[0-9a-f]{64})+", line.rstrip()), line


def test_the_demo_installs_what_the_package_requires_in_the_versions_that_are_tested() -> None:
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    core, dev = read_lock(ROOT / "requirements/core.txt"), read_lock(ROOT / "requirements/dev.txt")
    assert {canonicalize_name(Requirement(each).name) for each in own} == core.keys()
    assert {name: " ".join(line.split()) for name, line in core.items()} == {
        name: " ".join(dev[name].split()) for name in core
    }


def test_the_lock_has_what_extras_bring() -> None:
    """`pip check` does not look at extras: dbos requires psycopg[binary], which requires psycopg-binary."""
    below = list_below("dbos")
    assert {"psycopg", "psycopg-binary"} <= below
    source = (ROOT / "requirements/dev.in").read_text("utf-8").replace("-r core.in", "")
    for line in source.splitlines():
        if line and not line.startswith("#"):
            asked = Requirement(line)
            below |= list_below(asked.name, frozenset(asked.extras))
    assert below <= list_here(read_lines(ROOT / "requirements/dev.txt")).keys()


# --- what an installer makes of them ----------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A folder with a release of psycopg that is newer than the lock, and asks for the newer psycopg-binary."""
    folder = tmp_path / "index"
    folder.mkdir()
    write_newer(
        folder, "psycopg", f"Provides-Extra: binary\nRequires-Dist: psycopg-binary=={NEWER}; extra == 'binary'\n"
    )
    write_newer(folder, "psycopg_binary")
    return folder


def write_newer(folder: Path, name: str, more: str = "") -> None:
    """Write an empty release of a package that is newer than any other."""
    with zipfile.ZipFile(folder / f"{name}-{NEWER}-py3-none-any.whl", "w") as wheel:
        info = f"{name}-{NEWER}.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {NEWER}\n{more}")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


class Installer:
    """An installer that has only the local index, and an empty environment of its own."""

    def __init__(self, kind: str, index: Path, folder: Path) -> None:
        self.is_uv = kind == "uv"
        self.environment = folder / "environment"
        self.python = self.environment / "bin" / "python"
        self.empty()
        prefix = {"pip 22.3": OLDEST_PIP, "the newest pip": "pip-", "uv": "uv-"}[kind]
        wheels = [each for each in WHEELS.glob(f"{prefix}*.whl") if not each.name.startswith(OLDEST_PIP)]
        [wheel] = [*WHEELS.glob(f"{OLDEST_PIP}*.whl")] if prefix == OLDEST_PIP else wheels
        with zipfile.ZipFile(wheel) as packed:  # out of its wheel, pip would be compiled each time
            parts = ("pip/", f"{wheel.name.partition('-py')[0]}.data/")  # without the note that it is installed
            packed.extractall(folder / "program", [name for name in packed.namelist() if name.startswith(parts)])
        [program] = (folder / "program").glob("*/scripts/uv" if self.is_uv else "pip")
        program.chmod(0o700)
        self.program = str(program)
        self.index = ["--no-index", "--find-links", str(WHEELS), "--find-links", str(index)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
        self.environ = kept | {
            "PIP_CONFIG_FILE": os.devnull,
            "UV_NO_CONFIG": "1",
            "UV_CACHE_DIR": str(folder / "cache"),
        }

    def empty(self) -> None:
        """Make the environment, or make it empty again."""
        words = [sys.executable, "-m", "venv", "--without-pip", "--clear", str(self.environment)]
        subprocess.run(words, check=True)

    def run(self, *words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """Run a program with nothing but the local index."""
        return subprocess.run(words, env=self.environ, cwd=cwd, capture_output=True, text=True, check=False)

    def install(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Install into the environment. Nothing is compiled: that would take longer than all else."""
        if self.is_uv:
            return self.run(self.program, "pip", "install", "--python", str(self.python), *self.index, *words)
        return self.run(str(self.python), self.program, "install", "--no-compile", *self.index, *words)

    def list_installed(self) -> dict[str, str]:
        """The versions that the environment has, by name."""
        [packages] = (self.environment / "lib").glob("*/site-packages")
        return {canonicalize_name(each.name): each.version for each in distributions(path=[str(packages)])}


@pytest.fixture(params=["pip 22.3", "the newest pip", "uv"])
def installer(request: pytest.FixtureRequest, index: Path, tmp_path: Path) -> Iterator[Installer]:
    if request.param == "pip 22.3" and sys.version_info >= (3, 12):
        pytest.skip("pip 22.3 does not run on Python 3.12 and newer")
    made = Installer(request.param, index, tmp_path / "installer")
    yield made
    shutil.rmtree(tmp_path / "installer")


def find_flags() -> list[str]:
    """The flags that the Makefile installs every lock with."""
    line = ["make", "--dry-run", "--always-make", "--no-print-directory", ".venv-demo/.ready"]
    shown = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    [install] = [each for each in shown.splitlines() if re.match(r"\S+/pip install ", each)]
    words = shlex.split(install)
    return words[2 : words.index("-r")]


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """The part of the lock with Remit's own dependencies and those of its extra for PostgreSQL."""
    lock = read_lock(ROOT / "requirements/dev.txt")
    names = list_below("dbos") | read_lock(ROOT / "requirements/core.txt").keys()
    file = tmp_path / "part.txt"
    file.write_text("".join(f"{lock[name]}\n" for name in sorted(names)), "utf-8")
    return file


@pytest.mark.thorough("pip")
@needs_wheels
@pytest.mark.slow
def test_every_lock_installs_while_a_newer_release_is_visible(installer: Installer, index: Path) -> None:
    """The locks whose wheels are there: `make test-all` has those of all. uv has an empty environment for each.

    pip takes much longer, so that its environment stays: a lock installs what the one before did not.
    """
    write_newer(index, "click")
    flags, large = find_flags(), () if has_wheels(".all") else USED[".all"]
    for lock in (each for each in LOCKS if each.name not in large):
        here = list_here(read_lines(lock))
        if installer.is_uv:
            installer.empty()
        done = installer.install(*flags, "-r", str(lock))
        assert done.returncode == 0, done.stderr
        installed = installer.list_installed()
        if not installer.is_uv:
            assert {name: installed.get(name) for name in here} == here, lock.name
            continue
        assert installed == here, lock.name
        checked = installer.run(installer.program, "pip", "check", "--python", str(installer.python))
        assert checked.returncode == 0, checked.stderr


@pytest.mark.thorough("newest")
@needs_wheels
@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip 22.3", "the newest pip"], indirect=True)
def test_pip_installs_what_a_newer_release_once_broke(installer: Installer, part: Path) -> None:
    done = installer.install(*find_flags(), "-r", str(part))
    assert done.returncode == 0, done.stderr
    assert installer.list_installed() == list_here(read_lines(part))
    check = [sys.executable, "-m", "pip", "--python", str(installer.python), "check", "--disable-pip-version-check"]
    checked = subprocess.run(check, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    script = [str(installer.python), "-B", "-c", "import psycopg; print(psycopg.pq.__impl__)"]
    imported = subprocess.run(script, capture_output=True, text=True, check=False)
    assert imported.stdout == "binary\n", imported.stderr


@needs_wheels
@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pip 22.3 does not run on Python 3.12 and newer")
def test_with_dependency_resolution_the_newer_release_would_break_it(index: Path, part: Path, tmp_path: Path) -> None:
    """So the flags are needed, and the test above can fail."""
    flags = [flag for flag in find_flags() if flag != "--no-deps"]
    assert len(flags) < len(find_flags())
    done = Installer("pip 22.3", index, tmp_path / "installer").install(*flags, "-r", str(part))
    assert done.returncode != 0
    assert "In --require-hashes mode, all requirements must have their versions pinned" in done.stderr
    assert "psycopg[binary]" in done.stderr


@needs_wheels
@pytest.mark.slow
def test_the_package_installs_into_an_empty_environment(index: Path, tmp_path: Path) -> None:
    """`pip install .`: with the five packages that it requires, and Remit works as it is."""
    pip = Installer("the newest pip", index, tmp_path / "installer")
    done = pip.install(".")
    assert done.returncode == 0, done.stderr
    assert pip.list_installed().keys() == {*read_lock(ROOT / "requirements/core.txt"), "remit"}
    empty = tmp_path / "empty"
    empty.mkdir()
    remit = str(pip.environment / "bin" / "remit")
    assert "What you can do next in this folder:\n" in pip.run(remit, cwd=empty).stdout
    liar = shlex.join([sys.executable, str(ROOT / "examples/agents/liar.py")])
    lied = pip.run(remit, "run", "Write a report on the cache", "--command", liar, cwd=empty)
    assert (lied.returncode, lied.stdout.partition(" ·")[0]) == (1, "✗ liar: failed"), lied.stderr
    hooks = pip.run(remit, "hooks", "install", "claude", cwd=empty)
    assert hooks.returncode == 0, hooks.stderr
    assert (empty / ".claude" / "settings.local.json").exists()


@needs_wheels
@pytest.mark.slow
def test_uvx_runs_the_package_without_an_installation(index: Path, tmp_path: Path) -> None:
    uv = Installer("uv", index, tmp_path / "installer")
    empty = tmp_path / "empty"
    empty.mkdir()
    first = uv.run(uv.program, "tool", "run", *uv.index, "--from", str(ROOT), "remit", cwd=empty)
    assert first.returncode == 0, first.stderr
    assert "What you can do next in this folder:\n" in first.stdout
