"""Settings as one flat table, the form in which MLflow keeps parameters."""

from collections.abc import Collection
from typing import Any

from components.config.schema import Params


def flat_params(params: Params, sections: Collection[str]) -> dict[str, Any]:
    """`section.key: value` for each key of the sections, which may be single keys as well."""
    plain = params.model_dump(mode="json")
    flat = {f"{name}.{key}": value for name, section in plain.items() for key, value in section.items()}
    return {key: value for key, value in flat.items() if key in sections or key.partition(".")[0] in sections}
