"""A bad file for each rule on tokens."""

from tests.support.agent_samples import CLAUDE, CLAUDE_PATH, Sample, change

PROTOCOL = """
Read the task with {{TASK_SHOW_CMD}} {{TASK_ID}}. Write to `{{OUTPUT_DIR}}/{{DATE}}_{{TOPIC_SLUG}}.md`:

```markdown
# {{TITLE}}

{{Two or three sentences}}
```

Then append one line to `{{MANIFEST_PATH}}`. A variable of the shell is ${TASK_ID}, one of a workflow ${{ TASK_ID }}.

```python
print(f"{TASK_ID}", {TASK_ID})
```
"""
AGENT = CLAUDE + PROTOCOL


def sample(old: str, new: str, *, fixed: bool = True) -> Sample:
    return Sample(bad=change(old, new, base=AGENT), good=AGENT, path=CLAUDE_PATH, fixed=AGENT if fixed else None)


SAMPLES = {
    "AGT090": sample("_CMD}} {{TASK_ID}}", "_CMD}} {{TASKID}}"),
    "AGT091": sample("_CMD}} {{TASK_ID}}", "_CMD}} {TASK_ID}"),
    "AGT092": sample("_CMD}} {{TASK_ID}}", "_CMD}} {{TASK_ID"),
    "AGT093": sample("{{TOPIC_SLUG}}", "topic", fixed=False),
}  # fmt: skip
