"""From a text to the entities that it names (background.md 3): rules, then quality. Pure and thread-safe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from automem.entities.people import people
from automem.entities.reading import Candidate, admits, read
from automem.entities.recogniser import Recogniser
from automem.entities.things import concepts, organizations, projects, tools
from automem.entities.validator import Verdict, has_hints, validate, validate_tag
from automem.utils.tags import slugify


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that a text names; ``aliases`` are other slugs by which it does."""

    category: str
    slug: str
    name: str
    confidence: float
    aliases: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of its node, which is its tag too."""
        return f"entity:{self.category}:{self.slug}"


class EntityExtractor:
    """Finds entities by rules, and by a language model where there is one."""

    def __init__(self, recogniser: Recogniser) -> None:
        self._recogniser = recogniser

    def extract(self, text: str) -> tuple[Entity, ...]:
        """Give each entity once, by category and slug."""
        found: dict[str, Entity] = {}
        hinted = has_hints(text)
        for category, name in dict.fromkeys(self._candidates(text)):
            verdict = validate(category, name, hinted)
            if verdict.accepted:
                _add(found, _entity(verdict, name))
        kept = _without_shadows(found.values())
        return tuple(sorted(kept, key=lambda entity: (entity.category, entity.slug)))

    def _candidates(self, text: str) -> Iterator[Candidate]:
        reading = read(text)
        for category, name in self._recogniser.find(text):
            if admits(name):
                yield category, name
        yield from people(reading)
        for rule in (tools, projects, organizations, concepts):
            yield from rule(reading)


def known_tag(tag: str) -> Entity | None:
    """Give the entity that a tag ``entity:<category>:<slug>`` names, None when it names none."""
    verdict = validate_tag(tag)
    if not verdict.accepted:
        return None
    named = replace(verdict, name=verdict.slug.replace("-", " ").title())
    return _entity(named, tag.rsplit(":", 1)[1])


def _entity(verdict: Verdict, name: str) -> Entity:
    other = slugify(name)
    aliases = (other,) if other != verdict.slug else ()
    return Entity(verdict.category, verdict.slug, verdict.name, verdict.confidence, aliases)


def _add(found: dict[str, Entity], entity: Entity) -> None:
    known = found.get(entity.id)
    if known is None:
        found[entity.id] = entity
    else:
        aliases = tuple(sorted({*known.aliases, *entity.aliases}))
        found[entity.id] = replace(
            known, confidence=max(known.confidence, entity.confidence), aliases=aliases
        )


def _without_shadows(found: Iterable[Entity]) -> list[Entity]:
    """Leave out what is only a part of a better name: tools that are people's names or parts of them."""
    entities = list(found)
    named = {
        part for each in entities if each.category == "people" for part in (each.slug, *each.slug.split("-"))
    }
    organizations = {each.slug for each in entities if each.category == "organizations"}
    owners = {part for slug in organizations for part in slug.split("-")}
    return [
        each
        for each in entities
        if not (each.category == "tools" and each.slug in named | organizations)
        and not (each.category == "people" and "-" not in each.slug and each.slug in owners)
    ]
