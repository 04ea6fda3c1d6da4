"""The text of the systemd units: the user's service and socket, and the template for a machine with many users.

Invariant: the text is valid from systemd 247 on, and a value of the user's (a path, a variable) stays one word in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

SERVICE, SOCKET, TEMPLATE = "livedex.service", "livedex.socket", "livedex@.service"
SOCKET_NAME = "livedex"  # the daemon takes the socket with this name
RUNTIME_SOCKET = "%t/livedex/livedex.sock"  # %t is the user's runtime folder
NOTE = "# Written by `livedex service install`; `livedex service uninstall` removes it.\n"

# One text for all versions: systemd before 253 turns Type=notify-reload silently into simple. RuntimeDirectory= is not
# here because systemd would remove the folder, with the socket in it, whenever the service stops.
_SERVICE = """\
[Service]
Type=notify
ExecStart={command} daemon
ExecReload={command} service reload
{environment}WatchdogSec=60
# 2: the configuration is broken. 75: another version is installed and takes over.
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=2
RestartForceExitStatus=75
SuccessExitStatus=75
TimeoutStopSec=10
# A quiet neighbour. A chunking child that is killed for want of memory does not stop the daemon.
Nice=5
IOSchedulingClass=best-effort
IOSchedulingPriority=7
CPUWeight=50
IOWeight=50
OOMPolicy=continue
# These work in a user unit, without a mount namespace.
UMask=0077
# 1, not 0: the daemon cannot raise it, and at 0 the kernel still hands a core to a crash handler.
LimitCORE=1
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX
SystemCallArchitectures=native
SystemCallFilter=@system-service
# What keeps the children that convert documents to one file. Some versions do not count them among the above.
SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self
SystemCallErrorNumber=EPERM
"""
_LIMITS = "StartLimitIntervalSec=60\nStartLimitBurst=5\n"


class Launch(NamedTuple):
    """What starts the daemon: the words of the command without ``daemon``, and the variables that it needs."""

    command: Sequence[str]
    environment: Mapping[str, str]


def user_service(launch: Launch) -> str:
    """Return the text of ``livedex.service``."""
    unit = (
        "[Unit]\nDescription=livedex, a local search index that is always fresh\n"
        f"Requires={SOCKET}\nAfter={SOCKET}\n{_LIMITS}\n"
    )
    return NOTE + unit + _service(launch) + f"\n[Install]\nWantedBy=default.target\nAlso={SOCKET}\n"


def user_socket(path: str | None) -> str:
    """Return the text of ``livedex.socket``, which listens on ``path``; None: in the user's runtime folder."""
    where = RUNTIME_SOCKET if path is None else escaped(path)
    return NOTE + (
        "[Unit]\nDescription=livedex's socket\n\n"
        f"[Socket]\nListenStream={where}\nSocketMode=0600\nDirectoryMode=0700\n"
        f"FileDescriptorName={SOCKET_NAME}\nRemoveOnStop=yes\n\n"
        "[Install]\nWantedBy=sockets.target\n"
    )


def template_service(launch: Launch) -> str:
    """Return the text of ``livedex@.service``, whose instances are numeric user ids.

    The daemon makes its own socket, where this user's clients look for it: a socket unit of the system's manager would
    make the folder of the socket as root.
    """
    unit = (
        "[Unit]\nDescription=livedex of user %i\n"
        f"Requires=user-runtime-dir@%i.service\nAfter=user-runtime-dir@%i.service\n{_LIMITS}\n"
    )
    user = "User=%i\nEnvironment=XDG_RUNTIME_DIR=/run/user/%i\nCapabilityBoundingSet=\n"
    return NOTE + unit + _service(launch) + user + "\n[Install]\nWantedBy=multi-user.target\n"


def _service(launch: Launch) -> str:
    environment = "".join(
        f"Environment={quoted(f'{name}={value}')}\n" for name, value in sorted(launch.environment.items())
    )
    # In a command, $ begins the name of a variable.
    command = " ".join(quoted(word).replace("$", "$$") for word in launch.command)
    return _SERVICE.format(command=command, environment=environment)


def escaped(value: str) -> str:
    """Return a value without specifiers: ``%`` begins one in every unit."""
    return value.replace("%", "%%")


def quoted(word: str) -> str:
    """Return a word as one word of a unit: in quotes where it has blanks, quotes or backslashes."""
    plain = escaped(word)
    if word and not set(word) & set(" \t\n\r'\"\\;"):
        return plain
    special = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(special.get(character, character) for character in plain) + '"'
