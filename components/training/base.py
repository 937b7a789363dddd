"""Stage `policy`: the student before fine-tuning, with a tokenizer learned from the reviewed training episodes.

eviflow stage policy
"""

from collections.abc import Sequence

from components.agent.render import messages_of
from components.config.paths import Paths
from components.config.schema import Params
from components.policies.student import build_image_processor, build_student, save_student
from components.policies.tokenizer import chat_template, train_tokenizer
from components.progress import Progress
from components.records.admitted import admitted_episodes
from components.records.base import Record
from components.records.episode import Episode
from components.storage.atomic import replace_folder
from components.tools.registry import schemas_for
from components.training.drills import run_drills, vocabulary


class PolicySummary(Record):
    """What the stage made."""

    parameters: int
    """Trainable weights."""
    vocab_size: int
    """Entries of the tokenizer."""
    drill_losses: dict[str, float]
    """Of the last drills, nats per token: `copy` and `compare`; near zero when the student has learned them."""


def build_policy(params: Params, paths: Paths) -> PolicySummary:
    """Learn the tokenizer, draw the weights, drill them, and write a Hugging Face folder to `paths.base_policy`."""
    episodes = admitted_episodes(paths)
    tokenizer = train_tokenizer(_rendered(episodes), params.policy.vocab_size)
    model = build_student(params.policy, tokenizer)
    words = vocabulary(tokenizer)
    with Progress("drills", params.drills.steps, "steps") as progress:
        losses = run_drills(model, words, params.drills, progress.reach)
    with replace_folder(paths.base_policy) as folder:
        save_student(folder, model.eval(), tokenizer, build_image_processor(params.policy))
    return PolicySummary(parameters=model.num_parameters(), vocab_size=len(tokenizer), drill_losses=losses)


def _rendered(episodes: Sequence[Episode]) -> list[str]:
    """Each episode as the text that the student will read and write."""
    from transformers.utils.chat_template_utils import render_jinja_template

    texts = []
    for episode in episodes:
        chat = [{"role": message.role, "content": message.text} for message in messages_of(episode)]
        tools = [tool.as_function() for tool in schemas_for(episode.exposed_tools, episode.tool_set)]
        texts.extend(render_jinja_template([chat], tools=tools, chat_template=chat_template())[0])
    return texts
