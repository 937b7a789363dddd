"""Stage `policy`: the untrained student, with a tokenizer learned from the reviewed training episodes."""

from collections.abc import Sequence

from components.agent.render import messages_of
from components.config.paths import Paths
from components.config.schema import Params
from components.policies.student import build_image_processor, build_student, save_student
from components.policies.tokenizer import chat_template, train_tokenizer
from components.records.base import Record
from components.records.episode import Episode
from components.records.shards import read_episodes
from components.storage.atomic import replace_folder
from components.tools.registry import schemas_for


class PolicySummary(Record):
    """What the stage made."""

    parameters: int
    """Trainable weights."""
    vocab_size: int
    """Entries of the tokenizer."""


def build_policy(params: Params, paths: Paths) -> PolicySummary:
    """Learn the tokenizer, draw the weights, and write both to `paths.base_policy` as a Hugging Face folder."""
    episodes = read_episodes(paths.reviewed / "episodes.parquet")
    tokenizer = train_tokenizer(_rendered(episodes), params.policy.vocab_size)
    model = build_student(params.policy, tokenizer)
    with replace_folder(paths.base_policy) as folder:
        save_student(folder, model, tokenizer, build_image_processor(params.policy))
    return PolicySummary(parameters=model.num_parameters(), vocab_size=len(tokenizer))


def _rendered(episodes: Sequence[Episode]) -> list[str]:
    """Each episode as the text that the student will read and write."""
    from transformers.utils.chat_template_utils import render_jinja_template

    texts = []
    for episode in episodes:
        chat = [{"role": message.role, "content": message.text} for message in messages_of(episode)]
        tools = [tool.as_function() for tool in schemas_for(episode.exposed_tools)]
        texts.extend(render_jinja_template([chat], tools=tools, chat_template=chat_template())[0])
    return texts
