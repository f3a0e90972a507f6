"""Reading associations from bodies (memory-api.md 7.2 and 7.3; D1, D28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automem.errors import InvalidInput
from automem.memory import fields
from automem.models import JSON
from automem.relations import AUTHORABLE, DEFAULT_TYPE, OWN_PROPERTIES, REGISTRY, RelationType
from automem.search.types import Warn
from automem.stores.edges import NewEdge

DEFAULT_STRENGTH = 0.5
MAX_BULK = 500

IDS_REQUIRED = "'memory1_id' and 'memory2_id' are required"
ITSELF = "Cannot associate a memory with itself"
NOT_AUTHORABLE = "Relation type must be one of [" + ", ".join(f"'{name}'" for name in AUTHORABLE) + "]"
NO_OBJECT = "Association item must be an object"

_BULK_EMPTY = "'associations' must be a non-empty array"
_BULK_TOO_LONG = f"Batch size limit is {MAX_BULK} associations per request"


@dataclass(frozen=True, slots=True)
class Ends:
    """The two memories of an association, by canonical ids that differ."""

    source_id: str
    target_id: str


@dataclass(frozen=True, slots=True)
class NewAssociation:
    """A validated wish for an edge; ``properties`` are those of its type that were sent."""

    kind: RelationType
    edge: NewEdge
    warnings: tuple[Warn, ...] = ()


def read_association(body: Mapping[str, Any]) -> NewAssociation:
    """Validate one association, in the contract's order; raises ``InvalidInput`` for the first fault."""
    given = body.get("strength")
    strength = DEFAULT_STRENGTH if given is None else fields.read_share(given, "strength")
    ends = read_ends(body)
    kind = _authorable(body.get("type"))
    properties = {name: _property(body[name], name) for name in kind.properties if body.get(name) is not None}
    edge = NewEdge(ends.source_id, ends.target_id, strength, properties)
    return NewAssociation(kind, edge, _foreign_properties(body, kind))


def read_rows(body: Mapping[str, Any]) -> Sequence[Any]:
    """Give the rows of the bulk form as they came; raises for none and for too many."""
    rows = body["associations"]
    if not rows:
        raise InvalidInput(_BULK_EMPTY, field="associations")
    if len(rows) > MAX_BULK:
        raise InvalidInput(_BULK_TOO_LONG, field="associations")
    return list(rows)


def read_row(row: object) -> NewAssociation:
    """Validate one row of the bulk form."""
    if not isinstance(row, dict):
        raise InvalidInput(NO_OBJECT)
    return read_association(row)


def read_ends(values: Mapping[str, Any]) -> Ends:
    """Read ``memory1_id`` and ``memory2_id``, in any usual form of a UUID."""
    for name in ("memory1_id", "memory2_id"):
        if _is_blank(values.get(name)):
            raise InvalidInput(IDS_REQUIRED, field=name)
    ends = Ends(*(_memory_id(values[name], name) for name in ("memory1_id", "memory2_id")))
    if ends.source_id == ends.target_id:
        raise InvalidInput(ITSELF, field="memory2_id")
    return ends


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _memory_id(value: object, name: str) -> str:
    memory_id = fields.canonical_id(value)
    if memory_id is None:
        raise InvalidInput(f"'{name}' must be a valid UUID", field=name)
    return memory_id


def _authorable(given: object) -> RelationType:
    if _is_blank(given):
        return REGISTRY[DEFAULT_TYPE]
    name = given.strip().upper() if isinstance(given, str) else ""
    if name not in AUTHORABLE:
        raise InvalidInput(NOT_AUTHORABLE, field="type")
    return REGISTRY[name]


def _property(value: JSON, name: str) -> JSON:
    """Take a scalar or a list of scalars as it is: the graph holds nothing deeper."""
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str | bool | int | float) for item in items):
        message = f"'{name}' must be a text, a number, a boolean or a list of these"
        raise InvalidInput(f"{message}, not {fields.kind_of(value)}", field=name)
    return value


def _foreign_properties(body: Mapping[str, Any], kind: RelationType) -> tuple[Warn, ...]:
    """Name what belongs to other types, and is ignored (D2)."""
    foreign = [name for name in OWN_PROPERTIES if name in body and name not in kind.properties]
    return tuple(
        Warn("unknown_field", f"'{name}' is no property of {kind.name} and was ignored", name)
        for name in foreign
    )
