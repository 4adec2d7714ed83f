"""Style: the look of a report in a browser and on paper, dark or light as the reader's system is."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --raised: #fff; --sunken: #f3f3f1; --line: #dededa; --text: #1d1f23; --soft: #5c6068;
  --accent: #3f5bd9; --good: #18794e; --bad: #c62a2f; --false-claim: #93309e; --warn: #8f5b00; --live: #1668c7;
  --wait: #5f6670; --off: #646872;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121417; --raised: #191c20; --sunken: #0d0f11; --line: #2c3138; --text: #e6e8eb; --soft: #a3a8b1;
    --accent: #8fa3ff; --good: #53c98a; --bad: #ff7b7f; --false-claim: #e08bea; --warn: #e5b04a; --live: #6db3ff;
    --wait: #9aa1ab; --off: #929aa4;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1040px; padding: 28px 18px 60px; background: var(--ground); color: var(--text);
  font: 14px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
}
h1 { font-size: 22px; margin: 0 0 4px; }
h2 { font-size: 16px; margin: 32px 0 10px; }
h3 { font-size: 15px; margin: 0 0 8px; }
h4 { font-size: 12px; margin: 18px 0 6px; color: var(--soft); text-transform: uppercase; letter-spacing: .05em; }
p { margin: 0 0 6px; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
h1, h3, p, li, td, dd, summary { overflow-wrap: anywhere; unicode-bidi: plaintext; }
code, pre { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
pre {
  margin: 0; padding: 10px 12px; max-height: 32em; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere;
  background: var(--sunken); border: 1px solid var(--line); border-radius: 6px; unicode-bidi: plaintext;
}
.soft { color: var(--soft); }
.note { padding: 8px 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--raised); }
.tone { font-weight: 600; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .false_claim { color: var(--false-claim); }
.warn { color: var(--warn); }
.live { color: var(--live); } .wait { color: var(--wait); } .off { color: var(--off); }
.wide { overflow-x: auto; }
.wide table { min-width: 560px; }
table { border-collapse: collapse; width: 100%; }
th { text-align: start; font-weight: 500; color: var(--soft); font-size: 12.5px; }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.l1 { padding-inline-start: 18px; } .l2 { padding-inline-start: 36px; } .l3 { padding-inline-start: 54px; }
.l4 { padding-inline-start: 72px; } .l5 { padding-inline-start: 90px; } .l6 { padding-inline-start: 108px; }
article {
  margin: 0 0 14px; padding: 16px 18px; border: 1px solid var(--line); border-radius: 8px; background: var(--raised);
}
article:target { border-color: var(--accent); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 4px 18px; margin: 0; }
dl > div { display: flex; gap: 8px; }
dt { color: var(--soft); }
dt { flex: none; min-width: 5em; }
dd { margin: 0; }
ul { margin: 0; padding-inline-start: 18px; }
li { margin: 0 0 3px; }
details { margin: 6px 0 0; }
summary { cursor: pointer; color: var(--soft); }
details > pre, details > p { margin-top: 6px; }
svg { display: block; min-width: 640px; width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--soft); }
svg .name { fill: var(--text); }
svg .axis { stroke: var(--line); }
svg .queue { fill: var(--line); }
svg .due { stroke: var(--warn); stroke-dasharray: 3 2; }
svg rect.good { fill: var(--good); } svg rect.bad { fill: var(--bad); }
svg rect.false_claim { fill: var(--false-claim); }
svg rect.warn { fill: var(--warn); } svg rect.live { fill: var(--live); } svg rect.wait { fill: var(--wait); }
svg rect.off { fill: var(--off); }
@media print {
  body { max-width: none; padding: 0; }
  article { break-inside: auto; }
  pre { max-height: none; }
  details::details-content { content-visibility: visible; display: block; }
}
"""
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
)
