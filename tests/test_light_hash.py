"""SHA-256 without OpenSSL: the same hash, whoever works it out."""

import subprocess
import sys
from hashlib import sha256

import pytest

from remit.light_hash import begin_sha256, take_sha256

ASKING = """
import sys
from remit.light_hash import begin_sha256, take_sha256
print(take_sha256(b"abc" * 100), "_hashlib" in sys.modules)
digest = begin_sha256(1 << 20)
digest.update(b"abc" * 100)
print(digest.hexdigest(), "_hashlib" in sys.modules)
"""


@pytest.mark.parametrize("data", [b"", b"abc", bytes(range(256)) * 300])
def test_it_is_the_same_hash(data: bytes) -> None:
    assert take_sha256(data) == sha256(data).hexdigest()


def test_what_is_given_in_parts_is_one_hash() -> None:
    digest = begin_sha256(6)
    digest.update(b"abc")
    digest.update(b"def")
    assert digest.digest() == sha256(b"abcdef").digest()


def test_a_little_is_hashed_without_openssl_and_much_with_it() -> None:
    done = subprocess.run([sys.executable, "-c", ASKING], check=True, capture_output=True, text=True)
    known = sha256(b"abc" * 100).hexdigest()
    assert done.stdout.split() == [known, "False", known, "True"]
