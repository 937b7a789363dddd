"""Which addresses of the network a page may be fetched from: those of the public web, and no others.

A page can name any address, and so can whoever answers for a host name. Hence a name is resolved once, every address
that it has is checked, and the connection goes to an address that was checked (`guard.py`).
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx

from components.tools.clients.errors import NotThere, OffLimits, Overloaded

SERVICE = "page reader"

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Every address of a host name, best first; raises NotThere or Overloaded."""

_HOST = re.compile(rb"[a-z0-9_.:-]{1,255}", re.IGNORECASE)
_NUMERIC = re.compile(r"(?:.*\.)?(?:0x[0-9a-f]*|[0-9]+)\.?", re.IGNORECASE)
"""A host whose last label is a number is an IPv4 address in one of its spellings, and never a name."""

_UNICAST = IPv6Network("2000::/3")
"""All that is assigned of the public IPv6 web; leaves out mapped, translated, local and multicast addresses."""
_NOT_WEB_6 = (
    IPv6Network("2001::/23"),  # protocols, among them Teredo, which carries an IPv4 address that could be any
    IPv6Network("2002::/16"),  # 6to4, which does too
    IPv6Network("3fff::/20"),  # documentation
)
_NOT_WEB_4 = (
    IPv4Network("168.63.129.16/32"),  # metadata and agents of one cloud, at a public address
    IPv4Network("192.0.0.0/24"),  # protocols, and metadata of another cloud
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
)
"""Beside what Python's version knows to be special."""
_LASTING = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME), socket.EAI_FAIL})


def is_public(address: str) -> bool:
    """Whether an address, in its canonical spelling, is one of the public web."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return _public_6(parsed) if isinstance(parsed, IPv6Address) else _public_4(parsed)


def _public_4(address: IPv4Address) -> bool:
    ordinary = address.is_global and not (address.is_multicast or address.is_reserved)
    return ordinary and not any(address in network for network in _NOT_WEB_4)


def _public_6(address: IPv6Address) -> bool:
    if address.scope_id is not None or address not in _UNICAST or not address.is_global:
        return False
    return not any(address in network for network in _NOT_WEB_6)


def check_url(url: httpx.URL) -> None:
    """Refuse an address by its looks: another scheme, a password, a number that is spelled to hide what it is.

    Raises:
        OffLimits: the address may not be opened.

    """
    if url.scheme not in ("http", "https"):
        raise OffLimits(f"addresses of scheme {url.scheme[:20]!r} are not opened")
    if not _HOST.fullmatch(url.raw_host):
        raise OffLimits("an address without a host that can exist")
    if url.userinfo:
        raise OffLimits("an address with a password in it")
    if _NUMERIC.fullmatch(url.host) and not _canonical(url.host):
        raise OffLimits(f"{url.host[:60]} is an address in disguise")


def _canonical(host: str) -> bool:
    try:
        return str(IPv4Address(host)) == host
    except ValueError:
        return False


async def resolve(host: str, port: int) -> list[str]:
    """Every address of a host, as the system resolves it.

    Raises:
        NotThere: there is no such host.
        Overloaded: the name service gave no answer.

    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in _LASTING:
            raise NotThere(f"there is no host {host[:100]}") from error
        raise Overloaded(SERVICE, "the host name could not be looked up") from error
    except UnicodeError as error:
        raise NotThere("a host name that cannot exist") from error
    return list(dict.fromkeys(str(row[4][0]) for row in found))
