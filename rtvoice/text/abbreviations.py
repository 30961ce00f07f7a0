"""Words that carry a full stop without ending a sentence, by language, and what proves that one did end after all.

Written down here because no library keeps them in a form that says *when* the stop may end a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class After(Enum):
    """What must follow a full stop behind a word for the sentence to end there."""

    SPACE = auto()
    """White space: an ordinary word."""

    NOT_LOWER = auto()
    """Anything but a word in lower case: the stop stands before a closing quotation mark or bracket."""

    NEW_SENTENCE = auto()
    """A word that is not in lower case, and not "I", which always has a capital: the sentence trails off."""

    CAPITAL = auto()
    """A word that is not in lower case, and no digit: `etc.`, `approx.`"""

    NO_DIGIT = auto()
    """Anything but a digit: `No.` is an answer, `No. 5` a number."""

    STARTER = auto()
    """A word that begins sentences and no names: `the U.S. Then`, but `the U.S. Senate`."""

    NO_DATE = auto()
    """A capital that begins neither day, month nor time zone: `at 9 a.m. Monday`."""

    NOTHING = auto()
    """Such a stop ends no sentence: `Dr.`, `e.g.`"""


@dataclass(frozen=True, slots=True)
class Orthography:
    """How one language writes its full stops.

    Attributes:
        abbreviations: lower-case word without its last stop -> what ends the sentence after it.
        starters: words, capitalised, that begin sentences but no names.
        dates: words, capitalised, of days, months and time zones.
        ordinal_stop: whether a number with a stop is an ordinal (`am 29. Mai`).
    """

    abbreviations: dict[str, After]
    starters: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()
    ordinal_stop: bool = False

    def after(self, word: str) -> After:
        """What must follow the full stop behind `word` (without that stop and without brackets or quotes before it)."""
        lower = word.lower()
        known = self.abbreviations.get(lower)
        if known is not None:
            return known
        if word.isdecimal():
            return After.NOTHING if self.ordinal_stop and len(word) <= 2 else After.SPACE
        if len(word) == 1:
            return After.STARTER if word.isupper() else After.CAPITAL if word.islower() else After.SPACE
        parts = word.split(".")
        longest = 3 if word[:1].isupper() else 1  # `Ph.D`, `B.Sc`, but `i.e` and no `io.js`
        if len(parts) > 1 and all(part.isalpha() and len(part) <= longest for part in parts):
            return After.STARTER
        if len(word) <= 5 and word.isalpha() and word.isascii() and not any(c in "aeiouy" for c in lower):
            return After.CAPITAL
        return After.SPACE


_DATE_WORDS = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August "
    "September October November December Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun "
    "EST EDT CST CDT MST MDT PST PDT ET CT MT PT GMT UTC BST CET CEST IST JST AEST Eastern Central Mountain Pacific "
    "Greenwich"
)

# What abbreviations in most European languages' texts have in common.
_COMMON: dict[After, str] = {
    After.NOTHING: "dr prof mr mrs ms st e.g i.e vs cf ca p pp vol ed eds nr ing",
    After.CAPITAL: "etc tel max min fig figs resp u.s.w",
    After.STARTER: "inc ltd co corp jr sr ph.d m.d b.a m.a u.s u.k u.n e.u d.c",
    After.NO_DATE: "a.m p.m",
}

# Not here: `sat.`, `sun.`, `mar.`, `in.`, `art.`, which end sentences more often than they are shortened.
_ENGLISH: dict[After, str] = {
    After.NOTHING: "messrs mx fr capt cpt lt cmdr sgt cpl pvt gov sen supt insp asst assoc atty viz eg ie approx",
    After.CAPITAL: (
        "dept univ est govt dist div bros mfg mins hr hrs sec secs wk wks mo mos yr yrs lb lbs oz ext "
        "temp avg std abbr adj adv cont natl intl jan feb apr jun jul aug sep sept oct nov dec mon tue tues wed thu "
        "thur thurs fri a.k.a r.s.v.p p.s"
    ),
    After.NO_DIGIT: "no nos ch chap par para sect fig figs eq eqs ref refs tab op ver ln pos",
    # Words of their own, or ends of sentences, as well: `six ft.`, `a stage prop.`
    After.STARTER: (
        "st ave blvd rd hwy pkwy sq esq plc llc llp gmbh hon rev gen col maj adm pres rep amb det pt mt ft al esp incl "
        "excl lit orig prop misc"
    ),
}

_ENGLISH_STARTERS = (
    "A An And Also Although After Are As At Because Before But By Can Could Did Do Does During Each Even Every For "
    "From Had Has Have He Her Here His How However I If In Is It Its Just Let Many Maybe More Most My No Nobody Not "
    "Now On Once One Only Or Our Perhaps Please She Should Since So Some Still Such Tell Thank Thanks That The Their "
    "Then There These They This Those Though Thus To Today Tomorrow Until Was We Well Were What When Where Which While "
    "Who Why Will With Would Yes Yesterday Yet You Your I'm I've I'll I'd It's He's She's That's There's They're We're "
    "You're Don't Let's"
)

_GERMAN: dict[After, str] = {
    After.NOTHING: (
        "hr fr frl dipl z d u s i o v a b bzw z.b d.h u.a o.ä v.a i.d.r m.e s.o s.u vgl nr bd abb abs abt anm aufl "
        "ausg evtl ggf inkl exkl sog str kap gem lt mio mrd zzgl geb gest jan feb mär apr jun jul aug sep sept okt nov "
        "dez"
    ),
    After.CAPITAL: "usw usf",
}
_FRENCH: dict[After, str] = {
    After.NOTHING: "m mm mme mlle mgr me p.ex ex éd env av bd fig chap art vol janv févr avr juil sept oct nov déc",
}
_SPANISH: dict[After, str] = {
    After.NOTHING: (
        "sr sra srta sres dra d dña ud uds vd lic ing arq gral cap núm pág págs av avda aprox ee uu ee.uu p.ej ej"
    ),
}
_ITALIAN: dict[After, str] = {
    After.NOTHING: (
        "sig sig.ra sigg dott dott.ssa avv arch geom ecc.mo pag pagg cap sec es p.es n tel gen feb mar apr ott"
    ),
    After.CAPITAL: "ecc",
}
_PORTUGUESE: dict[After, str] = {
    After.NOTHING: "sr sra srs dra exmo exma eng arq av núm pág págs p.ex ex aprox séc",
}
_DUTCH: dict[After, str] = {
    After.NOTHING: "dhr mevr mw drs ir mr bijv bv d.w.z o.a m.b.t t.a.v i.v.m blz nr ca resp incl excl evt",
    After.CAPITAL: "enz",
}

_TABLES: dict[str, tuple[dict[After, str], ...]] = {
    "en": (_ENGLISH,),
    "de": (_GERMAN,),
    "fr": (_FRENCH,),
    "es": (_SPANISH,),
    "it": (_ITALIAN,),
    "pt": (_PORTUGUESE,),
    "nl": (_DUTCH,),
}
_ORDINAL_STOP = (
    "de",
    "da",
    "nb",
    "nn",
    "no",
    "fi",
    "et",
    "cs",
    "sk",
    "sl",
    "hr",
    "sr",
    "bs",
    "pl",
    "hu",
    "is",
    "lv",
    "tr",
)


def orthography(language: str) -> Orthography:
    """How `language` (a tag such as `en-us`) writes its full stops; what all have in common if it has no table."""
    primary = language.lower().partition("-")[0]
    table: dict[str, After] = {}
    for words in (_COMMON, *_TABLES.get(primary, ())):
        for after, listed in words.items():
            table.update(dict.fromkeys(listed.split(), after))
    return Orthography(
        abbreviations=table,
        starters=frozenset(_ENGLISH_STARTERS.split()) if primary == "en" else frozenset(),
        dates=frozenset(_DATE_WORDS.split()),
        ordinal_stop=primary in _ORDINAL_STOP,
    )
