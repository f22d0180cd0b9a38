"""Secrets in commands and inputs, masked before they reach the ledger. In doubt a word is masked: the ledger needs no values."""
from __future__ import annotations

import re

_WORD = r"""(?:"(?:\\.|[^"\\])*"|\$?'[^']*'|\\.|[^\s"'&;|\\])+"""  # a shell word: quoted and bare parts that touch
_VALUE = r"""(?:\\"[^"]*"|"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'&;|,}]+)"""  # of JSON, YAML and headers
_NAME = (r"(?:[\w.-]{0,60}(?:passw(?:or)?d|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|_auth|-auth|auth[_-])[\w-]{0,60}"
         r"|(?:[\w-]{0,60}[_-])?(?:pass|pwd|pw|key|sig|signature|jwt|cookie)\d*)")

# (a row applies where the lowercased text holds one of these words, pattern, what stands for it): a pattern is compiled when
# its row applies, since all of them cost some milliseconds of a hook.
_RULES = (
    (("authorization",), r"""(?i)(\bauthorization\\?["']?\s*[:=]\s*\\?)(?:"[^"\n]*|'[^'\n]*|[^"'\n]+)""", r"\1***"),
    (("bearer", "basic"), r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}", r"\1 ***"),
    (("cookie",), r"""(?i)(\bcookie\s*:\s*)[^"'\n]+""", r"\1***"),
    (("curl", "wget", "http"), r"""(\s(?:-u|-U|--user|--proxy-user)(?:\s+|=)?["']?[^\s:"'=]+:)[^\s"']+""", r"\1***"),
    (("curl", "--cookie"), r"(\s(?:-b|--cookie)(?:\s+|=))" + _WORD, r"\1***"),
    (("mysql", "mariadb", "sshpass"), r"(\b(?:mysql\w*|mariadb\w*|sshpass)\b[^|;&\n]{0,200}?\s-p\s?)[^\s|;&]+", r"\1***"),
    (("docker", "podman", "az ", "helm", "nerdctl", "oras", "crane", "skopeo"), r"(\b(?:docker|podman|az|helm|nerdctl|oras|crane|skopeo)\b[^|;&\n]{0,40}?\blogin\b[^|;&\n]{0,80}?\s-p[\s=]*)[^\s|;&]+", r"\1***"),
    (("redis-cli",), r"(\bredis-cli\b[^|;&\n]{0,200}?\s-a\s*)[^\s|;&]+", r"\1***"),
    (("htpasswd",), r"(\bhtpasswd\s+(?=[^|;&\n]*-\w*b)[^|;&\n]*\s)[^\s|;&]+", r"\1***"),
    (("vault",), r"(\bvault\s+(?:kv\s+)?(?:write|put|patch)\b)[^|;&\n]*", r"\1 ***"),
    (("net use",), r"(\bnet use\b)[^|;&\n]*", r"\1 ***"),
    (("--from-literal",), r"(--from-literal(?:\s+|=)[^=\s]+=)" + _WORD, r"\1***"),
    (("stdin", "with-token"), r"(\b(?:echo|printf)\b)[^|;&\n]*(\|[^|;&\n]*(?:-stdin\b|with-token\b))", r"\1 ***\2"),
    (("with-token", "stdin"), r"(<<<\s*)" + _WORD, r"\1***"),
    (("aws_s",), r"(\baws_(?:secret_access_key|session_token)\s+)\S+", r"\1***"),
    # --password value, --client-secret value, -passin pass:value
    (("pass", "token", "secret", "key", "auth"), r"(?i)((?<![\w-])--?(?:[\w-]{0,40}-)?(?:password|passwd|passphrase|passin|passout|pass|token|secret|api-?key|auth)(?:\s+|=)(?!<))" + _WORD, r"\1***"),
    # NAME=value; NAME: value and "name": "value"
    (("pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "sig", "jwt", "cookie"), r"(?i)(\b" + _NAME + r"\s*=\s*)" + _WORD, r"\1***"),
    (("pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "sig", "jwt", "cookie"), r"""(?i)(\b""" + _NAME + r"""\\?["']?\s*:\s*)""" + _VALUE, r"\1***"),
    (("://",), r"(?i)(\b[a-z][a-z0-9+.-]*://)(?!git@)([^/\s:@\"']*:)?[^/\s\"']+@", r"\1\2***@"),
    # issued keys that carry a maker's prefix: GitHub, OpenAI and Anthropic, Stripe, AWS, Slack, Google, GitLab, npm; JSON web tokens
    (("gh", "github_pat_", "sk-", "akia", "asia", "xox", "aiza", "glpat", "npm_"),
     r"\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|sk-[\w-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|xox[abprs]-[\w-]{8,}|AIza[\w-]{20,}|glpat-[\w-]{12,}|npm_\w{20,})", "***"),
    (("_live_", "_test_"), r"\b[spr]k_(?:live|test)_\w{10,}", "***"),
    (("eyj",), r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?", "***"),
    (("-----begin",), r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", "***"),
)
_compiled: dict = {}


def masked(text: str, most: int = 300) -> str:
    """The text with secrets replaced by ***, cut to `most` characters. Names stay, values go."""
    text = text[:4 * most + 2000]
    small = text.lower()
    for words, pattern, new in _RULES:
        if any(word in small for word in words):
            if pattern not in _compiled:
                _compiled[pattern] = re.compile(pattern)
            text = _compiled[pattern].sub(new, text)
    return text if len(text) <= most else text[:most - 1] + "…"
