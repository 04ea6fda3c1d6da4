"""The OpenRPC document agrees with the table of methods."""

from __future__ import annotations

import json

from livedex_ipc.methods import METHODS
from livedex_ipc.openrpc import document


def test_every_method_and_param_is_in_it() -> None:
    read = json.loads(json.dumps(document("1.2.3")))
    assert read["info"]["version"] == "1.2.3"
    described = {method["name"]: [param["name"] for param in method["params"]] for method in read["methods"]}
    assert described == {name: list(method.params) for name, method in METHODS.items()}


def test_bounds_choices_and_defaults_are_in_the_schemas() -> None:
    methods = {method["name"]: method for method in document("1")["methods"]}
    params = {param["name"]: param for param in methods["search"]["params"]}
    assert params["query"]["required"] is True
    assert params["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10}
    assert params["kinds"]["schema"]["items"]["enum"][-1] == "plain"
    assert params["supersedes"]["schema"] == {"type": "string", "minLength": 1, "maxLength": 200}
    assert params["roots"]["schema"]["items"] == {"type": "string", "pattern": "^/"}
    assert methods["search"]["result"]["schema"]["properties"]["hits"]["items"] == {"$ref": "#/components/schemas/Hit"}


def test_everything_is_described() -> None:
    for method in document("1")["methods"]:
        assert method["summary"].endswith(".")
        assert all(param["description"] for param in method["params"])


def test_notifications_are_in_it() -> None:
    told = {note["name"]: note["params"] for note in document("1")["x-notifications"]}
    assert told["search/changed"]["properties"]["added"]["items"] == {"$ref": "#/components/schemas/Hit"}
    assert "$/progress" in told
