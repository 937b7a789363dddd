from collections.abc import Sequence
from copy import copy, deepcopy

import numpy as np
import pytest
from policy_samples import TOOLS, picture

from components.config.sampling import SamplingParams
from components.policies.batching import pad_batch
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.prefixes import Prefix, PrefixStore
from components.records.conversation import Message

IMAGE = 9


@pytest.fixture(scope="module")
def model(folder):
    import torch

    from components.policies.student import load_student

    model = load_student(folder)[0].eval()
    with torch.no_grad():
        # As it was drawn, it says one token over and over.
        for weight in model.model.language_model.layers.parameters():
            weight.mul_(6.0)
    return model


@pytest.fixture
def decoder(model, encoder: ChatEncoder):
    return decoder_of(model, encoder)


def decoder_of(model, encoder: ChatEncoder, length: int = 7, **sampling: float):
    from components.policies.decoding import Decoder

    return Decoder(model, encoder, length, SamplingParams(**sampling), batch_size=8)


def rereader_of(model, encoder: ChatEncoder, length: int = 7, **sampling: float):
    from components.policies.rereading import Rereader

    return Rereader(model, encoder, length, SamplingParams(**sampling), batch_size=8)


def ids(decoder, rows: list[Encoded], seeds: Sequence[int] = ()) -> list[list[int]]:
    """The decoded ids of each row."""
    decoded = decoder.decode(rows, seeds or [0] * len(rows))
    return [[one.token_id for one in chosen] for chosen in decoded]


def generated(model, encoder: ChatEncoder, row: Encoded) -> list[int]:
    """What the model's own generation says, reading everything."""
    import torch

    batch = pad_batch([row], encoder, left=True)
    with torch.inference_mode():
        output = model.generate(**batch, max_new_tokens=7, do_sample=False)
    return output[0, batch["input_ids"].shape[1] :].tolist()


def prompts(encoder: ChatEncoder, messages) -> list[Encoded]:
    """The prompts of an episode's turns."""
    return [encoder.encode(messages[:length], TOOLS, prompt=True) for length in (2, 5)]


def test_a_continued_conversation_gives_what_reading_it_anew_gives(decoder, model, encoder, messages) -> None:
    first, second = prompts(encoder, messages)
    for row in (first, second, second):
        assert ids(decoder, [row]) == [generated(model, encoder, row)]


def test_only_what_is_new_is_read(decoder, encoder, messages) -> None:
    first, second = prompts(encoder, messages)
    ids(decoder, [first])
    assert decoder.tokens_read == len(first.token_ids)
    ids(decoder, [second])
    assert first.token_ids == second.token_ids[: len(first.token_ids)]
    assert decoder.tokens_read == len(second.token_ids)


def test_rows_of_a_batch_do_not_see_each_other(decoder, model, encoder, bank, messages) -> None:
    others = [
        (*messages[:1], Message("user", "Is it?", images=(bank.put(picture(colour)),))) for colour in ("green", "white")
    ]
    rows = [*prompts(encoder, messages), *(encoder.encode(other, TOOLS, prompt=True) for other in others)]
    assert ids(decoder, rows) == [generated(model, encoder, row) for row in rows]
    assert ids(decoder, rows[::-1])[::-1] == [generated(model, encoder, row) for row in rows]


def test_rows_that_end_leave_the_batch_and_change_nothing(model, encoder, messages) -> None:
    rows = [*prompts(encoder, messages), encoder.encode(messages[:1], TOOLS, prompt=True)]
    whole = [generated(model, encoder, row) for row in rows]
    # Each row in turn is ended early, by making its second token the stop token.
    for ended in whole:
        stopping = copy(encoder)
        stopping.stop_id = ended[1]
        cut = [full[: full.index(ended[1]) + 1] if ended[1] in full else full for full in whole]
        assert ids(decoder_of(model, stopping), rows) == cut
        assert ids(rereader_of(model, stopping), rows) == cut


def test_what_was_said_before_is_guessed_and_changes_nothing(model, encoder, messages) -> None:
    (row,) = prompts(encoder, messages)[:1]
    decoder = decoder_of(model, encoder, 40)
    (said,) = ids(decoder, [row])
    assert [said] == ids(rereader_of(model, encoder, 40), [row])
    alone, decoder.steps = decoder.steps, 0
    turn = (len(row.token_ids), len(row.token_ids) + len(said))
    told = Encoded([*row.token_ids, *said, row.token_ids[-1]], [turn], row.images)
    assert ids(decoder, [row, told])[0] == said
    assert decoder.steps < alone < len(said)


@pytest.mark.parametrize("kind", [decoder_of, rereader_of])
def test_what_is_sampled_depends_on_the_conversation_and_its_seed_alone(kind, model, encoder, messages) -> None:
    rows = [row for row in prompts(encoder, messages) for _ in range(4)]
    seeds = list(range(8))
    decoder = kind(model, encoder, 20, temperature=1.0, top_p=0.9)
    together = ids(decoder, rows, seeds)
    assert len({tuple(one) for one in together}) == len(seeds)
    assert ids(decoder, rows[::-1], seeds[::-1])[::-1] == together
    for row, seed, expected in zip(rows, seeds, together, strict=True):
        assert ids(kind(model, encoder, 20, temperature=1.0, top_p=0.9), [row], [seed]) == [expected]


def test_both_ways_of_decoding_sample_the_same(model, encoder, messages) -> None:
    rows = prompts(encoder, messages)
    sampling = {"temperature": 1.3, "top_k": 40, "min_p": 0.01}
    kept, reread = (kind(model, encoder, 20, **sampling) for kind in (decoder_of, rereader_of))
    for seeds in ([1, 2], [3, 4], [1, 2]):
        assert ids(kept, rows, seeds) == ids(reread, rows, seeds)


def variant(tokenizer, **text: object):
    """A model with other layers than the student's."""
    import torch
    from policy_samples import TINY
    from transformers import Qwen3_5ForConditionalGeneration

    from components.policies.student import build_student

    config = build_student(TINY, tokenizer).config
    for name, value in text.items():
        setattr(config.text_config, name, value)
    torch.manual_seed(0)
    return Qwen3_5ForConditionalGeneration(config).eval()


def test_heads_that_share_keys_and_layers_without_biases_are_read_as_well(tokenizer, encoder, messages) -> None:
    from components.policies.decoding import can_decode

    model = variant(tokenizer, num_key_value_heads=1, attention_bias=False)
    assert can_decode(model)
    rows = prompts(encoder, messages)
    kept, reread = (kind(model, encoder, temperature=1.0).decode(rows, [1, 2]) for kind in (decoder_of, rereader_of))
    assert [[one.token_id for one in row] for row in kept] == [[one.token_id for one in row] for row in reread]
    for ours, theirs in zip(kept, reread, strict=True):
        assert [one.logprob for one in ours] == pytest.approx([one.logprob for one in theirs], abs=1e-4)


def test_a_model_with_recurrent_layers_is_sampled_as_well(tokenizer, encoder, messages) -> None:
    recurrent = variant(tokenizer, layer_types=["linear_attention", "full_attention"])
    row = prompts(encoder, messages)[0]
    greedy = ids(rereader_of(recurrent, encoder, 5), [row])
    assert greedy == ids(rereader_of(recurrent, encoder, 5, temperature=1.0, top_k=1), [row])
    together = ids(rereader_of(recurrent, encoder, 5, temperature=1.0), [row, row], [1, 2])
    assert together == [ids(rereader_of(recurrent, encoder, 5, temperature=1.0), [row], [seed])[0] for seed in (1, 2)]
    assert together[0] != together[1]


def test_settings_that_a_model_brings_count_for_nothing(tokenizer, encoder, messages) -> None:
    from transformers import GenerationConfig

    model, rows = variant(tokenizer), prompts(encoder, messages)
    expected = ids(rereader_of(model, encoder, temperature=1.0), rows, [1, 2])
    said = sorted({token for row in expected for token in row})
    own = GenerationConfig(suppress_tokens=said, repetition_penalty=9.0, no_repeat_ngram_size=1)
    model.generation_config = own
    assert ids(rereader_of(model, encoder, temperature=1.0), rows, [1, 2]) == expected
    assert model.generation_config is own


@pytest.mark.parametrize("temperature", [0.0, 2.0])
@pytest.mark.parametrize("kind", [decoder_of, rereader_of])
def test_log_probabilities_are_those_of_the_model(kind, model, encoder, messages, temperature) -> None:
    import torch

    row = prompts(encoder, messages)[1]
    (decoded,) = kind(model, encoder, temperature=temperature, top_logprobs=3).decode([row], [5])
    token_ids = [one.token_id for one in decoded]
    whole = Encoded([*row.token_ids, *token_ids], [], row.images)
    with torch.inference_mode():
        logits = model(**pad_batch([whole], encoder, left=True)).logits[0, len(row.token_ids) - 1 : -1]
    expected = torch.log_softmax(logits, -1)
    chosen = expected.gather(1, torch.tensor(token_ids)[:, None])[:, 0]
    assert torch.allclose(torch.tensor([one.logprob for one in decoded]), chosen, atol=1e-4)
    likeliest = expected.topk(3)
    assert [[token for token, _ in one.candidates] for one in decoded] == likeliest.indices.tolist()
    values = torch.tensor([[value for _, value in one.candidates] for one in decoded])
    assert torch.allclose(values, likeliest.values, atol=1e-4)


def test_a_model_of_another_kind_or_with_recurrent_layers_is_not_continued(model) -> None:
    from types import SimpleNamespace

    from components.policies.decoding import can_decode

    assert can_decode(model)
    recurrent, other = deepcopy(model.config), deepcopy(model.config)
    recurrent.text_config.layer_types = ["linear_attention", "full_attention"]
    other.text_config.model_type = "another"
    assert not can_decode(SimpleNamespace(config=recurrent))
    assert not can_decode(SimpleNamespace(config=other))


def prefix(token_ids: list[int], images: tuple[str, ...]) -> Prefix:
    import torch

    positions = np.arange(1, 1 + len(token_ids))
    return Prefix(np.array(token_ids), images, positions, *(torch.zeros(1, 1, len(token_ids), 1) for _ in range(2)))


@pytest.mark.parametrize(
    ("kept", "kept_images", "asked", "asked_images", "length"),
    [
        ([1, 2, 3], (), [1, 2, 3, 4], (), 3),
        ([1, 2, 3], (), [1, 2, 3], (), 2),
        ([1, 2, 3, 4], (), [1, 2, 5, 6], (), 2),
        ([1, IMAGE, IMAGE, 2], ("a",), [1, IMAGE, IMAGE, 2, 3], ("a",), 4),
        ([1, IMAGE, IMAGE, 2], ("a",), [1, IMAGE, IMAGE, 2, 3], ("b",), 0),
        ([1, IMAGE, 2, IMAGE, 3], ("a", "b"), [1, IMAGE, 2, IMAGE, 3, 4], ("a", "c"), 3),
        ([1, IMAGE, 2, IMAGE], ("a", "b"), [1, IMAGE, 2, IMAGE, IMAGE, 4], ("a", "b"), 3),
    ],
)
def test_a_beginning_holds_up_to_the_first_difference_and_never_cuts_a_picture(
    kept, kept_images, asked, asked_images, length
) -> None:
    store = PrefixStore(4, IMAGE)
    store.put(prefix(kept, kept_images))
    assert store.take(Encoded(asked, [], list(asked_images)))[1] == length
    assert len(store) == (length != len(kept))


def test_the_oldest_beginnings_are_dropped() -> None:
    store = PrefixStore(2, IMAGE)
    for first in (1, 2, 3):
        store.put(prefix([first, 7], ()))
    assert len(store) == 2
    assert store.take(Encoded([1, 7, 8], [], []))[1] == 0
    assert store.take(Encoded([3, 7, 8], [], []))[1] == 2
