"""What flows are given and give back: small, shallow, and without any data in them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class StageRequest(BaseModel):
    """What to work on. The settings of every stage are in the checkout's `params.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Annotated[str, Field(title="Checkout", description="Folder with params.yaml and dvc.yaml.")] = "."
    parent_run_id: Annotated[
        str | None, Field(title="MLflow parent run", description="Set by the full flow; left empty by hand.")
    ] = None


HERE = StageRequest()
"""The checkout in the current folder, without a parent run."""


class StageOutcome(BaseModel):
    """How a stage ended."""

    model_config = ConfigDict(frozen=True)

    stage: str
    run_id: str
    """Its MLflow run."""
    seconds: float
    worked: bool
    """False when everything was up to date and nothing was done."""
    metrics: dict[str, float]


class ChainOutcome(BaseModel):
    """How the whole chain ended."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    """The MLflow parent run."""
    run_url: str
    stages: list[StageOutcome]


class RollbackRequest(BaseModel):
    """Which version of the data to bring back."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: Annotated[str, Field(title="Revision", description="A commit, branch or tag; see `eviflow data log`.")]
    root: Annotated[str, Field(title="Checkout", description="Folder with params.yaml and dvc.yaml.")] = "."
    dry_run: Annotated[bool, Field(title="Dry run", description="Check everything and change nothing.")] = False


class RollbackOutcome(BaseModel):
    """What a rollback has done, or would do."""

    model_config = ConfigDict(frozen=True)

    commit: str
    objects: int
    """Every object of the version; all are to be had."""
    fetched: int
    """Of these, the ones that the remote alone had."""
    switched: list[str]
    """Files of git that changed."""
    restored: int
    """Files of data that were written."""
    trained: list[str]
    """MLflow runs trained on the version, with their registered models."""
