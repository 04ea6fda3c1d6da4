"""Says who may write to a file, from its owner, group and mode."""

from __future__ import annotations

import grp
import os
import pwd
import stat


def others_may_write(found: os.stat_result) -> bool:
    """Return True if the mode lets anybody write but the user.

    The user's private group counts as the user: systems with such groups use umask 002, so that every file that an
    editor saves is group-writable. The owner is not looked at.
    """
    mode = found.st_mode
    return bool(mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_private_group(found.st_gid)))


def _is_private_group(gid: int) -> bool:
    """Return True if the group is the user's own: of the same name, with no other member."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
