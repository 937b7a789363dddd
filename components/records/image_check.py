"""Reading a picture that a user names, and refusing what cannot be investigated in one clear sentence."""

import io
import struct
import warnings
import zlib
from enum import StrEnum
from pathlib import Path
from typing import IO

from PIL import Image, ImageOps

from components.errors import UsageError

MAX_PIXELS = 64_000_000
"""A larger picture is refused from its header, before anything is decoded."""
LONGEST_SIDE = 1024
SHORTEST_SIDE = 16
_FORMATS = frozenset({"AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "MPO", "PNG", "PPM", "TIFF", "WEBP"})
"""Plain pictures. Others that Pillow opens are programs (EPS), movies or layered documents."""
_BROKEN = (
    OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError, AttributeError, RuntimeError,
    struct.error, zlib.error, Image.DecompressionBombError,
)  # fmt: skip
"""What decoders raise over damaged files."""


class PictureFault(StrEnum):
    """What is wrong with a picture."""

    UNREADABLE = "unreadable"
    """No picture, cut short, or damaged."""
    TOO_LARGE = "too_large"
    TOO_SMALL = "too_small"
    ANIMATED = "animated"


class PictureError(UsageError):
    """A picture cannot be investigated."""

    def __init__(self, fault: PictureFault, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = fault


def read_picture(path: Path) -> bytes:
    """The picture as RGB PNG bytes, upright, at most `LONGEST_SIDE` on its longest side, without metadata.

    A PNG that is all that already is returned byte for byte, so that it keeps its hash.

    Raises:
        UsageError: the file is missing, a folder, empty, no picture, cut short, animated or too large.

    """
    _check_file(path)
    with path.open("rb") as file:
        return clean_picture(file, str(path))


def clean_picture(file: IO[bytes], name: str) -> bytes:
    """The same for an open file, which is called `name` in errors.

    Raises:
        PictureError: it is no picture, cut short, animated, too large or too small.

    """
    with warnings.catch_warnings():
        # Sizes are checked here, against a stricter bound than Pillow's, and damaged metadata is dropped with the rest.
        warnings.simplefilter("ignore")
        image, ready = _decode(file, name)
    if ready:
        file.seek(0)
        data = file.read()
        if holds_pixels_only(data):
            return data
    return _encode(image, name)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name one picture inside it")
    if not path.exists():
        raise UsageError(f"{path} does not exist; check the path of the picture, or the id of the case")
    if not path.is_file():
        raise UsageError(f"{path} is not a regular file; name a PNG, JPEG or WEBP picture")
    if path.stat().st_size == 0:
        raise UsageError(f"{path} is empty; copy or download the picture again")


def _decode(file: IO[bytes], name: str) -> tuple[Image.Image, bool]:
    """The decoded picture, and whether the file can be used as it is."""
    try:
        opened = Image.open(file)
    except Image.DecompressionBombError as error:
        raise _too_large(name) from error
    except _BROKEN as error:
        raise _no_picture(name) from error
    with opened as image:
        if image.format not in _FORMATS:
            raise _no_picture(name)
        if image.width * image.height > MAX_PIXELS:
            raise _too_large(name, image.size)
        try:
            # A phone's MPO file is one photograph with auxiliary views of it, not an animation.
            if image.format != "MPO" and getattr(image, "n_frames", 1) > 1:
                sentence = f"{name} is animated or has several pages; save the one frame to investigate as PNG"
                raise PictureError(PictureFault.ANIMATED, sentence)
            image.load()
            return _flat(ImageOps.exif_transpose(image)), _is_ready(image)
        except _BROKEN as error:
            sentence = f"{name} is cut short or damaged; copy or download it again"
            raise PictureError(PictureFault.UNREADABLE, sentence) from error


def _no_picture(name: str) -> PictureError:
    sentence = f"{name} is not a readable picture; save it as PNG or JPEG and try again"
    return PictureError(PictureFault.UNREADABLE, sentence)


def _too_large(name: str, size: tuple[int, int] | None = None) -> PictureError:
    found = f" ({size[0]} x {size[1]} pixels)" if size else ""
    sentence = f"{name}{found} is over {MAX_PIXELS // 10**6} megapixels; scale it down and try again"
    return PictureError(PictureFault.TOO_LARGE, sentence)


def holds_pixels_only(data: bytes) -> bool:
    """Whether a PNG has no chunk besides its pixels, and nothing behind them: Pillow passes over private chunks."""
    position = 8
    while position + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        position += 12 + length
        if kind == b"IEND":
            return position == len(data)
        if kind not in (b"IHDR", b"IDAT"):
            return False
    return False


def _is_ready(image: Image.Image) -> bool:
    plain = image.format == "PNG" and image.mode == "RGB" and not image.info
    return plain and max(image.size) <= LONGEST_SIDE and min(image.size) >= SHORTEST_SIDE


def _flat(image: Image.Image) -> Image.Image:
    """RGB, with white behind anything transparent."""
    if image.mode.startswith("I;16"):
        # Pillow would clip 16-bit grey to 255 instead of scaling it.
        image = image.point(lambda value: value / 256).convert("L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    layered = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layered.size, "white"), layered).convert("RGB")


def _encode(image: Image.Image, name: str) -> bytes:
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    if min(image.size) < SHORTEST_SIDE:
        sentence = f"{name} is under {SHORTEST_SIDE} pixels high or wide; choose a larger picture"
        raise PictureError(PictureFault.TOO_SMALL, sentence)
    image.info.clear()
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
