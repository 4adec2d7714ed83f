"""Names that mean the same program. This module imports nothing, because the exec judge uses it at every exec."""

from __future__ import annotations


def read_names(text: str) -> frozenset[str]:
    """Split a text into a set of names."""
    return frozenset(text.split())


def base_name(text: str) -> str:
    """Return a program's name without its folder."""
    return text.rpartition("/")[2]


_FAMILIES = {
    "apt-get": "apt", "aptitude": "apt", "dnf": "yum", "microdnf": "yum", "nodejs": "node", "gmake": "make",
    "gtar": "tar", "bsdtar": "tar", "gsed": "sed", "gawk": "awk", "mawk": "awk", "nawk": "awk", "original-awk": "awk",
    "netcat": "nc", "ncat": "nc", "wget2": "wget", "grm": "rm", "gcp": "cp", "gmv": "mv", "gchmod": "chmod",
    "vim": "vi", "nvim": "vi", "view": "vi", "sudoedit": "sudo", "sudo-rs": "sudo", "unlink": "rm",
    "pypy": "python", "bsdcp": "cp",
}  # fmt: skip
"""Alternative names of programs, with the usual name."""
_DOTTED = frozenset({"mkfs", "vim", "nc", "fsck", "awk", "iptables"})


def find_family(name: str) -> str:
    """Return the usual name of a program, without its version and build suffix."""
    first = name.partition(".")[0]
    if first in _DOTTED:
        name = first
    bare = name.rstrip("0123456789.-")
    name = bare if bare and name[len(bare) :] and len(bare) > 1 and not bare.endswith(("sum", "base")) else name
    return _FAMILIES.get(name, name)
