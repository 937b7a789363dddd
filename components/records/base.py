"""The base of every record: frozen, and strict about its keys."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record; an unknown key is an error, so that no field is lost in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")
