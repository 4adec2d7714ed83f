"""The workspace of an event, also in a folder without files of Remit's."""

import io
import json
import subprocess
from pathlib import Path

from remit.hooks.main import respond

AGENT = "---\nname: careful\ndescription: Works.\npermissions:\n  deny:\n    - bash: [sudo]\n---\nWork.\n"


def ask(cwd: Path, **environ: str) -> str:
    event = {
        "session_id": "s", "cwd": str(cwd), "hook_event_name": "PreToolUse", "agent_id": "a", "agent_type": "careful",
        "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "sudo true"},
    }  # fmt: skip
    code, out, _ = respond(io.BytesIO(json.dumps(event).encode()), environ, "claude")
    assert code == 0
    answer = json.loads(out) if out else {}
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


def make_project(folder: Path) -> Path:
    (folder / ".claude/agents").mkdir(parents=True)
    (folder / ".claude/agents/careful.md").write_text(AGENT)
    (folder / "sub").mkdir()
    return folder


def test_a_fresh_checkout_with_agents_is_held_also_from_a_folder_in_it(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    assert ask(project / "sub") == "deny"
    assert (project / ".remit/ledger.db").is_file()


def test_what_was_kept_is_gone_and_the_files_still_hold(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    assert ask(project) == "deny"
    for file in sorted((project / ".remit").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink(missing_ok=True)  # SQLite removes its own
    (project / ".remit").rmdir()
    assert ask(project) == "deny"


def test_a_home_folder_is_no_project(tmp_path: Path) -> None:
    home = make_project(tmp_path / "home")
    assert ask(home, HOME=str(home)) == ""
    assert ask(home / "sub", HOME=str(home)) == ""
    assert not (home / ".remit").exists()
