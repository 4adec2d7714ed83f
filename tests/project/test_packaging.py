"""What packages Remit for a cluster: units for systemd, an image and a compose file say what Remit understands."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from remit.cli.group import root
from remit.cluster.keys import KEY, KEY_FILE
from remit.config import BACKEND, fill_backend, parse_settings
from tests.support.paths import ROOT, SOURCE

PACKAGING = ROOT / "packaging"
UNITS = sorted((PACKAGING / "systemd").iterdir())
COMPOSE: dict[str, Any] = yaml.safe_load((PACKAGING / "compose.yaml").read_text("utf-8"))
DEPLOYMENT = (ROOT / "docs" / "deployment.md").read_text("utf-8")


def check_command(words: list[str]) -> None:
    """Have a command line read by Remit, without doing it."""
    context = click.Context(root)
    command = root.get_command(context, words[0])
    assert command is not None, words
    if isinstance(command, click.Group):
        command = command.get_command(context, words[1])
        assert command is not None, words
        words = words[1:]
    command.make_context(words[0], words[1:], parent=context)


def read_unit(file: Path) -> dict[str, list[str]]:
    """The settings of a unit, each with all its values."""
    found: dict[str, list[str]] = {}
    for line in file.read_text("utf-8").splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("file", UNITS, ids=[file.name for file in UNITS])
def test_a_unit_starts_what_there_is_and_lets_agents_live(file: Path) -> None:
    unit = read_unit(file)
    words = shlex.split(unit["ExecStart"][0].replace("%i", "planner").replace("%H", "host"))
    assert words[:2] == ["/usr/bin/env", "remit"]
    check_command(words[2:])
    assert unit["KillMode"] == ["process"]
    assert unit["Restart"] == ["on-failure"]
    assert float(unit["TimeoutStopSec"][0]) < 60  # its leases are kept for so long
    in_the_way = {"RestrictNamespaces", "PrivateUsers", "ProtectProc", "ProcSubset", "ProtectKernelTunables"}
    assert not unit.keys() & {*in_the_way, "PrivateTmp"}


def test_both_units_are_alike_but_for_whom_they_are() -> None:
    one, many = (read_unit(file) for file in UNITS)
    assert {name for name in one if one[name] != many.get(name)} == {"Description", "ExecStart"}
    assert one.keys() == many.keys()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("file", UNITS, ids=[file.name for file in UNITS])
def test_systemd_takes_a_unit(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / file.name.replace("@", "@planner")
    text = file.read_text("utf-8")
    copy.write_text(text)
    assert _verify(copy) == ""
    copy.write_text(text.replace("KillMode=process", "KillMode=procces"))
    assert "procces" in _verify(copy)  # it would have told


def _verify(file: Path) -> str:
    return subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True, check=False).stderr


def test_compose_starts_what_there_is() -> None:
    services = COMPOSE["services"]
    assert {"db", "worker-a", "worker-b", "caller"} == services.keys()
    for name, service in services.items():
        assert re.search(r":\d+\.\d+", service["image"]), f"{name} has no pinned tag"
        if name == "db":
            continue
        check_command(service["command"])
        address = re.sub(r"\$\{(\w+):\?[^}]*\}", r"\1", service["environment"][BACKEND])
        assert fill_backend(address, {}).startswith("postgresql://")
        assert KEY in service["environment"]
        assert (PACKAGING / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
        if "healthcheck" in service:
            assert service["healthcheck"]["test"][:2] == ["CMD", "remit"]
            check_command(service["healthcheck"]["test"][2:])


def test_the_commands_that_compose_shows_are_commands() -> None:
    text = (PACKAGING / "compose.yaml").read_text("utf-8")
    shown = re.findall(r"run --rm caller (.*)$", text.replace("`.", ""), re.MULTILINE)
    assert len(shown) == 3
    for line in shown:
        check_command(shlex.split(line))


def test_the_image_installs_this_wheel_with_the_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    text = (PACKAGING / "Dockerfile").read_text("utf-8")
    assert f"WHEEL=dist/remit-{project['version']}-py3-none-any.whl" in text
    assert "[postgres]" in text
    assert "postgres" in project["optional-dependencies"]


def test_what_the_page_on_deployment_shows_is_understood() -> None:
    [shown] = re.findall(r"^```toml\n(.*?)^```", DEPLOYMENT, re.MULTILINE | re.DOTALL)
    settings = parse_settings(shown)
    assert settings.cluster == parse_settings("").cluster  # they are the usual ones
    assert fill_backend(settings.backend, {"REMIT_DB_PASSWORD": "x"}).startswith("postgresql://remit:x@")
    blocks = re.findall(r"^```console\n(.*?)^```", DEPLOYMENT, re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in re.findall(r"^\$ remit (.*)$", block, re.MULTILINE)]
    assert commands
    for line in commands:
        check_command(shlex.split(line, comments=True))
    assert KEY_FILE in DEPLOYMENT


def test_the_wheel_has_every_file_that_remit_reads(tmp_path: Path) -> None:
    """Templates of agents and files for harnesses are data beside the code."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "dist"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    [wheel] = (tmp_path / "dist").glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        file.relative_to(tmp_path / "src").as_posix() for file in (tmp_path / "src").rglob("*") if file.is_file()
    }
    assert "remit/agents/templates/standard/planning.md" in sources
    assert sources <= packed
