"""What belongs to the present request: the services of this process and the request's id."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, cast

from flask import Flask, Response, current_app, g, request

if TYPE_CHECKING:
    from automem.services import Services

REQUEST_ID_HEADER = "X-Request-ID"
_ACCEPTABLE = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def services() -> Services:
    """Give the services that this application was made with."""
    return cast("Services", current_app.extensions["automem"])


def request_id() -> str:
    """Give the id of this request: the client's own when it is well-formed, else a new one (D3)."""
    if "request_id" not in g:
        given = request.headers.get(REQUEST_ID_HEADER, "")
        g.request_id = given if _ACCEPTABLE.fullmatch(given) else uuid.uuid4().hex
    return cast(str, g.request_id)


def register(app: Flask) -> None:
    """Put the request's id on every answer."""

    @app.after_request
    def name_request(response: Response) -> Response:
        response.headers[REQUEST_ID_HEADER] = request_id()
        return response
