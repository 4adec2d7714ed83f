"""Fuzz the contract: any message, any dialect, any session id; no law may break.

Run as `python fuzz/contract.py -max_total_time=20`; other options are libFuzzer's. A message that breaks a law is
written to a file, and `python fuzz/contract.py FILE` runs it again.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import atheris

ASCII = range(0x80)
WATCHED = 5
"""How many times slower the package runs while the fuzzer watches every branch."""
ROOT = Path(__file__).resolve().parents[1]
WORKSHOP = ROOT / ".fuzz"
"""Where the corpus grows from run to run; git does not see it."""

# Run by path, the folder that holds `fuzz` is not on the import path.
sys.path.insert(0, str(ROOT))

# Much of the package is imported when it is first needed, which would be too late to be watched.
with atheris.instrument_imports(include=["remit"]):
    import remit.contract

    for module in pkgutil.walk_packages(remit.contract.__path__, "remit.contract."):
        importlib.import_module(module.name)
    from fuzz import laws


def read_trial(data: bytes) -> laws.Trial:
    """The first byte says how to ask: two bits for the dialect, two for the session, two for the spelling."""
    if not data:
        return laws.Trial("")
    way, rest = data[0], data[1:]
    spellings: tuple[str | bytes, ...] = (rest.decode("utf-8", "surrogateescape"), rest, expand(rest), expand(rest))
    return laws.Trial(spellings[way >> 4 & 3], laws.DIALECTS[way & 3], laws.SESSIONS[way >> 2 & 3])


def expand(data: bytes) -> str:
    """ASCII as it is, every other byte as one of the fragments: so the fuzzer moves whole pieces about."""
    return "".join(chr(byte) if byte in ASCII else laws.FRAGMENTS[byte % len(laws.FRAGMENTS)] for byte in data)


def test_one_input(data: bytes) -> None:
    """What libFuzzer calls."""
    laws.check_laws(read_trial(data), max_seconds=laws.MAX_SECONDS * WATCHED)


def write_seeds(folder: Path) -> None:
    """The sample messages, as text, as bytes, and asked about in each dialect."""
    for number, text in enumerate(laws.load_seeds()):
        for way in (0x00, 0x01, 0x02, 0x03, 0x04, 0x10, 0x20):
            (folder / f"{number}-{way:02x}").write_bytes(bytes([way]) + text.encode())


def write_words(file: Path) -> None:
    """The fragments, as libFuzzer's dictionary."""
    words = {word.encode("utf-8", "surrogatepass")[:64] for word in laws.FRAGMENTS}
    lines = ["".join(f"\\x{byte:02x}" for byte in word) for word in sorted(words)]
    file.write_text("".join(f'"{line}"\n' for line in lines), encoding="ascii")


def main() -> None:
    """Run libFuzzer over what earlier runs found worth keeping, or over the files that were named."""
    corpus, words = WORKSHOP / "corpus", WORKSHOP / "words"
    corpus.mkdir(parents=True, exist_ok=True)
    write_seeds(corpus)
    write_words(words)
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    options = [f"-dict={words}", f"-max_len={laws.MAX_SMALL_BYTES}", "-timeout=5"]
    atheris.Setup([*sys.argv, *options, *([] if named else [str(corpus)])], test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
