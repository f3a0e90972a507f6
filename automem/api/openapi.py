"""``GET /openapi.json``, made by spectree from the models that routes name (docs/dependencies.md).

Spectree only generates: the wrapped views live in an application of their own that serves nobody,
because a wrapper in the real one would read response bodies, endless ones too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flask import Blueprint, Flask, Response, current_app, jsonify
from pydantic import BaseModel
from spectree import Response as Answers
from spectree import SecurityScheme, SpecTree
from spectree.models import InType, SecureType, SecuritySchemeData

from automem.api.errors import ErrorAnswer
from automem.utils.version import package_version

View = TypeVar("View", bound=Callable[..., Any])
Model = type[BaseModel]

_ATTRIBUTE = "automem_description"

bp = Blueprint("openapi", __name__)


@dataclass(frozen=True, slots=True)
class Description:
    """What a route takes and gives, for the document only."""

    group: str
    answers: Mapping[int, Model | None]
    query: Model | None = None
    body: Model | None = None
    public: bool = field(default=False)


def describe(
    group: str,
    answers: Mapping[int, Model | None],
    query: Model | None = None,
    body: Model | None = None,
    public: bool = False,
) -> Callable[[View], View]:
    """Attach models to a view. ``public`` routes need no token. Nothing is validated by this."""

    def attach(view: View) -> View:
        setattr(view, _ATTRIBUTE, Description(group, answers, query, body, public))
        return view

    return attach


def description_of(view: Callable[..., Any]) -> Description | None:
    """Give what ``describe`` attached to a view."""
    return getattr(view, _ATTRIBUTE, None)


def build_document(app: Flask) -> dict[str, Any]:
    """Generate the OpenAPI document of all described routes of an application."""
    generator, shadow = _generator(), Flask("automem-openapi", static_folder=None)
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        described = description_of(view)
        if described is not None:
            wrapped = _validator(generator, described)(view)
            endpoint = f"api.{rule.endpoint}.{rule.rule}"
            shadow.add_url_rule(rule.rule, endpoint, wrapped, methods=rule.methods)
    generator.register(shadow)
    with shadow.app_context():
        document: dict[str, Any] = generator.spec
    return document


def _generator() -> SpecTree:
    return SpecTree(
        "flask",
        title="AutoMem",
        version=package_version(),
        path="openapi-ui",
        mode="strict",
        naming_strategy=lambda model: model.__name__,
        nested_naming_strategy=lambda _parent, child: child,
        validation_error_status=400,
        validation_error_model=ErrorAnswer,
        annotations=False,
        security_schemes=[
            SecurityScheme("bearer", SecuritySchemeData(SecureType.HTTP, scheme="bearer")),
            SecurityScheme("key", _key(InType.HEADER, "X-API-Key")),
            SecurityScheme("key_in_query", _key(InType.QUERY, "api_key")),
        ],
    )


def _key(where: InType, name: str) -> SecuritySchemeData:
    return SecuritySchemeData(SecureType.API_KEY, name=name, field_in=where)


def _validator(generator: SpecTree, described: Description) -> Callable[[View], View]:
    answers: dict[str, Any] = {f"HTTP_{status}": model for status, model in described.answers.items()}
    if not described.public:
        answers.setdefault("HTTP_401", ErrorAnswer)
    return generator.validate(
        query=described.query,
        json=described.body,
        resp=Answers(**answers),
        tags=(described.group,),
        security=[] if described.public else [{"bearer": []}, {"key": []}, {"key_in_query": []}],
        skip_validation=True,
    )


@bp.get("/openapi.json")
@describe("Service", answers={200: None})
def openapi() -> Response:
    """Describe this API (OpenAPI 3). Needs the token like the routes that it describes."""
    return jsonify(current_app.config["OPENAPI_DOCUMENT"])


def register(app: Flask) -> None:
    """Serve the document; to be called after all blueprints are registered."""
    app.register_blueprint(bp)
    app.config["OPENAPI_DOCUMENT"] = build_document(app)
