"""A bad file for each rule on context loading."""

from tests.support.agent_samples import SIZES, STANDARD, Sample, change

REQUIRED = '  required:\n    - "docs/context/return-format.md"\n'

SAMPLES = {
    "AGT070": Sample(bad=change("strategy: lazy", "strategy: lasy"), fixed=STANDARD),
    "AGT071": Sample(bad=change('  index: "docs/context/index.md"\n', "")),
    "AGT072": Sample(bad=change(REQUIRED, '  required: "docs/context/return-format.md"\n'),
                     fixed=change(REQUIRED, '  required: ["docs/context/return-format.md"]\n')),
    "AGT073": Sample(bad=change("max_context_size: 50000", "max_context_size: 60000  # bytes"),
                     fixed=change("max_context_size: 50000", "max_context_size: 50000  # bytes")),
    "AGT074": Sample(bad=change("docs/context/plans.md", "docs/context/planes.md"),
                     sizes={**SIZES, "docs/context/planes.md": None}),
    "AGT075": Sample(bad=change("max_context_size: 50000", "max_context_size: 3000")),
    "AGT076": Sample(bad=change("  optional:\n", '    - "docs/context/return-format.md"\n  optional:\n'),
                     fixed=STANDARD),
    "AGT077": Sample(bad=change("docs/context/plans.md", "../../../plans.md")),
    "AGT078": Sample(bad=change("docs/context/plans.md", "docs/context/plans/")),
}  # fmt: skip
