"""Which models an OpenAI-compatible server has: `GET {base}/models`."""

from pydantic import BaseModel, SecretStr, ValidationError

from components.tools.clients.completions import SERVICE
from components.tools.clients.http import Requester


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    data: list[_Model]


async def model_names(requester: Requester, base: str, key: SecretStr | None) -> tuple[str, ...] | None:
    """What the server calls its models; None where it has no such list.

    Raises:
        Rejected: the server does not take the key.
        ServiceError: there is no answer.

    """
    headers = {}
    if key is not None:
        requester.keep_secret(key.get_secret_value())
        headers["Authorization"] = f"Bearer {key.get_secret_value()}"
    answer = await requester.send(SERVICE, "GET", f"{base}/models", headers=headers)
    try:
        listed = _Models.model_validate_json(answer.content) if answer.status == 200 else None
    except ValidationError:
        listed = None
    return None if listed is None else tuple(model.id for model in listed.data)
