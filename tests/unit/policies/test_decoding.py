import numpy as np
import pytest
from policy_samples import TOOLS, picture

from components.policies.batching import pad_batch
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.prefixes import Prefix, PrefixStore
from components.records.conversation import Message

IMAGE = 9


@pytest.fixture(scope="module")
def model(folder):
    from components.policies.student import load_student

    return load_student(folder)[0].eval()


@pytest.fixture
def decoder(model, encoder: ChatEncoder):
    from components.policies.decoding import Decoder

    return Decoder(model, encoder, 7)


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
        assert decoder.decode([row])[0].token_ids == generated(model, encoder, row)


def test_only_what_is_new_is_read(decoder, encoder, messages) -> None:
    first, second = prompts(encoder, messages)
    decoder.decode([first])
    assert decoder.tokens_read == len(first.token_ids)
    decoder.decode([second])
    assert first.token_ids == second.token_ids[: len(first.token_ids)]
    assert decoder.tokens_read == len(second.token_ids)


def test_rows_of_a_batch_do_not_see_each_other(decoder, model, encoder, bank, messages) -> None:
    others = [
        (*messages[:1], Message("user", "Is it?", images=(bank.put(picture(colour)),))) for colour in ("green", "white")
    ]
    rows = [*prompts(encoder, messages), *(encoder.encode(other, TOOLS, prompt=True) for other in others)]
    assert [one.token_ids for one in decoder.decode(rows)] == [generated(model, encoder, row) for row in rows]
    again = decoder.decode(rows[::-1])
    assert [one.token_ids for one in again[::-1]] == [generated(model, encoder, row) for row in rows]


def test_rows_that_end_leave_the_batch_and_change_nothing(model, encoder, messages) -> None:
    from copy import copy

    from components.policies.decoding import Decoder

    rows = [*prompts(encoder, messages), encoder.encode(messages[:1], TOOLS, prompt=True)]
    whole = [generated(model, encoder, row) for row in rows]
    # Each row in turn is ended early, by making its second token the stop token.
    for ended in whole:
        stopping = copy(encoder)
        stopping.stop_id = ended[1]
        decoded = Decoder(model, stopping, 7).decode(rows)
        for one, full in zip(decoded, whole, strict=True):
            end = full.index(ended[1]) + 1 if ended[1] in full else len(full)
            assert one.token_ids == full[:end]
            assert len(one.logprobs) == end


def test_log_probabilities_are_those_of_the_model(decoder, model, encoder, messages) -> None:
    import torch

    row = prompts(encoder, messages)[1]
    decoded = decoder.decode([row])[0]
    whole = Encoded([*row.token_ids, *decoded.token_ids], [], row.images)
    with torch.inference_mode():
        logits = model(**pad_batch([whole], encoder, left=True)).logits[0, len(row.token_ids) - 1 : -1]
    expected = torch.log_softmax(logits, -1).gather(1, torch.tensor(decoded.token_ids)[:, None])[:, 0]
    assert torch.allclose(torch.tensor(decoded.logprobs), expected, atol=1e-4)


def test_a_model_with_recurrent_layers_is_not_continued(model) -> None:
    from copy import deepcopy
    from types import SimpleNamespace

    from components.policies.decoding import can_decode

    assert can_decode(model)
    config = deepcopy(model.config)
    config.text_config.layer_types = ["linear_attention", "full_attention"]
    assert not can_decode(SimpleNamespace(config=config))


def prefix(token_ids: list[int], images: tuple[str, ...]) -> Prefix:
    import torch

    return Prefix(np.array(token_ids), images, *(torch.zeros(1, 1, len(token_ids), 1) for _ in range(2)))


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
