"""The dashboard's files: what they may not hold, and that they fit together. What they do is tried in a browser."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import remit.server

WEB = Path(remit.server.__file__).parent / "web"
SCRIPTS = sorted(WEB.glob("*.js"))
FILES = [*SCRIPTS, *sorted(WEB.glob("*.css")), *sorted(WEB.glob("*.html")), *sorted(WEB.glob("*.svg"))]
NAMESPACE = "http://www.w3.org/2000/svg"
MAX_COMPRESSED = 150_000

SINKS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|document\.write|srcdoc|setHTMLUnsafe"
    r"|\beval\b|new Function|javascript:|setAttribute\(\"(?:style|on)"
)
"""Ways on which text becomes markup or code."""


def name(file: Path) -> str:
    return file.name


def test_all_of_it_is_here() -> None:
    assert {"index.html", "style.css", "main.js", "dom.js", "api.js"} <= {file.name for file in FILES}


@pytest.mark.parametrize("file", SCRIPTS, ids=name)
def test_text_never_becomes_markup_or_code(file: Path) -> None:
    assert not SINKS.findall(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", FILES, ids=name)
def test_nothing_is_asked_of_another_host(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace(NAMESPACE, "")
    assert not re.findall(r"(?:https?:|wss?:|[\"'(])//[\w.]", text)
    assert "@import" not in text


def test_the_page_has_no_code_and_no_style_of_its_own() -> None:
    """The content security policy would refuse both."""
    text = (WEB / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r"\s(?:on\w+|style)\s*=", text)
    assert "<style" not in text
    assert all("src=" in tag for tag in re.findall(r"<script\b[^>]*>", text))


def test_what_the_page_names_is_here() -> None:
    named = re.findall(r"(?:src|href)=\"([^\"]*)\"", (WEB / "index.html").read_text(encoding="utf-8"))
    assert named
    assert all(address.startswith("/web/") and (WEB / address.removeprefix("/web/")).is_file() for address in named)


@pytest.mark.parametrize("file", SCRIPTS, ids=name)
def test_what_a_module_takes_from_another_is_there(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for names, other in re.findall(r"import \{([^}]*)\} from \"\./([\w.]+)\"", text):
        source = (WEB / other).read_text(encoding="utf-8")
        for each in filter(None, (word.strip().partition(" as ")[0] for word in names.split(","))):
            assert re.search(rf"^export (?:async )?(?:function|const|let|class) {each}\b", source, re.MULTILINE), each
    for other in re.findall(r"(?:from|import\() ?\"([^\"]*)\"", text):
        assert re.fullmatch(r"\./\w+\.js", other)
        assert (WEB / other).is_file()


@pytest.mark.parametrize("file", SCRIPTS, ids=name)
def test_a_module_says_what_it_is_and_uses_what_it_takes(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("/*")
    for names in re.findall(r"import \{([^}]*)\} from", text):
        for each in filter(None, (word.strip().rpartition(" as ")[2] for word in names.split(","))):
            assert len(re.findall(rf"\b{each}\b", text)) > 1, f"{each} is not used"


@pytest.mark.parametrize("file", FILES, ids=name)
def test_lines_are_no_longer_than_in_python(file: Path) -> None:
    if file.suffix in {".js", ".css"}:
        assert [line for line in file.read_text(encoding="utf-8").split("\n") if len(line) > 120] == []


@pytest.mark.slow
def test_the_scripts_are_well_formed() -> None:
    """Node reads them all in one process."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: scripts are not parsed here")
    program = (
        "const vm = require('node:vm'), fs = require('node:fs');"
        "for (const file of process.argv.slice(1)) new vm.SourceTextModule(fs.readFileSync(file, 'utf8'));"
    )
    command = [node, "--experimental-vm-modules", "--no-warnings", "-e", program, *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_the_whole_dashboard_is_small() -> None:
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in FILES) <= MAX_COMPRESSED
