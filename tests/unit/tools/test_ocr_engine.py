import io
from pathlib import Path

import pytest
from PIL import Image

from components.config.schema import ToolParams
from components.errors import UsageError
from components.tools.ocr import OcrEngine, OcrLine, printed_lines
from components.world.draw import Scene, draw_scene, encode_png
from components.world.entities import FaceSpec

FACE = FaceSpec(skin="honey", hair_colour="brown", hair_shape="short", glasses="round", beard="none", hat="none")
PRINTED = ("Harvest Gala", "Rowan Hall", "9 December 2031")


@pytest.fixture(scope="module")
def picture() -> bytes:
    scene = Scene(FACE, "kite", 6, 1, "meadow", 1, title=PRINTED[0], below=PRINTED[1:])
    return encode_png(draw_scene(scene))


@pytest.mark.slow
def test_printed_text_is_read_exactly_and_remembered(picture: bytes, tmp_path: Path) -> None:
    lines = OcrEngine(ToolParams(), tmp_path).read(picture)
    assert tuple(line.text for line in lines) == PRINTED
    kept = list(tmp_path.rglob("*.json"))
    assert len(kept) == 1
    kept[0].write_text('[{"text": "from the cache", "box": [0, 0, 1, 1], "confidence": 1.0}]')
    assert OcrEngine(ToolParams(), tmp_path).read(picture)[0].text == "from the cache"
    assert not list(tmp_path.rglob("*.tmp"))


def test_another_side_is_another_cache(tmp_path: Path) -> None:
    folders = {OcrEngine(ToolParams(ocr_side=side), tmp_path)._folder for side in (320, 640)}
    assert len(folders) == 2


def test_bytes_that_are_no_picture_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no picture"):
        OcrEngine(ToolParams(), tmp_path).read(b"not a picture")
    assert not list(tmp_path.rglob("*.json"))


def test_a_cut_off_picture_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 40).save(buffer, "PNG")
    with pytest.raises(UsageError, match="no picture"):
        OcrEngine(ToolParams(), tmp_path).read(buffer.getvalue()[:600])


def test_pieces_become_lines_in_reading_order() -> None:
    pieces = [
        OcrLine(text="Rowan Hall", box=(80, 200, 240, 216), confidence=0.9),
        OcrLine(text="Gala", box=(160, 12, 220, 30), confidence=0.8),
        OcrLine(text="far", box=(290, 200, 318, 216), confidence=0.9),
        OcrLine(text="Harvest", box=(60, 10, 150, 30), confidence=0.9),
    ]
    lines = printed_lines(pieces)
    assert [line.text for line in lines] == ["Harvest Gala", "Rowan Hall", "far"]
    assert lines[0].box == (60, 10, 220, 30)
    assert lines[0].confidence == 0.8
