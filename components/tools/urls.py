"""Addresses as tools compare and show them."""

from urllib.parse import urlsplit


def site_of(url: str) -> str:
    """The host name, as search results show it; empty when there is none."""
    return _split(url)[0]


def same_address(url: str) -> str:
    """Equal for spellings of one address: host in lower case, no scheme, fragment, or final slash."""
    host, rest = _split(url)
    return f"{host}{rest}"


def is_web_address(url: str) -> bool:
    """Whether it can be opened at all."""
    return url.lower().startswith(("http://", "https://")) and bool(site_of(url)) and not any(map(str.isspace, url))


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return "", url
    query = f"?{parts.query}" if parts.query else ""
    return host, f"{parts.path.rstrip('/')}{query}"
