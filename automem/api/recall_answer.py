"""A recall's answer as JSON (recall.md 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automem.search.explain import explanation
from automem.search.runtime_relations import is_bridge
from automem.search.types import RecallAnswer, Result, Scored, StateReport, Via
from automem.utils.graph import memory_object, relation_object
from automem.utils.scoring import Weights


def recall_object(answer: RecallAnswer, elapsed_ms: float) -> dict[str, Any]:
    """Give the top level of the response; blocks that do not apply are left out (D38)."""
    request = answer.request
    weights = answer.weights if request.explain else None
    results = [result_object(result, weights) for result in answer.results]
    return {
        "status": "success",
        "query": request.query,
        "results": results,
        "count": len(results),
        "dedup_removed": answer.dedup_removed,
        "sort": request.sort,
        "state_mode": request.state_mode,
        "vector_search": {"enabled": True, "matched": answer.vector_matched},
        "tag_mode": request.tag_mode,
        "tag_match": request.tag_match,
        "query_time_ms": round(elapsed_ms, 2),
        **_optional_blocks(answer),
    }


def _optional_blocks(answer: RecallAnswer) -> dict[str, Any]:
    request = answer.request
    blocks: dict[str, Any] = {
        "keywords": list(answer.keywords) if request.query and len(answer.texts) == 1 else None,
        "queries": list(answer.texts) if len(answer.texts) > 1 or request.queries else None,
        "time_window": _present(request.window.as_json()) if request.window else None,
        "tags": list(request.tags) or None,
        "tag_scope": _tag_scope(answer) if request.tags else None,
        "exclude_tags": list(request.exclude_tags) or None,
        "state_filter": _state_block(answer.state, request.state_debug) if answer.state else None,
        "score_filter": _floor_block(answer),
        "recency_bias": "on" if answer.recency_bias else None,
        "context_priority": answer.context_priority,
        "expansion": _expansion_block(answer),
        "entity_expansion": _entity_block(answer),
        "entities": list(answer.entities) or None,
        "scope_fallback": answer.fell_back or None,
        "explained": _explained_block(answer),
        "degraded": answer.degraded or None,
    }
    return _present(blocks)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _tag_scope(answer: RecallAnswer) -> dict[str, Any]:
    gated = sum(result.scored.score.gated for result in answer.results)
    return _present({"filtered": True, "pool_size_hint": answer.pool_size, "gated_low_evidence": gated})


def _floor_block(answer: RecallAnswer) -> dict[str, Any] | None:
    report = answer.score_filter
    if report is None:
        return None
    return _present(
        {
            "min_score": report.min_score,
            "adaptive_floor": report.adaptive_floor,
            "filtered_count": report.filtered_count,
        }
    )


def _state_block(report: StateReport, debug: bool) -> dict[str, Any]:
    block: dict[str, Any] = {
        "current_only": True,
        "suppressed_count": len(report.suppressed),
        "replacement_count": len(report.replacements),
    }
    if debug:
        block["suppressed"] = [
            _present(
                {
                    "id": row.id,
                    "reason": row.reason,
                    "replacement_id": row.replacement_id,
                    "relation_type": row.relation_type,
                }
            )
            for row in report.suppressed
        ]
        block["replacements"] = [
            {"id": row.id, "replaces_id": row.replaces_id, "relation_type": row.relation_type}
            for row in report.replacements
        ]
    return block


def result_object(result: Result, weights: Weights | None) -> dict[str, Any]:
    """Give one row (recall.md 2.2); with ``weights`` it carries its explanation (D19)."""
    row, relations = result.scored, _relations(result)
    shown: dict[str, Any] = {
        "id": row.id,
        "match_type": row.match_type,
        "match_types": list(row.match_types),
        "source": "qdrant" if "vector" in row.candidate.arms or row.match_type == "tag" else "graph",
        "match_score": row.match_score,
        "original_score": row.original,
        "score": row.final,
        "final_score": row.final,
        "score_components": score_components(row),
        "memory": {**memory_object(row.memory), "id": row.id},
        "relations": relations,
    }
    optional = {
        "related_to": relations if row.match_type == "relation" else None,
        "relation_score": row.relation_score,
        "bridge": True if row.match_type == "relation" and is_bridge(row.via) else None,
        "expanded_from_entity": row.entity,
        "outside_tag_scope": row.outside_scope or None,
        "_query": row.query or None,
        "deduped_from": list(row.deduped_from) or None,
        "state_replaces": row.replaces,
        "explain": explanation(row, weights) if weights else None,
    }
    return shown | _present(optional)


def score_components(row: Scored) -> dict[str, Any]:
    """Give the components of recall.md 6.1, with ``evidence`` and the gate for information."""
    parts = row.score.components
    shown: dict[str, Any] = dict(parts)
    shown["evidence"] = max(parts[name] for name in ("vector", "keyword", "metadata", "exact"))
    shown["relevance_gated"] = row.score.gated
    return shown | {name: bonus.value for name, bonus in row.bonus.items()}


def _relations(result: Result) -> list[dict[str, Any]]:
    if result.scored.via:
        return [_edge(via) for via in result.scored.via]
    return [relation_object(relation, memory) for relation, memory in result.relations]


def _edge(via: Via) -> dict[str, Any]:
    return _present(
        {
            "type": via.relation.type,
            "strength": via.relation.strength,
            "from": via.from_id,
            "seed_rank": via.seed_rank,
            "seed_score": via.seed_score,
            "kind": via.relation.kind,
        }
    )


def _expansion_block(answer: RecallAnswer) -> dict[str, Any] | None:
    report, options = answer.relation_expansion, answer.request.expansion
    if report is None:
        return None
    return {
        "enabled": True,
        "seed_count": report.seed_count,
        "expanded_count": report.expanded_count,
        "relation_limit": options.relation_limit,
        "expansion_limit": options.limit,
        "respect_tags": options.respect_tags,
    }


def _entity_block(answer: RecallAnswer) -> dict[str, Any] | None:
    report = answer.entity_expansion
    if report is None:
        return None
    return {
        "enabled": True,
        "expanded_count": report.expanded_count,
        "entities_found": list(report.entities_found),
    }


def _explained_block(answer: RecallAnswer) -> dict[str, Any] | None:
    told = answer.explained
    if told is None:
        return None
    return _present(
        {
            "id": told.id,
            "returned": told.code == "returned",
            "code": told.code,
            "reason": told.reason,
            "rank": told.rank,
            "explain": explanation(told.row, answer.weights) if told.row else None,
        }
    )
