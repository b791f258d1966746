"""The client cannot drift from what the server promises: parameters by OpenAPI, answers by the tools' schemas."""

from __future__ import annotations

import inspect
import subprocess
import sys
import types
import zipfile
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from twoclocks import AsyncClient, Client, answers

from api.app import create_app
from api.mcp.schemas import BY_NAME

ROOT = Path(__file__).parents[2]
ANSWERS = {
    "search_chunks": answers.Search,
    "context": answers.Context,
    "get_document": answers.DocumentText,
    "find_entities": answers.Entities,
    "entity_facts": answers.Facts,
    "timeline": answers.Timeline,
    "changes": answers.Changes,
    "neighbors": answers.Neighbors,
    "paths_between": answers.Paths,
    "explain_fact": answers.Explanation,
    "review_status": answers.ReviewStatus,
    "remember": answers.Remembered,
}
ROUTES = {
    "search": "/search",
    "context": "/context",
    "entities": "/entities",
    "facts": "/entities/{entity}/facts",
    "timeline": "/entities/{entity}/timeline",
    "changes": "/changes",
    "neighbors": "/neighbors",
    "paths": "/paths",
    "explain": "/facts/{fact_id}/explanation",
    "document": "/documents/{document_id}",
    "documents": "/documents",
    "review_status": "/review/status",
}
LEFT_OUT = {"search": {"explain"}}
"""For those who tune the ranking."""
RENAMED = {"from": "start"}
KINDS = {str: "string", int: "integer", bool: "boolean", float: "number"}


def schema_of(kind: Any) -> Any:
    """A type as the tools' schemas would write it, names of fields and all."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return {name: schema_of(field) for name, field in get_type_hints(kind).items()}
    if origin in (Union, types.UnionType):
        [some] = [part for part in inner if part is not type(None)]
        return (plain(schema_of(some)), "null")
    if origin is list:
        return [schema_of(inner[0])]
    if origin is Literal:
        return "string"
    return "object" if origin is dict else "any" if kind is Any else KINDS[kind]


def plain(schema: Any) -> Any:
    return "array" if isinstance(schema, list) else "object" if isinstance(schema, dict) else schema


def promised(schema: dict[str, Any]) -> Any:
    """A schema of the server in the same words."""
    kind = schema["type"]
    if isinstance(kind, list):
        return tuple(kind)
    if kind == "array":
        return [promised(schema["items"])]
    if kind == "object" and "properties" in schema:
        return {name: promised(field) for name, field in schema["properties"].items()}
    return kind


@pytest.mark.parametrize("tool", ANSWERS)
def test_answers_are_declared_as_the_tools_promise_them(tool):
    assert schema_of(ANSWERS[tool]) == promised(BY_NAME[tool].output)


def test_every_parameter_of_a_route_is_one_of_its_method(settings, database):
    routes = create_app(settings, database).openapi()["paths"]
    for name, path in ROUTES.items():
        told = {p["name"] for p in routes["/api/v1/kbs/{kb_id}" + path]["get"]["parameters"]} - {"kb_id"}
        taken = set(inspect.signature(getattr(Client, name)).parameters) - {"self"}
        assert taken == {RENAMED.get(n, n) for n in told} - LEFT_OUT.get(name, set()), name


def test_every_field_of_a_pushed_document_can_be_sent(settings, database):
    from twoclocks import Document
    from twoclocks.calls import push

    told = create_app(settings, database).openapi()["components"]["schemas"]["PushedDocument"]["properties"]
    full = [Document("a", text, "a.md", "2024", "n", "text/markdown", "Ada") for text in ("x", b"x")]
    sent = {key for document in push(full).body["documents"] for key in document}
    assert sent == set(told)


def test_both_clients_have_the_same_methods():
    def public(kind):
        return {n: f for n, f in inspect.getmembers(kind, inspect.isfunction) if not n.startswith("_")}

    one, other = public(Client), public(AsyncClient)
    assert one.keys() == other.keys() >= ROUTES.keys()
    for name, method in one.items():
        theirs = inspect.signature(other[name])
        assert list(inspect.signature(method).parameters.values()) == list(theirs.parameters.values()), name
        assert method.__doc__ == other[name].__doc__
        waits = inspect.iscoroutinefunction(other[name])
        assert waits == (not name.startswith("iter_") and name not in ("as_of", "at_seq")), name


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    place = tmp_path_factory.mktemp("client")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", build, str(place)]
    done = subprocess.run(command, cwd=ROOT / "clients" / "python", capture_output=True, text=True, check=True)
    return place / done.stdout.split()[-1]


def test_the_wheel_is_typed_and_overwrites_nothing_of_the_product(wheel):
    held = zipfile.ZipFile(wheel).namelist()
    assert "twoclocks/py.typed" in held
    assert {name.split("/")[0] for name in held} == {"twoclocks", "twoclocks_client-0.1.0.dist-info"}


def test_it_imports_httpx_and_nothing_of_the_server(wheel):
    code = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import twoclocks; print(twoclocks.__file__);"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'substrate', 'api', 'orchestration', 'pydantic'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.splitlines() == [f"{wheel}/twoclocks/__init__.py", "[]"]
