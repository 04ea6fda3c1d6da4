"""The OpenRPC document agrees with the table of methods."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.support import Home, Tree
from livedex_ipc.methods import METHODS
from livedex_ipc.openrpc import document

VALID = """
const { validateOpenRPCDocument } = require("@open-rpc/schema-utils-js");
console.log(validateOpenRPCDocument(require("./document.json")));
"""
CLIENT = """
import * as net from "node:net";
import type { Search, SearchResult } from "./livedex";

function search(path: string, query: Parameters<Search>[0]): Promise<SearchResult> {
  return new Promise((resolve, reject) => {
    const request = { jsonrpc: "2.0", id: 1, method: "search", params: { query, timeout_ms: 20000 } };
    const socket = net.connect(path, () => socket.write(JSON.stringify(request) + "\\n"));
    let text = "";
    socket.on("error", reject);
    socket.on("data", (data) => {
      text += data.toString();
      if (text.endsWith("\\n")) {
        socket.end();
        resolve(JSON.parse(text).result as SearchResult);
      }
    });
  });
}

search(process.argv[2], process.argv[3]).then(({ hits: [hit], fresh }) => {
  const place: [string, number, number] = [hit.relative_path, hit.line, hit.column];
  console.log(`${place.join(":")}:${hit.text}`, fresh);
});
"""


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


def test_a_path_in_base64_is_enough() -> None:
    for method in document("1")["methods"]:
        required = {param["name"]: param["required"] for param in method["params"]}
        assert "path_b64" not in required or not required["path"], method["name"]


def test_an_integer_has_the_bounds_that_the_server_has() -> None:
    methods = {method["name"]: method for method in document("1")["methods"]}
    for name in ("index/run", "index/audit"):
        (token,) = (param["schema"] for param in methods[name]["params"] if param["name"] == "progress_token")
        assert token["oneOf"][1] == {"type": "integer", "minimum": 1 - 2**53, "maximum": 2**53 - 1}


def test_the_errors_of_one_method_are_in_it() -> None:
    methods = {method["name"]: method for method in document("1")["methods"]}
    for name, error in (("search/unsubscribe", "NotFound"), ("roots/add", "Conflict"), ("exchange/claim", "Conflict")):
        assert {"$ref": f"#/components/errors/{error}"} in methods[name]["errors"]


def test_results_are_schemas_of_their_own() -> None:
    read = document("1")
    schemas = read["components"]["schemas"]
    methods = {method["name"]: method for method in read["methods"]}
    assert methods["search"]["result"]["schema"] == {"$ref": "#/components/schemas/SearchResult"}
    assert schemas["SearchResult"]["properties"]["hits"]["items"] == {"$ref": "#/components/schemas/Hit"}
    assert {"path", "line", "column", "text", "snippet"} <= set(schemas["Hit"]["required"])
    assert "matches" not in schemas["Hit"]["required"]
    assert schemas["Hit"]["properties"]["language"]["oneOf"] == [{"type": "string"}, {"type": "null"}]
    described = [field for schema in schemas.values() for field in schema["properties"].values()]
    assert all(set(field) - {"description"} or field == {} for field in described)


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(document("1"))
    read = json.loads(text)
    for kind, name in re.findall(r"#/components/(\w+)/(\w+)", text):
        assert name in read["components"][kind]
    for method in read["methods"]:
        assert {error["$ref"].rpartition("/")[2] for error in method["errors"]} >= {"InvalidParams", "Unavailable"}


@pytest.mark.needs("node", "npx", "open-rpc-typings", "tsc")
def test_a_generated_client_compiles_and_searches(home: Home, tree: Tree, tmp_path: Path) -> None:
    """`make agents` installs the validator and the generator."""
    tree.write("a.txt", "one\n a walrus\n")
    home.run("up", str(tree))
    (tmp_path / "document.json").write_text(json.dumps(document("1")))
    (tmp_path / "client.ts").write_text(CLIENT)
    (tmp_path / "valid.cjs").write_text(VALID)
    modules = Path(sys.prefix) / "agents" / "node_modules"
    (tmp_path / "node_modules").symlink_to(modules)

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert run("node", "valid.cjs") == "true\n"
    run("open-rpc-typings", "-d", "document.json", "--output-ts=.", "--name-ts=livedex")
    run(
        "tsc",
        *["--strict", "--skipLibCheck", "--module", "commonjs", "--target", "es2022", "--types", "node", "client.ts"],
    )
    assert run("node", "client.js", str(home.socket), "walrus") == "a.txt:2:4: a walrus true\n"


def test_everything_is_described() -> None:
    for method in document("1")["methods"]:
        assert method["summary"].endswith(".")
        assert all(param["description"] for param in method["params"])


def test_notifications_are_in_it() -> None:
    reported = {note["name"]: note["params"] for note in document("1")["x-notifications"]}
    assert reported["search/changed"] == {"$ref": "#/components/schemas/SearchChanged"}
    changed = document("1")["components"]["schemas"]["SearchChanged"]
    assert changed["properties"]["added"]["items"] == {"$ref": "#/components/schemas/Hit"}
    assert "$/progress" in reported


def test_it_is_made_once() -> None:
    """It takes tens of milliseconds, in which the daemon answers nobody else."""
    assert document("1") is document("1")
