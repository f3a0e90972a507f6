"""The application factory."""

from __future__ import annotations

from flask import Blueprint, Flask

from automem import logs
from automem.api import (
    admin,
    associations,
    by_tag,
    context,
    enrichment,
    entities,
    errors,
    health,
    insights,
    memory,
    openapi,
    recall,
    stream,
)
from automem.api.requests import StrictJSON
from automem.config import Settings
from automem.security import guards
from automem.security.policy import access_policy
from automem.services import Services, build_services

BLUEPRINTS: tuple[Blueprint, ...] = (
    health.bp,
    memory.bp,
    by_tag.bp,
    associations.bp,
    recall.bp,
    insights.bp,
    stream.bp,
    enrichment.bp,
    entities.bp,
    admin.bp,
)


def create_app(settings: Settings, services: Services | None = None) -> Flask:
    """Make the WSGI application.

    Without ``services`` they are built from the settings; the caller starts and closes them
    (``app.extensions["automem"]``). Raises ``StartupError`` when the settings do not allow a start.
    """
    app = Flask("automem", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = settings.automem_max_body_bytes
    app.json = StrictJSON(app)
    app.url_map.redirect_defaults = False
    errors.register(app)
    # After-request functions run in reverse: the log line is written last.
    logs.register(app)
    context.register(app)
    guards.register(app, access_policy(settings))
    app.extensions["automem"] = services or build_services(settings)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    openapi.register(app)
    return app
