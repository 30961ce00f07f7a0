"""Where a request comes from, if a proxy passed it on."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from rtvoice.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Address = IPv4Address | IPv6Address

_IPV6_HOME = 64
"""Bits of an IPv6 address that one subscriber cannot choose."""

_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\d+)?|([\d.]+):\d+")


class Proxies:
    """Tells who sent a request that came through proxies that are trusted.

    Args:
        trusted: addresses or networks (`10.0.0.0/8`) whose `X-Forwarded-For` is believed. What others write there is
            passed over: anybody can write it.

    Raises:
        SetupError: one of them is none.
    """

    def __init__(self, trusted: Sequence[str]) -> None:
        try:
            self._trusted = [ip_network(network, strict=False) for network in trusted]
        except ValueError as error:
            raise SetupError(f"A proxy that is trusted needs an address or a network: {error}.") from error

    def sender(self, remote: str, headers: Iterable[tuple[str, str]]) -> str:
        """The nearest address that is no proxy of ours; of IPv6 the network that one subscriber is given.

        Args:
            remote: the address at the other end of the connection.
            headers: of the request.
        """
        address = _read(remote)
        if address is None:
            return remote
        passed = ",".join(value for name, value in headers if name.lower() == "x-forwarded-for").split(",")
        while passed and any(address in network for network in self._trusted):
            before = _read(passed.pop())
            if before is None:
                break
            address = before
        return str(address if address.version == 4 else ip_network((address, _IPV6_HOME), strict=False))


def _read(text: str) -> Address | None:
    """An address, perhaps with a port; None if it is none."""
    text = text.strip()
    if match := _WITH_PORT.fullmatch(text):
        text = match[1] or match[2]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
