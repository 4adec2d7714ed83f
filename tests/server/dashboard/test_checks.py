"""Acceptance checks in a real browser: in the list of runs, on the page of a run, and while they run."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Literal

import pytest

from tests.support.dashboard import Seen, Server, make_workspace, open_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ViewportSize

pytestmark = pytest.mark.slow

AGENT = """
import json, os, pathlib, sys
sys.stdin.read()
done = pathlib.Path("out.txt")
done.write_text((done.read_text() if done.exists() else "") + "x")
print(json.dumps({
    "status": "completed", "summary": "The file is written. It has one letter more.",
    "artifacts": [{"type": "implementation", "path": "out.txt", "summary": "The letters."}],
    "metadata": {"session_id": os.environ["REMIT_SESSION_ID"], "duration_seconds": 1, "agent_type": "agent",
                 "delegation_depth": 1, "delegation_path": ["agent"]},
}))
"""
FLAKY = "mkdir .remit/.once 2>/dev/null && exit 1 || exit 0"
CHECKS = {
    "tests": "printf '<script>globalThis.stolen=1</script> \\033[31mred\\033[0m\\n'; seq 40; exit 3",
    "lint": "true",
    "flaky": FLAKY,
    "types": "no-such-program-anywhere",
    "slow": "until test -e .remit/.go; do sleep 0.05; done",
}
NARROW: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def seen(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("checks")
    tables = "".join(f"[checks.{name}]\nrun = {json.dumps(run)}\n" for name, run in CHECKS.items())
    tables += '[checks.docs]\nrun = "true"\nwhen = "docs/**"\n'
    command = f"{sys.executable} {folder / 'agent.py'}"
    (folder / "agent.py").write_text(AGENT)
    root = make_workspace(folder / "root", {}, {"remit.toml": tables}, folder / "config")
    server = Server(root, folder / "config")
    words = [f"--check={name}" for name in ("tests", "lint", "flaky", "types", "docs")]
    server.remit("run", "Write it.", "--command", command, *words)
    server.remit("run", "Write more.", "--command", command, "--check", "lint")
    server.start()
    try:
        opened_page = open_page(browser, server)
        yield opened_page
        opened_page.page.context.close()
    finally:
        server.end()


@pytest.fixture(autouse=True)
def _clean(seen: Seen) -> Iterator[None]:
    yield
    seen.check()


def test_the_list_marks_a_run_whose_check_failed(seen: Seen) -> None:
    seen.open("/", wait=".run-row[href]")
    rows = [row.inner_text() for row in seen.page.locator(".run-row[href]").all()]
    assert ["check failed" in row for row in rows] == [False, True]


def test_the_page_of_a_run_has_each_check_and_its_output_as_text(seen: Seen) -> None:
    session_id = seen.server.list_sessions()[-1]
    seen.open(f"/runs/{session_id}", wait=".checks")
    items = [item.inner_text() for item in seen.page.locator(".checks > li").all()]
    words = [
        [word for word in ("passed", "failed", "not run", "not needed", "flaky") if word in item] for item in items
    ]
    assert words[1:] == [["passed"], ["passed", "flaky"], ["not run"], ["not needed"]]
    assert "exit code 3; unknown whether it failed before the run" in items[0]
    assert not seen.page.locator(".checks pre").first.is_visible(), "output is shown on demand"
    seen.page.locator(".checks summary").first.click()
    assert seen.page.locator(".checks pre").first.inner_text().endswith("40")
    assert seen.evaluate("() => globalThis.stolen") is None
    codes = [code.inner_text() for code in seen.page.locator(".diagnostics code").all()]
    assert not {"CHK001", "CHK002", "CHK003"} & {*codes}
    assert "CHECK_FAILED" in seen.page.locator(".fault code").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_it_fits_on_every_screen(seen: Seen, scheme: Literal["light", "dark"], width: str) -> None:
    page = seen.page
    before = page.viewport_size
    page.emulate_media(color_scheme=scheme)
    if width == "narrow":
        page.set_viewport_size(NARROW)
    try:
        seen.open(f"/runs/{seen.server.list_sessions()[-1]}", wait=".checks")
        page.locator(".checks summary").first.click()
        page.locator(".checks").first.scroll_into_view_if_needed()
        seen.shoot(f"{scheme}-{width}-checks")
        assert seen.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        seen.open("/", wait=".run-row[href]")
        seen.shoot(f"{scheme}-{width}-checks-list")
        assert seen.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    finally:
        page.emulate_media(color_scheme="light")
        if before is not None:
            page.set_viewport_size(before)


def test_a_running_check_is_named_with_its_time(seen: Seen) -> None:
    server = seen.server
    (server.root / ".remit/.go").unlink(missing_ok=True)
    command = f"{sys.executable} {server.root.parent / 'agent.py'}"
    words = [sys.executable, "-m", "remit", "run", "Wait.", "--command", command, "--check", "slow"]
    process = subprocess.Popen(words, cwd=server.root, env=server.env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        seen.open("/", wait=".run-row[href]")
        seen.see_text(".run-row[href]", "running check slow")
        seen.open(f"/runs/{server.list_sessions()[0]}", wait=".run-title")
        seen.see_text(".run-header", "running check slow")
        seen.see_text(".node-body", "running check slow")
        seen.shoot("light-running-check")
    finally:
        (server.root / ".remit/.go").touch()
        process.wait(60)
    seen.see_text(".checks", "slow")
    assert "running check" not in seen.see_text(".run-header", "completed")
