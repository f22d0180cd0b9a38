"""Secrets in commands and inputs, masked before they reach the ledger."""
from __future__ import annotations

import re

HINTS = ("pass", "secret", "token", "key", "cred", "auth", "bearer", "basic", "://", "mysql", "mariadb", "gh", "github_pat_", "sk-", "akia", "asia", "xox", "aiza", "glpat", "npm_")
_compiled: list = []


def _rules() -> tuple:
    """(pattern, replacement) pairs: compiled when a text hints at a secret, since that costs 2 ms of a hook."""
    return (
        (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), r"\1 ***"),
        (re.compile(r"(\b(?:mysql\w*|mariadb\w*|sshpass)\b[^|;&\n]*?\s-p\s?)[^\s|;&]+"), r"\1***"),
        # NAME=value and "name": "value", where the name speaks of a secret
        (re.compile(r"""(?i)(["']?\b[\w-]*(?:passw(?:or)?d|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|_auth|auth[_-])[\w-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"'&;|,}]+)"""), r"\1***"),
        # --password value, --token value
        (re.compile(r"""(?i)(--?(?:password|passwd|pass|token|secret|api-?key|auth)(?:\s+|=))("[^"]*"|'[^']*'|\S+)"""), r"\1***"),
        (re.compile(r"(\b[a-z][a-z0-9+.-]*://[^/\s:@]+:)[^/\s@]+@", re.I), r"\1***@"),
        # issued keys that carry a maker's prefix: GitHub, OpenAI and Anthropic, AWS, Slack, Google, GitLab, npm
        (re.compile(r"\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|sk-[\w-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|xox[abprs]-[\w-]{8,}|AIza[\w-]{20,}|glpat-[\w-]{12,}|npm_\w{20,})"), "***"),
        (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", re.S), "***"),
    )


def masked(text: str, most: int = 300) -> str:
    """The text with secrets replaced by ***, cut to `most` characters. Names stay, values go."""
    text = text[:4 * most + 2000]
    small = text.lower()
    if any(hint in small for hint in HINTS):
        if not _compiled:
            _compiled.extend(_rules())
        for pattern, new in _compiled:
            text = pattern.sub(new, text)
    return text if len(text) <= most else text[:most - 1] + "…"
