"""The units: systemd itself finds no fault in them, and a user's text stays one word."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from livedex_service.systemd_units import Launch, quoted, template_service, user_service, user_socket

PLAIN = Launch(["/bin/true"], {})
NASTY = "/tmp/a b%h$HOME'\"\\;x"


def values(text: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def test_a_word_stays_one_word() -> None:
    assert quoted("/usr/bin/livedex") == "/usr/bin/livedex"
    assert quoted("a b") == '"a b"'
    assert quoted("100%") == "100%%"
    assert quoted('a"b\\c\nd') == '"a\\"b\\\\c\\nd"'
    assert quoted("") == '""'


def test_the_service_runs_on_old_versions_and_restarts_what_fails() -> None:
    text = user_service(PLAIN)
    assert values(text, "Type") == ["notify"], "before 253 notify-reload silently becomes simple"
    assert values(text, "ExecReload") == ["/bin/true service reload"], "no other program is needed"
    assert values(text, "RestartPreventExitStatus") == ["2"]
    assert values(text, "RestartForceExitStatus") == ["75"]
    assert "RuntimeDirectory" not in text, "systemd would remove the socket with it"
    assert values(text, "Environment") == []
    assert values(text, "LimitCORE") == ["1"], "a crash handler would get a core at 0"


def test_the_children_that_convert_documents_keep_their_sandbox() -> None:
    allowed = " ".join(values(user_service(PLAIN), "SystemCallFilter"))
    assert {f"landlock_{name}" for name in ("create_ruleset", "add_rule", "restrict_self")} <= {*allowed.split()}


def test_what_the_daemon_needs_is_in_its_environment() -> None:
    text = user_service(Launch([NASTY], {"LIVEDEX_HOME": NASTY}))
    assert values(text, "Environment") == ['"LIVEDEX_HOME=/tmp/a b%%h$HOME\'\\"\\\\;x"']
    assert values(text, "ExecStart") == ['"/tmp/a b%%h$$HOME\'\\"\\\\;x" daemon']


def test_the_socket_is_private_and_has_the_name_that_the_daemon_looks_for() -> None:
    text = user_socket(None)
    assert values(text, "ListenStream") == ["%t/livedex/livedex.sock"]
    assert (values(text, "SocketMode"), values(text, "DirectoryMode")) == (["0600"], ["0700"])
    assert values(text, "FileDescriptorName") == ["livedex"]
    assert values(user_socket("/a/100%"), "ListenStream") == ["/a/100%%"]


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("environment", [{}, {"LIVEDEX_HOME": "/tmp/a b%h\"'\\x"}], ids=["plain", "nasty"])
def test_systemd_finds_no_fault(tmp_path: Path, environment: dict[str, str]) -> None:
    launch = Launch(["/bin/true"], environment)
    texts = {
        "livedex.service": user_service(launch),
        "livedex.socket": user_socket("/tmp/a b%/livedex.sock" if environment else None),
        "livedex@.service": template_service(launch),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    verify(tmp_path, "--user", "livedex.service", "livedex.socket")
    verify(tmp_path, "--system", "livedex@1000.service")


def verify(folder: Path, scope: str, *names: str) -> None:
    command = ["systemd-analyze", scope, "verify", "--man=no", *(str(folder / name) for name in names)]
    env = {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    ours = [line for line in done.stderr.splitlines() if "livedex" in line]
    assert (done.returncode, ours) == (0, []), done.stderr
    print(f"systemd-analyze {scope} verify {' '.join(names)}: clean")


@pytest.mark.needs("systemd-analyze")
def test_how_exposed_the_service_is(tmp_path: Path) -> None:
    """Return the score of systemd's own table; a unit without any of our settings has 9.8."""
    (tmp_path / "livedex.service").write_text(user_service(PLAIN))
    command = ["systemd-analyze", "--user", "security", "--offline=true", str(tmp_path / "livedex.service")]
    env = {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0 and "offline" in done.stderr:
        pytest.skip("this systemd-analyze judges no unit that is not loaded")
    score = float(done.stdout.rpartition("Overall exposure level")[2].split(":")[1].split()[0])
    print(f"exposure {score}")
    assert score < 7
