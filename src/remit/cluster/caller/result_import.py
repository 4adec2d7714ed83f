"""Imports the result of a remote run: attempts and texts into the ledger, changed files into the caller's tree.

The worker has judged the return and the tree. The caller checks that each file arrived as the worker sent it, and never
overwrites other changes. A result that didn't arrive completely is never `completed`.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.database import bundles, session_rows
from remit.cluster.downgrade import downgrade_to_partial, name_files
from remit.cluster.orders import read_result
from remit.cluster.sealing import SealError, unseal
from remit.errors import RemitError, StorageError
from remit.git.apply_changes import apply_agent_changes, fetch
from remit.git.branches import keep_branch
from remit.git.bundles import AgentChanges, BaseTree, delete_remote_branches
from remit.ledger.home import FINISHING, Home
from remit.ledger.runs import AttemptRow, record_attempt
from remit.ledger.texts import store_texts
from remit.runs.results.full_result import read_report, render_report

if TYPE_CHECKING:
    from remit.cluster.caller.client import ClusterClient
    from remit.cluster.database.store import Database
    from remit.cluster.orders import RemoteResult, RunOrder
    from remit.git.apply_changes import AppliedChanges
    from remit.ledger.runs import Run
    from remit.result import Result
    from remit.runs.judging.conclusion import Conclusion


class ImportedResult(NamedTuple):
    """The result and conclusion of a remote run whose files were imported."""

    report: Result
    conclusion: Conclusion


async def import_result(
    client: ClusterClient, row: Run, order: RunOrder, result: RemoteResult, *, own_files: tuple[str, ...] = ()
) -> ImportedResult:
    """Import a worker's result: the attempts, the texts and the files.

    `own_files`: files that Remit itself writes here while remote runs are active.
    """
    imported = ImportedResult(*read_report(dict(result.report)))
    record_result(client.home, row.session_id, result)
    packed = result.packed
    if order.source.remote:  # its agent has ended, so the branch with the base tree is no longer needed
        await asyncio.to_thread(_drop_base, client.home.root, order)
    if not packed.commit:
        return _check_artifacts(str(row.details.get("root") or client.home.root), row, imported)
    bundle = await bundles.get(client.db, packed.source.parcel) if packed.source.parcel else None
    return await asyncio.to_thread(
        _ReceivedChanges(client.home, row, order, result, bundle).apply_agent_changes, imported, own_files
    )


def _drop_base(root: str, order: RunOrder) -> None:
    with suppress(RemitError):  # a leftover branch is harmless
        delete_remote_branches(root, order.source.remote, (order.source.branch,))


async def load_result(db: Database, key: bytes, session_id: str) -> RemoteResult:
    """Load the result of a session, and check its seal."""
    result = read_result(unseal(key, "outcome", await session_rows.load_result(db, session_id) or b""))
    if result.session_id != session_id:
        raise SealError(f"the result of {session_id} belongs to another session", hint=f"remit retry {session_id}")
    return result


def record_result(home: Home, session_id: str, result: RemoteResult, *, with_report: bool = False) -> Result:
    """Write a worker's result into the ledger, and return the report."""
    fields = set(AttemptRow._fields)
    texts = {kind: text.encode("utf-8", "surrogatepass") for kind, text in result.texts.items()}
    report, conclusion = read_report(dict(result.report))
    if with_report:
        texts["report"] = render_report(report, conclusion)
    with home.ledger.transaction() as db:
        for attempt in result.attempts:
            values: dict[str, Any] = {name: value for name, value in attempt.items() if name in fields}
            record_attempt(db, session_id, AttemptRow(**values))
        store_texts(home, session_id, texts, db=db)
    return report


# --- files ------------------------------------------------------------------------------------------------------------


class _ReceivedChanges:
    """An agent's changes that are to be applied to the caller's tree."""

    def __init__(self, home: Home, row: Run, order: RunOrder, result: RemoteResult, bundle: bytes | None) -> None:
        self.home = Home(home.root)  # a separate ledger connection: this is another thread
        self.row = row
        self.root = str(row.details.get("root") or home.root)
        self.base = BaseTree(order.commit, order.tree, order.prefix)
        packed = result.packed
        self.made = AgentChanges(packed.commit, packed.tree, packed.files)
        self.source = packed.source
        self.bundle = bundle

    def apply_agent_changes(self, imported: ImportedResult, own_files: tuple[str, ...]) -> ImportedResult:
        """Fetch the changes, check them, and apply them to the tree; return the result, downgraded if that failed."""
        if self.source.parcel and self.bundle is None:
            return _downgrade(imported, "the database no longer has the agent's changes")
        source = self.source
        try:
            fetched = fetch(
                self.root, self.base, self.made, bundle=self.bundle, remote=source.remote, branch=source.branch
            )  # fmt: skip
            with self.home.lock(FINISHING):  # serializes concurrent imports, so each sees the other's files
                applied = apply_agent_changes(self.root, self.base, self.made, fetched=fetched)
        except StorageError as error:  # the changes differ from those that were sent, or can't be written
            return _downgrade(imported, f"the agent's changes did not arrive: {error.message}")
        conflicts = self._list_conflicts(imported, applied, own_files)
        if conflicts:
            return self._keep_agent_version(imported, conflicts)
        return _check_artifacts(self.root, self.row, imported)

    def _list_conflicts(
        self, imported: ImportedResult, applied: AppliedChanges, own_files: tuple[str, ...]
    ) -> list[str]:
        """Return the files that were changed here in the meantime, except for Remit's own.

        Remit's own files, such as the error log, change all the time: the local version stays, unless the agent
        reports the file as an artifact. The finish steps append to the manifest.
        """
        manifest = str(self.row.details.get("manifest") or "")
        own = {*own_files} - {artifact.path for artifact in imported.conclusion.artifacts}
        if manifest and imported.conclusion.entry is not None:
            own.add(os.path.relpath(manifest, self.root))
        return [path for path in (*applied.conflicts, *applied.kept) if path not in own]

    def _keep_agent_version(self, imported: ImportedResult, conflicts: list[str]) -> ImportedResult:
        """Keep the local version of conflicting files, and the agent's version on a branch."""
        branch = f"remit/{self.row.session_id}"
        try:
            is_kept = bool(keep_branch(self.root, self.made, branch))
        except RemitError:
            is_kept = False
        where = f"git merge {branch} applies the agent's version" if is_kept else "the agent's version is lost"
        message = f"changed here in the meantime or not writable, so left as is: {name_files(conflicts)}; {where}"
        return _downgrade(imported, message)


def _check_artifacts(root: str, row: Run, imported: ImportedResult) -> ImportedResult:
    """Downgrade the result if an artifact of a usable return exists neither below the root nor beside the manifest."""
    beside = os.path.dirname(str(row.details.get("manifest") or f"{root}/"))
    paths = [artifact.path for artifact in imported.conclusion.artifacts]
    missing = [path for path in paths if not any(os.path.lexists(os.path.join(each, path)) for each in (root, beside))]
    is_usable = imported.conclusion.status in ("completed", "partial")
    return _downgrade(imported, f"{name_files(missing)} did not arrive") if missing and is_usable else imported


# --- downgrades -------------------------------------------------------------------------------------------------------


def _downgrade(imported: ImportedResult, message: str) -> ImportedResult:
    return ImportedResult(
        *downgrade_to_partial(*imported, message, "Check which files are missing here, then do the rest again")
    )
