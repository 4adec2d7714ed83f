"""`make docs`: play the examples, write the pages of the reference, and say which of them changed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.cluster.postgres import running
from tools.reference.pages import play_alone, play_cluster, render_pages, write_pages


def main() -> None:
    """Write all of it."""
    with tempfile.TemporaryDirectory() as folder, running() as server, server.database() as database:
        pages = render_pages([*play_alone(Path(folder)), *play_cluster(Path(folder), database)])
    changed = write_pages(pages)
    sys.stdout.write("".join(f"docs/{name}\n" for name in changed))
    sys.stdout.write(f"{len(pages)} pages, {len(changed)} changed\n")


if __name__ == "__main__":
    main()
