"""Whether one memory is inside a scope: for what no store query has cut (replacements, expansions)."""

from __future__ import annotations

from automem.models import Memory, Scope
from automem.utils.tags import tags_excluded, tags_match


def outside(memory: Memory, scope: Scope) -> str | None:
    """Name the first condition that a memory fails, in the order of recall.md 8.3; None when inside."""
    if memory.type in scope.excluded_types:
        return "excluded_type"
    if scope.window is not None and not scope.window.contains(memory.timestamp):
        return "time_window"
    if scope.tags and not tags_match(memory.tags, scope.tags, scope.tag_mode, scope.tag_match):
        return "tag_filter"
    if scope.exclude_tags and tags_excluded(memory.tags, scope.exclude_tags, scope.tag_match):
        return "excluded_tag"
    return None
