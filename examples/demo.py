"""A task from research to done with scripted agents, one of which lies and one of which hangs: `make demo`.

Everything is real but the agents: they are small programs that play a script. The project is copied to a folder of its
own, where it can be looked at afterwards.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from remit.testing import ScriptedAgent

HERE = Path(__file__).resolve().parent
REPORT = "specs/1_greet_people_by_name/reports/research-001.md"
PLAN = "specs/1_greet_people_by_name/plans/implementation-001.md"
FOUND = "# Research\n\nThe name can be an argument with a default, so that callers need no change.\n"
PHASES = """\
# Plan

- **Status**: [NOT STARTED]

## Implementation Phases

### Phase 1: Take a name [NOT STARTED]

- [ ] `greet(name)` in greet.py

### Phase 2: Say it in the README [NOT STARTED]

- [ ] a line in README.md
"""
GREET = '''"""Says hello."""


def greet(name: str = "") -> str:
    """A greeting, by name where there is one."""
    return f"Hello, {name}!" if name else "Hello!"


if __name__ == "__main__":
    print(greet("Ada"))
'''


def tell(text: str) -> None:
    """Say what comes next, like a person who shows something."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n# {text}", flush=True)


def remit(project: Path, *args: str) -> int:
    """Run a command of Remit as a user would, and show it."""
    shown = " ".join(f'"{arg}"' if " " in arg else arg for arg in args if not arg.startswith(sys.executable))
    print(f"$ remit {shown}".replace("--command", "--command …"), flush=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    return subprocess.run([sys.executable, "-m", "remit", *args], cwd=project, env=environ, check=False).returncode


def git(project: Path, *args: str) -> None:
    """Run git, with a name for its commits."""
    own = ("-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *own, *args], cwd=project, check=True)


def make_project(folder: Path) -> Path:
    """A fresh copy of the sample project."""
    shutil.rmtree(folder, ignore_errors=True)
    project = folder / "project"
    shutil.copytree(HERE / "project", project)
    git(project, "init", "--quiet")
    git(project, "config", "user.name", "Demo")
    git(project, "config", "user.email", "demo@localhost")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "A greeter")
    return project


def main(folder: Path) -> int:
    """Play it; how many things did not go as they should."""
    project = make_project(folder)
    agents = folder / "agents"
    researcher = ScriptedAgent(agents, "researcher").sleeps(0.5).obeys({REPORT: FOUND})
    liar = ScriptedAgent(agents, "liar").sleeps(0.5).lies(PLAN)
    planner = ScriptedAgent(agents, "planner").sleeps(0.5).obeys({PLAN: PHASES})
    sleeper = ScriptedAgent(agents, "sleeper").writes("greet.py", GREET).hangs()
    worker = ScriptedAgent(agents, "worker").sleeps(0.5).obeys({"greet.py": f"{GREET}# By session ${{session}}.\n"})
    played: list[tuple[str, tuple[str, ...], int]] = [
        ("A task, and an agent that looks into it.", ("task", "new", "Greet people by name"), 0),
        ("", ("research", "1", "--command", researcher.command), 0),
        ("A planner that says it is done. It wrote nothing: caught.", ("plan", "1", "--command", liar.command), 1),
        ("An honest one.", ("plan", "1", "--command", planner.command), 0),
        (
            "An agent that hangs. Its time is up after 4 seconds; what it left on disk is kept.",
            ("implement", "1", "--timeout", "4s", "--command", sleeper.command),
            1,
        ),
        ("Another takes up the same phase, and the one after it.", ("implement", "1", "--command", worker.command), 0),
    ]
    wrong = 0
    for text, args, expected in played:
        if text:
            tell(text)
        wrong += remit(project, *args) != expected
    tell("What was caught, and where everything is.")
    for args in (("ps", "--all"), ("errors", "list"), ("status",)):
        wrong += remit(project, *args) > 1
    print("$ git log --oneline", flush=True)
    git(project, "--no-pager", "log", "--oneline")
    print(f"\nThe project is in {os.path.relpath(project)}.")
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(Path(sys.argv[1] if len(sys.argv) > 1 else ".demo").absolute())))
