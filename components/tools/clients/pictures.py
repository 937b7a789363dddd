"""Downloading pictures, and making sure that they can be opened."""

import io
import warnings
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageOps

from components.tools.clients.errors import NotThere, ServiceError, Unusable
from components.tools.clients.http import Answer, Requester

SERVICE = "picture download"
_MISSING = (404, 410)
MAX_PIXELS = 64_000_000
"""A larger picture is refused from its header, before anything is decoded."""
LONGEST_SIDE = 1024
"""Pixels; a larger picture is scaled down before anybody sees it."""
_KEPT = 64
"""Pictures that are not decoded again when they are downloaded again."""


@dataclass(frozen=True)
class Downloaded:
    """A picture from the web."""

    png: bytes
    """RGB, upright, at most `LONGEST_SIDE`."""
    url: str
    """Where it came from, after redirects."""


class PictureClient:
    """Downloads pictures."""

    def __init__(self, requester: Requester) -> None:
        self._requester = requester

    async def download(self, url: str) -> Downloaded:
        """The picture at `url`.

        Raises:
            NotThere: there is nothing at `url`.
            Unusable: what is there is no picture, or one too large to open.
            ServiceError: its server gave no answer.

        """
        response = await self._requester.send(SERVICE, "GET", url, check=_check, redirects=True)
        if response.status in _MISSING:
            raise NotThere(url)
        return Downloaded(opened(response.content), response.url)


def _check(answer: Answer) -> None:
    if answer.status != 200 and answer.status not in _MISSING:
        raise ServiceError(SERVICE, f"status {answer.status}")


@lru_cache(maxsize=_KEPT)
def opened(data: bytes) -> bytes:
    """The picture as PNG that every reader can take; a PNG that is that already keeps its bytes.

    Raises:
        Unusable: it is no picture, cut short, or too large.

    """
    with warnings.catch_warnings():
        # Sizes are checked here, against a stricter bound than Pillow's.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            return _opened(data)
        except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
            raise Unusable("the picture cannot be decoded") from error


def _opened(data: bytes) -> bytes:
    image = Image.open(io.BytesIO(data))
    if image.width * image.height > MAX_PIXELS:
        raise Unusable(f"a picture of {image.width} x {image.height} pixels")
    image.load()
    if image.format == "PNG" and image.mode == "RGB" and max(image.size) <= LONGEST_SIDE:
        return data
    plain = ImageOps.exif_transpose(image).convert("RGB")
    plain.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    return encode_png(plain)


def encode_png(image: Image.Image) -> bytes:
    """Encode without metadata; the same pixels give the same bytes."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
