"""Who sent what a proxy passed on."""

import pytest

from rtvoice.errors import SetupError
from rtvoice.serving.proxies import Proxies


def passed(*values):
    return [("x-forwarded-for", value) for value in values]


@pytest.mark.parametrize(
    ("remote", "headers", "sender"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", passed("192.0.2.1"), "203.0.113.9"),  # no proxy of ours
        ("10.1.2.3", [], "10.1.2.3"),
        ("10.1.2.3", passed("192.0.2.1"), "192.0.2.1"),
        ("10.1.2.3", passed("198.51.100.7, 192.0.2.1"), "192.0.2.1"),  # the rest was written by whoever it is
        ("10.1.2.3", passed("198.51.100.7", "192.0.2.1, 10.9.9.9"), "192.0.2.1"),
        ("10.1.2.3", passed("192.0.2.1:4711"), "192.0.2.1"),
        ("10.1.2.3", passed("[2001:db8:1:2:3::4]:4711"), "2001:db8:1:2::/64"),
        ("10.1.2.3", passed("unknown"), "10.1.2.3"),
        ("10.1.2.3", passed("192.0.2.1, unknown"), "10.1.2.3"),
        ("10.1.2.3", passed(""), "10.1.2.3"),
        ("10.1.2.3", passed("10.0.0.1"), "10.0.0.1"),  # one of ours, itself
        ("::ffff:10.1.2.3", passed("::ffff:192.0.2.1"), "192.0.2.1"),
        ("2001:db8::1", passed("192.0.2.1"), "192.0.2.1"),
        ("2001:db8:9::1", [], "2001:db8:9::/64"),
        ("fe80::1%eth0", [], "fe80::/64"),
        ("a socket", passed("192.0.2.1"), "a socket"),
    ],
)
def test_the_nearest_that_is_no_proxy_of_ours(remote, headers, sender):
    assert Proxies(("10.0.0.0/8", "2001:db8::1")).sender(remote, headers) == sender


def test_addresses_that_are_none():
    with pytest.raises(SetupError, match="proxy"):
        Proxies(("everybody",))
