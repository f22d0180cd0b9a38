"""The clients' settings files: read strictly, changed narrowly, written whole, and put back as they
were.

A journal beside a copy of the file remembers what we added. As long as nobody has touched the file
since, undoing means writing the old bytes back; otherwise only what we added is taken out, and
everything else stays as it stands.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Callable, NamedTuple

from contextkernel.store import files
from contextkernel.store import settings as state

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

MOST = 16 * 1024 * 1024  # bytes of a settings file; the largest seen holds 60 KB
BOM = b"\xef\xbb\xbf"


class Refused(Exception):
    """A file that cannot be changed without risk of losing something; says which and why.
    Nothing was written.
    """


def _unique(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the key {json.dumps(name)} is there twice")
    return dict(pairs)


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(f"the number {text} does not fit")
    return number


def read(path: str) -> bytes | None:
    """The bytes of a file; None when there is none. Raises Refused when it cannot be read."""
    try:
        return files.content(path, MOST)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{path} cannot be read ({why})") from error


def parse(raw: bytes | None, path: str) -> dict[str, Any]:
    """The settings in a file's bytes; {} for none or blank ones.

    Raises Refused for whatever a rewrite would lose or change: comments, trailing commas, double
    keys, no object.
    """
    if raw is None or not raw.strip():
        return {}
    try:
        settings = json.loads(
            (raw[3:] if raw.startswith(BOM) else raw).decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path} is not plain JSON ({error}); it was left as it is") from error
    if not isinstance(settings, dict):
        raise Refused(f"{path} holds no JSON object; it was left as it is")
    return settings


def dump(settings: dict[str, Any], like: bytes | None = None) -> bytes:
    """Settings as bytes, with the indentation, line ends, byte order mark and final newline of
    `like` (default: 2 spaces).
    """
    old = like or b"{\n  \n}\n"
    found = re.search(rb"\{\r?\n([ \t]+)", old)
    indent = found.group(1).decode() if found else "  "
    text = json.dumps(settings, indent=indent, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # an escaped lone surrogate: only ASCII can carry it
        text = json.dumps(settings, indent=indent)
    text = (text + "\n" if old.endswith(b"\n") else text).replace(
        "\n", "\r\n" if b"\r\n" in old else "\n"
    )
    return (BOM if old.startswith(BOM) else b"") + text.encode("utf-8")


def write(path: str, raw: bytes) -> None:
    """Replaces a file in one step, its mode kept (0600 for a new one), through symbolic links.
    Raises Refused.
    """
    target = os.path.realpath(path)
    beside = ""
    try:
        state.make(os.path.dirname(target))
        mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else 0o600
        descriptor, beside = files.beside(target)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(raw)
            handle.flush()
            os.fsync(descriptor)
        os.chmod(beside, mode)
        os.replace(beside, target)
    except OSError as error:
        if beside and os.path.exists(beside):
            os.unlink(beside)
        raise Refused(f"{path} cannot be written ({error.strerror})") from error


def restore_line_ends(path: str, before: bytes | None) -> None:
    """Give a file back the line ends that it had: Codex writes LF alone.  Raises Refused.

    The very bytes of `before` where nothing but line ends differs; CRLF everywhere where `before`
    had no other.
    """
    now = read(path)
    if now is None or before is None or b"\r\n" not in before:
        return
    plain = now.replace(b"\r\n", b"\n")
    if plain == before.replace(b"\r\n", b"\n"):
        wanted = before
    elif before.count(b"\n") == before.count(b"\r\n"):
        wanted = plain.replace(b"\n", b"\r\n")
    else:
        return
    if wanted != now:
        write(path, wanted)


# -- what is put in and taken out; each returns the settings, changed in place ---------------------
def _member(settings: dict[str, Any], names: tuple[str, ...], kind: type) -> Any:
    """The container at a path of keys, made where missing. Raises Refused when something else
    stands there.
    """
    here = settings
    for depth, name in enumerate(names):
        wanted = kind if depth == len(names) - 1 else dict
        here = here.setdefault(name, wanted())
        if not isinstance(here, wanted):
            raise Refused(
                f"{'.'.join(names[: depth + 1])} in the settings is no "
                f"{'list' if wanted is list else 'object'}; nothing was changed"
            )
    return here


def add_hooks(settings: dict[str, Any], hooks: dict[str, list[dict[str, Any]]]) -> None:
    """Appends hook groups by event; groups that are there already are not added twice."""
    for event, groups in hooks.items():
        present = _member(settings, ("hooks", event), list)
        present += [group for group in groups if group not in present]


def remove_hooks(settings: dict[str, Any], is_ours: Callable[[object], bool]) -> None:
    """Takes out the command hooks whose command is ours, and groups that are empty after that."""
    by_event = settings.get("hooks")
    for groups in by_event.values() if isinstance(by_event, dict) else ():
        if not isinstance(groups, list):
            continue
        for group in [
            group
            for group in groups
            if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        ]:
            left = [
                hook
                for hook in group["hooks"]
                if not (isinstance(hook, dict) and is_ours(hook.get("command")))
            ]
            if len(left) < len(group["hooks"]):
                group["hooks"][:] = left
                if not left:
                    groups.remove(group)


def add_rule(settings: dict[str, Any], rule: str) -> bool:
    """Whether an allow rule was added (False: it is there)."""
    rules = _member(settings, ("permissions", "allow"), list)
    if rule in rules:
        return False
    rules.append(rule)
    return True


def remove_rule(settings: dict[str, Any], rule: str) -> None:
    """Takes an allow rule out."""
    permissions = settings.get("permissions")
    rules = permissions.get("allow") if isinstance(permissions, dict) else None
    if isinstance(rules, list) and rule in rules:
        rules.remove(rule)


def containers(settings: dict[str, Any]) -> list[str]:
    """Dotted names of the objects and lists at the first two levels, as `prune` takes them."""
    named = []
    for name, value in settings.items():
        if isinstance(value, (dict, list)):
            named.append(name)
        if isinstance(value, dict):
            named += [
                f"{name}.{inner}" for inner, held in value.items() if isinstance(held, (dict, list))
            ]
    return named


def empty(settings: dict[str, Any]) -> list[str]:
    """Those containers that hold nothing."""
    held = dict(
        settings,
        **{
            f"{name}.{inner}": value
            for name, outer in settings.items()
            if isinstance(outer, dict)
            for inner, value in outer.items()
        },
    )
    return [name for name in containers(settings) if not held[name]]


def prune(settings: dict[str, Any], kept: list[str], within: tuple[str, ...]) -> None:
    """Drops empty objects and lists below the top-level keys `within`, unless they are among the
    `kept` containers.
    """
    for name in [name for name in within if isinstance(settings.get(name), (dict, list))]:
        value = settings[name]
        for inner in list(value) if isinstance(value, dict) else ():
            if value[inner] in ({}, []) and f"{name}.{inner}" not in kept:
                del value[inner]
        if value in ({}, []) and name not in kept:
            del settings[name]


# -- the journal -----------------------------------------------------------------------------------
class Journal(NamedTuple):
    """What was done to one settings file. `before`: its bytes then (None: no file). `exact`:
    they may be written back.
    """

    path: str
    before: bytes | None = None
    exact: bool = False
    after: str = ""  # SHA-256 of the bytes that we left, "" when no file
    commands: tuple[str, ...] = ()  # of the script hooks
    rules: tuple[str, ...] = ()  # allow rules that were not there before
    lane: bool = False  # the failure lane was switched on by us


def digest(raw: bytes | None) -> str:
    """SHA-256 in hex; "" for no file."""
    return "" if raw is None else hashlib.sha256(raw).hexdigest()


def _places(folder: str, path: str) -> tuple[str, str]:
    name = hashlib.sha256(os.path.abspath(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return os.path.join(folder, name + ".json"), os.path.join(folder, name + ".before")


def load_journal(folder: str, path: str) -> Journal | None:
    """The journal kept in `folder` about a settings file; None when there is none that can be
    read.
    """
    told, copy = _places(folder, path)
    raw, before = read(told), read(copy)
    if raw is None:
        return None
    try:
        rows = json.loads(raw)
        return Journal(
            path,
            before,
            bool(rows["exact"]),
            str(rows["after"]),
            tuple(rows["commands"]),
            tuple(rows["rules"]),
            bool(rows["lane"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def save_journal(folder: str, journal: Journal) -> None:
    """Writes a journal and the copy of the file beside it (both 0600). Raises Refused."""
    told, copy = _places(folder, journal.path)
    if journal.before is not None:
        write(copy, journal.before)
    elif os.path.exists(copy):
        os.unlink(copy)
    rows = {
        "settings": journal.path,
        "exact": journal.exact,
        "after": journal.after,
        "commands": list(journal.commands),
        "rules": list(journal.rules),
        "lane": journal.lane,
    }
    write(told, (json.dumps(rows, indent=1) + "\n").encode("ascii"))


def drop_journal(folder: str, path: str) -> None:
    """Forgets a settings file."""
    for place in _places(folder, path):
        if os.path.exists(place):
            os.unlink(place)


def opened(folder: str, path: str) -> Journal:
    """The journal to write into before anything changes: the one there is, or a new one that holds
    the file as it is now.

    A file that was changed since we left it cannot be put back to the byte: `exact` becomes False
    for good.
    """
    now = read(path)
    parse(now, path)
    journal = load_journal(folder, path)
    if journal is None:
        return Journal(path, now, True)
    return journal if digest(now) == journal.after else journal._replace(exact=False)


def change(path: str, edit: Callable[[dict[str, Any]], object]) -> bool:
    """Whether a settings file was rewritten: parses it, lets `edit` change it, writes it only if
    it became another. Raises Refused.
    """
    raw = read(path)
    settings = parse(raw, path)
    held = json.dumps(settings)
    edit(settings)
    if json.dumps(settings) == held:
        return False
    write(path, dump(settings, raw))
    return True
