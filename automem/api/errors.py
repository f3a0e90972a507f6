"""Every error as one JSON shape (D3): the only place where errors become HTTP answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from flask import Flask, Response, current_app, jsonify, request
from pydantic import BaseModel, Field
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge
from werkzeug.wrappers import Response as AnyResponse

from automem import errors
from automem.api.context import request_id

RETRY_AFTER_SECONDS = 2

STATUS: Mapping[type[errors.AutoMemError], int] = {
    errors.InvalidInput: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.Unavailable: 503,
}

_log = logging.getLogger("automem.api")


class RowFault(BaseModel):
    """What is wrong with one row of a batch."""

    index: int = Field(description="Position of the row, from 0.")
    field: str | None = Field(default=None, description="The field at fault.")
    message: str


class ErrorAnswer(BaseModel):
    """The one shape of all errors."""

    status: str = Field(description="Always `error`.")
    code: int = Field(description="The HTTP status.")
    message: str = Field(description="What was wrong, and what is accepted.")
    field: str | None = Field(default=None, description="The parameter or field at fault, if one is.")
    errors: list[RowFault] | None = Field(default=None, description="The faults of a batch, row by row.")
    request_id: str = Field(description="Also in the header `X-Request-ID`.")


def status_of(error: errors.AutoMemError) -> int:
    """Give the HTTP status of an error raised on purpose; 500 for one without."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def error_body(status: int, message: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Build the envelope; values of ``extra`` that are empty are left out."""
    body: dict[str, Any] = {"status": "error", "code": status, "message": message}
    body.update({name: value for name, value in (extra or {}).items() if value})
    return body | {"request_id": request_id()}


def _respond(status: int, body: dict[str, Any]) -> Response:
    response = jsonify(body)
    response.status_code = status
    if status == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def on_purpose(error: errors.AutoMemError) -> Response:
    """Answer an error of our own tree."""
    status = status_of(error)
    if status >= 500:
        _log.warning("unavailable", extra={"path": request.path, "reason": error.message})
    extra = {}
    if isinstance(error, errors.InvalidInput):
        extra = {"field": error.field, "errors": list(error.rows)}
    return _respond(status, error_body(status, error.message, extra))


def of_the_framework(error: HTTPException) -> AnyResponse:
    """Answer an error of Flask's own (404, 405, 413, 415 …), keeping headers such as ``Allow``.

    Redirects stay what they are (service.md 3).
    """
    status = error.code or 500
    if status < 400 or error.response is not None:
        return error.get_response()
    response = _respond(status, error_body(status, _message(error)))
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def _message(error: HTTPException) -> str:
    if isinstance(error, RequestEntityTooLarge):
        return f"The request body is larger than {current_app.config['MAX_CONTENT_LENGTH']} bytes"
    return error.description or error.name


def unexpected(error: Exception) -> Response:
    """Answer a fault of ours: the log gets everything, the client no details."""
    _log.error("unexpected error", exc_info=error, extra={"path": request.path})
    return _respond(500, error_body(500, "Internal server error"))


def register(app: Flask) -> None:
    """Let these functions answer every error of the application."""
    app.register_error_handler(errors.AutoMemError, on_purpose)
    app.register_error_handler(HTTPException, of_the_framework)
    # The outermost border of a request: whatever is left is our own fault and must be JSON too.
    app.register_error_handler(Exception, unexpected)
