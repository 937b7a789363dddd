import pytest

from components.config.flatten import flat_params
from components.config.schema import Params
from components.config.settings import load_settings


def test_addresses_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    monkeypatch.setenv("PREFECT_API_URL", "")
    settings = load_settings()
    assert settings.mlflow_tracking_uri == "http://127.0.0.1:5000"
    assert settings.prefect_api_url is None


def test_settings_are_flat_for_mlflow() -> None:
    flat = flat_params(Params(), ["sft", "review"])
    assert flat["sft.steps"] == Params().sft.steps
    assert {key.split(".")[0] for key in flat} == {"sft", "review"}
