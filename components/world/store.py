"""The public files of the world: pages and pictures as parquet. Equal records give equal bytes."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from components.errors import EviflowError
from components.records.web import Page, WebPicture
from components.storage.atomic import write_bytes

T = TypeVar("T", bound=BaseModel)

_TEXT = pa.string()
_PAGES = pa.schema([(name, _TEXT) for name in Page.model_fields])
_PICTURES = pa.schema(
    [(name, pa.int32() if name in ("width", "height") else _TEXT) for name in WebPicture.model_fields]
)


def write_pages(folder: Path, pages: Iterable[Page]) -> Path:
    """Write `pages.parquet` into `folder`, sorted by URL."""
    ordered: list[Page] = sorted(pages, key=lambda page: page.url)
    return _write(folder / "pages.parquet", ordered, _PAGES)


def write_pictures(folder: Path, pictures: Iterable[WebPicture]) -> Path:
    """Write `pictures.parquet` into `folder`, sorted by URL; the pictures themselves are in shards there."""
    ordered: list[WebPicture] = sorted(pictures, key=lambda picture: picture.image_url)
    return _write(folder / "pictures.parquet", ordered, _PICTURES)


def read_pages(folder: Path) -> list[Page]:
    """Every page of the world in `folder`, sorted by URL; raises EviflowError when the world is not built."""
    return _read(folder / "pages.parquet", Page)


def read_pictures(folder: Path) -> list[WebPicture]:
    """Every picture of the world in `folder`, sorted by URL; raises EviflowError when the world is not built."""
    return _read(folder / "pictures.parquet", WebPicture)


def picture_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every picture of the world in `folder`, by URL; raises EviflowError when the world is not built."""
    table = _table(folder / "pictures.parquet", ["image_url", "sha256"])
    return dict(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))


def _write(path: Path, records: Sequence[BaseModel], schema: pa.Schema) -> Path:
    table = pa.Table.from_pylist([record.model_dump(mode="json") for record in records], schema=schema)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return write_bytes(path, buffer.getvalue())


def _read(path: Path, kind: type[T]) -> list[T]:
    return [kind.model_validate(row) for row in _table(path).to_pylist()]


def _table(path: Path, columns: list[str] | None = None) -> pa.Table:
    if not path.exists():
        raise EviflowError(f"{path} is missing; build the world with `eviflow stage world`")
    return pq.read_table(path, columns=columns)
