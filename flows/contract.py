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
