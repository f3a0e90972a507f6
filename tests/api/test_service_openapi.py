"""The description of the API is made from the models that the routes name."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from automem.api.openapi import description_of


@pytest.fixture
def document(app_client: FlaskClient) -> dict[str, Any]:
    reply = app_client.get("/openapi.json")
    assert reply.status_code == 200
    body: dict[str, Any] = reply.json
    return body


def test_every_route_is_described(app_client: FlaskClient, document: dict[str, Any]) -> None:
    app = app_client.application
    for rule in app.url_map.iter_rules():
        assert description_of(app.view_functions[rule.endpoint]) is not None, rule.rule
        path = rule.rule.replace("<", "{").replace(">", "}")
        methods = (rule.methods or set()) - {"HEAD", "OPTIONS"}
        assert {method.lower() for method in methods} <= set(document["paths"][path])


def test_operations_say_what_they_take_and_give(document: dict[str, Any]) -> None:
    recall = document["paths"]["/recall"]["get"]
    assert {"query", "limit", "tags"} <= {parameter["name"] for parameter in recall["parameters"]}
    assert {"200", "400", "401"} <= set(recall["responses"])
    store = document["paths"]["/memory"]["post"]
    assert "requestBody" in store and "201" in store["responses"]
    assert document["paths"]["/health"]["get"]["security"] == []
    assert set(document["components"]["securitySchemes"]) == {"bearer", "key", "key_in_query"}


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for reference in _references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for item in value.values() for found in _references(item)]
    if isinstance(value, list):
        return [found for item in value for found in _references(item)]
    return []
