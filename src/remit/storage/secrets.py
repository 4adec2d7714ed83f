"""Redact keys, tokens and passwords in a text before it is stored.

Output of agents and tools ends up in committed files that many people read. Probable secrets are redacted as well: an
error stays readable without them.

Linear: each pattern is searched only where its fixed letters occur, and every repetition is bounded or possessive.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MARK = "[redacted"
"""The start of every replacement."""

_ALNUM, _WORD, _DOTTED, _HEX = "[A-Za-z0-9]", r"[\w-]", r"[\w.-]", "[0-9a-fA-F]"

_TOKENS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("aws", ("AKIA", "ASIA", "ABIA", "ACCA"), "[A-Z0-9]{12,}+"),
    ("aws", ("ABSK", "bedrock-api-key-"), "[A-Za-z0-9+/=]{30,}+"),
    ("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), r"\w{16,}+"),
    ("gitlab", ("glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-",
                "glffct-", "GR1348941"), rf"{_DOTTED}{{16,}}+"),
    ("bitbucket", ("ATBB", "ATCTT3", "ATATT3"), r"[\w=-]{20,}+"),
    ("slack", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.", "xoxc-", "xoxd-", "xapp-"),
     r"[\w.%-]{10,}+"),
    ("slack", ("hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"), r"[\w/]{8,}+"),
    ("discord", ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"), r"[\w/-]{8,}+"),
    ("google", ("AIza",), rf"{_WORD}{{24,}}+"),
    ("google", ("GOCSPX-",), rf"{_WORD}{{16,}}+"),
    ("google", ("ya29.",), rf"{_DOTTED}{{16,}}+"),
    ("google", ("1//0",), rf"{_WORD}{{20,}}+"),
    ("stripe", ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"), r"[A-Za-z0-9+/=]{10,}+"),
    ("anthropic", ("sk-ant-",), rf"{_WORD}{{16,}}+"),
    ("openrouter", ("sk-or-",), rf"{_WORD}{{16,}}+"),
    ("openai", ("sk-",), rf"{_WORD}{{18,}}+"),
    ("groq", ("gsk_",), rf"{_ALNUM}{{20,}}+"),
    ("xai", ("xai-",), rf"{_ALNUM}{{20,}}+"),
    ("perplexity", ("pplx-",), rf"{_ALNUM}{{20,}}+"),
    ("replicate", ("r8_",), rf"{_ALNUM}{{20,}}+"),
    ("huggingface", ("hf_", "api_org_"), rf"{_ALNUM}{{20,}}+"),
    ("langsmith", ("lsv2_pt_", "lsv2_sk_"), r"\w{20,}+"),
    ("npm", ("npm_",), rf"{_ALNUM}{{24,}}+"),
    ("pypi", ("pypi-AgEI",), rf"{_WORD}{{16,}}+"),
    ("rubygems", ("rubygems_",), rf"{_HEX}{{24,}}+"),
    ("crates", ("cio",), rf"{_ALNUM}{{32,}}+"),
    ("docker", ("dckr_pat_", "dckr_oat_"), rf"{_WORD}{{16,}}+"),
    ("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"{_HEX}{{24,}}+"),
    ("databricks", ("dapi", "dose", "dkea"), rf"{_HEX}{{24,}}+(?:-[0-9])?+"),
    ("shopify", ("shpat_", "shpca_", "shppa_", "shpss_"), rf"{_HEX}{{24,}}+"),
    ("sendgrid", ("SG.",), rf"{_WORD}{{16,}}+\.{_WORD}{{16,}}+"),
    ("mailgun", ("key-",), rf"{_HEX}{{24,}}+"),
    ("twilio", ("SK",), "[0-9a-f]{32}"),
    ("square", ("sq0atp-", "sq0csp-", "sq0idp-", "EAAA"), rf"{_WORD}{{20,}}+"),
    ("linear", ("lin_api_", "lin_oauth_"), rf"{_ALNUM}{{20,}}+"),
    ("notion", ("secret_", "ntn_"), rf"{_ALNUM}{{30,}}+"),
    ("figma", ("figd_", "figo_", "figu_"), rf"{_WORD}{{16,}}+"),
    ("airtable", ("pat",), rf"{_ALNUM}{{14}}\.{_HEX}{{24,}}+"),
    ("postman", ("PMAK-",), rf"{_HEX}{{20,}}+(?:-{_HEX}++)?+"),
    ("newrelic", ("NRAK-", "NRII-", "NRJS-"), rf"{_WORD}{{16,}}+"),
    ("grafana", ("glsa_", "glc_"), r"[\w+/=]{20,}+"),
    ("sentry", ("sntrys_", "sntryu_"), r"[\w+/=]{20,}+"),
    ("vault", ("hvs.", "hvb.", "hvr."), rf"{_DOTTED}{{16,}}+"),
    ("pulumi", ("pul-",), rf"{_HEX}{{24,}}+"),
    ("doppler", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), rf"{_DOTTED}{{20,}}+"),
    ("fly", ("fm1_", "fm1r_", "fm1a_", "fm2_", "fo1_"), r"[\w+/=-]{20,}+"),
    ("supabase", ("sbp_", "sb_secret_"), r"\w{20,}+"),
    ("planetscale", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), rf"{_DOTTED}{{16,}}+"),
    ("heroku", ("HRKU-",), rf"{_WORD}{{20,}}+"),
    ("tailscale", ("tskey-",), rf"{_WORD}{{12,}}+"),
    ("onepassword", ("ops_eyJ",), r"[\w+/=-]{20,}+"),
    ("age", ("AGE-SECRET-KEY-1",), "[A-Z0-9]{20,}+"),
    ("dynatrace", ("dt0c01.", "dt0s01."), rf"{_DOTTED}{{20,}}+"),
    ("buildkite", ("bkua_", "bkat_"), rf"{_HEX}{{20,}}+"),
    ("circleci", ("CCIPAT_", "CCIPRJ_"), r"\w{20,}+"),
    ("vercel", ("vcp_", "vci_", "vca_", "vcr_"), rf"{_ALNUM}{{20,}}+"),
    ("netlify", ("nfp_", "nfc_", "nfo_"), rf"{_ALNUM}{{20,}}+"),
    ("cloudflare", ("v1.0-",), rf"{_HEX}{{20,}}+-{_HEX}{{60,}}+"),
    ("telegram", ("bot",), rf"[0-9]{{8,10}}+:AA{_WORD}{{30,}}+"),
    ("facebook", ("EAA",), rf"{_ALNUM}{{60,}}+"),
)  # fmt: skip
"""Tokens with a known prefix: the service, the prefixes, and the pattern of the rest."""

_NOT_INSIDE = "(?<![A-Za-z0-9])"
_SHAPES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("private key", ("PRIVATE KEY",), lazy(
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?+-----"
        r"(?:(?!-----END )[\s\S])*+(?:-----END [A-Z0-9 ]{1,60}+-----)?+")),
    ("jwt", ("eyJ",), lazy(r"(?<![\w-])eyJ[\w-]{6,}+\.[\w-]{4,}+(?:\.[\w-]*+){0,3}+")),
    ("telegram", (":AA",), lazy(r"(?<![\w:-])[0-9]{8,10}+:AA[\w-]{30,}+")),
    ("discord", (".",), lazy(r"(?<![\w.-])[MNO][\w-]{22,28}+\.[\w-]{6}\.[\w-]{27,45}+")),
    ("terraform", (".atlasv1.",), lazy(rf"{_NOT_INSIDE}[A-Za-z0-9]{{14}}\.atlasv1\.[\w-]{{20,}}+")),
    ("mailchimp", ("-us",), lazy(rf"{_NOT_INSIDE}[0-9a-f]{{32}}-us[0-9]{{1,2}}(?![0-9A-Za-z])")),
    ("azure", ("Q~",), lazy(r"(?<![\w~.-])[\w~.-]{3}[0-9]Q~[\w~.-]{24,}+")),
    *((name, begins, lazy(f"{_NOT_INSIDE}(?:{'|'.join(map(re.escape, begins))}){rest}"))
      for name, begins, rest in _TOKENS),
)  # fmt: skip
"""The service of a secret, texts that always occur in it, and its pattern."""
_HINTS: dict[str, list[int]] = {}
"""Texts that occur in secrets, and the indexes of their patterns."""
for _number, _shape in enumerate(_SHAPES):
    for _hint in _shape[1]:
        _HINTS.setdefault(_hint, []).append(_number)

_IN_URL = lazy(r"""(://[^\s/:@"'<>]{0,100}+:)(?![0-9]{1,5}(?:[/?#\s"']|\Z))[^\s"'<>]{1,300}(@)""")
_SIGNED = lazy(r"(?i)([?&](?:sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)=)[\w%+/=.-]{8,}+")
# A quote may have been escaped, and escaped again: JSON inside of JSON has 1, 3, 7 … backslashes before it.
_HEADER = lazy(
    r"(?i)((?<![\w-])(?:set-cookie|cookie|x-[\w-]{0,30}(?:key|token|secret))(?:\\{0,63}+[\"'])?+\s{0,3}+:\s{0,3}+"
    r"(?:\\{0,63}+[\"'])?+)(?!\[redacted)[^\n\"']{4,}+"
)
_SCHEME = lazy(
    r"(?i)(\b(?:authorization(?:\\{0,63}+[\"'])?+\s{0,3}+[:=]\s{0,3}+(?:\\{0,63}+[\"'])?+(?:[a-z]{3,12}+[ \t]{1,3})?"
    r"|(?:bearer|basic|apikey)\s{1,3}+))([\w.~+/=-]{8,}+)"
)
_FLAG = lazy(
    r"(?i)((?<![\w-])--[a-z-]{0,30}(?:password|passwd|passphrase|token|api-?key|secret|access-key|private-key)"
    r"(?:\s{1,3}+|=)(?:\\{0,63}+[\"'])?+)(?!\[redacted|-)[^\s\"']{3,500}+"
)
_ASSIGNED = lazy(
    r"(?i)((password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key"
    r"|encryption[_-]?key|signing[_-]?key|credentials?)([\w-]{0,30}+)(?:\\{0,63}+[\"'])?+\s{0,3}+(=>|:=|[:=])\s{0,3}+)"
    r"(?:\\{0,63}+([\"'`])(?!\[redacted)([^\"'`\n]{1,500}+)|(?!\[redacted)([^\s\"'`,;&<>()\[\]{}|]{1,500}+))"
)

_HARMLESS = frozenset({
    "none", "null", "true", "false", "undefined", "missing", "required", "invalid", "expired", "empty", "unset", "not",
    "string", "str", "bytes", "optional", "redacted", "expected", "unexpected", "unknown", "error", "failed", "denied",
})  # fmt: skip
_PASSWORDS = ("passw", "passphrase", "pwd")
_MIN_PASSWORD, _MIN_GIVEN, _MIN_TOLD = 3, 6, 8


def redact(text: str) -> str:
    """Return a text without secrets: each is replaced by a mark that names its service, if known."""
    there = [hint for hint in _HINTS if hint in text]  # one pass: most texts have hardly any of them
    for number in sorted({number for hint in there for number in _HINTS[hint]}):
        name, _, pattern = _SHAPES[number]
        text = pattern.sub(f"{MARK} {name}]", text)
    if "://" in text:
        text = _IN_URL.sub(rf"\1{MARK}]\2", text)
    if "=" in text:
        text = _SIGNED.sub(_keep_name, text)
    low = text.lower()
    for hints, pattern, replace in _NAMED:
        if any(hint in low for hint in hints):
            text = pattern.sub(replace, text)
    return text


def redact_all(value: T) -> T:
    """Return the same value with all its texts redacted: of tuples, lists and dictionaries, not of their keys."""
    redacted: Any = value
    if isinstance(value, str):
        redacted = redact(value)
    elif isinstance(value, tuple):
        inner = [redact_all(each) for each in value]
        redacted = type(value)(*inner) if hasattr(value, "_fields") else tuple(inner)
    elif isinstance(value, list):
        redacted = [redact_all(each) for each in value]
    elif isinstance(value, dict):
        redacted = {name: redact_all(each) for name, each in value.items()}
    return redacted  # type: ignore[no-any-return]


def _keep_name(found: re.Match[str]) -> str:
    return f"{found[1]}{MARK}]"


def _replace_scheme(found: re.Match[str]) -> str:
    return _keep_name(found) if _looks_random(found[2]) else found[0]


def _replace_assigned(found: re.Match[str]) -> str:
    word, suffix, quote = found[2].lower(), found[3].lower(), found[5] or ""
    value = found[6] or found[7]
    counts = suffix == "s" or suffix.startswith("s_")  # max_tokens=4000
    if counts or value.lower().strip(".:") in _HARMLESS or value[0] in "$<{*%":
        return found[0]
    if word.startswith(_PASSWORDS):
        secret = len(value) >= _MIN_PASSWORD
    elif quote or found[4] != ":":
        secret = len(value) >= _MIN_GIVEN
    else:  # `unexpected token: identifier` isn't a secret
        secret = len(value) >= _MIN_TOLD and _looks_random(value)
    return f"{found[1]}{quote}{MARK}]" if secret else found[0]


def _looks_random(value: str) -> bool:
    """Return whether a text isn't an ordinary word: it has a digit, or a capital after a lowercase letter."""
    return any(char.isdigit() for char in value) or (not value.isupper() and value[1:] != value[1:].lower())


_NAMED: tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (("cookie", "x-"), _HEADER, _keep_name),
    (("authorization", "bearer", "basic", "apikey"), _SCHEME, _replace_scheme),
    (("--",), _FLAG, _keep_name),
    (("pass", "pwd", "secret", "token", "key", "credential"), _ASSIGNED, _replace_assigned),
)
"""Secrets that are known by the word before them: texts that occur in it, its pattern, and the replacement."""
