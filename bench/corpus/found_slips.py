"""Messages with rarer slips, and every damage in every kind of place."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from . import prose, writing
from .containers import at_end, fence, in_middle, indented, marked
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .found_damaged import said
from .found_wrapped import result_line
from .writing import BARE, PYTHON, RAW, SINGLE, SMART, compact, one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .case import Payload

_QUOTING: Final = (
    # The text, and whether a quote in it looks like the end of the value.
    ('Renamed "foo" to "bar" in all callers. Tests pass.', False),
    ('The "status" field is now written first. Tests pass.', False),
    ('The switch is called "strict" (was "pedantic"). Tests pass.', False),
    ('Added "retry", "back-off" and "jitter" to the guide. Tests pass.', True),
    ('The flag is now called "strict"', True),
    ('"Quick start" was rewritten from scratch. Tests pass.', True),
)


def inner_quotes(draw: Draw) -> Iterator[Draft]:
    """Quotes inside a value that should have been escaped."""
    for text, is_hard in _QUOTING:
        for _ in range(3):
            sample = said(draw.sample(), text)
            message = at_end(sample, draw.rng, fence(pretty(sample.payload).replace('\\"', '"')))
            yield sample.found("hard" if is_hard else "unescaped", message, may_refuse=is_hard)


def key_quotes(draw: Draw) -> Iterator[Draft]:
    """One quote of a key left out."""
    for key in ("artifacts", "next_steps"):
        sample = draw.sample(HYPER)
        body = pretty(sample.payload)
        yield sample.found(
            "no-opening", at_end(sample, draw.rng, fence(body.replace(f'"{key}":', f'{key}":', 1))), may_refuse=True
        )
    for key in ("status", "artifacts", "metadata", "agent_type"):
        sample = draw.sample(STANDARD)
        body = pretty(sample.payload)
        yield sample.found(
            "no-opening", at_end(sample, draw.rng, fence(body.replace(f'"{key}":', f'{key}":', 1))), may_refuse=True
        )
        yield sample.found("no-quotes", at_end(sample, draw.rng, fence(body.replace(f'"{key}":', f"{key}:", 1))))
        yield sample.found("space", at_end(sample, draw.rng, fence(body.replace(f'"{key}":', f'"{key}"   :', 1))))


def punctuation(draw: Draw) -> Iterator[Draft]:
    """Full-width signs, semicolons, equal signs: other marks where JSON has a colon or a comma."""
    for sample in draw.samples(3):
        lines = pretty(sample.payload)
        wide = re.sub(r"(?m),$", "\uff0c", lines).replace('": ', '"\uff1a')
        yield sample.found("full-width", at_end(sample, draw.rng, fence(wide)), may_refuse=True)
        yield sample.found(
            "semicolons", at_end(sample, draw.rng, fence(re.sub(r"(?m),$", ";", lines))), may_refuse=True
        )
        yield sample.found(
            "equal-signs", at_end(sample, draw.rng, fence(lines.replace('": ', '" = '))), may_refuse=True
        )
        yield sample.found("arrows", at_end(sample, draw.rng, fence(lines.replace('": ', '" => '))), may_refuse=True)
        quotes = writing.Hand("\uff02", "\uff02").write(sample.payload)
        yield sample.found("full-width-quotes", at_end(sample, draw.rng, fence(quotes)), may_refuse=True)


def doubled_braces(draw: Draw) -> Iterator[Draft]:
    """Braces doubled as in a format string."""
    for sample in draw.samples(3):
        body = pretty(sample.payload)
        yield sample.found("outer", at_end(sample, draw.rng, fence("{" + body + "}")), may_refuse=True)
        every = body.replace("{", "{{").replace("}", "}}")
        yield sample.found("every", at_end(sample, draw.rng, fence(every)), may_refuse=True)


def closed_early(draw: Draw) -> Iterator[Draft]:
    """A brace too many in the middle: to read the rest or to refuse is fine, to lose it in silence is not."""
    for sample in draw.samples(3, STANDARD, status="partial"):
        steps = sample.having(sample.payload | {"next_steps": sample.job.steps[0]})
        body = pretty(steps.payload).replace('  },\n  "errors"', '  }},\n  "errors"', 1)
        yield steps.found("before-errors", at_end(steps, draw.rng, fence(body)), may_refuse=True)
        body = pretty(steps.payload).replace('  ],\n  "next_steps"', '  ]},\n  "next_steps"', 1)
        yield steps.found("before-steps", at_end(steps, draw.rng, fence(body)), may_refuse=True)


def odd_strings(draw: Draw) -> Iterator[Draft]:
    """Strings in the notations of programming languages."""
    for sample in draw.samples(3, STANDARD, status="completed"):
        body, told = pretty(sample.payload), json.dumps(sample.payload["summary"], ensure_ascii=False)
        first, _, rest = sample.payload["summary"].partition(" ")
        joined = f'"{first} " +\n    "{rest}"'
        yield sample.found(
            "joined", at_end(sample, draw.rng, fence(body.replace(told, joined, 1), info="js")), may_refuse=True
        )
        ticks = BARE.write(sample.payload).replace(told, f"`{told[1:-1]}`", 1)
        yield sample.found("backticks", at_end(sample, draw.rng, fence(ticks, info="js")), may_refuse=True)
        triple = body.replace(told, f'""{told}""', 1)
        yield sample.found("triple", at_end(sample, draw.rng, fence(triple, info="python")), may_refuse=True)
        slashes = body.replace("/", "\\/")
        yield sample.found("escaped-slashes", at_end(sample, draw.rng, fence(slashes)))
    for sample in draw.samples(2):
        quote = said(sample, "It's <b>bold</b> & safe. Tests pass.")
        text = pretty(quote.payload).replace("'", "\\u0027").replace("<", "\\u003c").replace("&", "\\u0026")
        yield quote.found("unicode-escapes", at_end(quote, draw.rng, fence(text)))


def markdown_escapes(draw: Draw) -> Iterator[Draft]:
    """Underscores escaped as for Markdown, in keys and ids too."""
    for sample in draw.samples(6):
        body = pretty(sample.payload).replace("_", "\\_")
        yield sample.found("underscores", draw.rng.choice((at_end, in_middle))(sample, draw.rng, fence(body)))
    for sample in draw.samples(2, STANDARD):
        yield sample.found("bare", compact(sample.payload).replace("_", "\\_"))


def fence_company(draw: Draw) -> Iterator[Draft]:
    """Something else in the fence, or on the lines of its marks."""
    for sample in draw.samples(2):
        body = pretty(sample.payload)
        yield sample.found(
            "words-inside", at_end(sample, draw.rng, fence(f"Here is the JSON:\n{body}\nHope this helps!"))
        )
        yield sample.found("language-inside", at_end(sample, draw.rng, f"```\njson\n{body}\n```"))
        yield sample.found("label-before", f"Return: ```json\n{body}\n```")
        yield sample.found("text-after-close", f"{prose.lead(draw.rng)}\n```json\n{body}\n``` That's it.")
        yield sample.found("apostrophe-fence", at_end(sample, draw.rng, f"'''json\n{body}\n'''"))
        for tail in (".", ";", ")", "`", ">"):
            yield sample.found("tail", at_end(sample, draw.rng, fence(body + tail)))
        shown = fence(f"$ cat .return-meta.json\n{body}", info="bash")
        yield sample.found("command-inside", at_end(sample, draw.rng, shown), may_refuse=_is_unbound(sample))
        yield sample.found(
            "table-cell",
            in_middle(sample, draw.rng, f"| field | value |\n|---|---|\n| return | {one_line(sample.payload)} |"),
        )


def outer_fences(draw: Draw) -> Iterator[Draft]:
    """The whole message in a fence of its own, or fences talked about in passing."""
    for sample in draw.samples(3):
        block = fence(pretty(sample.payload))
        whole = f"{prose.opening(sample.job, draw.rng)}\n\n{sample.job.prose[0]}\n\n{block}"
        yield sample.found("markdown", fence(whole, info="markdown"))
        yield sample.found("four-ticks", fence(whole, mark="````", info="md"))
        yield sample.found("no-language", fence(whole, info=""))
        yield sample.found("mention", f"I'll put the return in a ```json fence, as the contract asks.\n\n{block}")
        yield sample.found("mention-bare", f"No ``` this time, just the object:\n\n{pretty(sample.payload)}")
        yield sample.found("odd-fence-before", f"```\nmake test\n52 passed\n\nReturn:\n\n{block}")


def bare_words(draw: Draw) -> Iterator[Draft]:
    """A status word without quotes."""
    for sample in draw.samples(3, STANDARD):
        word = sample.payload["status"]
        body = pretty(sample.payload).replace(f'"{word}"', word, 1)
        yield sample.found("status", at_end(sample, draw.rng, fence(body)), may_refuse=True)


def _is_unbound(sample: Sample) -> bool:
    """Without a session id nothing tells an answer in program text from an example."""
    return sample.return_format == HYPER


def calls(draw: Draw) -> Iterator[Draft]:
    """The object as the argument of a call, or after a prefix."""
    for sample in draw.samples(2):
        body = pretty(sample.payload)
        yield sample.found("function", at_end(sample, draw.rng, f"submit_return({body})"))
        printed = fence(f"print(json.dumps({PYTHON.write(sample.payload)}))", info="python")
        literal = fence(f'RETURN = """\n{body}\n"""\nprint(RETURN)', info="python")
        for name, block in (("dumps", printed), ("python-literal", literal)):
            yield sample.found(name, at_end(sample, draw.rng, block), may_refuse=_is_unbound(sample))
        quiet = said(sample, "All of it ran. Tests pass.")
        echoed = compact(quiet.payload)
        if "'" not in echoed:
            block = fence(f"echo '{echoed}'", info="bash")
            yield quiet.found("echo", at_end(quiet, draw.rng, block), may_refuse=_is_unbound(sample))
        yield sample.found("sse", f"event: message\ndata: {compact(sample.payload)}\n\ndata: [DONE]\n")
        yield sample.found("bullet", f"⏺ {prose.opening(sample.job, draw.rng)}\n\n{indented(body, '  ')}\n")
        yield sample.found("key-value", f"RETURN={compact(sample.payload)}\nEXIT=0")


def transcripts(draw: Draw) -> Iterator[Draft]:
    """Content lists and conversations with more than the answer in them."""
    for sample in draw.samples(3, STANDARD):
        text = at_end(sample, draw.rng, fence(pretty(sample.payload)))
        thought = {"type": "thinking", "thinking": 'I\'d say {"status": "failed"} but the tests are green.'}
        said_last = {"type": "text", "text": text}
        yield sample.found("thinking-block", pretty([thought, said_last]))
        other = draw.sample(STANDARD, status="failed", job=sample.job)
        tool = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"content": pretty(other.payload)}}
        yield sample.found("tool-block", pretty({"role": "assistant", "content": [tool, said_last]}))
        asked = {"role": "user", "content": f"Return an object such as {pretty(other.payload)}"}
        yield sample.found("conversation", pretty([asked, {"role": "assistant", "content": text}]))
        yield sample.found("messages", compact({"messages": [asked, {"role": "assistant", "content": [said_last]}]}))
        yield sample.found("result-after-log", f"npm warn deprecated glob@7\n{result_line(text)}\n")


_SINGLE_DAMAGES: Final[tuple[tuple[str, Callable[[Payload, Draw], str]], ...]] = (
    ("commas", lambda load, _draw: writing.trailing_commas(pretty(load))),
    ("slashes", lambda load, draw: writing.comments(pretty(load), draw.rng, mark="//")),
    ("hashes", lambda load, draw: writing.comments(pretty(load), draw.rng, mark="#")),
    ("stars", lambda load, draw: writing.comment_lines(pretty(load), draw.rng, mark="/*")),
    ("single", lambda load, _draw: SINGLE.write(load)),
    ("python", lambda load, _draw: repr(load)),
    ("bare-keys", lambda load, _draw: BARE.write(load)),
    ("smart", lambda load, _draw: SMART.write(load)),
    ("no-comma", lambda load, draw: writing.drop_comma(pretty(load), draw.rng)),
    ("no-end", lambda load, _draw: pretty(load).removesuffix("\n}")),
    ("raw-newline", lambda load, _draw: RAW.write(json.loads(json.dumps(load).replace(". ", ".\\n")))),
)
_PLACES: Final[tuple[tuple[str, Callable[[Sample, Draw, str], str]], ...]] = (
    ("fence", lambda sample, draw, body: at_end(sample, draw.rng, fence(body))),
    ("plain-fence", lambda sample, draw, body: at_end(sample, draw.rng, fence(body, info=""))),
    ("whole", lambda _sample, _draw, body: body),
    ("bare", lambda sample, draw, body: at_end(sample, draw.rng, body)),
    ("marked", lambda sample, draw, body: at_end(sample, draw.rng, marked(body))),
    ("list", lambda sample, draw, body: at_end(sample, draw.rng, f"- Return:\n{indented(fence(body), '  ')}")),
    ("tag", lambda _sample, _draw, body: f"<return>\n{body}\n</return>"),
    ("thought", lambda _sample, _draw, body: f"<think>Now the return.</think>\n\n{fence(body)}"),
    ("config-first", lambda sample, _draw, body: f"{fence(sample.job.config)}\n\n{fence(body)}"),
    ("code-last", lambda sample, _draw, body: f"{fence(body)}\n\n{prose.snippet(sample.job)}"),
    ("crlf", lambda sample, draw, body: at_end(sample, draw.rng, fence(body)).replace("\n", "\r\n")),
)


def every_damage(draw: Draw) -> Iterator[Draft]:
    """Each single damage in each kind of place."""
    for damage_name, damage in _SINGLE_DAMAGES:
        for place_name, place in _PLACES:
            sample = draw.sample()
            if damage_name == "raw-newline":
                sample = sample.having(json.loads(json.dumps(sample.payload).replace(". ", ".\\n")))
                # These two places change every line of the message, and so the value too.
                if place_name in {"crlf", "list"}:
                    continue
            text = place(sample, draw, damage(sample.payload, draw))
            yield sample.found(f"{damage_name}-{place_name}", text)


CATEGORIES: Final[dict[str, Builder]] = {
    "inner-quotes": inner_quotes,
    "key-quotes": key_quotes,
    "punctuation": punctuation,
    "doubled-braces": doubled_braces,
    "closed-early": closed_early,
    "odd-strings": odd_strings,
    "markdown-escapes": markdown_escapes,
    "fence-company": fence_company,
    "outer-fences": outer_fences,
    "bare-words": bare_words,
    "calls": calls,
    "transcripts": transcripts,
    "every-damage": every_damage,
}
