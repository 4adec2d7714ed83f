"""An upper bound on the tokens of a text, without a tokenizer.

Owns the bound and what it rests on. It is never below what cl100k and o200k count. Both cut a text into pieces at the
same places, as far as it is ASCII, and then join letters until no two neighbours can be joined. So a piece that is a
token of both counts as one; of a word in small letters all pairs but a few can be joined, so no two single letters
stay side by side, and three letters make two tokens at most; digits go in threes. Whatever else there is counts with
its bytes, since no token has less than one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import zip_longest

from remit.lazy_regex import lazy

_PIECE = lazy(r"[ !-&(-/:-@\[-`{-~]?[A-Za-z]+|[0-9]+| ?[!-/:-@\[-`{-~]+|[^\x00-\x7f]+|.", re.DOTALL)
_SHORT = 40
"""Pieces up to this length are frequent, and cached."""
_PREFIXES = frozenset('_/.-"(`')
"""Marks that may stand before a word that is known: then it is two tokens at most."""
_MARKS = frozenset((
    *"!#$%&()*+,-./:;<=>?@[]^_`{|}~", '"', '{"', '":', '"]', '"}', '"},', "{}", "[]", "[],", "{},", "//", "://", "..",
    "...", "--", "):", "),", ").", '"],', "}],", "==", "->", '.",', '."', "},", "],", '",', "##", "###", ' "', " (",
    " [", " {", ' ["', ' {"', " -", " --", " =", " ->", " `", " [],", " {},", " []", " {}", " /", " .", " #", " :",
    " +", " *", " <", " &", " |", "`,", "`.", "()", "**", " **", ".,", "`:", " (`", ' [{"', '":"', '","', '.","',
    '":["', '":{"', '":[', ',"', '},"',
))  # fmt: skip
"""Marks that are one token each, as they stand here."""
_PAIRS = """
bq fj fz gj gk gq hj jg jv jw jx jy jz kq kx kz lq mz nq oq qf qg qj qk qo qv qy qz rj tj tq uq vq vz wq wv wz xg xh xj
xk xq xu xv xw yf yj yq yv zg zj zq zr zv
"""
_RARE = frozenset(_PAIRS.split())
"""The pairs of lower-case letters that aren't tokens."""
_WORDS = """
about above absolute accepted action activity actual add added after again agent agents all allow allowed alone
already also always an analysis and another answer any anything api app architecture archive are args around array
artifact as ask at atomic auth available back bad base based bash be because before below best between blank block
blocked blocking body both break brief broken budget build builder built but by bytes cache call called caller calls
can cannot case cases cause chain change changed changes char characters check checked checkpoint checks child
chosen class clean clear click client close closed code codes collections color come command commands comment commit
compiled complete completed completion component components config console construction contains content context
continue contract conversion core correct cost could count counts coverage create created creation criteria critical
current cut data database date day decision default definition definitions deleted deny dependencies dependency
depth description design desk details development did digits directory disk do docs document documentation does
domain done down during each edit else empty end ended ending endpoint ends entries entry error errors escape
estimated etc every exact example examples except execute execution exist existing exists exit expected explicit
facts fail failed fails failure fallback false far fault feature field fields file filename files filled final find
finding first fix fixed flag flow focus folder folders follow for form format found from full function gap general
get git give given glob go goal gone good grade graph grep group handle handler has hash have head heading help here
high hint hold holds home hooks hours how hyper id ids if ignore ignored implement implementation implemented import
in include indent index information inner input inputs inside instead instructions integer integration into invalid
invoke is issue issues it item items its json just key keys keywords kind know known lambda language last later lazy
lead least leave ledger left length level lies like limit limits line lines link links lint list listed lists load
loaded local lock log logic login long look looks lost low made main make makes management manifest many map mark
markdown marked marker markers match matches max may md mean medium member memory merge message messages meta
metadata migration min missing mode model modified module more most move ms multiple must name named names need
needed needs never new next no node none not note nothing now null number numbers object of off offset old on once
one only open opened opening operation operations optional options or order organization original other others out
outline output outputs outside over own package page pages parallel parameter parent parsed part partial parts pass
passed path paths pattern payload per permission permissions phase place places plain plan plans point pointer
points pre present primary priority problem process profile profiles program progress project prompt property
provided put py python quality query quote quoted quotes raise range re read reading reads real reason record
records reference references remaining remove removed repair replace reply report reports repository request
requests required requires research response rest result results resume retry return returned returns review
revision right role roles rollback room root route routes routing row rows rule rules run runs safe said same say
schema scope score script search second seconds section sections see seen self sentence server sess session set
settings severity sha shape short should show shown shows side signal since single size skill skills slug small
snapshot so some something sorted source sources space span specific stage stand standard stands start started stat
state status step steps still stop strategy stream string structure structured style success such sum summary sync
syntax system table tag tags tail take taken takes target targets task tasks tell temperature template test testing
tests text texts than that the their them then there these they this those three through time timeout timestamp
title to token tokens too tool tools top topic topics total tracking tree true truth try turn two type types under
unit unknown unless unsafe until up update updated updates upload usage use used user users uses using valid
validate validated validation value values verification verified verify version via wanted warning was way well were
what whatever when where whether which while who whole whose why will with within without word words work workflow
works workspace would write writes writing written wrong yaml yet yield you your
"""
_KNOWN = frozenset(_WORDS.split())
"""Words that are one token, with a space before them and without."""


def bound_tokens(text: str, *, enough: int | None = None) -> int:
    """The most tokens that a text can have in cl100k and o200k; counting stops above `enough`."""
    most = len(text) * 4 if enough is None else enough
    pieces = _PIECE.findall(text)  # they are all of the text, so what comes after one begins the next
    total, before = 0, " "
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        bound = _bound_short if len(piece) <= _SHORT else _bound_piece
        total += bound(piece, before, following[:1])
        if total > most:
            break
        before = piece[-1]
    return total


def _bound_piece(piece: str, before: str, after: str) -> int:
    first = piece[0]
    if first >= "\x80":
        return len(piece.encode("utf-8", "surrogatepass"))
    if len(piece) == 1 or not _is_apart(piece, before, after):
        return len(piece)
    if first.isdigit():
        return (len(piece) + 2) // 3
    letters = piece if first.isalpha() else piece[1:]
    if letters.isalpha():
        return min(len(piece), _bound_word(piece[: -len(letters)], letters))
    return 1 if piece in _MARKS and after not in ("\r", "\n") else len(piece)


_bound_short = lru_cache(maxsize=4096)(_bound_piece)


def _is_apart(piece: str, before: str, after: str) -> bool:
    """Whether a piece begins and ends here for every tokenizer: beside other scripts and apostrophes it may not."""
    is_plain = before in "\r\n" or " " <= before <= "~"
    return is_plain and before != "'" and after != "'" and after < "\x7f" and "'" not in piece


def _bound_word(prefix: str, letters: str) -> int:
    small = letters.lower()
    if letters[1:] != small[1:]:
        return len(prefix) + len(letters)
    is_small, is_plain = letters == small, prefix in ("", " ")
    if small in _KNOWN and (is_plain or (is_small and prefix in _PREFIXES)):
        return 1 if is_small and is_plain else 2
    pairs = sum(small[at : at + 2] in _RARE for at in range(len(small) - 1))
    apart = pairs + (not is_small) + (not is_plain)
    # With s single letters among t tokens of n letters: s + 2(t - s) <= n, and s <= (t - s) + 1 + apart.
    return (2 * (len(prefix) + len(letters)) + 1 + apart) // 3
