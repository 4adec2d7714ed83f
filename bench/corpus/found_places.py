"""Messages with a sound return in different places: fences, bare text, markers, lists, tags, long reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from . import prose
from .containers import END, START, anywhere, at_end, at_start, fence, in_middle, indented, marked
from .draw import HYPER, STANDARD, Builder, Draft, Draw
from .writing import STYLES, compact, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCES: Final = (
    ("no-language", "```", ""),
    ("tildes", "~~~", ""),
    ("tildes-json", "~~~", "json"),
    ("upper-case", "```", "JSON"),
    ("json5", "```", "json5"),
    ("jsonc", "```", "jsonc"),
    ("javascript", "```", "javascript"),
    ("text", "```", "text"),
    ("title", "```", 'json title="return.json"'),
    ("space-before", "```", " json"),
    ("four-ticks", "````", "json"),
    ("trailing-space", "```", "json   "),
    ("markdown", "````", "markdown"),
    ("output", "```", "output"),
)


def fenced(draw: Draw) -> Iterator[Draft]:
    """A `json` fence at the end, in all the ways to lay out JSON."""
    for name, style in STYLES:
        for sample in draw.samples(5):
            yield sample.found(name, at_end(sample, draw.rng, fence(style(sample.payload))))


def bare(draw: Draw) -> Iterator[Draft]:
    """The object is the whole message."""
    for name, style in STYLES:
        for sample in draw.samples(2):
            yield sample.found(name, style(sample.payload))
    for name, left, right in (("space-around", "\n\n  ", "  \n\n"), ("newline", "", "\n"), ("tabs-around", "\t", "\t")):
        sample = draw.sample()
        yield sample.found(name, left + pretty(sample.payload) + right)


def fence_kinds(draw: Draw) -> Iterator[Draft]:
    """Other marks and other languages on the fence."""
    for name, mark, info in _FENCES:
        for sample in draw.samples(2):
            yield sample.found(name, anywhere(sample, draw.rng, fence(pretty(sample.payload), mark=mark, info=info)))


def fence_slips(draw: Draw) -> Iterator[Draft]:
    """Fences that are not closed, glued, nested or misspelt."""
    for sample in draw.samples(2):
        body = pretty(sample.payload)
        yield sample.found("indented", at_end(sample, draw.rng, indented(fence(body), "   ")))
        yield sample.found("not-closed", at_end(sample, draw.rng, f"```json\n{body}\n"))
        yield sample.found("same-line", at_end(sample, draw.rng, f"```json {compact(sample.payload)} ```"))
        yield sample.found("glued", at_end(sample, draw.rng, f"```json{body}```"))
        yield sample.found("close-on-brace-line", in_middle(sample, draw.rng, f"```json\n{body}```"))
        yield sample.found("opened-twice", at_end(sample, draw.rng, f"```json\n```json\n{body}\n```\n```"))
        yield sample.found("only-closed", at_end(sample, draw.rng, f"json\n{body}\n```"))
        yield sample.found("json-word", at_end(sample, draw.rng, f"JSON:\n{body}"))
        yield sample.found("two-ticks", at_end(sample, draw.rng, f"``json\n{body}\n``"))


def prose_around(draw: Draw) -> Iterator[Draft]:
    """The object stands in running text."""
    for sample in draw.samples(8):
        yield sample.found("bare-middle", in_middle(sample, draw.rng, pretty(sample.payload)))
    for sample in draw.samples(4):
        yield sample.found("bare-start", at_start(sample, draw.rng, pretty(sample.payload)))
    for sample in draw.samples(4):
        yield sample.found(
            "inline", f"{prose.opening(sample.job, draw.rng)} Return: {one_line(sample.payload)} — that's it."
        )
    for sample in draw.samples(4):
        yield sample.found("fence-middle", in_middle(sample, draw.rng, fence(pretty(sample.payload))))
    for sample in draw.samples(3):
        body = compact(sample.payload)
        yield sample.found("no-space", f"{sample.job.prose[1]}{body}{sample.job.prose[0]}")


def markers(draw: Draw) -> Iterator[Draft]:
    """Between the two marker comments."""
    for sample in draw.samples(8, HYPER):
        yield sample.found("whole", at_end(sample, draw.rng, marked(pretty(sample.payload))))
    for sample in draw.samples(5, STANDARD):
        yield sample.found("standard", in_middle(sample, draw.rng, marked(pretty(sample.payload))))
    for sample in draw.samples(4):
        yield sample.found("no-language", at_end(sample, draw.rng, marked(compact(sample.payload), info="")))


def marker_slips(draw: Draw) -> Iterator[Draft]:
    """A marker missing, misplaced or only talked about."""
    for _ in range(3):
        sample = draw.sample(HYPER)
        body = pretty(sample.payload)
        yield sample.found("no-end", at_end(sample, draw.rng, f"{START}\n{fence(body)}\n"))
        yield sample.found("no-fence", at_end(sample, draw.rng, f"{START}\n{body}\n{END}"))
        yield sample.found("no-start", in_middle(sample, draw.rng, f"{fence(body)}\n{END}"))
        tight = f"<!--AGENT_OUTPUT_START-->{compact(sample.payload)}<!--AGENT_OUTPUT_END-->"
        yield sample.found("tight", in_middle(sample, draw.rng, tight))
    for sample in draw.samples(3):
        body = pretty(sample.payload)
        yield sample.found("inside-fence", at_end(sample, draw.rng, fence(f"{START}\n{body}\n{END}")))
        swapped = f"{fence(body)}\n\n{START}\n(see above)\n{END}"
        yield sample.found("empty-pair", at_end(sample, draw.rng, swapped))
        mention = f"The block below stands between `{START}` and `{END}`, as the contract asks.\n\n{marked(body)}"
        yield sample.found("mentioned", at_end(sample, draw.rng, mention))


def marked_and_unmarked(draw: Draw) -> Iterator[Draft]:
    """The markers say which of two blocks is the answer."""
    for _ in range(4):
        sample = draw.sample(HYPER, status="complete")
        other = draw.sample(HYPER, status="partial", job=sample.job)
        text = (
            f"Half-way through, the state was:\n\n{fence(pretty(other.payload))}\n\nEverything is finished now.\n\n"
            f"{marked(pretty(sample.payload))}"
        )
        yield sample.found("marked-last", text)


def markdown(draw: Draw) -> Iterator[Draft]:
    """In lists, bold text, code spans and the like."""
    for sample in draw.samples(3):
        body, line = pretty(sample.payload), one_line(sample.payload)
        yield sample.found("bold-label", in_middle(sample, draw.rng, f"**Return:** {line}"))
        yield sample.found("bold-around", at_end(sample, draw.rng, f"**{line}**"))
        yield sample.found(
            "list-item", in_middle(sample, draw.rng, f"- Return:\n\n{indented(fence(body), '  ')}\n- Done.")
        )
        yield sample.found("numbered", at_end(sample, draw.rng, f"3. Return\n{indented(fence(body), '   ')}"))
        yield sample.found("bullet-line", in_middle(sample, draw.rng, f"* {line}\n* nothing else"))
        yield sample.found("code-span", in_middle(sample, draw.rng, f"`{line}`"))
        yield sample.found("indented-code", in_middle(sample, draw.rng, indented(body, "    ")))
        details = f"<details>\n<summary>Return</summary>\n\n{fence(body)}\n\n</details>"
        yield sample.found("details", at_end(sample, draw.rng, details))
        yield sample.found("heading-glued", at_end(sample, draw.rng, f"## Return\n{body}\n## End"))
        yield sample.found("rule-after", in_middle(sample, draw.rng, f"---\n{body}\n---"))


def tags(draw: Draw) -> Iterator[Draft]:
    """In tags that look like XML or HTML."""
    for name in ("return", "output", "json", "final_answer", "result", "answer", "response", "agent_return"):
        sample = draw.sample()
        yield sample.found(name, at_end(sample, draw.rng, f"<{name}>\n{pretty(sample.payload)}\n</{name}>"))
    sample = draw.sample()
    yield sample.found(
        "fenced-in-tag", at_end(sample, draw.rng, f"<return>\n{fence(pretty(sample.payload))}\n</return>")
    )
    sample = draw.sample()
    page = f"<html><body><pre><code>{pretty(sample.payload)}</code></pre></body></html>"
    yield sample.found("pre", page)
    sample = draw.sample()
    yield sample.found("cdata", f"<result><![CDATA[{compact(sample.payload)}]]></result>")


def long_prose(draw: Draw) -> Iterator[Draft]:
    """In twenty kilobytes of report."""
    for sample in draw.samples(5):
        long = prose.filler(sample.job, draw.rng, 20_000)
        yield sample.found("end", f"{long}\n\n{fence(pretty(sample.payload))}")
    for sample in draw.samples(3):
        long = prose.filler(sample.job, draw.rng, 20_000)
        yield sample.found("start", f"{fence(pretty(sample.payload))}\n\n{long}")
    for sample in draw.samples(4):
        long, more = (prose.filler(sample.job, draw.rng, 10_000) for _ in range(2))
        block = draw.rng.choice((fence(pretty(sample.payload)), one_line(sample.payload)))
        yield sample.found("middle", f"{long}\n\n{block}\n\n{more}")


def harness_noise(draw: Draw) -> Iterator[Draft]:
    """With what terminals, logs and chat templates leave around a message."""
    for sample in draw.samples(2):
        body, line = pretty(sample.payload), one_line(sample.payload)
        yield sample.found("colours", f"\x1b[1m{prose.opening(sample.job, draw.rng)}\x1b[0m\n\x1b[32m{body}\x1b[0m\n")
        yield sample.found("log-line", f"2026-03-02T10:14:07Z INFO agent finished return={line}\n")
        yield sample.found("role", f"assistant: {prose.opening(sample.job, draw.rng)}\n\n{fence(body)}\n\nuser:")
        yield sample.found("front-matter", f"---\ntitle: {sample.job.title}\nstatus: done\n---\n\n{fence(body)}\n")
        yield sample.found("special-tokens", f"<|assistant|>\n{body}<|end|>")
        yield sample.found("end-of-turn", f"{at_end(sample, draw.rng, fence(body))}<|im_end|>")
        yield sample.found("heredoc", f"$ cat <<'EOF'\n{body}\nEOF")
        yield sample.found(
            "assignment", f"```python\nresult = {body}\n```".replace(": true", ": True").replace(": false", ": False")
        )
        yield sample.found("js-export", f"```js\nexport default {body};\n```")
        yield sample.found("return-statement", f"return {body};")


def many_lists(draw: Draw) -> Iterator[Draft]:
    """Returns of an unusual size: many artifacts, none, long lists."""
    for _ in range(2):
        sample = draw.sample(STANDARD, status="completed")
        files = [
            {"type": "implementation", "path": f"src/part_{n:02d}/mod.rs", "summary": f"Part {n}"} for n in range(40)
        ]
        many = sample.having(sample.payload | {"artifacts": files})
        yield many.found("forty-artifacts", at_end(many, draw.rng, fence(pretty(many.payload))))
        none = sample.having(sample.payload | {"artifacts": []})
        yield none.found("no-artifacts", at_end(none, draw.rng, fence(pretty(none.payload))))
        hyper = draw.sample(HYPER, status="complete")
        empty = hyper.having(hyper.payload | {"artifacts": [], "next_steps": []})
        yield empty.found("empty-hyper", at_end(empty, draw.rng, fence(pretty(empty.payload))))
        longer = hyper.having(json.loads(json.dumps(hyper.payload)))
        longer.payload["artifacts"][0]["key_points"] = [f"Finding {n} is covered by a test" for n in range(1, 6)]
        yield longer.found("five-points", at_end(longer, draw.rng, fence(pretty(longer.payload))))


CATEGORIES: Final[dict[str, Builder]] = {
    "fenced": fenced,
    "bare": bare,
    "fence-kinds": fence_kinds,
    "fence-slips": fence_slips,
    "prose-around": prose_around,
    "markers": markers,
    "marker-slips": marker_slips,
    "marked-and-unmarked": marked_and_unmarked,
    "markdown": markdown,
    "tags": tags,
    "long-prose": long_prose,
    "harness-noise": harness_noise,
    "unusual-size": many_lists,
}
