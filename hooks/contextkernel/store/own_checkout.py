"""The checkout that a path lies in, when it belongs to this user."""

from __future__ import annotations

import os

from contextkernel.store import git_config
from contextkernel.store.checkout import Checkout, checkout_at


def checkout_of(root: str) -> Checkout | None:
    """The checkout that a real path lies in; None outside of any, or when it belongs to somebody
    else (`safe.directory`).
    """
    folder = root
    while True:
        found = checkout_at(folder)
        if found:
            return found if _is_ours(found) else None
        parent = os.path.dirname(folder)
        if parent == folder or os.path.isfile(os.path.join(folder, ".git")):
            return None
        folder = parent


def _is_ours(checkout: Checkout) -> bool:
    """As git asks: its folders belong to this user, or the person named it in `safe.directory`."""
    if not hasattr(os, "geteuid"):
        return True
    own = {os.geteuid()} | (
        {int(os.environ["SUDO_UID"])}
        if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal()
        else set()
    )
    try:
        if all(
            os.lstat(path).st_uid in own
            for path in (checkout.top, os.path.join(checkout.top, ".git"), checkout.folder)
        ):
            return True
    except OSError:
        return False
    safe = False
    for key, value in git_config.values(git_config.of_person()):
        if key == "safe.directory":
            named = git_config.person_path(value).rstrip("/") if len(value) > 1 else value
            safe = value != "" and (
                safe
                or value == "*"
                or named == checkout.top
                or named.endswith("/*")
                and (checkout.top + "/").startswith(named[:-1])
            )
    return safe
