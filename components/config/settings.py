"""What the environment decides: addresses of servers. Read when asked for, never at import."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Addresses that differ from machine to machine; everything else stands in `params.yaml`."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    mlflow_tracking_uri: str | None = Field(default=None, validation_alias="MLFLOW_TRACKING_URI")
    """An MLflow server; None keeps everything in `mlflow.db` of the checkout."""
    prefect_api_url: str | None = Field(default=None, validation_alias="PREFECT_API_URL")
    """A Prefect server; None starts the embedded one for as long as the run takes."""


def load_settings() -> Settings:
    """The settings of this process's environment; an empty variable counts as unset."""
    return Settings()
