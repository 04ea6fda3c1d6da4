"""A daemon with plugins: loaded at start and on reload, listed, checked, refused, and never a reason to stop."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fault_injection import with_code
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, wait_until
from livedex_indexing.parse import sandbox
from livedex_ipc.client import Client

WHOLE = """
class Whole:
    def chunk(self, text, suffix):
        return []

def register(registry):
    registry.register_pipeline("whole", lambda config: Whole())
"""


def write(folder: Path, name: str, text: str, mode: int = 0o600) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text)
    path.chmod(mode)


def configuration(folder: Path, more: str = "") -> str:
    return f'[plugins]\npaths = ["{folder}"]\n{more}'


def states(client: Client) -> dict[str, str]:
    return {plugin["name"]: plugin["state"] for plugin in client.plugins_list()["plugins"]}


def warned(client: Client) -> dict[str, str]:
    return {one["code"]: one["message"] for one in client.status()["warnings"]}


def test_plugins_are_loaded_at_start_and_on_reload(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    plugins = tmp_path / "plugins"
    write(plugins, "whole", WHOLE)
    write(plugins, "broken", "1 / 0")
    write(plugins, "open", f"open({str(tmp_path / 'ran')!r}, 'w')", mode=0o606)
    tree.write("a.md", "one walrus\n")
    with start_daemon(configuration(plugins)).client() as client:
        assert states(client) == {"livedex": "loaded", "broken": "failed", "open": "refused", "whole": "loaded"}
        listed = {plugin["name"]: plugin for plugin in client.plugins_list()["plugins"]}
        assert listed["whole"]["provides"] == [{"kind": "pipeline", "name": "whole"}]
        assert "ZeroDivisionError" in listed["broken"]["reason"] and "others may write" in listed["open"]["reason"]
        assert {"kind": "pipeline", "name": "markdown"} in listed["livedex"]["provides"]
        assert "plugin 'open' is refused" in warned(client)["plugin_refused"]
        wait_until(lambda: client.status()["state"] == "ready", what="the end of the start: no promise is broken")
        assert not (tmp_path / "ran").exists()
        add_root(client, tree)
        assert client.search(query="walrus")["hits"]

        (plugins / "open.py").unlink()
        write(plugins, "broken", WHOLE.replace('"whole"', '"mended"'))
        client.server_reload()
        assert states(client) == {"livedex": "loaded", "broken": "loaded", "whole": "loaded"}
        assert warned(client) == {}

        home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
        wait_until(lambda: states(client) == {"livedex": "loaded"}, what="plugins out of the configuration unloaded")
        assert client.search(query="walrus")["hits"]


def test_the_variable_loads_none(tmp_path: Path, start_daemon: Callable[..., Daemon]) -> None:
    write(tmp_path / "plugins", "whole", WHOLE)
    with start_daemon(configuration(tmp_path / "plugins"), LIVEDEX_LOAD_PLUGINS="").client() as client:
        assert states(client) == {"livedex": "loaded"}


def test_a_check_needs_no_daemon(home: Home, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    write(plugins, "whole", WHOLE)
    write(plugins, "wrong", WHOLE.replace('"whole"', '"wrong"').replace("return []", "return None"))
    write(plugins, "broken", "1 / 0")
    home.config.write_text(configuration(plugins))
    assert home.run("plugins", "check", "whole").stdout == "pipeline whole: conforms\n"
    idle = home.run("plugins", "check", "whole", "/a.csv", "/b.csv")
    assert idle.stdout == "pipeline whole: conforms (not tried: /a.csv, /b.csv: nothing here is a parser)\n"
    wrong = home.run("plugins", "check", "wrong")
    assert wrong.returncode == 1 and "pipeline wrong: fault: chunk: it returns NoneType, not a list" in wrong.stdout
    broken = home.run("plugins", "check", "broken")
    assert broken.returncode == 1 and "ZeroDivisionError" in broken.stdout
    unknown = home.run("plugins", "check", "wole")
    assert unknown.returncode == 1 and "did you mean whole?" in unknown.stderr
    assert home.server_pid() is None


CSV = """
class Csv:
    suffixes = (".csv",)

    def convert(self, path):
        with open(path) as file:
            text = file.read()
        if "walrus" in text:
            open({other!r}).read()
        return text

def register(registry):
    registry.register_parser("csv", lambda config: Csv())
"""


@pytest.mark.skipif(bool(sandbox.available().missing), reason="this system has no landlock or no seccomp to try")
def test_a_check_converts_files_as_the_daemon_does(home: Home, tmp_path: Path) -> None:
    """So it finds out that a parser opens more than its copy."""
    (tmp_path / "other.txt").write_text("a secret")
    good, bad = tmp_path / "good.CSV", tmp_path / "--json.csv"
    good.write_text("a,b\n")
    bad.write_text("a,walrus\n")
    write(tmp_path / "plugins", "csv", CSV.format(other=str(tmp_path / "other.txt")))
    home.config.write_text(configuration(tmp_path / "plugins"))
    for files in ((), (str(tmp_path / "other.txt"),)):
        done = home.run("plugins", "check", "csv", *files)
        assert done.returncode == 0
        assert done.stdout == (
            "parser csv: conforms (convert was not tried: name a file after the plugin, with .csv)\n"
        )
    assert home.run("plugins", "check", "csv", str(good)).stdout == "parser csv: conforms\n"
    done = home.run("--json", "plugins", "check", "csv", str(good), str(bad), str(tmp_path / "gone.csv"))
    (part,) = json.loads(done.stdout)["checks"]
    assert done.returncode == 1 and "note" not in part
    assert [fault.startswith(str(bad)) for fault in part["faults"]] == [True, False]
    assert "PermissionError" in part["faults"][0] and "gone.csv: No such file" in part["faults"][1]


HOSTILE = """
import os
print("noise", flush=True)

class Odd(BaseException):
    pass

class Hostile:
    def chunk(self, text, suffix):
        os.fork()
        raise Odd("odd fault")

def register(registry):
    for descriptor in (0, 1):
        os.close(descriptor)
    registry.register_pipeline("hostile", lambda config: Hostile())
"""


def test_a_check_answers_once_whatever_the_plugin_does(home: Home, tmp_path: Path) -> None:
    write(tmp_path / "plugins", "hostile", HOSTILE)
    home.config.write_text(configuration(tmp_path / "plugins"))
    done = home.run("--json", "plugins", "check", "hostile")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    (part,) = json.loads(done.stdout)["checks"]
    assert len(part["faults"]) == 1 and "Odd: odd fault" in part["faults"][0]


@pytest.mark.parametrize(("end", "said"), [("os._exit(0)", "exit status 0"), ("os.kill(os.getpid(), 9)", "SIGKILL")])
def test_a_check_names_the_plugin_that_ends_the_process(end: str, said: str, home: Home, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    write(plugins, "whole", "import os\n" + WHOLE.replace("return []", end))
    home.config.write_text(configuration(plugins))
    done = home.run("plugins", "check", "whole")
    assert (
        done.returncode == 1 and done.stdout.startswith("whole: failed: it ended the process") and said in done.stdout
    )
    write(plugins, "other", f"import os\n{end}\n")
    found = json.loads(home.run("--json", "plugins", "check", "whole").stdout)
    assert (found["name"], found["state"], found["checks"]) == ("whole", "failed", [])
    assert "other" in found["reason"] and said in found["reason"]


@pytest.mark.parametrize(("closed", "code", "said"), [(">&-", 4, "there is no stdout"), ("2>&-", 0, "")])
def test_a_check_without_a_standard_file(closed: str, code: int, said: str, home: Home, tmp_path: Path) -> None:
    write(tmp_path / "plugins", "whole", f"print('noise')\n{WHOLE}")
    home.config.write_text(configuration(tmp_path / "plugins"))
    command = f"'{LIVEDEX}' plugins check whole {closed}"
    done = subprocess.run(command, shell=True, env=home.env, capture_output=True, text=True, check=False)
    assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ("" if code else "pipeline whole: conforms\n")


def test_a_check_of_one_that_hangs_ends(home: Home, tmp_path: Path) -> None:
    hangs = "import threading\n" + WHOLE.replace("return []", "threading.Event().wait(600)")
    write(tmp_path / "plugins", "whole", hangs)
    home.config.write_text(configuration(tmp_path / "plugins"))
    done = home.run("plugins", "check", "whole", env=with_code(tmp_path / "seam", IMPATIENT))
    assert done.returncode == 1 and "pipeline whole: fault: it does not return within 1 s" in done.stdout


IMPATIENT = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.plugin_host import plugin_check
    plugin_check.CHECK_S = 1.0
"""


def test_adding_a_root_loads_one_that_raised_once(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    loads = tmp_path / "loads"
    code = f"with open({str(loads)!r}, 'a') as file:\n    file.write('x')\n1 / 0\n"
    write(tmp_path / "plugins", "slow", code)
    with start_daemon(configuration(tmp_path / "plugins")).client() as client:
        client.server_reload()
        before = len(loads.read_text())
        add_root(client, tree)
        assert len(loads.read_text()) == before + 1
        client.server_reload()
        assert len(loads.read_text()) == before + 2
