"""`make docs`: run the examples and build the pages of the reference into docs/reference."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support.postgres import Missing, running
from tools.reference.pages import REFERENCE, play_alone, play_cluster, render_pages, write_pages


def main() -> None:
    """Build all pages; without PostgreSQL, those of the cluster's commands have no examples."""
    with tempfile.TemporaryDirectory() as folder:
        examples = play_alone(Path(folder))
        try:
            with running() as server, server.database() as database:
                examples += play_cluster(Path(folder), database)
        except Missing as error:
            sys.stderr.write(f"no examples for `remit worker start` and `remit worker drain`: {error}\n")
    pages = render_pages(examples)
    write_pages(pages, REFERENCE)
    sys.stdout.write(f"{len(pages)} pages in docs/reference\n")


if __name__ == "__main__":
    main()
