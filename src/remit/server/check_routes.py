"""Handlers that check a message, lint agent files or list the acceptance checks; nothing is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.views.json_builders import build_checked_message

if TYPE_CHECKING:
    from remit.schemas import CheckDefinitionObject, CheckedMessageObject, LintObject, ListObject
    from remit.server.endpoint import ApiRequest

_NAME = "message"


def check_message(request: ApiRequest) -> CheckedMessageObject:
    """Check a final message, with its artifacts as they are in this workspace."""
    from pathlib import Path

    from remit.runs import check_message
    from remit.storage.secrets import redact_all
    from remit.storage.settings import find_workspace

    given = request.body
    verdict = check_message.check(
        given["text"],
        format=given.get("format"),
        session_id=given.get("session_id"),
        root=Path(find_workspace()),
    )
    return redact_all(build_checked_message(verdict, _NAME))


def list_checks(request: ApiRequest) -> ListObject[CheckDefinitionObject]:
    """List the acceptance checks of the workspace."""
    from remit.views.checks import list_definitions

    del request
    return list_definitions()


def lint_agents(request: ApiRequest) -> LintObject:
    """Lint agent files."""
    from remit.views.agents import lint_files

    return lint_files(request.body.get("paths", ()))
