"""Readers of JSON values: each accepts what a field may hold, or says what is allowed there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_T = TypeVar("_T")


class NotAllowed(Exception):
    """A reader was given a value that its field may not hold. `where` leads to a value inside of it."""

    def __init__(self, allowed: str, where: str = "") -> None:
        super().__init__(allowed)
        self.allowed = allowed
        self.where = where


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message.

    Attributes:
        read: takes the JSON value and returns the field's; raises `NotAllowed`.
        required: whether a message without it is refused. An optional field takes the dataclass's default.
    """

    read: Callable[[object], Any]
    required: bool = True


def whole_number(low: int, high: int) -> Callable[[object], int]:
    """Read a whole number from `low` to `high`. True and 1.0 are none."""

    def read(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise NotAllowed(f"a whole number from {low} to {high}")

    return read


def one_of_numbers(*values: int) -> Callable[[object], int]:
    """Read one of these whole numbers."""

    def read(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value in values:
            return value
        raise NotAllowed(f"one of {', '.join(map(str, values))}")

    return read


def number(low: float, high: float) -> Callable[[object], float]:
    """Read a number from `low` to `high`. True is none, NaN is outside of every range."""

    def read(value: object) -> float:
        # Compared before it is converted: a whole number of JSON may be too large for a float.
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        raise NotAllowed(f"a number from {low} to {high}")

    return read


def string(value: object) -> str:
    """Read a string of Unicode text, which has no half of a surrogate pair."""
    if not isinstance(value, str):
        raise NotAllowed("a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotAllowed("a string of whole characters (this one holds half of a surrogate pair)") from None
    return value


def strings_by_string(most: int, longest: int) -> Callable[[object], Mapping[str, str]]:
    """Read an object of at most `most` strings, which like their names have at most `longest` characters."""

    def read(value: object) -> Mapping[str, str]:
        if not isinstance(value, dict) or len(value) > most:
            raise NotAllowed(f"an object of at most {most} strings")
        if any(len(text) > longest for item in value.items() for text in map(string, item)):
            raise NotAllowed(f"an object of strings of at most {longest} characters")
        return value

    return read


def one_of(*values: str) -> Callable[[object], str]:
    """Read one of these strings."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in values:
            return value
        raise NotAllowed(f"one of {', '.join(values)}")

    return read


def boolean(value: object) -> bool:
    """Read true or false."""
    if isinstance(value, bool):
        return value
    raise NotAllowed("true or false")


def short_string(most: int) -> Callable[[object], str]:
    """Read a string of Unicode text with at most so many characters."""

    def read(value: object) -> str:
        text = string(value)
        if len(text) > most:
            raise NotAllowed(f"a string of at most {most} characters")
        return text

    return read


def array(read_item: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    """Read an array of values that `read_item` reads."""

    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise NotAllowed("an array")
        return tuple(read_item(item) for item in value)

    return read


def nullable(read_value: Callable[[object], Any]) -> Callable[[object], Any]:
    """Read null, or what `read_value` reads."""
    return lambda value: None if value is None else read_value(value)


def either(first: Callable[[object], Any], second: Callable[[object], Any]) -> Callable[[object], Any]:
    """Read what `first` reads, or else what `second` reads."""

    def read(value: object) -> object:
        try:
            return first(value)
        except NotAllowed:
            return second(value)

    return read


def nested(kind: type, schema: Mapping[str, Field]) -> Callable[[object], Any]:
    """Read an object as a dataclass, as `build` does with `strict` off."""

    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise NotAllowed("an object")
        try:
            return build(kind, schema, value, strict=False)
        except InvalidInput as error:
            raise NotAllowed(str(error.allowed or "as documented"), f".{error.field}") from error

    return read


def build(kind: type[_T], schema: Mapping[str, Field], value: Mapping[str, object], *, strict: bool) -> _T:
    """Build a message from a JSON object.

    Args:
        kind: the message's dataclass.
        schema: its fields by name.
        value: the object, without `type`.
        strict: refuse names that `schema` does not have, else pass over them.

    Raises:
        InvalidInput: naming the field and what is allowed.
    """
    if strict:
        for name in value:
            if name not in schema:
                # The peer is told the name, which may be long and, in JSON, no Unicode.
                shown = name[:64].encode(errors="backslashreplace").decode()
                raise InvalidInput(
                    f"There is no field {shown!r} in this message.", field=shown, allowed=("type", *schema)
                )
    arguments = {}
    for name, field in schema.items():
        if name in value:
            try:
                arguments[name] = field.read(value[name])
            except NotAllowed as error:
                raise InvalidInput(
                    f"{name}{error.where} must be {error.allowed}.", field=name, allowed=error.allowed
                ) from None
        elif field.required:
            raise InvalidInput(f"The field {name!r} is missing.", field=name)
    return kind(**arguments)
