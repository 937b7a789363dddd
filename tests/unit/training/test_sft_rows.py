"""Stage `sft-rows`: which episodes become rows, where, and what is counted."""

import json
from importlib.resources import files

import pytest
from row_samples import action, counted, episode, many_pictures, searched, shown, write_reviewed

from components.config.paths import Paths
from components.config.schema import Params, PolicyParams, SftRowsParams
from components.errors import EviflowError, UsageError
from components.policies.encoding import Encoded
from components.records.episode import Episode
from components.storage.atomic import read_jsonl
from components.training.row_rules import Refusal, dangling, is_kept
from components.training.row_store import ACTION_ONLY, TRAINING, iterate_rows
from components.training.rows import Row, Span
from components.training.sft_rows import build_sft_rows
from components.training.spans import SpanName


def settings(max_length: int = 1536, **changes: object) -> Params:
    return Params(policy=PolicyParams(max_length=max_length), sft_rows=SftRowsParams(**changes))


def built(paths: Paths, *episodes: Episode, max_length: int = 1536, **changes: object) -> dict[str, object]:
    """The statistics of a set of these episodes."""
    if episodes:
        write_reviewed(paths, episodes)
    build_sft_rows(settings(max_length, **changes), paths)
    written = json.loads((paths.sft_rows / "statistics.json").read_text())
    assert written == json.loads((paths.metrics / "sft-rows.json").read_text())
    return dict(written)


def ids(paths: Paths, stem: str = TRAINING) -> list[str]:
    return [row.episode_id.partition("--")[0] for row in iterate_rows(paths.sft_rows, stem)]


def refusals(paths: Paths) -> dict[str, tuple[str, str]]:
    lines = read_jsonl(paths.sft_rows / "rejected.jsonl", Refusal)
    return {line.episode_id.partition("--")[0]: (line.reason.value, line.detail) for line in lines}


def silent(case_id: str, *more) -> Episode:
    return episode(case_id, action("perceive_scene", {}, "a kite", thought=""), *more)


def test_rows_stand_in_the_order_of_episodes_and_are_counted(paths):
    found = built(paths)
    rows = list(iterate_rows(paths.sft_rows, TRAINING))
    assert ids(paths) == ["many", "plain", "quick"]
    assert (found["admitted"], found["episodes"], found["rows"]) == (3, 3, 3)
    lengths = [row.length for row in rows]
    assert (found["tokens"]["total"], found["tokens"]["max"]) == (sum(lengths), max(lengths))
    assert found["tokens"]["median"] == sorted(lengths)[1]
    supervised = sum(weight > 0 for row in rows for weight in row.weights)
    assert found["supervised_tokens"]["total"] == supervised
    assert found["supervised_share"] == pytest.approx(supervised / sum(lengths))
    assert found["images"]["total"] == 5
    assert found["by_tool"] == {
        "compare_with_reference": 1,
        "count_objects": 3,
        "crop_and_inspect": 1,
        "text_search": 2,
    }
    assert (found["steps"], found["masked_steps"]) == (14, 2)
    assert found["verdicts"] == {"refuted": 3}
    assert found["length_buckets"]["up_to_8K"] == 3
    assert [row.tool_calls for row in rows] == [4, 2, 1]


def test_the_same_episodes_give_the_same_bytes(paths):
    built(paths)
    before = {file.name: file.read_bytes() for file in paths.sft_rows.iterdir()}
    built(paths)
    assert {file.name: file.read_bytes() for file in paths.sft_rows.iterdir()} == before


@pytest.mark.incident("PT-10")
def test_where_the_template_drops_earlier_thoughts_an_episode_gives_parts_that_teach_each_turn_once(paths):
    template = files("trl").joinpath("chat_templates/qwen3_5_think.jinja").read_text("utf-8")
    (paths.base_policy / "chat_template.jinja").write_text(template)
    item = many_pictures()
    found = built(paths, item, max_length=20000)
    rows = list(iterate_rows(paths.sft_rows, TRAINING))
    assert [row.row_id for row in rows] == [f"many--scripted--s0#{part}" for part in range(4)]
    assert (found["episodes"], found["rows"], found["steps"]) == (1, 4, 7)
    learned = [span.step for row in rows for span in row.spans if span.name.value == "reasoning" and span.weight]
    assert learned == [step.index for step in item.steps if not step.masked]
    pictures = [len(row.images) for row in rows]
    assert pictures == sorted(pictures)


def test_an_episode_with_a_call_without_thought_is_kept_apart_as_it_was_written(paths):
    found = built(paths, silent("silent"), episode("plain", counted()))
    assert (ids(paths), ids(paths, ACTION_ONLY)) == (["plain"], ["silent"])
    assert (found["action_only_episodes"], found["action_only_rows"], found["episodes"]) == (1, 1, 1)
    assert refusals(paths)["silent"][0] == "action_only"
    [row] = iterate_rows(paths.sft_rows, ACTION_ONLY)
    [thought] = [span for span in row.spans if span.step == 0 and span.name.value == "reasoning"]
    assert (thought.weight, thought.end - thought.start) == (0.0, 2)


def test_on_request_such_episodes_are_learned_from_too(paths):
    built(paths, silent("silent"), episode("plain", counted()), action_only=True)
    assert (ids(paths), ids(paths, ACTION_ONLY)) == (["plain", "silent"], ["silent"])
    assert refusals(paths) == {}


@pytest.mark.incident("CX-6")
def test_what_keeps_an_episode_from_training_does_not_keep_it_from_the_other_shards(paths):
    built(paths, silent("silent"), episode("plain", counted(), searched()), action_only=True, quick_share=0.0)
    assert (ids(paths), ids(paths, ACTION_ONLY)) == (["plain"], ["silent"])


def test_quick_episodes_are_thinned_out_by_a_stable_draw(paths):
    quick = [episode(f"q{number}", counted()) for number in range(40)]
    longer = episode("longer", counted(), searched())
    found = built(paths, *quick, longer, quick_share=0.5)
    kept = ids(paths)
    assert "longer" in kept
    assert 10 <= len(kept) - 1 <= 30
    assert (found["quick_episodes"], found["quick_kept"]) == (40, len(kept) - 1)
    assert found["rejected"] == {"quick": 41 - len(kept)}
    built(paths, quick_share=0.5)
    assert ids(paths) == kept
    built(paths, quick_share=0.7)
    assert set(kept) < set(ids(paths))
    built(paths, quick_share=0.5, seed=38)
    assert ids(paths) != kept
    built(paths, quick_share=0.0, quick_calls=0)
    assert len(ids(paths)) == 41


def test_the_share_that_is_kept_is_about_the_one_asked_for():
    for share in (0.0, 0.25, 1.0):
        kept = sum(is_kept(f"train-{number}--scripted--s1", SftRowsParams(quick_share=share)) for number in range(2000))
        assert abs(kept / 2000 - share) < 0.03


def test_a_row_that_is_too_long_is_left_out_whole_and_counted(paths):
    lengths = {row.row_id: row.length for row in rows_of(paths)}
    longest = max(lengths.values())
    found = built(paths, max_length=longest - 1)
    assert ids(paths) == ["plain", "quick"]
    assert refusals(paths) == {"many": ("too_long", f"{longest} tokens, policy.max_length is {longest - 1}")}
    assert found["rejected"] == {"too_long": 1}
    built(paths, max_length=longest)
    assert len(ids(paths)) == 3


def rows_of(paths: Paths):
    built(paths)
    return list(iterate_rows(paths.sft_rows, TRAINING))


def test_a_row_without_a_supervised_token_is_left_out_and_counted(paths):
    nothing = episode("nothing", counted())
    steps = tuple(step.model_copy(update={"masked": True}) for step in nothing.steps)
    plain = episode("plain", counted())
    built(paths, nothing.model_copy(update={"steps": steps, "report": None}), plain)
    assert ids(paths) == ["plain"]
    assert refusals(paths)["nothing"][0] == "nothing_supervised"


@pytest.mark.incident("CX-4")
@pytest.mark.parametrize(
    ("steps", "cited"),
    [
        ((counted(),), ("o1", "o2")),
        ((counted(masked=True), searched()), ("o1",)),
        ((counted(failed=True), searched()), ("o1",)),
    ],
    ids=["never told", "masked", "failed"],
)
def test_an_episode_that_cites_what_cannot_be_read_is_refused(paths, steps, cited):
    built(paths, episode("dangles", *steps, cited=cited), episode("plain", counted()))
    assert ids(paths) == ["plain"]
    assert refusals(paths) == {"dangles": ("dangling_citation", cited[-1])}


@pytest.mark.incident("CX-4")
@pytest.mark.parametrize(
    ("told", "unseen"), [("o1\nkite: 8", []), ("[o1] kite", []), ("o11\nxo1", ["o1"]), ("kite: 8", ["o1"])]
)
def test_a_cited_id_has_to_stand_in_the_training_text_by_itself(student_encoder, told, unseen):
    token_ids = student_encoder.tokenizer.encode(told)
    span = Span(SpanName.OBSERVATION, 0, len(token_ids), 0, 0.0)
    row = Row("e", Encoded(token_ids, [], []), [0.0] * len(token_ids), (span,))
    assert dangling(episode("c", counted()), row, student_encoder.tokenizer) == unseen


@pytest.mark.incident("TR-1")
def test_an_episode_whose_ids_are_not_its_text_is_left_out(paths, student_encoder):
    vocabulary = student_encoder.vocabulary
    wrong = episode("wrong", action("perceive_scene", {}, "a", token_ids=(9, 9), vocabulary=vocabulary))
    foreign = episode("foreign", action("perceive_scene", {}, "a", token_ids=(9, 9), vocabulary="another"))
    built(paths, wrong, foreign, episode("plain", counted()))
    assert ids(paths) == ["foreign", "plain"], "ids of another vocabulary are not used: the text is"
    assert refusals(paths)["wrong"][0] == "tag_not_found"


@pytest.mark.incident("CI-3")
def test_a_cached_result_of_another_picture_is_named_and_one_of_the_same_picture_is_not(paths):
    found = built(
        paths,
        episode("first", counted(), colour="red"),
        episode("crossed", counted(cache_hit=True), colour="blue"),
        episode("same", counted(12), colour="green"),
        episode("again", counted(12, cache_hit=True), colour="green"),
        episode("anew", counted(), colour="yellow"),
    )
    assert found["cache"] == {
        "hits": 2,
        "cross_image_hits": 1,
        "cross_image_episodes": ["crossed--scripted--s0"],
    }
    assert len(ids(paths)) == 5


def test_where_no_row_is_left_one_sentence_says_where_the_reasons_are_and_nothing_is_written(paths):
    with pytest.raises(EviflowError, match=r"sft-rows\.json counts the reasons"):
        build_sft_rows(settings(max_length=10), paths)
    assert not paths.sft_rows.exists()
    assert json.loads((paths.metrics / "sft-rows.json").read_text())["rejected"] == {"too_long": 3}


def test_without_a_student_the_stage_says_so(paths):
    (paths.base_policy / "config.json").unlink()
    with pytest.raises(UsageError, match="holds no model"):
        build_sft_rows(settings(), paths)


def test_the_processor_report_counts_placeholders_and_features_of_every_row(paths):
    built(paths, many_pictures(), silent("silent"))
    report = json.loads((paths.sft_rows / "processor.json").read_text())
    for stem in (TRAINING, ACTION_ONLY):
        rows = list(iterate_rows(paths.sft_rows, stem))
        told = report["shards"][stem]
        assert told["rows"] == len(rows) == 1
        assert told["placeholders"] == told["features"] == sum(picture.tokens for picture in rows[0].images) > 0
    assert set(report["tokenizer"]) == {"tokenizer.json", "tokenizer_config.json"}
    assert set(report["chat_template"]) == {"chat_template.jinja"}
    assert set(report["image_processor"]) == {"preprocessor_config.json"}
    [row] = iterate_rows(paths.sft_rows, TRAINING)
    assert shown("red") == row.images[0].sha256
