"""What git's configuration says of a checkout: which ignore files there are, how names compare.

Git is not started.  A repository is other people's content: its configuration, its index and the
object names in it can make git run a program (a file system monitor, a filter, a fetch of a missing
object, a remote helper), and each release adds a way.  The list of files needs none of them: it
stands in the index and in the ignore files, so these are read here.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from contextkernel.store import files, git_config, git_config_text
from contextkernel.store.checkout import Checkout

IGNORE_BYTES = 4 << 20  # of an ignore file
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


class Settings(NamedTuple):
    """What the list of files needs of the configuration.  `excludes`: path of the person's own
    ignore file.  `partial`: objects may be missing.
    """

    excludes: str
    folds_case: bool
    partial: bool


def settings_of(checkout: Checkout) -> Settings:
    """The settings of a checkout: the repository's own over those of the person."""
    own = [
        os.path.join(checkout.common, "config"),
        os.path.join(checkout.folder, "config.worktree"),
    ]
    last = git_config_text.last(git_config.values(git_config.of_person() + own, checkout.folder))
    excludes = last.get("core.excludesfile")
    path = (
        os.path.join(git_config.xdg_folder(), "ignore")
        if excludes is None
        else excludes and os.path.join(checkout.top, git_config.person_path(excludes))
    )
    partial = any(
        key == "extensions.partialclone"
        or key.startswith("remote.")
        and (
            key.endswith(".partialclonefilter")
            or key.endswith(".promisor")
            and value.lower() not in _FALSE
        )
        for key, value in git_config.values(own, any_condition=True)
    )
    return Settings(path, last.get("core.ignorecase", "").lower() in _TRUE, partial)


def base_rules(checkout: Checkout, settings: Settings) -> list[tuple[str, bytes]]:
    """(path, bytes) of the ignore files that lie in no folder of the tree, weakest first; those
    that cannot be read are left out.
    """
    found = []
    for path in (settings.excludes, os.path.join(checkout.common, "info", "exclude")):
        try:
            if path:
                found.append((path, files.content(path, IGNORE_BYTES)))
        except (OSError, ValueError):
            pass
    return found
