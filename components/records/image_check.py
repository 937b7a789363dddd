"""Reading a picture that a user names, and refusing what cannot be investigated in one clear sentence."""

import io
import struct
import warnings
from pathlib import Path

from PIL import Image, ImageOps

from components.errors import UsageError

MAX_PIXELS = 64_000_000
"""A larger picture is refused from its header, before anything is decoded."""
LONGEST_SIDE = 1024
SHORTEST_SIDE = 16
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, struct.error, Image.DecompressionBombError)


def read_picture(path: Path) -> bytes:
    """The picture as RGB PNG bytes, upright, at most `LONGEST_SIDE` on its longest side, without metadata.

    A PNG that is all that already is returned byte for byte, so that it keeps its hash.

    Raises:
        UsageError: the file is missing, a folder, empty, no picture, cut short, animated or too large.

    """
    _check_file(path)
    with warnings.catch_warnings():
        # Sizes are checked here, against a stricter bound than Pillow's.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        image = _decode(path)
    return path.read_bytes() if image is None else _encode(image, path)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name one picture inside it")
    if not path.exists():
        raise UsageError(f"{path} does not exist; check the path of the picture")
    if not path.is_file():
        raise UsageError(f"{path} is not a regular file; name a PNG, JPEG or WEBP picture")
    if path.stat().st_size == 0:
        raise UsageError(f"{path} is empty; copy or download the picture again")


def _decode(path: Path) -> Image.Image | None:
    """The decoded picture, or None when the file can be used as it is."""
    try:
        opened = Image.open(path)
    except Image.DecompressionBombError as error:
        raise _too_large(path) from error
    except _BROKEN as error:
        raise UsageError(f"{path} is not a readable picture; save it as PNG or JPEG and try again") from error
    with opened as image:
        if image.width * image.height > MAX_PIXELS:
            raise _too_large(path, image.size)
        try:
            # A phone's MPO file is one photograph with auxiliary views of it, not an animation.
            if image.format != "MPO" and getattr(image, "n_frames", 1) > 1:
                raise UsageError(f"{path} is animated or has several pages; save the one frame to investigate as PNG")
            image.load()
            if _is_ready(image):
                return None
            return _flat(ImageOps.exif_transpose(image))
        except _BROKEN as error:
            raise UsageError(f"{path} is cut short or damaged; copy or download it again") from error


def _too_large(path: Path, size: tuple[int, int] | None = None) -> UsageError:
    found = f" ({size[0]} x {size[1]} pixels)" if size else ""
    return UsageError(f"{path}{found} is over {MAX_PIXELS // 10**6} megapixels; scale it down and try again")


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


def _encode(image: Image.Image, path: Path) -> bytes:
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    if min(image.size) < SHORTEST_SIDE:
        raise UsageError(f"{path} is under {SHORTEST_SIDE} pixels high or wide; choose a larger picture")
    image.info.clear()
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
