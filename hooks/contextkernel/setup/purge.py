"""--purge: the state folder and the recall files in the clients' own session folders, gone for good."""
from __future__ import annotations

import glob
import os
import re
import shutil

from contextkernel.store import modes
from contextkernel.setup.context import Setup

RECALLED = re.compile(r"ck-[0-9a-f]{12,64}\.txt")


def recall_files() -> "list[str]":
    """Copies of originals that hooks laid into Claude Code's session folders."""
    config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    found = glob.glob(os.path.join(glob.escape(config), "projects", "*", "*", "tool-results", "ck-*.txt"))
    return [path for path in found if RECALLED.fullmatch(os.path.basename(path))]


def purge(setup: Setup) -> None:
    """Removes what was stored, when the person agrees. Raises OSError."""
    names = os.listdir(setup.state) if os.path.isdir(setup.state) else []
    ours = [name for name in names if modes.is_ours(name) and name != "bin"]  # $CK_DATA may name a folder that holds other things
    copies = recall_files()
    if not ours and not copies:
        setup.note("nothing is stored in %s" % setup.state)
        return
    if not setup.dry and not setup.agreed("Remove %s and %d recall files of past sessions? They cannot be had back." % (setup.state, len(copies))):
        setup.note("kept: %s (--purge --yes removes it without asking)" % setup.state)
        return
    setup.say("remove %s in %s, and %d recall files" % (", ".join(sorted(ours)) or "nothing", setup.state, len(copies)))
    if setup.dry:
        return
    for path in [os.path.join(setup.state, name) for name in ours] + copies:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    left = sorted(set(names) - set(ours))
    if "bin" in left:
        setup.note("left: %s, which sessions that still run start their commands through. Delete it when they have ended." % os.path.join(setup.state, "bin"))
        left.remove("bin")
    if left:
        setup.note("left in %s, since it is not ours: %s" % (setup.state, ", ".join(left)))
    elif os.path.isdir(setup.state) and not os.listdir(setup.state):
        os.rmdir(setup.state)
