"""Which questions a request asks (recall.md 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from automem.search.context import _build_context_profile
from automem.search.decompose import decompose
from automem.search.pool import Run, embed_questions
from automem.search.rules import RecallRules
from automem.search.runtime_keywords import extract_keywords
from automem.search.types import RecallRequest, Warn

if TYPE_CHECKING:
    from automem.services import Services


def query_texts(request: RecallRequest) -> list[str]:
    """Give the texts to run: ``queries``, or ``query`` with its parts, or one without text."""
    if request.queries:
        return list(dict.fromkeys(text for text in request.queries if text != "*")) or [""]
    if request.auto_decompose and request.text:
        return list(dict.fromkeys([request.text, *decompose(request.text)]))
    return [request.text]


def plan_runs(request: RecallRequest, rules: RecallRules, services: Services) -> list[Run]:
    """Read each question; several are embedded in one batch."""
    texts = query_texts(request)
    vectors: Sequence[Sequence[float]] = ()
    warning: Warn | None = None
    if request.embedding is not None:
        vectors = [request.embedding] * len(texts)
    elif len(texts) > 1:
        vectors, warning = embed_questions(texts, services)
    limit = request.limit if len(texts) == 1 else request.per_query_limit
    runs = []
    for index, text in enumerate(texts):
        profile = _build_context_profile(request.context, text)
        focused = request.semantic and bool(request.tags or (profile and profile.tags))
        runs.append(
            Run(
                request=request,
                rules=rules,
                text=text,
                keywords=extract_keywords(text),
                profile=profile,
                sizes=rules.pools(limit, focused),
                vector=vectors[index] if vectors else None,
                no_vector=warning,
            )
        )
    return runs
