"""The modules that a thin client loads: start-up time is a feature, and every command pays for each module."""

from __future__ import annotations

import json
import subprocess
import sys

CLIENT_PATH = "livedex_ipc.client, livedex_ipc.methods, livedex_ipc.paths"

# Modules of a bare interpreter with socket, json and typing are free; these are ours, and no other may be added.
OURS = {
    "livedex_ipc",
    "livedex_ipc.client",
    "livedex_ipc.common_params",
    "livedex_ipc.constants",
    "livedex_ipc.errors",
    "livedex_ipc.file_methods",
    "livedex_ipc.exchange_methods",
    "livedex_ipc.knowledge_methods",
    "livedex_ipc.method_types",
    "livedex_ipc.method_calls",
    "livedex_ipc.methods",
    "livedex_ipc.params",
    "livedex_ipc.paths",
    "livedex_ipc.peers",
}
FREE = "__future__, collections.abc, errno, json, os, re, select, socket, stat, struct, sys, time, types, typing"


USED = "class Pair(typing.NamedTuple): first: int"  # from Python 3.14 on this alone loads three more modules


def loaded(imports: str) -> set[str]:
    script = f"import {imports}, json, sys, typing\n{USED}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_client_path_loads_its_own_modules_and_no_others() -> None:
    assert loaded(CLIENT_PATH) - loaded(FREE) == OURS


def test_the_costly_modules_stay_out() -> None:
    costly = {"asyncio", "dataclasses", "inspect", "importlib.metadata", "platformdirs", "tempfile", "subprocess"}
    assert not loaded(CLIENT_PATH) & costly
