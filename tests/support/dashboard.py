"""A real browser before a real server, and what the browser must not do whatever it is shown."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings
from tests.support.git_command import git
from tests.support.paths import ROOT, SOURCE
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page, Request

SCREENS = ROOT / ".screens"
PATIENCE_S = 20.0
FLAGS = (
    "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-extensions", "--disable-breakpad",
)  # fmt: skip
STEERING = ("REMIT_ROOT", "REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_DEBUG", "OTEL_EXPORTER_OTLP_ENDPOINT")
AGENT = """---
name: {name}
description: "{description}"
agent_type: utility
version: 1.0.0
delegation:
  can_delegate_to: {calls}
---
Do what you are told.
"""
WATCH = """
globalThis.misdeeds = [];
document.addEventListener("securitypolicyviolation", (event) => {
  globalThis.misdeeds.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
});
"""
"""Runs before the page's own scripts, and notes what its policy had to stop."""


def find_chromium() -> str | None:
    """Where the browser is, if it is there."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def list_flags() -> list[str]:
    """With what a browser is started; its sandbox refuses to be root's."""
    return [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


# --- the workspace ---------------------------------------------------------------------------------------------------


def make_workspace(root: Path, commands: Mapping[str, str], files: Mapping[str, str], config: Path) -> Path:
    """A repository in which each name is an agent that is a program; consent is kept in `config`."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet", "--initial-branch", "main")
    tables = ""
    for name, command in commands.items():
        tables += f"[runners.{name}]\ncommand = {json.dumps(command)}\n[agents.{name}]\nrunner = {json.dumps(name)}\n"
    agents = {f".claude/agents/{name}.md": write_agent(name) for name in commands}
    for path, text in ({"remit.toml": tables, ".gitignore": ".remit/\n"} | agents | dict(files)).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "All of it")
    before = os.environ.get("XDG_CONFIG_HOME")
    os.environ["XDG_CONFIG_HOME"] = str(config)
    try:
        grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
    finally:
        os.environ.pop("XDG_CONFIG_HOME")
        if before is not None:
            os.environ["XDG_CONFIG_HOME"] = before
    return root


def write_agent(name: str, *calls: str, description: str = "Does what it is told.") -> str:
    """The file of an agent."""
    return AGENT.format(name=name, description=description, calls=json.dumps(calls))


# --- the server ------------------------------------------------------------------------------------------------------


class Server:
    """`remit serve` in a workspace, as a user starts it."""

    def __init__(self, root: Path, config: Path) -> None:
        self.root = root
        self.env = {name: value for name, value in os.environ.items() if name not in STEERING}
        self.env |= {"XDG_CONFIG_HOME": str(config), "PYTHONPATH": str(SOURCE)}
        self.url = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self, *, port: int = 0, token_file: Path | None = None) -> None:
        """Start it, and wait until it listens."""
        words = [sys.executable, "-m", "remit", "serve", "--json", "--port", str(port)]
        if token_file is not None:
            words += ["--token-file", str(token_file)]
        self.process = subprocess.Popen(
            words, cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"].rstrip("/")

    @property
    def port(self) -> int:
        """Where it listens."""
        port = urlsplit(self.url).port
        assert port is not None
        return port

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it by a signal."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def remit(self, *words: str) -> str:
        """Run another command in the same workspace; what it printed."""
        command = [sys.executable, "-m", "remit", *words]
        ran = subprocess.run(
            command, cwd=self.root, env=self.env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert ran.returncode in (0, 1), (words, ran.stdout, ran.stderr)
        return ran.stdout

    def make_login(self) -> str:
        """An address that lets a browser in, once, as `remit serve --open` asks for it."""
        return str(self.ask("/login-tokens", b"{}")["url"])

    def get(self, path: str) -> Any:  # noqa: ANN401 - any JSON value
        """What the API answers a program."""
        return self.ask(path, None)

    def ask(self, path: str, body: bytes | None) -> Any:  # noqa: ANN401 - any JSON value
        """What the API answers a program that has its token."""
        token = json.loads((self.root / ".remit/server.json").read_text())["token"]
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.url}/api/v1{path}", data=body, headers=headers)  # noqa: S310 - our own
        with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:  # noqa: S310 - http, by the line above
            return json.load(answer)

    def list_sessions(self) -> list[str]:
        """All runs, newest first."""
        return [each["session_id"] for each in self.get("/runs?limit=500&roots=true")["items"]]


# --- the browser -----------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """A page, and all that it did that no page of ours does."""

    page: Page
    server: Server
    wrongs: list[str]
    """Errors, dialogs, and what its policy had to stop."""
    asked: list[str]
    """Every address that was asked for."""
    forgiven: list[str]
    """Parts of complaints that a test has brought about itself."""

    def open(self, path: str, *, wait: str | None = None) -> Page:
        """Go to a page of the server."""
        self.page.goto(f"{self.server.url}{path}")
        if wait is not None:
            self.page.wait_for_selector(wait)
        return self.page

    def see(self, selector: str) -> Locator:
        """An element that is there, or comes soon."""
        found = self.page.locator(selector).first
        found.wait_for(state="visible", timeout=PATIENCE_S * 1000)
        return found

    def see_text(self, selector: str, part: str) -> str:
        """The text of an element, once a part of it is there."""

        def find() -> str:
            found = self.page.locator(selector)
            return found.first.inner_text() if found.count() and part in found.first.inner_text() else ""

        return str(wait_until(find, f"'{part}' in {selector}"))

    def evaluate(self, script: str, given: Any = None) -> Any:  # noqa: ANN401 - any JSON value
        """What a function of JavaScript says."""
        return self.page.evaluate(script, given)

    def wait_for(self, script: str, what: str) -> Any:  # noqa: ANN401 - any JSON value
        """Wait until an expression of JavaScript holds; the page's policy forbids the browser's own way."""
        return wait_until(lambda: self.page.evaluate(f"() => {script}"), what)

    def shoot(self, name: str) -> None:
        """Keep what is to be seen as a picture, for people."""
        SCREENS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENS / f"{name}.png", animations="disabled")

    def check(self) -> None:
        """Nothing was done that may not be: no error, no dialog, nothing that the policy had to stop, no other host."""
        self.wrongs.extend(self.page.evaluate("() => globalThis.misdeeds.splice(0)"))
        wrongs = [each for each in self.wrongs if not any(part in each for part in self.forgiven)]
        self.wrongs.clear()
        assert wrongs == [], wrongs[:5]
        assert self.asked, "nothing was asked for"
        others = [each for each in self.asked if not each.startswith((f"{self.server.url}/", "data:"))]
        assert others == [], others[:5]


def open_page(browser: Browser, server: Server, **looks: Any) -> Seen:  # noqa: ANN401 - playwright's own
    """A page of a browser that has logged in."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **looks})
    context.set_default_timeout(PATIENCE_S * 1000)
    context.add_init_script(WATCH)
    page = context.new_page()
    seen = Seen(page, server, [], [], [])

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.wrongs.append(f"{message.type}: {message.text} {message.location.get('url', '')}")

    def ask(request: Request) -> None:
        seen.asked.append(request.url)

    def refuse(dialog: Dialog) -> None:
        seen.wrongs.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", note)
    page.on("pageerror", lambda error: seen.wrongs.append(f"uncaught: {error}"))
    page.on("dialog", refuse)
    page.on("request", ask)
    page.on("popup", lambda other: seen.wrongs.append(f"popup: {other.url}"))
    page.goto(server.make_login())
    return seen
