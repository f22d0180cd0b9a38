"""What secrets look like by themselves: issued keys with their maker's prefix, private blocks,
addresses, random text.
"""

from __future__ import annotations

import re

from contextkernel.masking.names import Pattern, changes, is_plain, looks_random

HIDDEN = "***"
_WORD = "A-Za-z0-9_-"
_BASE64 = "A-Za-z0-9+/=_.~%-"
# (prefixes, characters that must follow at least, which ones), as their makers publish them.
ISSUED = (
    (
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glrtr- glcbt- glptt- glft- "
        "glimt- glagent- gloas- glsoat- glffct-"
        " hf_ api_org_ GOCSPX- xapp- xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- "
        "whsec_ shpat_ shpss_ shpca_ shppa_ shptka_"
        " dop_v1_ doo_v1_ dor_v1_ lin_api_ lin_oauth_ lin_wh_ NRAK- NRJS- NRII- NRAA- NRRA- NRIQ- "
        "npm_ rubygems_ dckr_pat_ dckr_oat_"
        " xkeysib- xsmtpsib- PMAK- PMAT- figd_ figu_ figoh_ ntn_ sntrys_ sntryu_ sntrya_ sbp_ "
        "sb_secret_ pscale_pw_ pscale_tkn_"
        " pscale_oauth_ glsa_ HRKU- sk-ant- sk-proj- sk-or- sk-svcacct- sk-admin- sk-lf- gsk_ "
        "nvapi- tvly- AIza sk_live_ sk_test_"
        " rk_live_ rk_test_ sq0csp- sq0atp- lsv2_pt_ lsv2_sk_ phx_ ATATT ATCTT ATBB cfut_ cfat_ "
        "ory_at_ ory_ac_ ory_rt_ FLWSECK_ FLWSECK-"
        " rzp_live_ shippo_live_ duffel_live_ mlsn. CFPAT- CCIPAT_ CCIPRJ_ bkua_ tskey- FlyV1 "
        "fm2_ apify_api_ clojars_ CLOJARS_ ptla_ ptlc_"
        " AGE-SECRET-KEY- AGE-PLUGIN- prj_live_ rdme_ pdl_live_ hcaptcha_ bedrock-api-key-",
        12,
        _WORD,
    ),
    (
        "ya29. SG. hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.scim. dp.audit. dp.sa. pypi-AgE "
        "pypi-AgEN FwoGZXIvYXdz IQoJb3JpZ2lu LS0tLS1CRUdJTi"
        " b3BlbnNzaC1rZXktdjE MIIEvQIBADANBgkqhkiG MIIEpAIBAA eyJhbGciOi v1.local. v2.local. "
        "v3.local. v4.local. k4.local. k4.secret."
        " atlasv1. amzn.mws. glc_eyJ",
        10,
        _BASE64,
    ),
    ("AKIA ASIA ABIA ACCA", 12, "A-Za-z0-9"),
    ("dapi dkea dsapi dose", 30, "0-9a-f-"),
    ("key-", 28, "0-9a-f"),
    ("SK AC", 32, "0-9a-f"),
    ("pul-", 32, "0-9a-f"),
    ("s. b.", 24, "A-Za-z0-9"),
    ("pat", 50, "A-Za-z0-9."),
    ("0x", 64, "0-9a-fA-F"),
    ("sk-", 16, _WORD),
    ("xprv yprv zprv tprv", 60, "A-Za-z0-9"),
    ("ops_eyJ", 20, _BASE64),
)
PUBLIC = (
    "toolu_",
    "msg_",
    "req_",
    "call_",
    "chatcmpl-",
    "resp_",
    "run_",
    "thread_",
    "srvtoolu_",
    "sha256",
    "sha512",
    "sha384",
    "sha1",
    "md5",
    "h1:",
    "blake",
    "rollout-",
    "agent-",
    "ssh-",
)

_BLOCK = Pattern(
    r"-{4,5} ?BEGIN (?!CERTIFICATE|PUBLIC|X509|TRUSTED|NEW CERT|RSA PUBLIC|SSH2 PUBLIC|PGP "
    r"PUBLIC|PGP SIGNATURE|PGP SIGNED)[A-Z0-9 ]{3,60}-{4,5}(?=(?:\s|\\+[nr]"
    r"|[\"'+,])*(?:[A-Za-z0-9+/=]{4,}|[A-Z][\w-]+: ))"
)
_BLOCK_END = Pattern(r"-{4,5} ?END [A-Z0-9 ]{3,60}-{4,5}")
_PUTTY = Pattern(r"(?s)(PuTTY-User-Key-File-\d: ).*?(?:Private-MAC: *[0-9a-f]+|\Z)")
_SHAPES = (
    (":", r"(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}:[0-9a-f]{32}"),  # Twilio
    (".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{10,20}\.atlasv1\.[\w-]+"),
    (":", r"(?<![A-Za-z0-9])(bot)?\d{8,10}:[A-Za-z0-9_-]{30,}"),  # Telegram
    ("-us", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}\b"),  # Mailchimp
    ("-", r"(?<![0-9a-f-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])"),  # Mailgun
    ("q~", r"(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{31,34}"),  # Entra
    (
        "$",
        (
            r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|sha1|argon2\w{0,2}|pbkdf2[\w-]{0,12}|scrypt"
            r"|bcrypt[\w-]{0,8})\$[\w./$=,+-]{16,}"
        ),
    ),  # crypt(3)
    ("}", r"\{(?:S?SHA|SSHA|MD5|SMD5|CRYPT|PBKDF2)[\d-]*\}[\w+/=$.]{16,}"),  # LDAP
    (".", r"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}"),  # Discord bots
    (
        ".",
        r"(?<![\w.-])[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}(?![\w.-])",
    ),  # three parts, as JWT and its kin
)
# Pairs of letters that are frequent in words and names of programs, and make up a quarter of all
# pairs.
_PAIRS = frozenset(
    "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve "
    "co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no "
    "ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts "
    "mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo "
    "sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi "
    "da yo cr cl du ey".split()
)
_TOKEN = Pattern(r"[A-Za-z0-9+/_=~.%-]{20,}")
_JOINED = Pattern(r"[A-Za-z0-9+/_-]+")
_PART = Pattern(r"[A-Za-z0-9]+")
_HEX = Pattern(r"[0-9a-fA-F]*")
_NODE = Pattern(
    r"::\w+(?:::\w+)*\[[^\]\n]{0,300}\]|/nix/store/[a-z0-9]{32}|(?i:\bsha(?:1|256|384"
    r"|512)[-:][A-Za-z0-9+/=]+)|\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"
)
SHELL_SCHEMES = ("ssh", "sftp", "scp", "rsync", "svn", "git")  # whose user names are no secrets
_PORT = Pattern(r"\d{1,5}(?:/|$)")
_HOOK = Pattern(r"[^\s\"'<>]{0,200}?hook[\w.-]{0,40}/([^\s\"'<>]{8,2000})", re.I)
_CHARS: dict[str, re.Pattern[str]] = {}


def _chars(allowed: str) -> re.Pattern[str]:
    if allowed not in _CHARS:
        _CHARS[allowed] = re.compile(f"[{allowed}]*")
    return _CHARS[allowed]


def without_blocks(text: str) -> str:
    """The text without private keys and other armoured blocks, also without their end where that
    is missing.
    """
    if "BEGIN " in text:
        parts, at = [], 0
        block = _BLOCK.search(text)
        while block:
            end = _BLOCK_END.search(text, block.end())
            parts += [text[at : block.start()], HIDDEN]
            at = end.end() if end else len(text)
            block = _BLOCK.search(text, at)
        text = "".join(parts) + text[at:]
    return _PUTTY.sub(r"\g<1>" + HIDDEN, text) if "PuTTY-User-Key-File" in text else text


_ISSUED = [(prefixes.split(), least, allowed) for prefixes, least, allowed in ISSUED]


def without_issued(text: str) -> str:
    """The text without keys that carry a known prefix, or have a known shape."""
    small = text.lower()
    for word, pattern in _SHAPES:
        if word in small:
            text = re.sub(pattern, HIDDEN, text)
    for names, least, allowed in _ISSUED:
        for prefix in names:
            if prefix in text:
                text = _cut(text, prefix, least, _chars(allowed))
    return text


def _cut(text: str, prefix: str, least: int, chars: re.Pattern[str]) -> str:
    parts, at = [], 0
    start = text.find(prefix)
    while start >= 0:
        rest = chars.match(text, start + len(prefix))  # matches nothing, too
        follows = rest.end() if rest else start + len(prefix)
        tail = text[start + len(prefix) : follows].rstrip(".~%/:&?")
        before = text[start - 1 : start]
        joined = (
            before.isascii()
            and before.isalnum()
            and not (before == "n" and text[start - 2 : start - 1] == "\\")
        )
        if joined or len(tail) < least:
            start = text.find(
                prefix, start + len(prefix) if joined else max(follows, start + len(prefix))
            )
            continue
        parts += [text[at:start], HIDDEN]
        at = start + len(prefix) + len(tail)
        start = text.find(prefix, at)
    return "".join(parts) + text[at:]


def without_logins(text: str) -> str:
    """The text without user names that are keys, and without passwords, in addresses; and
    without the ends of webhooks.
    """
    parts: list[str] = []
    at = 0
    start = text.find("://")
    while start >= 0:
        begin = start + 3
        if begin >= at:
            login = _USERINFO.match(text, begin)
            if login:
                first, last = begin, login.end() - 1
                shown = _shown_login(login, text[max(0, start - 12) : start].lower())
            else:
                hook = _HOOK.match(text, begin)
                first, last = hook.span(1) if hook else (begin, begin)
                shown = HIDDEN if hook and _is_hook_secret(hook.group(1)) else ""
            if shown:
                parts += [text[at:first], shown]
                at = last
        start = text.find("://", begin)
    text = "".join(parts) + text[at:]
    return _BARE_LOGIN.sub(_shown_bare_login, text) if "@" in text else text


def _shown_login(login: re.Match[str], scheme: str) -> str:
    """What stands for a user and a password; "" where they stay as they are."""
    user, secret = login.group(1) or login.group(3) or "", login.group(2)
    if secret is None:
        is_name = user == "git" or scheme.endswith(SHELL_SCHEMES) and not looks_random(user)
        return "" if is_name or is_plain(user) else HIDDEN
    if _PORT.match(secret):
        return ""
    if secret in ("", "x-oauth-basic"):
        return "" if is_plain(user) else HIDDEN
    if is_plain(secret):
        return ""
    is_name = len(user) < 20 and not looks_random(user, 12)
    return f"{user if is_name else HIDDEN}:{HIDDEN}"


def _is_hook_secret(path: str) -> bool:
    """Whether the end of a webhook's address holds a key."""
    return any(
        len(piece) >= 16 and any(char.isdigit() for char in piece) or looks_random(piece)
        for piece in re.findall(r"[\w-]+", path)
    )


def _shown_bare_login(login: re.Match[str]) -> str:
    """`user:***@` for a login without a scheme that holds a password, else the login itself."""
    whole: str = login.group()
    user, secret, port = login.groups()
    if secret.startswith("sha256"):
        return whole
    is_address = port or "/" in user[1:] or "\\" in user
    return f"{user}{HIDDEN}@" if is_address or looks_random(secret, 6) else whole


# An address's user and password: up to the last @ before a blank or a slash; a slash may stand in
# the password only.
_USERINFO = Pattern(
    r"([^\s/:@\"'<>?#]{0,500}(?:@[\w.-]{1,100}(?=:[^\s@/\"'<>]{1,200}@))?)(?::((?:[^\s/\"'<>@]"
    r"|@(?=[^\s/\"'<>@]{0,200}@)){0,500}|[^\s@\"'<>]{0,500}))?@(?=[\w\[$%{<*-])"
    r"|([^\s/\"'<>:]{1,200}@[^\s/\"'<>:@]{1,200})@"
)
_BARE_LOGIN = Pattern(
    r"(?<![\w/@.:%-])([A-Za-z][\w.\\/-]{0,60}:)([^\s:@/\"'{}()]{6,100})@(?=[A-Za-z0-9\[$*]"
    r"(?:[\w.-]{0,100}(:\d{2,5}\b))?)"
)


def without_random(text: str) -> str:
    """The text without long runs that only a generator of random text makes, whatever stands around
    them.

    Digests in hex, UUIDs, image digests, integrity values, test ids and words joined to names stay.
    """
    if len(text) < 16:
        return text
    nodes: list[tuple[int, int]] | None = None  # looked for when there is something to mask

    def judged(run: re.Match[str]) -> str:
        nonlocal nodes
        seen = _judged(run.group())
        if seen == run.group():
            return seen
        if nodes is None:
            nodes = [node.span() for node in _NODE.finditer(text)]
        is_known = any(start < run.end() and run.start() < end for start, end in nodes)
        return run.group() if is_known else seen

    masked: str = _TOKEN.sub(judged, text)
    return masked


def _judged(token: str) -> str:
    if token.startswith(PUBLIC):
        return token
    out, at = [], 0
    for word in _JOINED.finditer(token):
        if len(word.group()) >= 20 and _is_random(word.group()):
            out += [token[at : word.start()], HIDDEN]
            at = word.end()
            continue
        for part in _PART.finditer(token, word.start(), word.end()):
            # with a maker's prefix
            least = 16 if part.start() and token[part.start() - 1] in "_-." else 20
            if len(part.group()) >= least and _is_random(part.group(), least):
                out += [token[at : part.start()], HIDDEN]
                at = part.end()
    return "".join(out) + token[at:]


def _is_random(text: str, least: int = 20) -> bool:
    """Whether a run of `least` characters or more has too few pairs of letters that words are made
    of, or changes its kind too often.

    In random text 12 to 25 % of the pairs are such ones, in names of programs 50 to 75 % (12,388
    texts of real sessions).
    """
    runs = _PART.findall(text)
    if len(runs) > 1 and (
        max(map(len, runs)) < 8
        or sum(map(len, runs)) < 7 * len(runs)
        or any(len(run) >= 16 and _HEX.fullmatch(run) for run in runs)
    ):
        return False  # words, numbers or digests, joined
    joined = "".join(runs)
    letters = sum(char.isalpha() for char in joined)
    has_digit, has_both = (
        letters < len(joined),
        any(c.isupper() for c in joined) and any(c.islower() for c in joined),
    )
    if (
        len(joined) < least
        or 10 * letters < 3 * len(joined)
        or not (has_digit or has_both)
        or _HEX.fullmatch(joined)
    ):
        return False
    small, turns = joined.lower(), sum(map(changes, runs))
    pairs = (
        100 * sum(small[at : at + 2] in _PAIRS for at in range(len(small) - 1)) // (len(small) - 1)
    )
    if not has_digit:
        return pairs < 24 and len(joined) >= 24
    return (
        pairs < (34 if turns * 4 >= len(joined) else 26)
        or pairs < 45
        and turns * 100 >= 42 * len(joined)
    )
