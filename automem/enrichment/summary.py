"""Short forms of long memories; the content itself is never replaced (D40)."""

from __future__ import annotations

import re

from automem.enrichment.chat import ChatModel
from automem.utils.text import storable_form

_SENTENCE_END = re.compile(r"[.!?](?=\s)")
_TO_LAST_BLANK = re.compile(r"(?s).*(?=\s)")
_LONGEST_ANSWER_TOKENS = 150
_PROMPT = (
    "You shorten notes of a long-term memory. Write what the note says in at most {length} characters: "
    "keep names, numbers, dates and decisions, add nothing, and answer with the text alone, in the language "
    "of the note."
)


def first_sentence(text: str, limit: int = 240) -> str:
    """Give the first sentence of a text, trimmed; a longer one is cut at its last blank within ``limit``
    characters (background.md 2 step 5). Linear in the length of the text."""
    trimmed = text.strip()
    # A sentence that ends behind the limit is cut anyhow.
    end = _SENTENCE_END.search(trimmed, 0, limit + 1)
    sentence = trimmed[: end.end()] if end else trimmed
    if len(sentence) <= limit:
        return sentence
    cut = _TO_LAST_BLANK.match(sentence, 0, limit)
    return cut.group().rstrip() if cut else sentence[:limit]


class ChatSummaries:
    """Lets the chat model, where there is one, summarise long memories (memory-api.md 0.7, D40)."""

    def __init__(self, chat: ChatModel, soft_limit: int, target_length: int) -> None:
        """:param soft_limit: characters of a trimmed text that need no summary.
        :param target_length: wanted length of a summary in characters.
        """
        self._chat = chat
        self._soft_limit = soft_limit
        self._target_length = target_length

    def wanted(self, content: str) -> bool:
        """Say whether there is a model to ask, and the text is longer than both lengths."""
        longest = max(self._soft_limit, self._target_length)
        return self._chat.name is not None and len(content.strip()) > longest

    def write(self, content: str) -> str | None:
        """Ask for a summary; None without an answer, or when it is not shorter than the text.

        Takes as long as the model does, so it belongs into the background.
        """
        if not self.wanted(content):
            return None
        text = content.strip()
        most = min(_LONGEST_ANSWER_TOKENS, max(1, self._target_length // 4))
        answer = self._chat.complete_text(_PROMPT.format(length=self._target_length), text, most)
        summary = storable_form(answer or "").strip()
        return summary if 0 < len(summary) < len(text) else None
