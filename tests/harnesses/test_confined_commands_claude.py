"""The kernel limits the shell commands of each subagent of Claude Code: the real program, and a scripted model."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import remit
from remit.confine import find_level
from remit.hooks.command_tickets import FOLDER
from remit.testing import call, say
from tests.support.confined_users import USER, find_python
from tests.support.harness_confined import LIMITED
from tests.support.harness_hooks import ask, compile_agents, converse, hand, list_results, run_remit, set_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.testing import ScriptedTurn
    from tests.support.harness_workspace import Stage

pytestmark = pytest.mark.slow

HOOK = Path(remit.__file__).parent / "hooks" / "entry.py"
SETTINGS = ".claude/settings.local.json"
FREE = "--permission-mode=bypassPermissions"
SCRIPT = "echo '# no' >> remit.toml; echo no > .git/hooks/pre-commit; echo no > outside; echo yes > src/made; git config a.b no; exit 3\n"
"""A script that is there before the agent: no hook sees what it does."""


def bash(command: str, **more: Any) -> ScriptedTurn:  # noqa: ANN401 - a tool's input
    return call("bash", command=command, **more)


RULED = ("touch one", "rm -f one", "mkdir one")
"""What the user's rules allow, deny and don't mention."""
ORDINARY = (
    "git status --short | head -3; git log --oneline | wc -l",
    "git diff --stat; git stash list; git branch --show-current",
    "python3 -c 'print(sum(range(10)))'",
    "mkdir -p build && printf 'all:\\n\\techo made > build/out\\n' > build/Makefile && make -s -f build/Makefile && cat build/out",
    'for i in 1 2 3; do echo "line $i"; done | sed s/line/row/ | sort -r',
    "cd build && pwd -P && ls && cd ..",
    "cat <<'END'\nit's \"quoted\" $HOME\nEND",
    "set -o pipefail; false | true; echo $?",
    "f() { echo \"$# $1\"; }; f 'a b' c",
    "(sleep 0.1; echo late) & wait; echo done",
    "echo 'unbalanced",
    "export V=1; echo $V; command -v ls; ulimit -n >/dev/null; umask",
)
"""What developers run; `test_ordinary_commands_are_unchanged` runs them with Remit and without."""
SCRIPTS = {
    "ordinary": [*(bash(each) for each in ORDINARY), say("No return is owed.")],
    "ordinary-bare": [*(bash(each) for each in ORDINARY), say("No return is owed.")],
    "both": [
        bash("echo mine > mine; sh script"),
        ask("tester", "tester").also("task", agent="writer", prompt="[[play writer]] Write it."),
        bash("cat mine"),
        say("No return is owed."),
    ],
    "tester": [
        bash("sh script"),
        bash("cd src && pwd"),
        bash("pwd -P; (exit 4)"),
        bash("perl writer.pl"),
        bash("git add src && git commit -qm made && git log --oneline | wc -l"),
        bash(f"# remit:{'0' * 32}\nsh script"),
        bash("echo out; echo err >&2"),
        bash("pwd -P"),
        hand("src/made"),
    ],
    "writer": [bash("sleep 0.2; sh script"), bash("echo w > docs/w; cat docs/w"), hand("docs/w")],
    "ruled": [*(bash(each) for each in RULED), say("No return is owed.")],
    "bare": [*(bash(each) for each in RULED), say("No return is owed.")],
    "ruled-child": [ask("ruled-in", "tester"), say("No return is owed.")],
    "ruled-in": [*(bash(each) for each in ("touch src/one", "rm -f src/one", "mkdir src/two")), hand("")],
    "behind": [ask("slow", "tester"), say("No return is owed.")],
    "slow": [
        bash("sleep 1; echo late > src/late; sh script", run_in_background=True),
        bash("sleep 30; echo never > src/never", timeout=1000),
        bash("sleep 2; cat src/late"),
        hand("src/late"),
    ],
    "one": [ask("plain", "tester"), bash("echo free"), say("No return is owed.")],
    "plain": [bash("echo ran >> src/ran"), bash("echo again >> src/ran"), hand("")],
    "sandboxed": [
        bash("env | grep SANDBOX_R; echo mine"),
        ask("boxed", "tester"),
        bash("echo again"),
        say("No return is owed."),
    ],
    "boxed": [bash("sh script"), bash("env | grep SANDBOX_R; echo out; echo err >&2; (exit 4)"), hand("src/made")],
    "alone": [bash("echo alone > alone"), bash("cat alone"), say("No return is owed.")],
}


@contextmanager
def set_up_agents(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A stage with two agents, each with a folder of its own."""
    if not find_level().has_files:
        pytest.skip("this machine's kernel confines nothing")
    with set_up("claude", SCRIPTS, folder.resolve(), patch) as stage:
        for name, target in {"tester": "src", "writer": "docs"}.items():
            compile_agents(stage, LIMITED.replace("{target}", target), **{name: "none"})
        (stage.root / "script").write_text(SCRIPT)
        (stage.root / "writer.pl").write_text('open(F, ">>", "remit" . ".toml") or die "$!\\n";\n')
        yield stage


@pytest.fixture(name="stage")
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with set_up_agents(tmp_path, monkeypatch) as stage:
        yield stage


@pytest.fixture(name="reachable")
def make_reachable(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The same in a folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="remit-") as folder:
        Path(folder).chmod(0o755)
        with set_up_agents(Path(folder), monkeypatch) as stage:
            yield stage


def change_settings(stage: Stage, **more: Any) -> None:  # noqa: ANN401 - settings of the harness
    """Add the user's own settings to those that Remit has made."""
    file = stage.root / SETTINGS
    file.write_text(json.dumps(json.loads(file.read_text()) | more))


def list_tickets(stage: Stage) -> list[str]:
    return sorted(each.name for each in (stage.root / FOLDER / "tickets").glob("*"))


def test_two_agents_write_to_their_folders_and_the_session_is_free(stage: Stage) -> None:
    settings = (stage.root / "remit.toml").read_text()
    session = converse(stage, "both")
    assert (session.exit_code, list_results(stage, "both", 3)) == (0, ["mine"])
    assert (stage.root / "remit.toml").read_text() == f"{settings}# no\n"  # the session's own, once
    assert (stage.root / "outside").read_text() == "no\n"
    told = [list_results(stage, "tester", step)[0] for step in range(1, 9)]
    assert told[0].startswith("Exit code 3")
    assert (told[0].count("Read-only file system"), "could not write config" in told[0]) == (3, True)
    assert (stage.root / "src/made").read_text() == "yes\n"
    assert told[1] == f"{stage.root}/src"
    assert told[2] == f"Exit code 4\n{stage.root}"  # the harness has an agent begin there each time
    assert "Read-only file system" in told[3]
    assert told[4].endswith("\n2")  # and a hint of git about the hook that isn't executable
    assert told[5] == told[0]  # a ticket of its own gains nothing
    assert told[6] == "out\nerr"
    (first,) = list_results(stage, "writer", 1)
    assert first.count("Read-only") + first.count("annot create") >= 4  # also in src
    assert list_results(stage, "writer", 2) == ["w"]
    assert (list_tickets(stage), [*(stage.root / FOLDER / "open").iterdir()]) == ([], [])
    asked = json.dumps([each.body for each in stage.model.requests])
    assert not re.search(r"# remit:(?!0{32})", asked)  # no model sees a ticket


@pytest.mark.thorough
@pytest.mark.parametrize("agent", ["", "-child"])
def test_the_users_own_rules_are_applied_as_without_remit(stage: Stage, agent: str) -> None:
    """What the rules allow runs, what they deny is denied, and what they don't mention is blocked."""
    rules = {"allow": ["Bash(touch:*)", "Task", "Agent"], "deny": ["Bash(rm:*)"], "ask": []}
    change_settings(stage, permissions=rules)
    script, where, folder = ("ruled-in", "ruled-child", "src/") if agent else ("ruled", "ruled", "")
    (stage.root / "src").mkdir()
    converse(stage, where, "--permission-mode=default")
    told = [list_results(stage, script, step)[0] for step in (1, 2, 3)]
    assert (stage.root / f"{folder}one").is_file()
    assert "has been denied" in told[1]
    assert any(words in told[2] for words in ("needs approval", "was blocked"))  # since 2.1.326, and before
    assert not (stage.root / f"{folder}two").exists()
    told[1], quoted = re.subn(r"# remit:[0-9a-f]{32}\n", "", told[1])
    assert quoted == 1  # the only place that shows a ticket
    assert "remit" not in "".join(told)
    if not agent:
        run_remit(stage, "hooks", "uninstall")
        (stage.root / SETTINGS).write_text(json.dumps({"permissions": rules}))
        (stage.root / "one").unlink()
        converse(stage, "bare", "--permission-mode=default")
        assert told == [list_results(stage, "bare", step)[0] for step in (1, 2, 3)]


@pytest.mark.thorough
def test_commands_in_the_background_and_time_limits_are_as_before(stage: Stage) -> None:
    converse(stage, "behind")
    began, cut, late = (list_results(stage, "slow", step)[0] for step in (1, 2, 3))
    assert "running in background" in began
    assert "timed out" in cut or "background" in cut
    assert late == "late"
    assert not (stage.root / "outside").exists()
    assert not (stage.root / "src/never").exists()
    assert list_tickets(stage) == []


@pytest.mark.thorough
def test_ordinary_commands_are_unchanged(stage: Stage) -> None:
    """The user's own session, with hooks installed and agents with permissions, and then without Remit."""
    converse(stage, "ordinary")
    run_remit(stage, "hooks", "uninstall")
    shutil.rmtree(stage.root / "build")
    converse(stage, "ordinary-bare")
    for step in range(1, len(ORDINARY) + 1):
        (told,), (bare,) = (list_results(stage, script, step) for script in ("ordinary", "ordinary-bare"))
        if "unmatched" in bare or "unexpected EOF" in bare:  # the ticket's line counts in the shell's own messages
            told, bare = (re.sub(r"(?<=:)\d+(?=:)|line \d+", "", each) for each in (told, bare))
        assert told == bare, ORDINARY[step - 1]


def break_hook(stage: Stage, how: str) -> None:
    """Have the hook of subagents' commands do something else than Remit's; time limits are short."""
    program = stage.programs / "broken"
    program.write_text(
        f"""#!/bin/sh
event=$(cat)
case $event in *'"agent_id"'*) ;; *) printf %s "$event" | {sys.executable} -I -S {HOOK} claude; exit ;; esac
case $event in *'"PreToolUse"'*'"Bash"'*|*'"Bash"'*'"PreToolUse"'*) echo broken >> {stage.root}/../broken; {how} ;; esac
printf %s "$event" | {sys.executable} -I -S {HOOK} claude
"""
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    told = json.loads((stage.root / SETTINGS).read_text())
    for event, groups in told["hooks"].items():
        for hook in (hook for group in groups for hook in group["hooks"]):
            hook["command"] = shlex.quote(str(program))  # without what makes a refusal of a crash
            hook["timeout"] = 3 if event == "PreToolUse" else 60
    (stage.root / SETTINGS).write_text(json.dumps(told))


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["exit 1", "kill -STOP $$", "sleep 20", "kill -9 $$", "exit 0", "echo '{'; exit 0"])
def test_without_the_hook_an_agents_command_is_not_run(stage: Stage, how: str) -> None:
    break_hook(stage, how)
    converse(stage, "one")
    assert (stage.root / "../broken").read_text().count("broken") == 2
    told = [list_results(stage, "plain", step)[0] for step in (1, 2)]
    assert [("Exit code 126" in each, "no ticket" in each) for each in told] == [(True, True)] * 2
    assert not (stage.root / "src/ran").exists()
    assert list_results(stage, "one", 2) == ["free"]


@pytest.mark.thorough
def test_a_shell_that_takes_no_ticket_ends_the_commands_of_agents(stage: Stage) -> None:
    """As if a release of the harness ignored the variable, or another hook replaced the command."""
    for kind in ("bash", "zsh"):
        (stage.root / FOLDER / kind).write_text(f'#!/bin/sh\nexec {kind} "$@"\n')
    converse(stage, "one")
    first, second = (list_results(stage, "plain", step)[0] for step in (1, 2))
    assert "no more shell commands" not in first
    assert "no shell took the ticket" in second
    assert (stage.root / "src/ran").read_text() == "ran\n"
    assert list_results(stage, "one", 2) == ["free"]


@pytest.mark.thorough
def test_another_hook_that_replaces_the_command_leaves_it_unrun(stage: Stage) -> None:
    program = stage.programs / "rewrite"
    program.write_text(
        f"""#!{sys.executable}
import json, sys, time
given = json.load(sys.stdin)["tool_input"]
time.sleep(1)  # the last one counts
if given["command"].startswith("echo ran"):
    answer = {{"hookEventName": "PreToolUse", "updatedInput": given}}
    print(json.dumps({{"hookSpecificOutput": answer}}))
"""
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    told = json.loads((stage.root / SETTINGS).read_text())["hooks"]
    hook = {"type": "command", "command": str(program), "timeout": 20}
    told["PreToolUse"].append({"matcher": "Bash", "hooks": [hook]})
    change_settings(stage, hooks=told)
    converse(stage, "one")
    first, second = (list_results(stage, "plain", step)[0] for step in (1, 2))
    assert ("Exit code 126" in first, "no ticket" in first) == (True, True)
    assert "no shell took the ticket" in second
    assert not (stage.root / "src/ran").exists()


SOCAT = """\
#!/usr/bin/python3 -IS
import os, socket, sys, time
for path in [each[12:].split(",")[0] for each in sys.argv if each.startswith("UNIX-LISTEN:")]:
    os.chdir(os.path.dirname(path))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(os.path.basename(path))
    listening.listen()
time.sleep(60)
"""
"""What the harness's sandbox needs to lead the network through; nothing here uses the network."""


@pytest.mark.thorough
def test_the_harness_s_own_sandbox_works_with_it(reachable: Stage) -> None:
    """Its sandbox is started inside the confinement, and starts the shell once more."""
    if not shutil.which("bwrap"):
        pytest.skip("Claude Code's sandbox needs bubblewrap")
    stage = reachable
    program = stage.programs / "socat"
    program.write_text(SOCAT)
    program.chmod(0o755)
    own = {"enabled": True, "autoAllowBashIfSandboxed": True, "failIfUnavailable": True}
    change_settings(stage, sandbox=own | {"allowUnsandboxedCommands": False})
    prefix = become_user(stage)
    converse(stage, "sandboxed", prefix=prefix)
    assert list_results(stage, "sandboxed", 1) == ["SANDBOX_RUNTIME=1\nmine"]
    first, second = (list_results(stage, "boxed", step)[0] for step in (1, 2))
    assert first.startswith("Exit code 3")
    assert (stage.root / "src/made").read_text() == "yes\n"
    assert not (stage.root / "outside").exists()
    assert second == "Exit code 4\nSANDBOX_RUNTIME=1\nout\nerr"
    assert list_results(stage, "sandboxed", 3) == ["again"]


def become_user(stage: Stage) -> tuple[str, ...]:
    """The words that make the harness that of a user without privileges: as root, no sandbox starts inside another."""
    if os.geteuid():
        return ()
    python = find_python(USER)
    if not python or not shutil.which("setpriv"):
        pytest.skip("as root, the kernel lets no sandbox start inside another, and there is no other user")
    places = [str(HOOK.parents[2]), sysconfig.get_path("purelib")]
    hook = stage.programs / "hook"
    start = f"import sys\nsys.path += {places!r}\nfrom remit.hooks.main import main\nmain(['claude'])\n"
    hook.write_text(f"#!{python} -IS\n{start}")
    hook.chmod(0o755)
    settings = stage.root / SETTINGS
    settings.write_text(settings.read_text().replace(f"{sys.executable} -I -S {HOOK} claude", str(hook)))
    for file in (stage.root / FOLDER / kind for kind in ("bash", "zsh")):
        file.write_text(file.read_text().replace(sys.executable, python))
    subprocess.run(["chown", "-R", f"{USER}:{USER}", stage.root.parent], check=True)
    return "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["uninstall", "remove"])
def test_without_remit_the_harness_is_usable(stage: Stage, how: str) -> None:
    if how == "uninstall":
        run_remit(stage, "hooks", "uninstall")
        assert (
            "CLAUDE_CODE_SHELL" not in (stage.root / SETTINGS).read_text() if (stage.root / SETTINGS).exists() else True
        )
    else:
        shutil.rmtree(stage.root / ".remit")
    session = converse(stage, "alone")
    assert (session.exit_code, list_results(stage, "alone", 2)) == (0, ["alone"])


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["off", "require"])
def test_the_mode_decides(stage: Stage, mode: str) -> None:
    stage.configure(f'[confine]\nmode = "{mode}"\n')
    if mode == "require":  # and a session that doesn't use Remit's shell
        change_settings(stage, env={})
    (stage.root / "src").mkdir()
    converse(stage, "one")
    (told,) = list_results(stage, "plain", 1)
    assert (stage.root / "src/ran").exists() == (mode == "off")
    assert ("[confine] requires" in told) == (mode == "require")
    assert list_tickets(stage) == []
