import random
import re
from collections import Counter

import pytest

from components.config.schema import WorldParams
from components.errors import UsageError
from components.records.case import Attribute, Split
from components.world import names
from components.world.details import DETAILS
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
        assert decoys.detail not in {edition.detail.value for edition in all_editions}


def test_a_near_miss_has_the_same_or_a_similar_title_and_its_own_record(facts: Facts) -> None:
    for event in facts.main_events:
        for near_miss in editions(facts, event):
            assert near_miss.title.split()[0] == event.title.split()[0]
            assert near_miss.official_url != event.official_url
            assert (near_miss.date, near_miss.venue) != (event.date, event.venue)
            alike = [getattr(near_miss, name) == getattr(event, name) for name in ("host_id", "count", "detail")]
            assert all(alike) if near_miss.is_twin else not any(alike[:2])


def test_a_picture_can_only_be_recirculated_from_an_older_photographed_edition(facts: Facts) -> None:
    assert 0.2 < len(facts.twins) / len(facts.main_events) < 0.8
    for event in facts.main_events:
        twin = facts.twins.get(event.event_id)
        if twin:
            assert twin.title == event.title
            assert twin.year < event.year
            assert twin.photo_url is not None
            assert twin.composition != event.composition


def test_every_detail_is_dealt_alike_and_some_events_nobody_photographed(facts: Facts) -> None:
    counts = Counter(event.detail.attribute for event in facts.main_events)
    assert set(counts) == set(DETAILS)
    assert max(counts.values()) - min(counts.values()) <= 2
    assert 0.2 < sum(event.photo_url is None for event in facts.main_events) / len(facts.main_events) < 0.6


def test_official_urls_are_unique(facts: Facts) -> None:
    assert len({event.official_url for event in facts.events}) == len(facts.events)


def test_the_record_states_every_fact_in_one_short_passage(facts: Facts) -> None:
    for event in facts.events:
        record = " ".join(event.sentences)
        host = facts.person[event.host_id].name
        assert len(record) <= 350
        detail = (
            event.detail.value
            if event.detail.attribute is not Attribute.GUEST
            else facts.person[event.detail.value].name
        )
        for exact in (event.date, event.venue, host, f"{event.count} {event.kind}s", detail):
            assert exact in record
        assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ 203[1-6]", event.date)


def test_titles_get_longer_before_they_run_out_and_then_more_events_are_refused() -> None:
    pool = names.NamePool(random.Random(1))
    titles = [pool.title() for _ in range(20_000)]
    assert {len(title.split()) for title in titles[:640]} == {2}
    assert {len(title.split()) for title in titles[640:]} == {3}
    assert len(set(titles)) == len(titles)
    with pytest.raises(UsageError, match=r"world\.train_events"):
        sum(len(pool.title()) for _ in range(20_000))


def test_printed_dates_have_an_iso_form() -> None:
    assert names.iso_date(names.printed_date(3, 12, 2031)) == "2031-12-03"


def test_training_shows_every_word_that_test_names_are_made_of():
    facts = build_facts(WorldParams())
    words: dict[Split, set[str]] = {Split.TRAIN: set(), Split.TEST: set()}
    for event in facts.main_events:
        host = facts.person[event.host_id].name
        words[event.split].update(re.findall(r"\w+", f"{event.title} {event.venue} {host} {event.sentences[-1]}"))
    assert words[Split.TEST] <= words[Split.TRAIN]
