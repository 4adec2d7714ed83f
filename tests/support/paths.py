"""The folders of the project."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""
SOURCE = ROOT / "src"
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests" / "data"
"""The samples that tests read."""
