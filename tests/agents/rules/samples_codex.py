"""A bad file for each rule on Codex's agents."""

from tests.support.agent_samples import CODEX, CODEX_PATH, Sample, change

NAME = 'name = "code-reviewer"\n'


def codex(old: str, new: str, *, fixed: str | None = None) -> Sample:
    """A file of Codex's with one change, and what its fix makes of the changed part."""
    made = None if fixed is None else change(old, fixed, base=CODEX)
    return Sample(bad=change(old, new, base=CODEX), good=CODEX, path=CODEX_PATH, fixed=made)


SAMPLES = {
    "AGT400": codex(NAME, "", fixed=NAME),
    "AGT401": codex(NAME, f'{NAME}reasoning_effort = "high" # slow\n',
                    fixed=f'{NAME}model_reasoning_effort = "high" # slow\n'),
    "AGT402": codex(NAME, f"{NAME}model = 5\n"),
    "AGT403": codex(NAME, f"{NAME}sandbox_mode = 'readonly' # no writing\n",
                    fixed=f"{NAME}sandbox_mode = 'read-only' # no writing\n"),
    "AGT404": codex(NAME, f"{NAME}nickname_candidates = []\n"),
    "AGT405": codex(NAME, 'name = "reviewer"\n'),
}  # fmt: skip
