"""Every error that the service raises on purpose, as one tree.

AutoMemError
├── InvalidInput          400: a client sent something wrong; carries the field
├── NotFound              404
├── Conflict              409
├── Unauthorized          401
├── Forbidden             403
├── TooLarge              413
├── Unavailable           503: a store or provider cannot serve now
│   ├── GraphUnavailable
│   ├── VectorsUnavailable
│   └── EmbeddingUnavailable
└── StartupError          the service cannot start; the message says how to mend it

Only ``api/`` turns these into HTTP answers.
"""

from __future__ import annotations


class AutoMemError(Exception):
    """Base of all errors raised on purpose. ``message`` is safe to show to a client."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(AutoMemError):
    """A value from outside is wrong (D1): the message names it and says what is accepted.

    ``rows`` lists the faults of a batch, each ``{"index", "field"?, "message"}`` (D28).
    """

    def __init__(
        self, message: str, field: str | None = None, rows: tuple[dict[str, object], ...] = ()
    ) -> None:
        super().__init__(message)
        self.field = field
        self.rows = rows


class NotFound(AutoMemError):
    """The thing named does not exist."""


class Conflict(AutoMemError):
    """The same id or key was used with other content (D25)."""


class Unauthorized(AutoMemError):
    """No token, or a wrong one."""


class Forbidden(AutoMemError):
    """The caller may not do this here."""


class TooLarge(AutoMemError):
    """The body exceeds the documented limit."""


class Unavailable(AutoMemError):
    """A store or a provider cannot serve now; trying again later may work."""


class GraphUnavailable(Unavailable):
    """FalkorDB does not answer."""


class VectorsUnavailable(Unavailable):
    """Qdrant does not answer."""


class EmbeddingUnavailable(Unavailable):
    """The embedding provider failed; no vector was made (D23)."""


class StartupError(AutoMemError):
    """The service cannot start. The message says what is wrong and how to mend it."""
