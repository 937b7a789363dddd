"""What is true in the world. Private: an investigation sees pages and pictures, never these records."""

from functools import cached_property
from typing import Literal

from components.records.base import Record
from components.records.case import Attribute, ErrorType, Split

Skin = Literal["porcelain", "honey", "bronze", "umber"]
HairColour = Literal["black", "brown", "blond", "copper", "silver", "violet"]
HairShape = Literal["short", "long", "curly", "bun", "spiky"]
Glasses = Literal["none", "round", "square"]
Beard = Literal["none", "moustache", "goatee", "full"]
Hat = Literal["none", "cap", "tophat", "beanie"]


class FaceSpec(Record):
    """How a person looks in every picture. Expression and clothes are not part of it."""

    skin: Skin
    hair_colour: HairColour
    hair_shape: HairShape
    glasses: Glasses
    beard: Beard
    hat: Hat

    def distance(self, other: "FaceSpec") -> int:
        """In how many visible features two faces differ."""
        return sum(getattr(self, name) != getattr(other, name) for name in type(self).model_fields)


class Person(Record):
    """Somebody who can host an event, or be put in a host's place."""

    person_id: str
    name: str
    face: FaceSpec
    profile_url: str
    portrait_url: str
    split: Split


class Decoys(Record):
    """Wrong values that altered pictures of an event show; none is true of any edition of the event."""

    date: str
    venue: str
    host_id: str
    count: int
    detail: str
    """Of the event's detail, in the form that `Detail.value` has."""


class Detail(Record):
    """The one thing that an event is known by besides date, place, host and display."""

    attribute: Attribute
    value: str
    """As pages print it; a person's id for a guest."""


class Event(Record):
    """One edition of a dated event."""

    event_id: str
    split: Split
    title: str
    date: str
    """As printed: "12 March 2031"."""
    venue: str
    host_id: str
    kind: str
    count: int
    detail: Detail
    composition: int
    """Seed of the arrangement that all pictures of the event have in common."""
    style: str
    """Of the official photograph."""
    official_url: str
    photo_url: str | None
    """Of the official photograph; None for an event that nobody photographed."""
    edition_of: str | None = None
    """The event that this one is a near miss of; None for an event that cases are made from."""
    is_twin: bool = False
    """Whether it has the host, the display and the detail of the event that it is an edition of."""
    decoys: Decoys | None = None
    """Set for an event that cases are made from."""
    sentences: tuple[str, ...] = ()
    """The official record, in order: date and venue, host, count, detail."""

    @property
    def year(self) -> int:
        """The year of the edition."""
        return int(self.date.rsplit(" ", 1)[1])


class Circulating(Record):
    """A post on a social site with a picture of an event, and what of the picture is not true."""

    event_id: str
    error_type: ErrorType | None
    """None for a picture that is true to the event."""
    titled: bool
    """Whether the picture prints the event's title."""
    handle: str
    text: str
    posted: str
    """ISO date."""
    likes: int
    post_url: str
    image_url: str
    style: str
    seed: int
    """Of everything by which the picture differs from others of its event."""


class Facts(Record):
    """Everything that is true."""

    seed: int
    people: tuple[Person, ...]
    events: tuple[Event, ...]
    circulating: tuple[Circulating, ...] = ()
    """At most one of each event."""

    @cached_property
    def person(self) -> dict[str, Person]:
        """People by id."""
        return {person.person_id: person for person in self.people}

    @cached_property
    def event(self) -> dict[str, Event]:
        """Events by id."""
        return {event.event_id: event for event in self.events}

    @cached_property
    def post(self) -> dict[str, Circulating]:
        """What circulates, by the address of its post."""
        return {post.post_url: post for post in self.circulating}

    @cached_property
    def twins(self) -> dict[str, Event]:
        """Editions that a picture can be recirculated from, by the id of the event it then claims to show.

        An older picture passes for an event's when host, display and detail are the same.
        """
        return {event.edition_of: event for event in self.events if event.edition_of and event.is_twin}

    @cached_property
    def photographed(self) -> tuple[Event, ...]:
        """Events with an official photograph."""
        return tuple(event for event in self.events if event.photo_url is not None)

    @property
    def main_events(self) -> tuple[Event, ...]:
        """Events that cases are made from, near misses left out."""
        return tuple(event for event in self.events if event.edition_of is None)
