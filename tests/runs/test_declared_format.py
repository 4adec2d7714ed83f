"""Formats: which one each agent has, and what declares it."""

import json
from pathlib import Path

import pytest

from remit.runs.agent_lookup import list_agents
from remit.runs.declared_format import DeclaredFormat, find_format
from remit.storage.settings import load_settings

BLOCK = '```json\n{"meta": {"agent_name": "x", "status": "complete"}, "artifacts": [], "next_steps": []}\n```\n'


def declare(root: Path, name: str) -> DeclaredFormat:
    """The format of an agent, by its file if it has one."""
    agent = next((each for each in list_agents(str(root)) if each.name == name), None)
    return find_format(name, agent, load_settings(root), root=str(root))


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def add_agent(root: Path, name: str, body: str = "Do it.\n", more: str = "") -> None:
    write(root, f".claude/agents/{name}.md", f'---\nname: {name}\ndescription: "It works."\n{more}---\n{body}')


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("more", "body", "format", "why"),
    [
        ("return: hyper\n", "See MANIFEST.jsonl.\n", "hyper", "return:"),
        ("lifecycle:\n  return_format: manifest\n", "", "manifest", "lifecycle.return_format"),
        ('lifecycle:\n  return_format: "subagent-return-format.md"\n', "", "standard", "subagent-return-format"),
        ("", "<!-- AGENT_OUTPUT_START -->\n<!-- AGENT_OUTPUT_END -->\n", "hyper", "AGENT_OUTPUT_START"),
        ("", BLOCK, "hyper", '"meta" and "agent_name"'),
        ("", "Write to `$HYPER_WORKSPACE_ROOT/projects/`.\n", "hyper", "HYPER_WORKSPACE_ROOT"),
        ("", "Follow `references/output-contracts.md`.\n", "hyper", "output-contracts.md"),
        ("", "| OUT-001 | write |\n| OUT-002 | append to MANIFEST.jsonl |\n", "manifest", "OUT-001"),
        ("", "Append one line to `{{MANIFEST_PATH}}`.\n", "manifest", "{{MANIFEST_PATH}}"),
        ("", 'Return "Research complete. See MANIFEST.jsonl for summary."\n', "manifest", "See MANIFEST.jsonl"),
        ("", '{"metadata": {"session_id": "", "delegation_depth": 1}}\n', "standard", '"delegation_depth"'),
        ("", "Return a hyper report in the standard format, and a manifest.\n", "", "nothing declares one"),
        ("", f"Follow subagent-return-format.md.\n{BLOCK}", "", "nothing declares one"),
    ],
)
def test_an_agents_file_declares_its_format(root: Path, more: str, body: str, format: str, why: str) -> None:
    """D3: by keys, names of files, markers and tokens; a file that shows two formats declares none."""
    add_agent(root, "scout", body, more)
    declared = declare(root, "scout")
    assert declared.format == format
    assert why in declared.why


def test_the_nearest_declaration_counts(root: Path) -> None:
    """D3: a table, a pattern, the file, the plugin, the setting of the workspace, the project; one after the other."""
    (root / ".cleo").mkdir()
    assert declare(root, "scout") == ("manifest", "the project has .cleo/")
    tables = '[returns]\nformat = "hyper"\n'
    write(root, "remit.toml", tables)
    assert declare(root, "scout") == ("hyper", "[returns] format in remit.toml")
    add_agent(root, "scout", "See `subagent-return-format.md`.\n")
    assert declare(root, "scout").format == "standard"
    tables += '[agents."s*"]\nformat = "manifest"\n[agents."*"]\nformat = "hyper"\n'
    write(root, "remit.toml", tables)
    assert declare(root, "scout") == ("manifest", '[agents."s*"] format in remit.toml')
    assert declare(root, "other") == ("hyper", '[agents."*"] format in remit.toml')
    write(root, "remit.toml", f'{tables}[agents.scout]\nformat = "standard"\n')
    assert declare(root, "scout") == ("standard", '[agents."scout"] format in remit.toml')


@pytest.mark.parametrize("is_installed", [True, False], ids=["installed", "in the project"])
def test_a_plugin_with_output_contracts_declares_hyper(root: Path, *, is_installed: bool) -> None:
    """D3: for its agents, which have no file in the project; also where Claude Code has installed it elsewhere."""
    folder = root.parent / "home/plugins/cache/market/hyper/4.0.0" if is_installed else root / "plugins" / "hyper"
    write(folder, ".claude-plugin/plugin.json", '{"name": "hyper"}')
    write(folder, "agents/research/scout.md", "---\nname: scout\n---\nLook.\n")
    write(folder, "agents/lister.md", "---\nname: lister\n---\nAppend to {{MANIFEST_PATH}}.\n")
    if is_installed:
        place = {"scope": "user", "installPath": str(folder)}
        elsewhere = {"scope": "project", "installPath": str(folder), "projectPath": "/another"}
        known = {"version": 2, "plugins": {"hyper@market": [place], "other@market": [elsewhere]}}
        write(root.parent / "home", "plugins/installed_plugins.json", json.dumps(known))
    write(folder, "agents/testing/prober.md", "---\nname: prober\n---\nFollow subagent-return-format.md.\n")
    assert declare(root, "hyper:scout") == DeclaredFormat()
    write(folder, "skills/craft/references/output-contracts.md", "# Contracts\n")
    assert declare(root, "hyper:research:scout").format == "hyper"
    assert declare(root, "hyper:testing:prober").format == "standard"
    assert "skills/craft/references/output-contracts.md" in declare(root, "hyper:research:scout").why
    assert declare(root, "hyper:lister").format == "manifest"
    assert declare(root, "other:scout") == declare(root, "scout") == DeclaredFormat()


def test_a_registry_of_plugins_that_cannot_be_read_declares_nothing(root: Path) -> None:
    for text in ("{", "[]", '{"plugins": []}', '{"plugins": {"hyper@m": [3, {"installPath": 3}]}}'):
        write(root.parent / "home", "plugins/installed_plugins.json", text)
        assert declare(root, "hyper:scout") == DeclaredFormat()
