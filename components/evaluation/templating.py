"""Jinja and pictures as every page of the project uses them."""

import base64
import io

import jinja2
from PIL import Image

from components.records.image_bank import ImageBank


def template_environment(package: str) -> jinja2.Environment:
    """Templates of a package: everything is escaped, and a name that is not there is an error.

    `page.css.jinja`, the common look, is there for every package.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("components.evaluation")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = lambda name: name.replace("_", " ")
    return environment


def thumbnail(digest: str, bank: ImageBank, side: int) -> str:
    """A picture at most `side` pixels long as a data URI, for pages that need no other file; empty when it is lost."""
    if digest not in bank:
        return ""
    picture = bank.open(digest)
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, format="JPEG", quality=82)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
