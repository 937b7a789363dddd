import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from components.errors import UsageError
from components.records.image_check import LONGEST_SIDE, PictureError, clean_picture, read_picture


def picture(mode: str = "RGB", size: tuple[int, int] = (64, 48)) -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels).convert(mode)


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read_picture(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert caught.value.exit_code == 2
    return message


def header_only_png(path: Path, width: int, height: int) -> Path:
    """A PNG that claims a size and holds hardly any pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(100))))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


def test_files_that_are_no_picture(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "nowhere.png")
    assert "is a folder" in refused(tmp_path)
    (tmp_path / "empty.png").touch()
    assert "is empty" in refused(tmp_path / "empty.png")
    (tmp_path / "text.png").write_text("not a picture")
    assert "not a readable picture" in refused(tmp_path / "text.png")


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "gif", "bmp"])
def test_a_truncated_picture(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cut.{suffix}"
    picture(size=(300, 200)).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    message = refused(path)
    assert "cut short" in message or "not a readable" in message


@pytest.mark.parametrize("suffix", ["gif", "png", "webp", "tiff"])
def test_an_animated_picture(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"moving.{suffix}"
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "green", "blue")]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert "animated" in refused(path)


@pytest.mark.parametrize(("width", "height"), [(8001, 8000), (12000, 12000), (60000, 60000)])
def test_a_gigantic_picture_is_refused_from_its_header(tmp_path: Path, width: int, height: int) -> None:
    assert "over 64 megapixels" in refused(header_only_png(tmp_path / "huge.png", width, height))


def test_64_megapixels_are_not_too_large(tmp_path: Path) -> None:
    assert "cut short" in refused(header_only_png(tmp_path / "large.png", 8000, 8000))


def test_a_sliver_is_too_small(tmp_path: Path) -> None:
    picture(size=(2000, 20)).save(tmp_path / "sliver.png")
    assert "under 16 pixels" in refused(tmp_path / "sliver.png")


def test_a_plain_png_keeps_its_bytes(tmp_path: Path) -> None:
    picture().save(tmp_path / "plain.png")
    assert read_picture(tmp_path / "plain.png") == (tmp_path / "plain.png").read_bytes()


@pytest.mark.parametrize(
    ("mode", "suffix"),
    [("RGB", "jpg"), ("CMYK", "jpg"), ("L", "jpg"), ("RGB", "webp"), ("P", "png"), ("RGBA", "png"), ("1", "png"),
     ("P", "gif"), ("RGB", "bmp"), ("LA", "png"), ("I;16", "png"), ("CMYK", "tiff")],
)  # fmt: skip
def test_other_forms_become_rgb_png(tmp_path: Path, mode: str, suffix: str) -> None:
    path = tmp_path / f"form.{suffix}"
    if mode == "I;16":
        Image.fromarray(np.full((48, 64), 32768, dtype=np.uint16)).save(path)
    else:
        picture(mode).save(path)
    result = Image.open(io.BytesIO(read_picture(path)))
    assert (result.format, result.mode, result.size) == ("PNG", "RGB", (64, 48))
    assert result.info == {}
    if mode == "I;16":
        assert result.getpixel((0, 0)) == (128, 128, 128)


def test_transparency_becomes_white(tmp_path: Path) -> None:
    Image.new("RGBA", (32, 32), (200, 0, 0, 0)).save(tmp_path / "clear.png")
    assert Image.open(io.BytesIO(read_picture(tmp_path / "clear.png"))).getpixel((5, 5)) == (255, 255, 255)


def test_a_rotated_photograph_stands_upright_and_tells_nothing_else(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "a hint"
    picture(size=(64, 32)).save(tmp_path / "turned.jpg", exif=exif)
    result = Image.open(io.BytesIO(read_picture(tmp_path / "turned.jpg")))
    assert result.size == (32, 64)
    assert not result.getexif()
    assert b"a hint" not in read_picture(tmp_path / "turned.jpg")


@pytest.mark.parametrize("where", ["private chunk", "text behind the pixels", "behind the end"])
def test_a_plain_png_with_anything_hidden_in_it_is_written_anew(tmp_path: Path, where: str) -> None:
    picture().save(tmp_path / "plain.png")
    plain = (tmp_path / "plain.png").read_bytes()
    kind, hint = (b"prVt" if where == "private chunk" else b"tEXt"), b"Comment\0a hint"
    hidden = struct.pack(">I", len(hint)) + kind + hint + struct.pack(">I", zlib.crc32(kind + hint))
    end = plain[-12:]
    changed = plain + hint if where == "behind the end" else plain[:-12] + hidden + end
    (tmp_path / "hint.png").write_bytes(changed)
    assert b"a hint" not in read_picture(tmp_path / "hint.png")
    assert read_picture(tmp_path / "hint.png") == plain


def test_a_picture_that_is_a_program_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "program.eps"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n%%EndComments\nshowpage\n")
    assert Image.open(path).format == "EPS"
    assert "not a readable picture" in refused(path)


def test_a_phone_photograph_with_a_second_view_is_one_picture(tmp_path: Path) -> None:
    picture().save(tmp_path / "phone.jpg", format="MPO", save_all=True, append_images=[picture()])
    assert Image.open(tmp_path / "phone.jpg").format == "MPO"
    assert Image.open(io.BytesIO(read_picture(tmp_path / "phone.jpg"))).size == (64, 48)


def test_a_large_picture_is_scaled_down(tmp_path: Path) -> None:
    picture(size=(3000, 1500)).save(tmp_path / "large.png")
    assert Image.open(io.BytesIO(read_picture(tmp_path / "large.png"))).size == (LONGEST_SIDE, LONGEST_SIDE // 2)


def encoded(kind: str) -> bytes:
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    picture(size=(40, 30)).save(buffer, format=kind, **({} if kind in ("GIF", "BMP", "PPM") else {"exif": exif}))
    return buffer.getvalue()


@given(
    st.sampled_from(["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM"]),
    st.lists(st.tuples(st.integers(0, 4000), st.binary(min_size=1, max_size=8)), max_size=6),
    st.integers(0, 6000),
)
def test_a_file_damaged_anywhere_is_a_clean_picture_or_refused(
    kind: str, changes: list[tuple[int, bytes]], length: int
) -> None:
    data = bytearray(encoded(kind))
    for at, change in changes:
        at %= len(data)
        data[at : at + len(change)] = change
    try:
        result = clean_picture(io.BytesIO(bytes(data[:length])), "it")
    except PictureError:
        return
    shown = Image.open(io.BytesIO(result))
    assert (shown.format, shown.mode, shown.info) == ("PNG", "RGB", {})
