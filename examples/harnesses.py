"""The workspace of the examples as projects of Claude Code and opencode: `python examples/harnesses.py`.

`remit agent build` writes the agents as each harness wants them, and `remit hooks install --shared` puts Remit into its
hooks. What a project says itself, its README.md, is left alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "workspace"
PROJECTS = {"claude": "claude-code", "opencode": "opencode"}
OWN = ("README.md",)
"""What is written by hand."""
LEFT_OUT = (".remit", "__pycache__")


def remit(folder: Path, *args: str) -> None:
    """Run a command of Remit as a user would; what it says is shown where it fails."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    words = [sys.executable, "-m", "remit", *args]
    done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"remit {' '.join(args)}: {done.stdout}{done.stderr}")


def make_project(harness: str, folder: Path) -> None:
    """Make the project of a harness in a folder that is not there yet."""
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns(*LEFT_OUT, *OWN))
    settings = folder / "remit.toml"
    settings.write_text(settings.read_text("utf-8").replace('runner = "claude"', f'runner = "{harness}"'), "utf-8")
    remit(folder, "agent", "build", "--to", harness)
    remit(folder, "hooks", "install", harness, "--shared")
    shutil.rmtree(folder / ".remit", ignore_errors=True)
    (folder / ".claude" / "settings.local.json").unlink(missing_ok=True)  # what names a path of this machine


def list_files(folder: Path) -> dict[str, bytes]:
    """What a project holds, by path; not what is written by hand, and not what a run leaves behind."""
    found = {file.relative_to(folder): file for file in folder.rglob("*") if file.is_file()}
    return {
        path.as_posix(): file.read_bytes()
        for path, file in found.items()
        if path.as_posix() not in OWN and path.parts[0] not in LEFT_OUT
    }


def main() -> None:
    """Make both projects anew."""
    for harness, name in PROJECTS.items():
        with tempfile.TemporaryDirectory(prefix="remit-example-") as scratch:
            made = Path(scratch) / name
            make_project(harness, made)
            target = HERE / name
            for path in list_files(target):
                (target / path).unlink()
            shutil.copytree(made, target, dirs_exist_ok=True)
        print(f"examples/{name}: {len(list_files(target))} files")


if __name__ == "__main__":
    main()
