"""Secrets of every form."""

from __future__ import annotations

import string

ALNUM = string.ascii_letters + string.digits
WORD = f"{ALNUM}-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def make(length: int, letters: str = ALNUM, *, seed: int = 7) -> str:
    """Letters that look random and are always the same."""
    return "".join(letters[(seed := seed * 48271 % 2147483647) % len(letters)] for _ in range(length))


JWT = ".".join(("ey" + "J" + make(30, WORD), "ey" + "J" + make(60, WORD, seed=8), make(43, WORD, seed=9)))
PEM = "\n".join(["-----BEGIN {} KEY-----", *(make(64, seed=seed) for seed in range(2, 6)), "-----END {} KEY-----"])
STARTS = {
    "aws-key": ("AK" + "IA", make(16, UPPER)),
    "aws-session": ("AS" + "IA", make(16, UPPER)),
    "github-classic": ("gh" + "p_", make(36)),
    "github-oauth": ("gh" + "o_", make(36)),
    "github-user": ("gh" + "u_", make(36)),
    "github-server": ("gh" + "s_", make(36)),
    "github-refresh": ("gh" + "r_", make(36)),
    "github-fine": ("github" + "_pat_", f"{make(22)}_{make(59)}"),
    "gitlab": ("gl" + "pat-", make(20, WORD)),
    "gitlab-runner": ("gl" + "rt-", make(20, WORD)),
    "atlassian": ("ATA" + "TT3", make(60, WORD)),
    "slack-bot": ("xo" + "xb-", f"{make(12, string.digits)}-{make(12, string.digits)}-{make(24)}"),
    "slack-user": ("xo" + "xp-", f"{make(12, string.digits)}-{make(24)}"),
    "slack-app": ("xa" + "pp-", f"1-{make(11, UPPER)}-{make(12, string.digits)}-{make(64, HEX)}"),
    "slack-webhook": ("https://hooks.slack" + ".com/services/", f"T{make(8, UPPER)}/B{make(8, UPPER)}/{make(24)}"),
    "discord-webhook": ("https://discord" + ".com/api/webhooks/", f"{make(18, string.digits)}/{make(68, WORD)}"),
    "google-key": ("AI" + "za", make(35, WORD)),
    "google-client": ("GOC" + "SPX-", make(28, WORD)),
    "google-access": ("ya" + "29.", make(60, WORD)),
    "google-refresh": ("1/" + "/0", make(40, WORD)),
    "stripe-live": ("sk" + "_live_", make(24)),
    "stripe-restricted": ("rk" + "_live_", make(24)),
    "stripe-hook": ("wh" + "sec_", make(32)),
    "openai": ("s" + "k-", make(48)),
    "openai-project": ("s" + "k-proj-", make(80, WORD)),
    "anthropic": ("s" + "k-ant-api03-", make(90, WORD)),
    "openrouter": ("s" + "k-or-v1-", make(64, HEX)),
    "groq": ("gs" + "k_", make(52)),
    "xai": ("xa" + "i-", make(80)),
    "perplexity": ("ppl" + "x-", make(48)),
    "replicate": ("r8" + "_", make(37)),
    "huggingface": ("hf" + "_", make(34)),
    "langsmith": ("lsv2" + "_pt_", f"{make(32, HEX)}_{make(10, HEX)}"),
    "npm": ("np" + "m_", make(36)),
    "pypi": ("py" + "pi-AgEI", make(80, WORD)),
    "rubygems": ("rubygems" + "_", make(48, HEX)),
    "crates": ("ci" + "o", make(32)),
    "docker": ("dckr" + "_pat_", make(27, WORD)),
    "digitalocean": ("dop" + "_v1_", make(64, HEX)),
    "databricks": ("da" + "pi", make(32, HEX)),
    "shopify": ("shp" + "at_", make(32, HEX)),
    "sendgrid": ("S" + "G.", f"{make(22, WORD)}.{make(43, WORD)}"),
    "mailgun": ("ke" + "y-", make(32, HEX)),
    "twilio": ("S" + "K", make(32, HEX)),
    "square": ("sq0" + "atp-", make(22, WORD)),
    "linear": ("lin" + "_api_", make(40)),
    "notion": ("nt" + "n_", make(46)),
    "figma": ("fig" + "d_", make(40, WORD)),
    "airtable": ("pa" + "t", f"{make(14)}.{make(64, HEX)}"),
    "postman": ("PMA" + "K-", f"{make(24, HEX)}-{make(34, HEX)}"),
    "newrelic": ("NRA" + "K-", make(27, UPPER)),
    "grafana": ("gls" + "a_", f"{make(32)}_{make(8, HEX)}"),
    "sentry": ("sntry" + "s_", make(60)),
    "vault": ("hv" + "s.", make(90, WORD)),
    "pulumi": ("pu" + "l-", make(40, HEX)),
    "doppler": ("dp" + ".pt.", make(43)),
    "fly": ("fm" + "2_", make(60)),
    "supabase": ("sb" + "p_", make(40, HEX)),
    "planetscale": ("pscale" + "_tkn_", make(43, WORD)),
    "tailscale": ("tsk" + "ey-auth-", make(30)),
    "age": ("AGE-SECRET" + "-KEY-1", make(58, UPPER)),
    "terraform": (make(14), ".atlas" + f"v1.{make(60, WORD)}"),
    "telegram": (make(9, "123456789") + ":A" + "A", make(33, WORD)),
    "mailchimp": (make(32, HEX), "-us" + "12"),
    "discord-bot": ("M" + make(23, WORD), f".{make(6, WORD)}.{make(30, WORD)}"),
    "azure-client": ("abc" + "8Q" + "~", make(34, WORD)),
}
"""Secrets that are known by how they look: how each begins, and the rest of it."""
PASSWORD = "Tr0ub4" + "dor"
NAMED = {
    "jwt": (JWT, JWT[5:]),
    "rsa": (PEM.format("RSA PRIVATE", "RSA PRIVATE"), make(64, seed=3)),
    "openssh": (PEM.format("OPENSSH PRIVATE", "OPENSSH PRIVATE"), make(64, seed=2)),
    "cut-off-pem": (PEM.format("PRIVATE", "")[:200], make(64, seed=2)),
    "url": (f"postgres://ada:{PASSWORD}@db.example:5432/x", PASSWORD),
    "url-token": (f"https://oauth2:{make(20)}@git.example/a.git", make(20)),
    "url-with-at": (f"redis://:p@{PASSWORD}@cache", PASSWORD),
    "bearer": (f"Authorization: Bearer {make(20)}", make(20)),
    "bearer-alone": (f"sent Bearer {make(40)} and got 401", make(40)),
    "basic": ("-H 'Authorization: Basic " + "YWRhOnBh" + "c3M='", "YWRhOnBh"),
    "authorization": (f"authorization: {make(32)}", make(32)),
    "cookie": (f"Cookie: sid={make(16)}; theme=dark", make(16)),
    "api-key-header": (f"X-Api-Key: {make(16)}", make(16)),
    "env": (f"DATABASE_PASSWORD={PASSWORD}", PASSWORD),
    "env-aws": (f"AWS_SECRET_ACCESS_KEY={make(40)}", make(40)),
    "json": (f'{{"client_secret": "{make(20)}"}}', make(20)),
    "json-in-text": (f'{{\\"password\\": \\"{PASSWORD}\\"}}', PASSWORD),
    "json-in-json": (f'{{"prompt": "{{\\\\\\"password\\\\\\": \\\\\\"{PASSWORD}\\\\\\"}}"}}', PASSWORD),
    "header-in-json": (f'{{\\\\\\"X-Api-Key\\\\\\": \\\\\\"{make(16)}\\\\\\"}}', make(16)),
    "scheme-in-json": (f'{{\\\\\\"Authorization\\\\\\": \\\\\\"Bearer {make(20)}\\\\\\"}}', make(20)),
    "yaml": (f"password: {PASSWORD}", PASSWORD),
    "yaml-token": (f"access_token: {make(20)}", make(20)),
    "query": (f"GET /x?api_key={make(20)}&page=2", make(20)),
    "signed-url": (f"https://s3.example/a?X-Amz-Signature={make(64, HEX)}", make(64, HEX)),
    "sas": (f"https://x.example/c?sv=1&sig={make(43)}%3D", make(43)),
    "connection": (f"AccountName=a;AccountKey={make(86)}==;Suffix=x", make(86)),
    "flag": (f"mysql --password {PASSWORD} --host db", PASSWORD),
    "flag-equals": (f"tool --api-key={make(20)} run", make(20)),
    "ruby": (f":secret => '{make(20)}'", make(20)),
}
"""Secrets that are known by what stands before them, and the part that must be gone."""
