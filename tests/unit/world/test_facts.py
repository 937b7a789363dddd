import re

import pytest

from components.config.schema import WorldParams
from components.errors import UsageError
from components.records.case import Split
from components.world import names
from components.world.entities import Event, Facts
from components.world.facts import COUNTS, build_facts

PARAMS = WorldParams(train_events=40, test_events=12, near_misses=2)


@pytest.fixture(scope="module")
def facts() -> Facts:
    return build_facts(PARAMS)


def editions(facts: Facts, event: Event) -> list[Event]:
    return [other for other in facts.events if other.edition_of == event.event_id]


def test_equal_seeds_give_equal_worlds_and_others_do_not(facts: Facts) -> None:
    assert build_facts(PARAMS) == facts
    assert build_facts(PARAMS.model_copy(update={"seed": 8})) != facts


def test_events_and_near_misses_are_as_many_as_asked_for(facts: Facts) -> None:
    assert len(facts.main_events) == 52
    assert len(facts.events) == 3 * 52
    assert sum(event.split is Split.TEST for event in facts.main_events) == 12


def test_splits_share_no_event_person_face_venue_or_page(facts: Facts) -> None:
    def of(split: Split) -> list[set[object]]:
        events = [event for event in facts.events if event.split is split]
        people = [person for person in facts.people if person.split is split]
        return [
            {event.title for event in events},
            {event.venue for event in events} | {event.decoys.venue for event in events if event.decoys},
            {event.official_url for event in events},
            {event.host_id for event in events} | {event.decoys.host_id for event in events if event.decoys},
            {person.person_id for person in people},
            {person.face.model_dump_json() for person in people},
        ]

    for train, test in zip(of(Split.TRAIN), of(Split.TEST), strict=True):
        assert train
        assert test
        assert not train & test


def test_any_two_people_differ_in_two_visible_features(facts: Facts) -> None:
    for index, person in enumerate(facts.people):
        assert all(person.face.distance(other.face) >= 2 for other in facts.people[:index])


def test_decoys_differ_from_every_edition(facts: Facts) -> None:
    for event in facts.main_events:
        decoys, all_editions = event.decoys, [event, *editions(facts, event)]
        assert decoys is not None
        assert decoys.date not in {edition.date for edition in all_editions}
        assert decoys.venue not in {edition.venue for edition in all_editions}
        assert decoys.host_id not in {edition.host_id for edition in all_editions}
        assert decoys.count not in {edition.count for edition in all_editions}
        assert 1 <= abs(decoys.count - event.count) <= 4
        assert decoys.count in COUNTS


def test_a_near_miss_has_the_same_or_a_similar_title_and_its_own_record(facts: Facts) -> None:
    for event in facts.main_events:
        for near_miss in editions(facts, event):
            assert near_miss.title.split()[0] == event.title.split()[0]
            assert near_miss.official_url != event.official_url
            assert (near_miss.date, near_miss.venue, near_miss.host_id) != (event.date, event.venue, event.host_id)
            assert near_miss.count != event.count


def test_official_urls_are_unique(facts: Facts) -> None:
    assert len({event.official_url for event in facts.events}) == len(facts.events)


def test_the_record_states_all_four_facts_in_one_short_passage(facts: Facts) -> None:
    for event in facts.events:
        record = " ".join(event.sentences)
        host = facts.person[event.host_id].name
        assert len(record) <= 350
        for exact in (event.date, event.venue, host, f"{event.count} {event.kind}s"):
            assert exact in record
        assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ 203[1-6]", event.date)


def test_a_world_larger_than_its_vocabulary_is_refused() -> None:
    with pytest.raises(UsageError, match=r"world\.train_events"):
        build_facts(WorldParams(train_events=700, test_events=60))


def test_printed_dates_have_an_iso_form() -> None:
    assert names.iso_date(names.printed_date(3, 12, 2031)) == "2031-12-03"


def test_training_shows_every_word_that_test_names_are_made_of():
    facts = build_facts(WorldParams())
    words: dict[Split, set[str]] = {Split.TRAIN: set(), Split.TEST: set()}
    for event in facts.main_events:
        words[event.split].update(f"{event.title} {event.venue} {facts.person[event.host_id].name}".split())
    assert words[Split.TEST] <= words[Split.TRAIN]
