import json

import pytest
from policy_samples import TINY, TOOLS, picture

from components.config.sampling import SamplingParams
from components.policies.batching import pad_batch
from components.policies.local import LocalPolicy
from components.policies.student import build_student
from components.records.conversation import Conversation, Message


def conversation(messages, seed: int = 0) -> Conversation:
    return Conversation(tuple(messages), TOOLS, TOOLS, "investigate", seed)


def test_the_folder_is_an_ordinary_hugging_face_model(folder):
    from transformers import AutoModelForImageTextToText, AutoTokenizer, Qwen3_5ForConditionalGeneration

    model = AutoModelForImageTextToText.from_pretrained(folder)
    assert isinstance(model, Qwen3_5ForConditionalGeneration)
    assert model.model.visual is not None
    assert AutoTokenizer.from_pretrained(folder).chat_template.startswith("{%")


def test_weights_follow_from_the_seed_alone(tokenizer):
    import torch

    first, second = build_student(TINY, tokenizer), build_student(TINY, tokenizer)
    other = build_student(TINY.model_copy(update={"seed": 1}), tokenizer)
    pairs = list(zip(first.parameters(), second.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b in pairs)
    assert any(not torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


def test_padding_changes_no_logits(encoder, folder, messages):
    import torch

    from components.policies.student import load_student

    model = load_student(folder)[0].eval()
    rows = [encoder.encode(messages[:length], TOOLS, prompt=True) for length in (2, 5)]
    batch = pad_batch(rows, encoder, left=True)
    with torch.no_grad():
        together = model(**batch).logits[:, -1]
        alone = torch.cat([model(**pad_batch([row], encoder, left=True)).logits[:, -1] for row in rows])
    assert torch.allclose(together, alone, atol=1e-4)


def test_padding_on_the_right_needs_no_mask(encoder, folder, messages):
    import torch

    from components.policies.student import load_student

    model = load_student(folder)[0].eval()
    rows = [encoder.encode(messages[:length], TOOLS, prompt=True) for length in (2, 5)]
    batch = pad_batch(rows, encoder, left=False)
    assert "attention_mask" not in batch
    with torch.no_grad():
        together = model(**batch).logits
        for row, logits in zip(rows, together, strict=True):
            alone = model(**pad_batch([row], encoder, left=True)).logits[0]
            assert torch.allclose(logits[: len(alone)], alone, atol=1e-4)


def test_a_policy_gives_each_conversation_its_own_turn(bank, folder, messages):
    policy = LocalPolicy(folder, bank, name="base", max_new_tokens=6, max_length=400)
    conversations = [conversation(messages[:5]), conversation(messages[:2])]
    turns = policy.act(conversations)
    alone = [policy.act([one])[0] for one in conversations]
    assert {turn.vocabulary for turn in turns} == {policy.encoder.vocabulary}
    assert [turn.token_ids for turn in turns] == [turn.token_ids for turn in alone]
    for turn in turns:
        assert turn.token_ids is not None
        assert turn.logprobs is not None
        assert len(turn.token_ids) == len(turn.logprobs)
        assert all(logprob <= 0 for logprob in turn.logprobs)
        assert turn.finish_reason == ("stop" if turn.token_ids[-1] == policy.encoder.stop_id else "length")


@pytest.mark.parametrize("reuse", [True, False])
def test_a_turn_is_recorded_with_how_it_was_sampled(bank, folder, messages, reuse):
    sampling = SamplingParams(temperature=0.8, top_k=30, top_p=0.95, min_p=0.01, top_logprobs=2)
    policy = LocalPolicy(
        folder, bank, name="base", max_new_tokens=6, max_length=400, sampling=sampling, batch_size=1, reuse=reuse
    )
    first, again, other = policy.act([conversation(messages[:5], seed=seed) for seed in (3, 3, 4)])
    assert first.token_ids == again.token_ids
    assert first.token_ids != other.token_ids
    assert json.loads(first.sampling_json) == {
        "temperature": 0.8, "top_k": 30, "top_p": 0.95, "min_p": 0.01, "top_logprobs": 2,
        "max_new_tokens": 6, "logprobs": "raw", "seed": 3,
    }  # fmt: skip
    assert first.top_logprobs is not None
    assert [len(candidates) for candidates in first.top_logprobs] == [2] * len(first.token_ids)


def test_without_settings_the_likeliest_tokens_are_taken_whatever_the_seed(bank, folder, messages):
    policy = LocalPolicy(folder, bank, name="base", max_new_tokens=6, max_length=400)
    one, other = policy.act([conversation(messages[:5], seed=seed) for seed in (1, 2)])
    assert one.token_ids == other.token_ids
    assert one.top_logprobs is None


@pytest.mark.gpu
@pytest.mark.parametrize("reuse", [True, False])
def test_a_gpu_gives_the_same_turns(bank, folder, messages, reuse):
    import torch

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    asked = [conversation(messages[:5]), conversation(messages[:2]), conversation(messages[:4])]
    turns = [
        LocalPolicy(folder, bank, name="base", max_new_tokens=8, max_length=400, reuse=reuse, device=device).act(asked)
        for device in ("cuda", "cpu")
    ]
    assert [turn.token_ids for turn in turns[0]] == [turn.token_ids for turn in turns[1]]
    for one, other in zip(*turns, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-3)


def test_a_conversation_that_is_too_long_is_cut_off_and_the_others_go_on(bank, folder, messages):
    policy = LocalPolicy(folder, bank, name="base", max_new_tokens=3, max_length=100)
    turns = policy.act([conversation(messages[:2]), conversation((*messages[:2], Message("user", "why " * 90)))])
    assert turns[0].token_ids
    assert turns[1].finish_reason == "length"
    assert turns[1].token_ids == ()


def test_a_picture_is_processed_once(bank, encoder):
    digest = bank.put(picture("green"))
    assert encoder.pixels(digest) is encoder.pixels(digest)
