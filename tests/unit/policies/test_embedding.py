from policy_samples import TINY

from components.policies.embedding import FORM_SHARE, draw_embeddings, written_words
from components.policies.student import build_student


def test_a_word_is_told_from_what_stands_before_it(tokenizer):
    words = written_words(tokenizer)
    for text, lead, word in ((" 12", " ", "12"), ("7", "", "7")):
        [token_id] = tokenizer.encode(text)
        assert words[token_id] == (lead, word)
    assert not any(word.startswith("<") for _, word in words.values())


def test_forms_of_a_word_begin_as_neighbours_and_other_words_do_not(tokenizer):
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        drawn = draw_embeddings(tokenizer, 4096, 0.02)
    by_word: dict[str, list[int]] = {}
    for token_id, (_, word) in written_words(tokenizer).items():
        by_word.setdefault(word.casefold(), []).append(token_id)
    pairs = [ids for ids in by_word.values() if len(ids) == 2]
    first, second = drawn[torch.tensor(pairs)].unbind(1)
    assert abs(float(drawn.std()) - 0.02) < 0.001
    alike = torch.nn.functional.cosine_similarity(first, second)
    strange = torch.nn.functional.cosine_similarity(first, second.roll(1, dims=0))
    assert (alike > 1 - FORM_SHARE - 0.05).all()
    assert (strange < FORM_SHARE + 0.1).all()


def test_the_student_starts_from_them(tokenizer):
    import torch

    weights = build_student(TINY, tokenizer).get_input_embeddings().weight
    by_word: dict[str, list[int]] = {}
    for token_id, (_, word) in written_words(tokenizer).items():
        by_word.setdefault(word.casefold(), []).append(token_id)
    first, second = weights[torch.tensor([ids[:2] for ids in by_word.values() if len(ids) > 1])].unbind(1)
    assert float(torch.nn.functional.cosine_similarity(first, second).mean().detach()) > 0.6
