"""Files: what known programs read and write of what they name.

Owns the table of readers and writers. A program that is not in it may write anywhere: that is for the sandbox.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint, Touch
from remit.policy.bash.commands import EXECUTABLE, read_mode
from remit.policy.bash.links import find_links
from remit.policy.bash.listings import note_listing
from remit.policy.bash.names import read_names, read_table
from remit.policy.bash.options import parse_options
from remit.policy.bash.programs.git_files import name_git_command, take_git
from remit.policy.bash.shell import NOWHERE
from remit.policy.bash.words import HOLE, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.policy.bash.options import Options
    from remit.policy.bash.reading import Reader, Stdin

WRITERS = read_table(
    """
objcopy last
strip - o:
xxd -
uniq -
iconv -
bunzip2 -
bzip2 -
unxz -
xz -
unzstd -
zstd -
uncompress -
lz4 -
unlz4 -
brotli -
unrar -
csplit -
7z -
cpio -
uudecode -
ar -
pax -
gcc -
g++ -
cc -
c++ -
clang -
clang++ -
rustc -
ld -
as -
openssl -
gpg -
base64 -
tee all --output-error=
touch all d: r: t: --date: --reference:
truncate all s: r: --size: --reference:
mkdir - -
rm below -
rmdir below -
unlink all -
shred all n: s: --iterations: --size:
mv below t: S: --target-directory: --suffix:
cp last t: S: --target-directory: --suffix:
ln last t: S: --target-directory: --suffix:
install last t: g: m: o: S: --target-directory: --group: --mode: --owner:
rsync last e: f: --rsh: --exclude: --include: --filter: --exclude-from:
link last -
chmod below --reference:
chown below --reference: --from:
chgrp below --reference:
chattr all -
setfacl all m: x: M: X:
patch all i: p: d: o: r: F: D: --input: --strip: --directory: --output:
sponge all -
mkfifo all m:
dos2unix all -
unix2dos all -
gzip all S:
gunzip all S:
rename all -
prename all -
rn all -
split last a: b: C: l: n: --filter: --bytes: --lines:
trash below -
sed - -
dd - -
tar - -
unzip - -
git - -
curl - -
wget - -
sort - -
zip - -
scp last c: D: F: i: J: l: o: P: S: X:
"""
)
"""Which operands a program writes, and its options that take a value."""
_READERS = read_names(
    """
cat tac head tail wc nl od hexdump xxd strings less more cut paste comm uniq fold fmt rev sort diff cmp base64 grep
egrep fgrep rg awk sed jq yq bat md5sum sha256sum sha1sum file stat cp source . tee
"""
)
_COPIERS = read_names("cp mv ln install link")
_LOOKING = read_names(
    """
ls dir stat file which type readlink realpath test [ ldd nm objdump strings md5sum sha1sum sha256sum sha512sum du wc
basename dirname echo printf command cd grep rg find git diff cmp readelf size whereis export
"""
)
"""Programs that only look at a program that they name, or do not even that."""


def find_touched(reader: Reader, name: str, words: Sequence[Word], stdin: Stdin | None) -> None:
    """Take note of the files that a command writes and reads."""
    if name not in _LOOKING:
        named = [word.text for word in words[1:] if "bin/" in word.text or name in _COPIERS]
        reader.add(Hint(" ".join(named).replace(HOLE, " ")))
    if name in _READERS:
        _take_readers(reader, name, words)
    find_links(reader, name, words)
    note_listing(reader, name, words)
    known = WRITERS.get(name)
    if known is None:
        return
    which, _, spec = known.partition(" ")
    _note_operands(reader, name, parse_options(words[1:], spec, permute=True), which.strip("-"))
    _take_special(reader, name, words)
    text = stdin[1].text if stdin is not None and not stdin[0] else None
    if name in _COMPILERS:
        _settle_output(reader, words)
    given = [*words, stdin[1]] if stdin is not None and stdin[0] else words
    if _unpacks(name, words) and (reader.fed.strip() or text is not None or _is_own(reader, given)):
        reader.written[HOLE] = None
    for word in words[1:] if name == "tee" and text is not None else ():
        reader.forget(word)
        reader.keep_content(Word(word.text), text)


def _note_operands(reader: Reader, name: str, found: Options, which: str) -> None:
    """The files among a program's operands that it writes."""
    operands = list(found.operands)
    if name in ("chmod", "chown", "chgrp", "chattr", "rename", "prename"):
        operands = operands[1:]
    if name == "chmod":
        _make_executable(reader, found.operands[:1], operands)
    targets = [value for option, value in found.options if option in ("-t", "--target-directory", "-o", "--output")]
    if which == "last":
        operands = [] if targets else operands[-1:]
    if name in _COPIERS or name in ("rsync", "scp"):
        _note_inside(reader, found.operands, targets)
    for word in (*operands, *targets) if which else ():
        below = which == "below" or name == "ln"
        reader.note_file(Word(word.text, word.kind), "write", below=below, keep=name in _CHANGING)


def _note_inside(reader: Reader, operands: Sequence[Word], targets: Sequence[Word]) -> None:
    """What is copied to a folder has its own name there."""
    sources, folders = (operands, targets) if targets else (operands[:-1], operands[-1:])
    for source in sources:
        name = posixpath.basename(source.text.rstrip("/"))
        for folder in folders if name.strip("." + HOLE) else ():
            kind = max(source.kind, folder.kind)
            reader.add(Touch(Word(posixpath.join(folder.text, name), kind), "write", reader.cwds))


def _take_readers(reader: Reader, name: str, words: Sequence[Word]) -> None:
    operands = [word for word in words[1:] if word.text[:1] != "-"]
    if name in ("grep", "egrep", "fgrep", "rg", "awk", "sed", "jq", "yq") and operands:
        operands = operands[1:]
    if name == "cp":
        operands = operands[:-1]
    for word in operands:
        reader.note_file(Word(word.text), "read")


_CHANGING = frozenset({"chmod", "chown", "chgrp", "touch", "chattr", "setfacl"})
"""Programs that leave what is in a file as it is."""


def _make_executable(reader: Reader, mode: Sequence[Word], files: Sequence[Word]) -> None:
    """A file that the script has written and makes a program of is looked at here, whoever starts it."""
    bits = read_mode(mode[0].text) if mode and mode[0].is_sure else None
    if bits is None or bits & EXECUTABLE:
        for word in files:
            reader.note_run(word, "")


_COMPILERS = frozenset({"gcc", "g++", "cc", "c++", "clang", "clang++", "rustc"})


def _settle_output(reader: Reader, words: Sequence[Word]) -> None:
    """What a compiler makes is what it is made of: sources that were there, or what is known of those that were not."""
    found = parse_options(words[1:], "o: D: I: L: l: O= W= f= x:", permute=True)
    texts = []
    for word in found.operands:
        places = reader.name_places(word)
        if not word.is_sure or word.text in ("-", "/dev/stdin"):
            reader.written.setdefault(reader.name_places(Word("a.out"))[0], None)
            return
        texts += [reader.written[place] for place in places if place in reader.written]
    if any(text is None for text in texts):
        return
    for value in [value for name, value in found.options if name == "-o"] or [Word("a.out")]:
        reader.forget(value)
        if texts:
            reader.keep_content(value, "#!other\n" + "\n".join(text or "" for text in texts))


def _unpacks(name: str, words: Sequence[Word]) -> bool:
    if name == "git":
        return name_git_command(words[1:]) in (
            "apply",
            "am",
            "fast-import",
            "unpack-objects",
            "read-tree",
            "checkout-index",
        )
    return name in _UNPACKING


_UNPACKING = read_names(
    """
patch tar cpio unzip ar 7z 7za pax bsdtar uudecode gunzip gzip bunzip2 bzip2 unxz xz unzstd zstd uncompress lz4
unlz4 brotli unrar split csplit
"""
)
"""Programs that make files which nobody has named."""


def _is_own(reader: Reader, words: Sequence[Word]) -> bool:
    """Whether one of the words is a file that the script has written."""
    return any(place in reader.written for word in words[1:] for place in reader.name_places(word))


_OUTPUTS = read_table(
    """
curl o: --output: D: --dump-header: c: --cookie-jar: --trace:
wget O: o: a: P: --output-document: --output-file: --append-output: --directory-prefix:
sort o: --output:
gcc o:
strip o:
g++ o:
cc o:
c++ o:
clang o:
clang++ o:
rustc o:
ld o:
as o:
base64 o: --output:
gpg o: --output:
unzip d:
"""
)
"""Options that name a file to write."""


def _take_special(reader: Reader, name: str, words: Sequence[Word]) -> None:
    if name in _OUTPUTS:
        for option, value in parse_options(words[1:], _OUTPUTS[name], permute=True).options:
            if f"{option}:" in _OUTPUTS[name] or f"{option[1:]}:" in _OUTPUTS[name].split():
                reader.note_file(Word(value.text), "write")
        if name == "curl":
            _check_orders(reader, words)
    elif name in ("xxd", "uniq", "dos2unix", "iconv"):
        for word in [word for word in words[1:] if word.text[:1] != "-" or word.text == "-"][1:2]:
            reader.note_file(Word(word.text), "write")
    elif name in _SPECIAL:
        _SPECIAL[name](reader, words)


def _check_orders(reader: Reader, words: Sequence[Word]) -> None:
    """What curl is to do and where to write may stand in a file; one that was there is trusted."""
    for option, value in parse_options(words[1:], "K: --config:", permute=True).options:
        if option in ("-K", "--config") and (
            not value.is_sure or value.text in NOWHERE or _is_own(reader, [value] * 2)
        ):
            reader.doubt("options come from somewhere else, and may say where to write", always=True)


def _take_sed(reader: Reader, words: Sequence[Word]) -> None:
    if not any(
        word.text.startswith(("-i", "--in-place"))
        or (word.text[:1] == "-" and word.text[1:2] != "-" and "i" in word.text)
        for word in words[1:]
    ):
        return
    found = parse_options(words[1:], "e: f: l: --expression: --file: --line-length:", permute=True)
    given = any(option in ("-e", "-f", "--expression", "--file") for option, _ in found.options)
    for word in found.operands[0 if given else 1 :]:
        reader.note_file(Word(word.text, word.kind), "write", edit=" ".join(each.text for each in words[1:]))


def _take_tar(reader: Reader, words: Sequence[Word]) -> None:
    found = parse_options(
        words[1:],
        "f: C: T: X: I: --file: --directory: --files-from: --exclude: --exclude-from: --use-compress-program:",
        permute=True,
    )
    first = words[1].text if len(words) > 1 else ""
    letters = "".join(word.text[1:] for word in words[1:] if word.text[:1] == "-" and word.text[1:2] != "-")
    letters += first if first[:1] != "-" else ""
    extracts = "x" in letters or any(word.text in ("--extract", "--get") for word in words)
    folders = [value for option, value in found.options if option in ("-C", "--directory")]
    archives = [value for option, value in found.options if option in ("-f", "--file")]
    for value in (folders or [Word(".")]) if extracts else archives:
        reader.note_file(value._replace(kind=0), "write")


def _take_openssl(reader: Reader, words: Sequence[Word]) -> None:
    for at, word in enumerate(words[:-1]):
        if word.text == "-out":
            reader.note_file(Word(words[at + 1].text), "write")


def _take_dd(reader: Reader, words: Sequence[Word]) -> None:
    for word in words[1:]:
        key, _, path = word.text.partition("=")
        if key in ("of", "if"):
            reader.note_file(Word(path), "write" if key == "of" else "read")


def _take_zip(reader: Reader, words: Sequence[Word]) -> None:
    for word in [word for word in words[1:] if word.text[:1] != "-"][:1]:
        reader.note_file(Word(word.text), "write")


_SPECIAL = {
    "sed": _take_sed,
    "tar": _take_tar,
    "git": take_git,
    "openssl": _take_openssl,
    "dd": _take_dd,
    "zip": _take_zip,
}
