"""Reading `params.yaml`: every mistake in it becomes one sentence that names the item and the mend."""

import difflib
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from components.config.schema import Params
from components.errors import UsageError, nearest


def load_params(path: Path) -> Params:
    """Read and check the settings at `path`; a section or key left out keeps its default.

    Raises:
        UsageError: the file is missing or no YAML, or a key or value in it is wrong.

    """
    return parse_params(_read_mapping(path), path)


def parse_params(values: dict[str, Any], path: Path) -> Params:
    """Check settings that were read from `path`, which is named in errors. An empty section means its defaults."""
    given = {key: {} if value is None else value for key, value in values.items()}
    try:
        return Params.model_validate(given)
    except ValidationError as error:
        raise UsageError(_sentence(error.errors(), path)) from None
    except UsageError as error:  # its value may hold a key, and is not repeated
        raise UsageError(f"{path}: {error}") from None


def _read_mapping(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; run inside a checkout of EviFlow, or name one with --root") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is not valid YAML: {_yaml_problem(error)}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{path} holds a {type(document).__name__}, not sections such as `sft:`")
    return {str(key): value for key, value in document.items()}


def _yaml_problem(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "unreadable text"
    return f"{problem} at line {mark.line + 1}, column {mark.column + 1}" if mark else problem


def _sentence(errors: list[ErrorDetails], path: Path) -> str:
    """The first error, unknown keys before wrong values, as one sentence."""
    error = min(errors, key=lambda item: item["type"] != "extra_forbidden")
    dotted = ".".join(str(part) for part in error["loc"])
    more = f" ({len(errors) - 1} more in this file)" if len(errors) > 1 else ""
    if error["type"] == "extra_forbidden":
        return f"{path}: unknown key `{dotted}`; {_suggestion(error['loc'])}{more}"
    allowed = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{path}: `{dotted}` is {error['input']!r}, but must be {allowed}{more}"


def _suggestion(location: tuple[int | str, ...]) -> str:
    """What was probably meant: a near key of the same section, else the same key in another section."""
    wrong, parents = str(location[-1]), [str(part) for part in location[:-1]]
    here = _fields(parents)
    near = difflib.get_close_matches(wrong, here, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{'.'.join([*parents, near[0]])}`?"
    everywhere = {key: f"{section}.{key}" for section in Params.model_fields for key in _fields([section])}
    far = difflib.get_close_matches(wrong, list(everywhere), n=1, cutoff=0.8)
    if far:
        return f"did you mean `{everywhere[far[0]]}`?"
    return f"the nearest right key is `{'.'.join([*parents, nearest(wrong, here)])}`"


def _fields(parents: list[str]) -> list[str]:
    model: type[BaseModel] = Params
    for name in parents:
        annotation = model.model_fields[name].annotation if name in model.model_fields else None
        # Prices are listed by names of the user's own; what stands below is known by the table's values.
        annotation = get_args(annotation)[-1] if get_origin(annotation) is dict else annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            model = annotation
    return list(model.model_fields)
