"""Gemini CLI: what it calls things. Remit runs it, and has no hooks in it."""

from __future__ import annotations

TRIED = ("0.61.0",)
"""The releases that the harness tests have passed with."""
PACKAGE = "@google/gemini-cli"
OPERATIONS = {
    **dict.fromkeys(("read_file", "read_many_files", "list_directory", "glob", "search_file_content"), "read"),
    **dict.fromkeys(("grep_search", "web_fetch", "google_web_search"), "read"),
    **dict.fromkeys(("write_file", "replace"), "write"),
    "run_shell_command": "run",
    "invoke_agent": "delegate",
}
"""What its tools do, as the runners call it."""
