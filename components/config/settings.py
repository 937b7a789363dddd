"""What the environment decides: addresses of servers, and keys. Read when asked for, never at import."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

_CONFIG = SettingsConfigDict(
    frozen=True, extra="ignore", env_ignore_empty=True, env_file_encoding="utf-8", hide_input_in_errors=True
)


class Settings(BaseSettings):
    """Addresses that differ from machine to machine; everything else stands in `params.yaml`."""

    model_config = _CONFIG

    mlflow_tracking_uri: str | None = Field(default=None, validation_alias="MLFLOW_TRACKING_URI")
    """An MLflow server; None keeps everything in `mlflow.db` of the checkout."""
    prefect_api_url: str | None = Field(default=None, validation_alias="PREFECT_API_URL")
    """A Prefect server; None starts the embedded one for as long as the run takes."""


class ServiceSettings(BaseSettings):
    """Keys of the services that tools use, and addresses other than the vendors' own."""

    model_config = _CONFIG

    serper_key: SecretStr | None = Field(default=None, validation_alias="SERPER_API_KEY")
    jina_key: SecretStr | None = Field(default=None, validation_alias="JINA_API_KEY")
    baidu_key: SecretStr | None = Field(default=None, validation_alias="BAIDU_OCR_API_KEY")
    baidu_secret: SecretStr | None = Field(default=None, validation_alias="BAIDU_OCR_SECRET_KEY")
    upload_bucket: str | None = Field(default=None, validation_alias="EVIFLOW_UPLOAD_BUCKET")
    """Where a picture lies while a search by picture looks at it."""
    upload_key: SecretStr | None = Field(default=None, validation_alias="EVIFLOW_UPLOAD_KEY_ID")
    upload_secret: SecretStr | None = Field(default=None, validation_alias="EVIFLOW_UPLOAD_SECRET_KEY")
    upload_endpoint: str | None = Field(default=None, validation_alias="EVIFLOW_UPLOAD_ENDPOINT")
    """An S3 server other than Amazon's."""
    upload_region: str = Field(default="us-east-1", validation_alias="EVIFLOW_UPLOAD_REGION")
    serper_url: str | None = Field(default=None, validation_alias="SERPER_BASE_URL")
    jina_url: str | None = Field(default=None, validation_alias="JINA_BASE_URL")
    baidu_url: str | None = Field(default=None, validation_alias="BAIDU_BASE_URL")
    openai_key: SecretStr | None = Field(default=None, validation_alias="EVIFLOW_OPENAI_KEY")
    """Of an OpenAI-compatible server; None for one that asks for none."""
    vision_url: str | None = Field(default=None, validation_alias="EVIFLOW_VISION_URL")
    """An OpenAI-compatible server, up to and with `/v1`, for `tools.perception: model`."""
    vision_key: SecretStr | None = Field(default=None, validation_alias="EVIFLOW_VISION_KEY")
    """Its key; None for one that asks for none."""
    world_url: str | None = Field(default=None, validation_alias="EVIFLOW_WORLD_URL")
    """A served world (`eviflow world serve`) that answers in the place of everything."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every key there is, for whoever must keep them out of what it writes."""
        held = (getattr(self, name) for name in type(self).model_fields)
        return tuple(value.get_secret_value() for value in held if isinstance(value, SecretStr))

    @property
    def missing(self) -> tuple[str, ...]:
        """The variables without which not every tool can be used."""
        needed = ("serper_key", "jina_key", "baidu_key", "baidu_secret", "upload_bucket")
        return tuple(variable(name) for name in needed if getattr(self, name) is None)


def load_settings() -> Settings:
    """The settings of this process's environment; an empty variable counts as unset."""
    return Settings()


def load_service_settings(root: Path) -> ServiceSettings:
    """The same for the services; what the environment does not say, the file `.env` of the checkout may."""
    return ServiceSettings(_env_file=root / ".env")


def variable(field: str) -> str:
    """The environment variable of a field of `ServiceSettings`."""
    return str(ServiceSettings.model_fields[field].validation_alias)
