from pathlib import Path

import pytest

from components.config.flatten import flat_params
from components.config.schema import Params, ToolParams
from components.config.settings import ServiceSettings, load_service_settings, load_settings, variable


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
    assert flat_params(Params(), ["serving.top_k"]) == {"serving.top_k": Params().serving.top_k}


def test_the_world_is_built_without_vendors_whatever_answers_the_agent() -> None:
    params = Params(tools=ToolParams(transport="live", perception="model", search_results=5))
    assert params.on_world().tools == ToolParams(search_results=5)


def test_keys_come_from_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("SERPER_API_KEY=of-the-file\nJINA_API_KEY=of-the-file\nEVIFLOW_UPLOAD_REGION=\n")
    monkeypatch.setenv("SERPER_API_KEY", "of-the-shell")
    held = load_service_settings(tmp_path)
    assert held.secrets == ("of-the-shell", "of-the-file")
    assert held.upload_region == "us-east-1"
    assert held.missing == ("BAIDU_OCR_API_KEY", "BAIDU_OCR_SECRET_KEY", "EVIFLOW_UPLOAD_BUCKET")


def test_the_example_names_every_variable() -> None:
    lines = (Path(__file__).parents[3] / ".env.example").read_text().splitlines()
    named = {line.partition("=")[0] for line in lines if "=" in line and not line.startswith("#")}
    assert named == {variable(name) for name in ServiceSettings.model_fields}
