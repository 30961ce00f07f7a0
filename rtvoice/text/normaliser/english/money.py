"""Sums of money."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rtvoice.text.normaliser.english.measures import PER
from rtvoice.text.normaliser.english.written import DASH, END, NUMBER, one_of
from rtvoice.text.normaliser.rule import Part, Rule

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect


class Currency(NamedTuple):
    """Names of a currency and of its hundredth, one and many. Without a hundredth its decimals are decimals."""

    one: str
    many: str
    cent: str = ""
    cents: str = ""


def _cents(one: str, many: str | None = None) -> Currency:
    return Currency(one, many or one + "s", "cent", "cents")


_POUND = Currency("pound", "pounds", "penny", "pence")
_YEN = Currency("yen", "yen")
_YUAN = Currency("yuan", "yuan")
_RUPEE = Currency("rupee", "rupees", "paisa", "paise")
_WON = Currency("won", "won")
_RUBLE = Currency("ruble", "rubles", "kopek", "kopeks")
_LIRA = Currency("lira", "lira", "kurush", "kurush")
_SHEKEL = Currency("shekel", "shekels", "agora", "agorot")
_HRYVNIA = Currency("hryvnia", "hryvnias", "kopiyka", "kopiykas")
_FRANC = Currency("franc", "francs", "centime", "centimes")
_SWISS = Currency("Swiss franc", "Swiss francs", "centime", "centimes")
_ZLOTY = Currency("zloty", "zlotys", "grosz", "groszy")
_KORUNA = Currency("koruna", "koruna")
_REAL = Currency("real", "reais", "centavo", "centavos")
_PESO = Currency("Mexican peso", "Mexican pesos", "centavo", "centavos")
_BITCOIN = Currency("bitcoin", "bitcoin")

SYMBOLS = {
    "$": _cents("dollar"), "US$": _cents("U S dollar"), "A$": _cents("Australian dollar"),
    "AU$": _cents("Australian dollar"), "C$": _cents("Canadian dollar"), "CA$": _cents("Canadian dollar"),
    "NZ$": _cents("New Zealand dollar"), "HK$": _cents("Hong Kong dollar"), "S$": _cents("Singapore dollar"),
    "NT$": _cents("Taiwan dollar"), "R$": _REAL, "MX$": _PESO, "£": _POUND, "€": _cents("euro"), "¥": _YEN,
    "CN¥": _YUAN, "JP¥": _YEN, "元": _YUAN, "円": _YEN, "₹": _RUPEE, "₨": _RUPEE, "₩": _WON, "₽": _RUBLE, "₺": _LIRA,
    "₪": _SHEKEL, "₫": Currency("dong", "dong"), "฿": Currency("baht", "baht", "satang", "satang"), "₴": _HRYVNIA,
    "₦": Currency("naira", "naira", "kobo", "kobo"), "₱": Currency("peso", "pesos", "centavo", "centavos"),
    "₡": Currency("colon", "colons"), "₵": Currency("cedi", "cedis"), "₸": Currency("tenge", "tenge"),
    "₮": Currency("tugrik", "tugriks"), "₭": Currency("kip", "kip"), "₲": Currency("guarani", "guaranis"),
    "₼": Currency("manat", "manat"), "₾": Currency("lari", "lari"), "₿": _BITCOIN, "zł": _ZLOTY, "Kč": _KORUNA,
    "Fr.": _FRANC, "kr": Currency("krone", "kroner"), "Rs.": _RUPEE, "Rs": _RUPEE,
}  # fmt: skip

CODES = {
    "USD": _cents("U S dollar"), "EUR": _cents("euro"), "GBP": _POUND, "JPY": _YEN, "CNY": _YUAN, "RMB": _YUAN,
    "INR": _RUPEE, "CHF": _SWISS, "CAD": _cents("Canadian dollar"), "AUD": _cents("Australian dollar"),
    "NZD": _cents("New Zealand dollar"), "SGD": _cents("Singapore dollar"), "HKD": _cents("Hong Kong dollar"),
    "TWD": _cents("Taiwan dollar"), "SEK": Currency("Swedish krona", "Swedish kronor"),
    "NOK": Currency("Norwegian krone", "Norwegian kroner"), "DKK": Currency("Danish krone", "Danish kroner"),
    "ISK": Currency("Icelandic krona", "Icelandic kronur"), "PLN": _ZLOTY, "CZK": _KORUNA,
    "HUF": Currency("forint", "forints"), "RON": Currency("leu", "lei"), "BGN": Currency("lev", "leva"),
    "RUB": _RUBLE, "UAH": _HRYVNIA, "TRY": _LIRA, "BRL": _REAL, "MXN": _PESO,
    "ARS": Currency("Argentine peso", "Argentine pesos"), "CLP": Currency("Chilean peso", "Chilean pesos"),
    "COP": Currency("Colombian peso", "Colombian pesos"), "ZAR": _cents("rand", "rand"), "KRW": _WON,
    "ILS": _SHEKEL, "AED": Currency("dirham", "dirhams", "fils", "fils"), "SAR": Currency("riyal", "riyals"),
    "THB": Currency("baht", "baht"), "IDR": Currency("rupiah", "rupiah"), "MYR": Currency("ringgit", "ringgit"),
    "PHP": Currency("Philippine peso", "Philippine pesos"), "VND": Currency("dong", "dong"),
    "NGN": Currency("naira", "naira"), "KES": Currency("Kenyan shilling", "Kenyan shillings"),
    "EGP": Currency("Egyptian pound", "Egyptian pounds"), "PKR": _RUPEE, "BTC": _BITCOIN,
    "ETH": Currency("ether", "ether"),
}  # fmt: skip

SCALES = {
    "hundred": "hundred", "thousand": "thousand", "million": "million", "billion": "billion", "trillion": "trillion",
    "quadrillion": "quadrillion", "lakh": "lakh", "crore": "crore", "k": "thousand", "K": "thousand", "m": "million",
    "M": "million", "mn": "million", "mm": "million", "MM": "million", "mil": "million", "b": "billion",
    "B": "billion", "bn": "billion", "Bn": "billion", "BN": "billion", "t": "trillion", "T": "trillion",
    "tn": "trillion", "trn": "trillion",
}  # fmt: skip

_NAMES = {**SYMBOLS, **CODES}
_SIGNS = "".join(sorted({symbol[-1] for symbol in SYMBOLS} - set(".rsł")))
_SIGN = re.compile(rf"[{re.escape(_SIGNS)}]|[A-Z]{{3}}|Rs|Fr|kr|zł")
_SYMBOL = one_of(SYMBOLS)
_AMOUNT = rf"(?:\d{{1,3}}(?:\.\d{{3}})*,\d\d(?![\d,.])|{NUMBER})"  # "€1.299,99" as well
_CODE = one_of(CODES)
_SCALE = rf"(?:(?P<joint>[ -])?(?P<scale>{one_of(SCALES)}){END})?"
_RANGE = rf"(?:(?P<low_scale>{one_of(SCALES)})?[ ]?{DASH}[ ]?(?:{_SYMBOL})?(?P<high>{_AMOUNT}))?"

_PER = rf"(?:(?P<per>/)(?:(?P<of>{one_of(PER)})(?!\w)|(?=[A-Za-z]{{3}})))?"
_BEFORE = re.compile(
    r"(?<![\w$])(?P<article>[Aa]n?[ ])?(?P<sign>[-−+])?"
    rf"(?:(?P<symbol>{_SYMBOL})[ ]?|(?P<code>{_CODE})[ ])(?P<minus>[-−])?"
    rf"(?P<low>{_AMOUNT}){_RANGE}{_SCALE}(?P<said>[ -](?:dollars?|euros?|pounds?|bucks)\b)?"
    rf"(?P<noun>[ -](?=[a-z]{{3}}))?{_PER}"
)
_BEHIND = re.compile(
    rf"(?<!\w)(?<!\d[.,])(?P<sign>[-−+])?(?P<low>{_AMOUNT}){_RANGE}{_SCALE}[ \u00a0]?(?P<symbol>{_SYMBOL}|{_CODE}){END}"
    rf"(?![ ]?\d){_PER}"
)
_HUNDREDTHS = re.compile(rf"(?<!\w)(?<!\d[.,])(?P<low>{_AMOUNT})(?:[ ]?(?P<cent>¢)|(?P<penny>p)(?![\w]))")

_COMMA_CENTS = re.compile(r",(?=\d\d\Z)")
_NOUN = re.compile(r"[a-z]++")

# Behind "a $5 ..." these do not make the sum an adjective.
_NO_NOUN = frozenset(
    [
        "and",
        "but",
        "for",
        "from",
        "into",
        "more",
        "than",
        "less",
        "that",
        "this",
        "with",
        "was",
        "were",
        "when",
        "per",
        "plus",
        "the",
        "will",
        "would",
    ]
)


def _plain(amount: str) -> str:
    """An amount as it is written on the continent of Europe, "1.299,99", with a decimal point."""
    return amount.replace(".", "").replace(",", ".") if _COMMA_CENTS.search(amount) else amount


def _sum(low: str, scale: str, currency: Currency, dialect: Dialect, *, adjective: bool) -> str:
    """A sum of so many units, with a scale ("million") or none."""
    whole, _, fraction = low.partition(".")
    if scale:
        return f"{dialect.number(low)} {scale} {currency.one if adjective else currency.many}"
    if not currency.cent or len(fraction) != 2:
        one = adjective or (not fraction and whole == "1")
        return f"{dialect.number(low)} {currency.one if one else currency.many}"
    units, cents = int(whole.replace(",", "") or "0"), int(fraction)
    said = []
    if units or not cents:
        said.append(f"{dialect.integer(whole or '0')} {currency.one if units == 1 or adjective else currency.many}")
    if cents:
        said.append(f"{dialect.cardinal(cents)} {currency.cent if cents == 1 else currency.cents}")
    return " and ".join(said)


def _read(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    groups = match.groupdict()
    low, high = (_plain(groups[end] or "") for end in ("low", "high"))
    currency = _NAMES[groups["symbol"] or groups["code"]]
    said = ""
    if groups["sign"] or groups.get("minus"):
        said = "plus " if groups["sign"] == "+" else "minus "
    if high:
        low_scale = SCALES.get(groups["low_scale"] or "", "")
        said += f"{dialect.number(low)}{' ' if low_scale else ''}{low_scale} to "
    said += _sum(high or low, SCALES.get(groups["scale"] or "", ""), currency, dialect, adjective=_is_adjective(match))
    said += f" per {PER.get(groups['of'] or '', '')}" if groups["per"] else " " if groups.get("noun") == "-" else ""
    # The article before and the space behind were only looked at.
    at = len(groups.get("article") or "")
    return (Part(at, len(match[0]) - (groups.get("noun") == " "), said),)


def _is_adjective(match: re.Match[str]) -> bool:
    """Whether the sum says of what kind something is ("a $5 bill", "$5-million deals"): its unit stays singular."""
    groups = match.groupdict()
    following = _NOUN.match(match.string, match.end()) if groups.get("noun") else None
    joined = (
        groups["noun"] == "-" or groups["joint"] == "-" or (groups["said"] or "").startswith("-")
        if following
        else False
    )
    return bool(following and following[0] not in _NO_NOUN and (joined or groups["article"]))


def _read_hundredths(match: re.Match[str], dialect: Dialect) -> str | None:
    low = match["low"]
    if match["penny"] and not (dialect.british and low.isdecimal() and int(low) < 100):
        return None
    one, many = ("penny", "pence") if match["penny"] else ("cent", "cents")
    return f"{dialect.number(low)} {one if low == '1' else many}"


RULES: tuple[Rule[Dialect], ...] = (
    Rule("money", _BEFORE, _read, needs_match=_SIGN),
    Rule("money, sign behind", _BEHIND, _read, needs_match=_SIGN),
    Rule("cents and pence", _HUNDREDTHS, _read_hundredths, needs=("¢", "p")),
)
