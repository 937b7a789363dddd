"""From a documented or altered event to the scene that a picture of it shows."""

from dataclasses import dataclass

from components.records.case import Attribute
from components.world.details import PRINTED
from components.world.draw import Scene
from components.world.entities import Detail, Event, Facts, Person


@dataclass(frozen=True)
class Shown:
    """What a picture shows of an event."""

    date: str
    venue: str
    host: Person
    count: int
    detail: Detail
    guest: Person | None
    """The person that the detail names, if it names one."""
    photo: Event
    """The event whose scene it is; another than the one it claims to show in a recirculated picture."""

    def as_printed(self, attribute: Attribute) -> str:
        """An attribute in the form that pages use; raises ValueError for one that is not shown."""
        values = {
            Attribute.DATE: self.date,
            Attribute.VENUE: self.venue,
            Attribute.HOST: self.host.name,
            Attribute.COUNT: str(self.count),
            Attribute.PHOTO: str(self.photo.year),
            self.detail.attribute: self.guest.name if self.guest else self.detail.value,
        }
        if attribute not in values:
            raise ValueError(f"{attribute.value} is not shown in pictures of {self.photo.title}")
        return values[attribute]


def documented(event: Event, facts: Facts) -> Shown:
    """Everything as the record has it."""
    detail = event.detail
    return Shown(
        date=event.date,
        venue=event.venue,
        host=facts.person[event.host_id],
        count=event.count,
        detail=detail,
        guest=facts.person[detail.value] if detail.attribute is Attribute.GUEST else None,
        photo=event,
    )


def scene_of(shown: Shown, event: Event, *, style: str, seed: int, size: tuple[int, int], titled: bool) -> Scene:
    """The scene with everything printed that belongs to the event; `size` = (width, height) pixels."""
    text = PRINTED.get(shown.detail.attribute)
    extra = (text.format(shown.detail.value),) if text else ()
    bare = photographed_scene(shown, style=style, seed=seed, size=size)
    return Scene(
        **(vars(bare) | {"title": event.title if titled else None, "below": (*extra, shown.venue, shown.date)})
    )


def photographed_scene(shown: Shown, *, style: str, seed: int, size: tuple[int, int]) -> Scene:
    """The scene without a printed word, as a photograph shows it."""
    attribute, value = shown.detail.attribute, shown.detail.value
    return Scene(
        face=shown.host.face,
        kind=shown.photo.kind,
        count=shown.count,
        composition=shown.photo.composition,
        style=style,
        seed=seed,
        side=value if attribute is Attribute.SIDE else None,
        guest=shown.guest.face if shown.guest else None,
        action=value if attribute is Attribute.ACTION else None,
        sky=value if attribute is Attribute.SKY else None,
        foot_lines=3 if attribute in PRINTED else 2,
        width=size[0],
        height=size[1],
    )
