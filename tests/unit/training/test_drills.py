import json
import re

import numpy as np
import pytest

from components.config.schema import DrillParams, PolicyParams
from components.policies.encoding import Encoded
from components.policies.student import build_student
from components.policies.tokenizer import train_tokenizer
from components.records.case import Case, Verdict
from components.records.episode import Episode, Report, Step, StepKind, Termination, ToolCall, Turn
from components.training.drills import COMPARED_SHARE, drill_batch, run_drills, vocabulary
from components.training.renaming import Renaming, interchangeable
from components.training.rows import Row


def slug(title: str) -> str:
    return title.lower().replace(" ", "-")


TITLES = ("Harvest Gala", "Autumn Fair", "Copper Parade", "Maple Summit")
TEXTS = [
    f"{title}\nhttps://{slug(title)}.example/{year} on {day} March {year} count {day} vs 9 same; 7 vs 9 differs;"
    for title in TITLES
    for year in (2031, 2032)
    for day in (12, 15)
]
TINY = PolicyParams(
    vocab_size=640, hidden_size=32, layers=2, heads=2, intermediate_size=32, vision_depth=1, vision_hidden_size=16,
    vision_heads=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(TEXTS * 4, TINY.vocab_size)


def episode(title: str) -> Episode:
    call = ToolCall(name="text_search", arguments_json=json.dumps({"query": title}))
    report = Report(verdict=Verdict.REFUTED, explanation="date 12 March 2031 vs 15 March 2032 differs", cited=("o1",))
    return Episode(
        episode_id=f"{title}--scripted--s0", case=Case(case_id=title, image_path="p", image_sha256="0"),
        policy="scripted", seed=0, exposed_tools=("text_search",), action_budget=24,
        steps=(Step(index=0, kind=StepKind.ACTION, turn=Turn(text=""), call=call),), report=report,
        termination=Termination.FINISHED, started_at="", duration_s=0.0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def renaming(tokenizer) -> Renaming:
    return Renaming(interchangeable([episode(title) for title in TITLES]), tokenizer)


def row(text: str, tokenizer) -> Row:
    ids = tokenizer.encode(text)
    return Row("e", Encoded(ids, [], []), [1.0] * len(ids))


def test_a_renaming_keeps_what_is_equal_equal_and_what_differs_different(renaming, tokenizer):
    before = row("Harvest Gala\nHarvest Fair\nharvest-gala\n12 2031 12 15", tokenizer)
    for seed in range(20):
        after = renaming.apply(before, np.random.default_rng(seed))
        pairs = set(zip(before.encoded.token_ids, after.encoded.token_ids, strict=True))
        assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
        words = tokenizer.decode(after.encoded.token_ids).split("\n")
        assert words[2] == words[0].lower().replace(" ", "-")
        assert after.weights == before.weights


def test_a_renaming_changes_names_and_leaves_everything_else(renaming, tokenizer):
    before = row("Harvest Gala same; differs vs https://", tokenizer)
    texts = {
        tokenizer.decode(renaming.apply(before, np.random.default_rng(seed)).encoded.token_ids) for seed in range(20)
    }
    assert len(texts) > 3
    assert all(text.endswith(" same; differs vs https://") for text in texts)


def test_a_renaming_exchanges_one_digit_numbers_of_observations_in_half_of_the_rows(renaming, tokenizer):
    before = row('o1\n12 March\no2\no11 o1: date 12 March; ["o1", "o2", "o11"]', tokenizer)
    found = set()
    for seed in range(40):
        text = tokenizer.decode(renaming.apply(before, np.random.default_rng(seed)).encoded.token_ids)
        first, second = re.findall(r"o(\d)\n", text)
        assert first != second
        assert re.search(rf'\no11 o{first}: .*; \["o{first}", "o{second}", "o11"\]$', text)
        found.add((first, second) == ("1", "2"))
    assert found == {True, False}


def test_a_renaming_leaves_two_digit_numbers_of_observations(renaming, tokenizer):
    before = row("o12\n12 March", tokenizer)
    for seed in range(10):
        text = tokenizer.decode(renaming.apply(before, np.random.default_rng(seed)).encoded.token_ids)
        assert text.startswith("o12\n")


def test_drills_are_made_of_words_alone_and_judge_rightly(tokenizer):
    words = vocabulary(tokenizer)
    params = DrillParams(copy_steps=1, compare_steps=1, batch_size=6, length=8)
    copies, mixed = drill_batch(0, words, params), drill_batch(1, words, params)
    assert not copies.judged.any()
    assert all(re.fullmatch(r"\W?\w+", tokenizer.decode([token_id])) for token_id in set(copies.token_ids.ravel()))
    length = copies.token_ids.shape[1]
    for position in range(length - 7, length):
        assert copies.copied[:, position].all()
        assert (copies.token_ids[:, position] == copies.token_ids[:, position - (length - 8)]).all()
    assert not (mixed.judged & mixed.copied).any()
    compared = 0
    for ids, judged in zip(mixed.token_ids.tolist(), mixed.judged, strict=True):
        for end in np.flatnonzero(np.isin(ids, (words.same, words.different))):
            versus = max(index for index in range(end) if ids[index] == words.versus)
            first, second, marks = parts(ids, versus, int(end), words.mark)
            assert marks == [at for at, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]]
            assert (first == second) == (ids[end] == words.same)
            assert judged[end]
            compared += 1
    assert compared > 4


def parts(ids: list[int], versus: int, end: int, mark: int) -> tuple[list[int], list[int], list[int]]:
    """First value, second value without marks, and which of its words are marked."""
    second: list[int] = []
    marks: list[int] = []
    for token in ids[versus + 1 : end]:
        if token == mark:
            marks.append(len(second) - 1)
        else:
            second.append(token)
    return ids[versus - len(second) : versus], second, marks


def test_marks_are_judged_where_the_next_word_is_known(tokenizer):
    words = vocabulary(tokenizer)
    batch = drill_batch(1, words, DrillParams(copy_steps=1, compare_steps=1, batch_size=24, length=20))
    untold = 0
    first = 24 - round(COMPARED_SHARE * 24)
    for ids, copied, judged in zip(*(part[first:] for part in batch), strict=True):
        marks = np.flatnonzero(ids == words.mark)
        ends = np.isin(ids[np.minimum(marks + 1, len(ids) - 1)], (words.same, words.different)) | (
            marks + 1 == len(ids)
        )
        if copied.any():
            assert judged[marks].all()
            assert not np.isin(ids[copied], (words.mark, words.versus, words.same, words.different, words.next)).any()
        else:
            untold += 1
            assert judged[marks[ends]].all()
    assert untold >= 3


def test_a_reworded_telling_says_the_same_words_in_one_form(tokenizer):
    words = vocabulary(tokenizer)._replace(rewordings=(np.array([tokenizer.encode(" 12") + tokenizer.encode("12")]),))
    batch = drill_batch(1, words, DrillParams(copy_steps=1, compare_steps=1, batch_size=12, length=8))
    told = tokenizer.batch_decode(batch.token_ids[:2])
    assert all(text.startswith(" 12" * 8) and text.endswith("12" * 8) for text in told)
    assert batch.copied[:2, -7:].all()


def test_the_last_drills_are_as_long_as_an_episode(tokenizer):
    words = vocabulary(tokenizer)
    batch = drill_batch(2, words, DrillParams(copy_steps=1, compare_steps=1, long_steps=1, length=8, long_length=200))
    assert batch.token_ids.shape == (6, 200)
    assert batch.copied[:2, -7:].all()
    assert (batch.token_ids[:2, :8] == batch.token_ids[:2, -8:]).all() or words.rewordings
    assert batch.judged[6 - round(COMPARED_SHARE * 6) :, 100:].any(axis=1).all()


def test_a_batch_follows_from_seed_and_step(tokenizer):
    words = vocabulary(tokenizer)
    params = DrillParams(copy_steps=2, compare_steps=2, batch_size=3, length=8)
    assert (drill_batch(3, words, params).token_ids == drill_batch(3, words, params).token_ids).all()
    assert drill_batch(0, words, params).token_ids.tolist() != drill_batch(1, words, params).token_ids.tolist()


def test_drilling_lowers_both_losses(tokenizer):
    words = vocabulary(tokenizer)
    short = DrillParams(copy_steps=0, compare_steps=1, long_steps=0, batch_size=6, length=8)
    longer = short.model_copy(update={"compare_steps": 80})
    first = run_drills(build_student(TINY, tokenizer), words, short)
    last = run_drills(build_student(TINY, tokenizer), words, longer)
    assert set(first) == {"copy", "compare"}
    assert last["copy"] < first["copy"] - 1
    assert last["compare"] < first["compare"] - 1
