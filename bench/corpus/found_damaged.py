"""Messages with a return that is not quite JSON, but has one right reading."""

from __future__ import annotations

import copy
import pprint
import re
from typing import TYPE_CHECKING, Final

from . import writing
from .containers import anywhere, at_end, fence, in_middle, marked
from .draw import HYPER, STANDARD, Builder, Draft, Draw, Sample
from .writing import BARE, BARE_SINGLE, LOW_HIGH, PYTHON, RAW, SINGLE, SMART, WORDS, Hand, pretty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .case import Payload

_MARKS: Final = ("//", "#", "/*")


def said(sample: Sample, text: str) -> Sample:
    """The sample with one of its free texts replaced: the summary, or the first next step."""
    payload = copy.deepcopy(sample.payload)
    if sample.return_format == HYPER:
        payload["next_steps"] = [text, *payload["next_steps"][1:]]
    else:
        payload["summary"] = text
    return sample.having(payload)


def comments(draw: Draw) -> Iterator[Draft]:
    """Remarks in three notations."""
    for mark in _MARKS:
        for sample in draw.samples(4):
            body = writing.comments(pretty(sample.payload), draw.rng, mark=mark)
            yield sample.found("line-ends", anywhere(sample, draw.rng, fence(body)))
        for sample in draw.samples(3):
            body = writing.comment_lines(pretty(sample.payload), draw.rng, mark=mark)
            yield sample.found("own-lines", at_end(sample, draw.rng, fence(body)))
    for sample in draw.samples(2):
        linked = said(
            sample, "Read https://example.org/a//b#part and c:// twice. The notes /* and */ stay in the text."
        )
        body = writing.comments(pretty(linked.payload), draw.rng, mark="//")
        yield linked.found("slashes-in-text", at_end(linked, draw.rng, fence(body, info="jsonc")))
        words = "complete|partial|error" if sample.return_format == HYPER else "completed|partial|failed|blocked"
        listed = re.sub(r'("status": "\w+",?)', rf"\1 // {words}", pretty(sample.payload), count=1)
        yield sample.found("words-listed", at_end(sample, draw.rng, fence(listed)))
        top = f"// return of {sample.job.agent}\n{pretty(sample.payload)}\n// end"
        yield sample.found("around-object", at_end(sample, draw.rng, fence(top)))
        header = f"/*\n * Return\n * {{not this}}\n */\n{pretty(sample.payload)}"
        yield sample.found("block-before", at_end(sample, draw.rng, fence(header)))


def trailing_commas(draw: Draw) -> Iterator[Draft]:
    """A comma after the last member."""
    for sample in draw.samples(6):
        yield sample.found("every", anywhere(sample, draw.rng, fence(writing.trailing_commas(pretty(sample.payload)))))
    for sample in draw.samples(6):
        body = writing.one_trailing_comma(pretty(sample.payload), draw.rng)
        yield sample.found("one", anywhere(sample, draw.rng, fence(body)))
    for sample in draw.samples(3):
        yield sample.found("bare", writing.one_line(sample.payload)[:-1] + ",}")
        yield sample.found("after-object", at_end(sample, draw.rng, fence(pretty(sample.payload) + ",")))


def single_quotes(draw: Draw) -> Iterator[Draft]:
    """Single quotes, with and without apostrophes in the values."""
    for sample in draw.samples(5):
        yield sample.found("plain", anywhere(sample, draw.rng, fence(SINGLE.write(sample.payload))))
    for text in ("It's done, and the team's tests don't fail any more.", "Renamed 'old' to 'new' in the users' guide."):
        for _ in range(2):
            sample = said(draw.sample(), text)
            yield sample.found("apostrophes", anywhere(sample, draw.rng, fence(SINGLE.write(sample.payload))))
    for _ in range(3):
        sample = said(draw.sample(), "Quoted \"as is\" where it's needed. The rest wasn't touched.")
        yield sample.found("both-quotes", at_end(sample, draw.rng, fence(SINGLE.write(sample.payload))))
    for sample in draw.samples(3):
        mixed = SINGLE.write(sample.payload).replace("'artifacts'", '"artifacts"').replace("'status'", '"status"')
        yield sample.found("mixed", at_end(sample, draw.rng, fence(mixed)))


def python_words(draw: Draw) -> Iterator[Draft]:
    """True, False and None, as Python prints them."""
    for _ in range(3):
        sample = _flagged(draw.sample(STANDARD))
        yield sample.found("words", at_end(sample, draw.rng, fence(WORDS.write(sample.payload))))
        yield sample.found("single", at_end(sample, draw.rng, fence(PYTHON.write(sample.payload), info="python")))
        yield sample.found("repr", in_middle(sample, draw.rng, repr(sample.payload)))
        printed = pprint.pformat(sample.payload, width=4_000, sort_dicts=False)
        yield sample.found("pprint", at_end(sample, draw.rng, fence(printed, info="")))
    for sample in draw.samples(3, HYPER):
        yield sample.found("repr-hyper", at_end(sample, draw.rng, repr(sample.payload)))


def _flagged(sample: Sample) -> Sample:
    payload = copy.deepcopy(sample.payload)
    payload["metadata"] |= {"resumed": False, "clean_tree": True, "parent_session": None}
    return sample.having(payload)


def bare_keys(draw: Draw) -> Iterator[Draft]:
    """Keys without quotes, as in JavaScript."""
    for sample in draw.samples(5):
        yield sample.found("double", anywhere(sample, draw.rng, fence(BARE.write(sample.payload))))
    for sample in draw.samples(4):
        yield sample.found("single", at_end(sample, draw.rng, fence(BARE_SINGLE.write(sample.payload), info="js")))
    for sample in draw.samples(3):
        body = writing.trailing_commas(BARE_SINGLE.write(sample.payload))
        yield sample.found("object-literal", at_end(sample, draw.rng, fence(f"const result = {body};", info="ts")))


def smart_quotes(draw: Draw) -> Iterator[Draft]:
    """Typographic quotes around keys and values, or only inside values."""
    for sample in draw.samples(5):
        yield sample.found("all", anywhere(sample, draw.rng, fence(SMART.write(sample.payload))))
    for sample in draw.samples(2):
        yield sample.found("low-high", at_end(sample, draw.rng, LOW_HIGH.write(sample.payload)))
        right_only = Hand("”", "”").write(sample.payload)
        yield sample.found("right-only", at_end(sample, draw.rng, fence(right_only)))
        single = Hand("‘", "’").write(said(sample, "All steps ran. Nothing is open.").payload)
        yield said(sample, "All steps ran. Nothing is open.").found("single", at_end(sample, draw.rng, fence(single)))
    for _ in range(3):
        sample = said(draw.sample(), "The “old” name isn’t used any more. The ‘new’ one is.")
        yield sample.found("in-values", at_end(sample, draw.rng, fence(pretty(sample.payload))))


def raw_controls(draw: Draw) -> Iterator[Draft]:
    """Newlines and tabs that should have been escaped."""
    texts = (
        "Two things were done.\nFirst the lexer was rewritten.\nThen the tests were.",
        "Columns are:\tname\tsize\tage. All three are filled.",
        "Result:\n\n- lexer rewritten\n- tests added\n\nNothing is open.",
    )
    for text in texts:
        for _ in range(4):
            sample = said(draw.sample(), text)
            yield sample.found("in-string", anywhere(sample, draw.rng, fence(RAW.write(sample.payload))))
    for _ in range(2):
        sample = said(draw.sample(), texts[0])
        yield sample.found("bare", RAW.write(sample.payload))


def missing_commas(draw: Draw) -> Iterator[Draft]:
    """Commas left out at line ends."""
    for count in (1, 1, 2, 3):
        for sample in draw.samples(4):
            body = writing.drop_comma(pretty(sample.payload), draw.rng, count=count)
            yield sample.found(f"{count}-missing", anywhere(sample, draw.rng, fence(body)))
    for sample in draw.samples(2, STANDARD):
        body = writing.one_line(sample.payload).replace('", "summary"', '" "summary"', 1)
        yield sample.found("one-line", at_end(sample, draw.rng, body))


def missing_end(draw: Draw) -> Iterator[Draft]:
    """Closing brackets left out at the very end."""
    for sample in draw.samples(5):
        body = pretty(sample.payload).removesuffix("\n}")
        yield sample.found("last-brace-fenced", at_end(sample, draw.rng, fence(body)))
    for sample in draw.samples(3):
        yield sample.found("last-brace-bare", pretty(sample.payload).removesuffix("}").rstrip())
    for sample in draw.samples(3):
        body = pretty(sample.payload).removesuffix("\n}")
        yield sample.found("no-fence-end", at_end(sample, draw.rng, f"```json\n{body}"))
    for _ in range(3):
        sample = draw.sample(STANDARD, status="completed")
        ended = sample.having({key: sample.payload[key] for key in ("status", "summary", "artifacts", "metadata")})
        body = pretty(ended.payload).removesuffix("\n  }\n}")
        yield ended.found("two-braces", at_end(ended, draw.rng, fence(body)))
        marked_body = marked(pretty(ended.payload).removesuffix("\n}"))
        yield ended.found("marked", at_end(ended, draw.rng, marked_body))
    for sample in draw.samples(3):
        yield sample.found("one-brace-more", at_end(sample, draw.rng, fence(pretty(sample.payload) + "\n}")))


def missing_middle(draw: Draw) -> Iterator[Draft]:
    """One bracket left out (or too many) in the middle."""
    for _ in range(3):
        sample = draw.sample(STANDARD, status="completed")
        body = pretty(sample.payload)
        yield sample.found("artifacts-end", at_end(sample, draw.rng, fence(writing.drop_line(body, "],"))))
        kept = body.replace("    }\n  ],", "    },", 1)
        yield sample.found("artifacts-end-comma", at_end(sample, draw.rng, fence(kept)))
        inner = body.replace("\n    }\n  ],", "\n  ],", 1)
        yield sample.found("artifact-brace", at_end(sample, draw.rng, fence(inner)))
        path = body.replace("\n    ]", "", 1) if "\n    ]\n  }" in body else body.replace("\n    ],", ",", 1)
        yield sample.found("path-end", at_end(sample, draw.rng, fence(path)))
    for sample in draw.samples(4, HYPER, status="complete"):
        body = pretty(sample.payload)
        yield sample.found("points-end", at_end(sample, draw.rng, fence(writing.drop_line(body, "]"))))
        yield sample.found("hyper-artifacts-end", at_end(sample, draw.rng, fence(writing.drop_line(body, "],"))))


_ESCAPES: Final = (
    # The text as the model writes it, the reading that keeps the backslashes, those that drop some or all.
    (
        "markdown",
        r"Renamed snake\_case fields and \*every\* caller. Tests pass.",
        r"Renamed snake\_case fields and \*every\* caller. Tests pass.",
        (
            "Renamed snake_case fields and *every* caller. Tests pass.",
            r"Renamed snake_case fields and \*every\* caller. Tests pass.",
        ),
    ),
    (
        "windows",
        r"Reads C:\Users\Public as well now. Tests pass.",
        r"Reads C:\Users\Public as well now. Tests pass.",
        (),
    ),
    ("apostrophe", r"The user\'s file isn\'t touched. Tests pass.", "The user's file isn't touched. Tests pass.", ()),
    ("regex", r"The pattern is \d+\.\d+ now. Tests pass.", r"The pattern is \d+\.\d+ now. Tests pass.", ()),
    (
        "dollar",
        r"Costs \$4 less per run. Tests pass.",
        r"Costs \$4 less per run. Tests pass.",
        ("Costs $4 less per run. Tests pass.",),
    ),
    (
        "backtick",
        r"Run \`make check\` first. Tests pass.",
        r"Run \`make check\` first. Tests pass.",
        ("Run `make check` first. Tests pass.",),
    ),
    (
        "hex",
        r"The marker \x1b is removed now. Tests pass.",
        r"The marker \x1b is removed now. Tests pass.",
        ("The marker \x1b is removed now. Tests pass.",),
    ),
)


def bad_escapes(draw: Draw) -> Iterator[Draft]:
    """Backslashes that JSON does not know."""
    for name, written, kept, dropped in _ESCAPES:
        for sample in draw.samples(2):
            right = said(sample, kept)
            body = pretty(said(sample, "@@").payload).replace("@@", written)
            also = [said(sample, text).payload for text in dropped]
            yield right.found(name, at_end(sample, draw.rng, fence(body)), also=also)


_DAMAGES: Final[tuple[tuple[str, Callable[[Payload, Draw], str]], ...]] = (
    ("commas-comment", lambda load, draw: writing.comments(writing.trailing_commas(pretty(load)), draw.rng, mark="//")),
    ("single-commas", lambda load, _draw: writing.trailing_commas(SINGLE.write(load))),
    (
        "single-commas-comment",
        lambda load, draw: writing.comments(writing.trailing_commas(SINGLE.write(load)), draw.rng, mark="#", share=0.2),
    ),
    (
        "bare-commas-comment",
        lambda load, draw: writing.comments(writing.trailing_commas(BARE.write(load)), draw.rng, mark="//", share=0.2),
    ),
    ("bare-single-missing-comma", lambda load, draw: writing.drop_comma(BARE_SINGLE.write(load), draw.rng)),
    ("python-commas", lambda load, _draw: writing.trailing_commas(PYTHON.write(load))),
    ("smart-commas", lambda load, _draw: writing.trailing_commas(SMART.write(load))),
    (
        "comment-no-end",
        lambda load, draw: writing.comments(pretty(load), draw.rng, mark="//", share=0.2).removesuffix("\n}"),
    ),
    ("commas-no-end", lambda load, _draw: writing.trailing_commas(pretty(load)).removesuffix(",\n}")),
    (
        "missing-and-trailing",
        lambda load, draw: writing.one_trailing_comma(writing.drop_comma(pretty(load), draw.rng), draw.rng),
    ),
    ("block-comment-python", lambda load, draw: writing.comment_lines(PYTHON.write(load), draw.rng, mark="#")),
)


def combined(draw: Draw) -> Iterator[Draft]:
    """Several damages at once."""
    for name, damage in _DAMAGES:
        for sample in draw.samples(4):
            body = damage(sample.payload, draw)
            block = draw.rng.choice((fence(body), fence(body), body, marked(body)))
            yield sample.found(name, at_end(sample, draw.rng, block))


def damaged_among(draw: Draw) -> Iterator[Draft]:
    """A damaged return beside sound JSON that is none."""
    for name, damage in _DAMAGES:
        sample = draw.sample()
        block = fence(damage(sample.payload, draw))
        config = fence(sample.job.config)
        text = draw.rng.choice((f"{config}\n\n{block}", f"{block}\n\nConfiguration:\n\n{config}"))
        yield sample.found(name, text)


CATEGORIES: Final[dict[str, Builder]] = {
    "comments": comments,
    "trailing-commas": trailing_commas,
    "single-quotes": single_quotes,
    "python-words": python_words,
    "bare-keys": bare_keys,
    "smart-quotes": smart_quotes,
    "raw-controls": raw_controls,
    "missing-commas": missing_commas,
    "missing-end": missing_end,
    "missing-middle": missing_middle,
    "bad-escapes": bad_escapes,
    "combined": combined,
    "damaged-among": damaged_among,
}
