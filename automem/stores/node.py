"""Memories as graph nodes: public properties, and the internal ones (``_``) derived from them.

Internal properties: ``_lex`` (analysed text), ``_tags`` and ``_prefixes`` (canonical, for tag conditions
outside the full-text index), ``_ts``, ``_updated``, ``_from``, ``_until`` (epoch seconds), ``_rev``
(writes so far; a new node is at 0), ``_pending`` (``vector`` or ``payload``, whatever the vector store is
owed, D22), ``_attempts``, ``_retry_at``, ``_embedding`` (a client's vector until it is stored),
``_analysis`` (version of the derivation), and what enrichment waits for and has added: see
``falkordb_enrichment.py``. Public properties may have been written by others with any type, so queries
compare and iterate the internal ones only.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from automem.errors import InvalidInput
from automem.models import Memory, MemoryDraft
from automem.stores.additions import Additions, keep_additions
from automem.stores.base import Receipt
from automem.stores.enrichment import Enriched
from automem.utils.tags import canonical_tag, tag_prefixes
from automem.utils.text import ANALYSIS_VERSION, document_lexemes
from automem.utils.time import epoch_of

INTERNAL = "_"
"""Names that begin so never leave the stores."""

VECTOR, PAYLOAD = "vector", "payload"
"""What a node may owe the vector store, as ``_pending`` says it."""

WAITING, READY = "waiting", "ready"
"""What a new text's enrichment waits for, as ``_enrichment`` says it: its vector, or nothing."""

Properties = dict[str, Any]

DUE, CHAT = "due", "chat"
"""What ``_chat`` says of a memory that the chat model may improve, ``_summary_by`` of one that it did."""

_NEW_TEXT: Mapping[str, Any] = {
    "_pending": VECTOR,
    "_attempts": 0,
    "_retry_at": 0.0,
    "_embedding": [],
    "processed": False,
    "_enrichment": WAITING,
    "_enrich_at": 0.0,
    "_enrich_by": "",
    "_enrich_attempts": 0,
    "_text_changed": True,
    "_chat": "",
    "_summary_by": "",
}
"""A new text is to be embedded and enriched anew; what was found in the old one, or failed, is void."""

UNIQUE_LIMIT = 1000
"""Bytes of a text that the graph keeps unique. FalkorDB (4.x) crashes at 4,096."""

_INTEGERS = range(-(2**63), 2**63)
_SCALARS = (str, bool, int, float)


def draft_node(draft: MemoryDraft, pending: bool) -> Properties:
    """Give all properties of a new node (storage.md 2.1).

    :raises InvalidInput: for a value that the graph cannot hold, naming the field.
    """
    public = {
        "id": draft.id,
        "content": draft.content,
        "tags": list(draft.tags),
        "importance": draft.importance,
        "metadata": draft.metadata,
        "type": draft.type,
        "confidence": draft.confidence,
        "timestamp": draft.timestamp,
        "updated_at": draft.updated_at,
        "last_accessed": draft.last_accessed,
        "t_valid": draft.t_valid,
        "t_invalid": draft.t_invalid,
        "processed": False,
    }
    node = _stored(public) | derived(public) | {"id": storable_key(draft.id, "id")}
    node |= {"_enrichment": WAITING if pending else READY, "_provisional": draft.provisional or None}
    if pending:
        node |= {"_pending": VECTOR, "_embedding": storable(draft.embedding, "embedding")}
    return present(node) | {"_rev": 0}


def stored_order() -> int:
    """Give the place of a write among all, in microseconds: decides between equal timestamps (D42).

    Told here and not by the server, so that a log that is replayed gives the same order again.
    """
    return time.time_ns() // 1_000


def changed_node(memory: Memory, changes: Mapping[str, Any]) -> Properties:
    """Give the properties to set on a node; None removes one. ``_pending`` is the new debt: a vector
    for changed content, which is to be enriched anew too, else the payload.

    :raises InvalidInput: for a value that the graph cannot hold, an internal name, or ``id``.
    """
    for name in changes:
        if not name.isidentifier() or name.startswith(INTERNAL) or name == "id":
            raise InvalidInput(f"'{name}' cannot be changed", field=name)
    completed, additions = keep_additions(memory, changes)
    node = _rewritten(memory, completed, additions.tags) | _owned(additions)
    if "type" in changes:
        node["_provisional"] = False
    if changes.get("content", memory.properties.get("content")) == memory.properties.get("content"):
        return node | {"_pending": PAYLOAD}
    return {**node, **_NEW_TEXT}


def enriched_node(result: Enriched) -> Properties:
    """Give the properties to set on a memory that was enriched."""
    node = _rewritten(result.memory, result.properties, result.additions.tags) | _owned(result.additions)
    return present(node | ({"_chat": DUE} if result.chat else {}))


def improved_node(memory: Memory, properties: Mapping[str, Any]) -> Properties:
    """Give the properties to set on a memory that the chat model improved."""
    by_chat = {"_summary_by": CHAT} if "summary" in properties else {}
    return present(_rewritten(memory, properties, memory.added_tags) | by_chat)


def _rewritten(memory: Memory, changes: Mapping[str, Any], added_tags: Sequence[str]) -> Properties:
    node = _stored(changes) | derived({**memory.properties, **changes}, added_tags)
    return node | {"_rev": memory.revision + 1}


def _owned(additions: Additions) -> Properties:
    return {"_added_tags": list(additions.tags), "_added_keys": list(additions.keys)}


def receipt_node(receipt: Receipt) -> Properties:
    """Give all properties of a node that keeps the answer of a write.

    :raises InvalidInput: as ``storable_key`` and ``storable`` do.
    """
    node = {
        "key": storable_key(receipt.key, "Idempotency-Key"),
        "fingerprint": storable(receipt.fingerprint, "fingerprint"),
        "answer": storable(receipt.answer, "answer"),
    }
    return node if receipt.expires is None else node | {"expires": receipt.expires}


def derived(public: Mapping[str, Any], added_tags: Sequence[str] = ()) -> Properties:
    """Compute what queries need from public properties of whatever type; None where there is nothing.

    :param added_tags: the tags that are enrichment's.
    """
    memory = Memory(public)
    timestamp = epoch_of(public.get("timestamp"))
    updated = epoch_of(public.get("updated_at"))
    prefixes = tag_prefixes(memory.tags)
    canonical = [tag for tag in map(canonical_tag, memory.tags) if tag]
    return {
        "tag_prefixes": prefixes,
        "_lex": document_lexemes(memory.content, memory.tags, memory.metadata, added_tags),
        "_tags": list(dict.fromkeys(canonical)),
        "_prefixes": prefixes,
        "_scope": conversation_scope(memory.tags),
        "_ts": timestamp,
        "_updated": timestamp if updated is None else updated,
        "_from": epoch_of(public.get("t_valid")),
        "_until": epoch_of(public.get("t_invalid")),
        "_analysis": ANALYSIS_VERSION,
    }


def conversation_scope(tags: Sequence[str]) -> str | None:
    """Name the conversation of a memory by its most specific tags, those of most segments (D42).

    Entity tags, which enrichment adds, name no conversation. None without tags.
    """
    canonical = {tag for tag in map(canonical_tag, tags) if tag and not tag.startswith("entity:")}
    depth = max((tag.count(":") for tag in canonical), default=0)
    deepest = sorted(tag for tag in canonical if tag.count(":") == depth)
    return "\n".join(deepest) or None


def present(node: Mapping[str, Any]) -> Properties:
    """Give the properties that have a value."""
    return {name: value for name, value in node.items() if value is not None}


def set_and_removed(node: Mapping[str, Any]) -> tuple[Properties, list[str]]:
    """Tell apart the properties to set and the names of those to remove."""
    return present(node), sorted(name for name, value in node.items() if value is None)


def read_memory(node: Mapping[str, Any], replaced: bool) -> Memory:
    """Read a node. Odd data of others is passed on as it is and never an error."""
    public = {name: plain(value) for name, value in node.items() if not name.startswith(INTERNAL)}
    if "metadata" in public:
        public["metadata"] = _read_metadata(public["metadata"])
    lexemes, revision = node.get("_lex"), node.get("_rev")
    return Memory(
        properties=public,
        lexemes=lexemes if isinstance(lexemes, str) else "",
        vector_pending=node.get("_pending") == VECTOR,
        replaced=replaced,
        revision=revision if isinstance(revision, int) else 0,
        added_tags=_names(node.get("_added_tags")),
        added_keys=_names(node.get("_added_keys")),
    )


def storable(value: Any, field: str) -> Any:
    """Give a value as the graph keeps it: floats to 15 significant digits, which is what it answers with.

    :raises InvalidInput: for what the graph cannot hold or would alter: NUL characters and lone
        surrogates, whole numbers beyond 64 bits, NaN and infinities, nested objects.
    """
    if isinstance(value, list | tuple):
        return [storable(item, field) for item in value]
    if value is not None and not isinstance(value, _SCALARS):
        raise InvalidInput(f"'{field}' must be text, a number, true, false or a list of them", field=field)
    if isinstance(value, str):
        return _storable_text(value, field)
    if isinstance(value, float):
        return _storable_float(value, field)
    if isinstance(value, int) and value not in _INTEGERS:
        raise InvalidInput(f"'{field}' must be a whole number of at most 64 bits", field=field)
    return value


def storable_key(text: str, field: str) -> str:
    """Give a text that the graph keeps unique as it is.

    :raises InvalidInput: for more than ``UNIQUE_LIMIT`` bytes, and as ``storable`` does.
    """
    _storable_text(text, field)
    if len(text.encode()) > UNIQUE_LIMIT:
        raise InvalidInput(f"'{field}' must have at most {UNIQUE_LIMIT} bytes", field=field)
    return text


def metadata_text(metadata: Any) -> str:
    """Write metadata as one JSON text, so that any key is possible (memory-api.md 0.5).

    :raises InvalidInput: when it is no object, or holds NaN, an infinity or too deep a nesting.
    """
    if not isinstance(metadata, Mapping):
        raise InvalidInput("'metadata' must be an object", field="metadata")
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False, default=str)
        return text if _is_utf8(text) else json.dumps(metadata, allow_nan=False, default=str)
    except (ValueError, RecursionError):
        message = "'metadata' must be JSON without NaN, Infinity or very deep nesting"
        raise InvalidInput(message, field="metadata") from None


def plain(value: Any) -> Any:
    """Give a graph value as JSON can say it: times and the like of others as text."""
    if value is None or isinstance(value, _SCALARS):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _stored(public: Mapping[str, Any]) -> Properties:
    node = {name: storable(value, name) for name, value in public.items() if name != "metadata"}
    if "metadata" in public:
        metadata = public["metadata"]
        node["metadata"] = None if metadata is None else metadata_text(metadata)
    return node


def _names(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list) else ()


def _storable_text(text: str, field: str) -> str:
    if "\0" in text:
        raise InvalidInput(f"'{field}' must not contain a NUL character", field=field)
    if not _is_utf8(text):
        raise InvalidInput(
            f"'{field}' must be valid Unicode text (it has half a surrogate pair)", field=field
        )
    return text


def _storable_float(number: float, field: str) -> float:
    if not math.isfinite(number):
        raise InvalidInput(f"'{field}' must be a finite number", field=field)
    return float(f"{number:.15g}")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_metadata(value: Any) -> Any:
    """Decode an object; text that holds none stays text (memory-api.md 0.5)."""
    if not isinstance(value, str):
        return value
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return decoded if isinstance(decoded, dict) else value
