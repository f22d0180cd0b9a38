"""Which names tell that a secret follows, and which values are none: what masking by context
asks.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any


class Pattern:
    """A regular expression that is compiled when it is first used: all of them would cost a hook
    9 ms.
    """

    def __init__(self, text: str, flags: int = 0) -> None:
        self.given = (text, flags)

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(*self.given), name)
        setattr(self, name, method)
        return method


STRONG = frozenset(
    "pass passe passwd passwort passwords password passphrase passcode passkey pwd pw psk pswd "
    "passw secret secrets token apikey apitoken authtoken accesstoken accesskey secretkey "
    "privatekey credential credentials creds cred jwt bearer otp totp sas pat apisecret "
    "clientsecret webhook requirepass masterauth masteruser_password passin passout "
    "connectionstring sonarlogin dsonarlogin contraseña contrasena contrasenya contrasinal clave "
    "motdepasse mdp kennwort losungswort geheimnis geheimwort zugangsschlüssel senha palavrapasse "
    "пароль пароля парол паролі секрет токен ключ hasło hasla haslo heslo lösenord losenord "
    "passord adgangskode kodeord salasana wachtwoord geheim jelszó jelszo parola şifre sifre "
    "parole sandi katasandi khẩu matkhau lozinka zaporka lozinku geslo slaptažodis slaptazodis "
    "parool salasõna senhas סיסמה סיסמא κωδικός συνθηματικό motpasse wifipassword nywila "
    "fjalëkalimi pasahitza lykilorð पासवर्ड รหัสผ่าน كلمةالسر كلمةالمرور գաղտնաբառ პაროლი".split()
)
# A name that ends so holds one of the words without a separator: dbpassword, PGPASSWORD, SSHPASS.
STRONG_ENDS = tuple(
    "password passwd passphrase passcode pwd pass secret token apikey accesskey secretkey "
    "passwort kennwort senha пароль wachtwoord contraseña contrasena credential credentials".split()
)
NO_ENDS = frozenset(
    "bypass compass encompass trespass surpass underpass overpass multipass singlepass".split()
)
# Scripts without blanks between words: any name that holds one of these.
STRONG_PARTS = tuple(
    "密码 密碼 口令 令牌 密钥 密鑰 秘钥 秘密 暗号 パスワード 暗証 "
    "合言葉 トークン 비밀번호 암호 토큰 비밀 รหัสผ่าน كلمة пароль गुप्त पासवर्ड".split()
)
WEAK = frozenset(
    "key keys auth sig signature cookie cookies session sessionid sessid phpsessid jsessionid sid "
    "csrf xsrf salt license licence serial tokens dsn basic login pin code seed mnemonic private "
    "chiave clé cle schlüssel schluessel chave llave klucz anahtar 鍵 钥匙 auths".split()
)
KEY_OF = frozenset(
    "api access private secret encryption encrypt decryption signing sign master account shared "
    "storage deploy subscription functions admin consumer app application integration write read "
    "ingest ssh gpg pgp aes hmac jwt crypto service host session user wrap root license "
    "instrumentation project account1 account2 primary1 api1 vault unseal recovery stream speech "
    "maps webhook bot server".split()
)
NEUTRAL = frozenset(
    "file files filename path paths dir directory folder count counts counter limit limits size "
    "sizes length len type types name names url uri endpoint ttl expiry expires expiration exp "
    "expire age policy policies field fields column columns col format env var variable prefix "
    "suffix index idx usage used budget window max min avg mean ratio rate cost costs price total "
    "num number version class provider store storage manager service services mode enabled "
    "required strength rule rules regex pattern placeholder label title reset prompt stdin fd arn "
    "ref refs kind algorithm algorithms alg scope scopes audience issuer header headers timeout "
    "interval lifetime seconds ms days bytes minutes date at by test tests generator reader cache "
    "factory handler validator model encoding vocab embedding ids stream pos position offset "
    "start end left map list set error errors description help hint hints text message status "
    "state grant estimate estimates estimator limiter lengths per usages saved input output "
    "completion prompts sort fn func function method handle checker helper util utils manager "
    "middleware guard page form view screen controller route router routes component spec config "
    "interactive agent method methods bucket fingerprint digest public ring value_from valuefrom "
    "template keyring size_limit rotation kid hash_algorithm algo".split()
)
VERBS = frozenset(
    "no ask with without prompt show skip use require enable disable print read save generate "
    "reset is has allow max min num n total count expect missing invalid valid bad wrong forgot "
    "change validate check verify update rotate".split()
)
FRAGMENTS = tuple(
    "pass pwd pw secret token key cred auth sig jwt cookie session sess sid csrf xsrf otp psk pat "
    "sas bearer salt licen serial dsn login pin code seed mnemonic private webhook "
    "connectionstring pswd contras clave mdp kennwort losung geheim schl senha chave llave haslo "
    "heslo losenord adgangs kodeord salasana wachtwoord jelszo parol sifre sandi matkhau lozink "
    "zaporka geslo slaptazodis parool chiave cle klucz anahtar nywila pasahitza basic requirepass "
    "masterauth".split()
)

_SEGMENT = Pattern(r"[^\W\d_]+|\d+")
_CAMEL = Pattern(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_RUN = Pattern(r"[A-Za-z0-9]+")
_VARIABLES = Pattern(
    r"(?:\$\w+|\$\{\w+\}|\$\{\{[^{}]*\}\}|\$env:\w+|%\w+%|!\w+!|\{\{[^{}]*\}\}|<[^<>\s]*>"
    r"|\{\w*\}|[:/@])+"
)
_WORDLESS = Pattern(
    r"[*.x…_\[\]-]*|\[?(?:redacted|masked|hidden|filtered|secret)\]?|(?:your|my)[-_ ].*", re.I
)
_SUBSTITUTION = Pattern(
    r"(?:\$\(|`)\s*(?!echo\b|printf\b|base64\b|tr\b|sed\b)[\w./-]+(?:[^'\"`|;&<>]|\|\s*(?:tr"
    r"|head|tail|jq|cut|awk|grep|base64)\b)*[)`]"
)
_LOOKUP = Pattern(
    r"(?:os\.environ|os\.getenv|process\.env|System\.getenv|ENV|env|getenv|getpass|config|settings"
    r"|vars?|secrets?|args|self|this|data|steps|local|module|"
    r"request|req|ctx|options?|opts|params?)\b[.\[(][\w.\[\]()'\"-]*|[A-Za-z_][\w.]*\([\w., ]*\)?;?"
)
_CONSTANT = frozenset(
    "true false null none nil yes no undefined on off str string int bool optional required empty "
    "blank required, any object number".split()
)
_PATH = Pattern(
    r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@ +~-]+[/\\])*[\w.@+~-]*"
    r"|[\w.-]+(?:/[\w.-]+)*\.(?:pem|key|crt|cer|pub|json|ya?ml|toml|ini|cfg|conf|env|py|ts|js"
    r"|go|rs|txt|md|sh|p12|pfx|jks|rb|java|tsx|jsx|sql|log)"
)
_VARIABLE_NAME = Pattern(r"[A-Z]{2,}(?:_[A-Z]+)+")
_HEX = Pattern(r"[0-9a-fA-F]{32,}")


def segments(name: str) -> list[str]:
    """The words of a name, lower case, numbers left out: dbPassword2 and DB_PASSWORD_2 are [db,
    password].
    """
    words: list[str] = []
    for part in _SEGMENT.findall(name):
        if not part.isdigit():
            words += [piece.lower() for piece in _CAMEL.split(part)]
    return words


def telling(name: str) -> int:
    """2: a secret follows; 1: a secret follows if the value looks like one; 0: nothing is said."""
    words = segments(name)
    if not words:
        return 0
    if not name.isascii() and any(part in name for part in STRONG_PARTS):
        return 2
    joined = "".join(words)
    if (
        words[-1] in NEUTRAL
        or (words[0] in VERBS and len(words) > 1)
        or (words[-1] in ("id", "secure") and "secret" not in words)
    ):
        return 0
    if any(word in STRONG for word in words) or any(
        pair in STRONG for pair in map("".join, zip(words, words[1:]))
    ):
        return 2
    if (
        any(word.endswith(STRONG_ENDS) and word not in NO_ENDS for word in words)
        or joined in STRONG
        or "".join(words[-3:]) in STRONG
    ):
        return 2
    if words[-1] in ("key", "keys") and len(words) > 1 and words[-2] in KEY_OF:
        return 2
    is_weak = any(word in WEAK or word.endswith(("apikey", "cookie")) for word in words)
    return 1 if is_weak else 0


def is_password(name: str) -> bool:
    """Whether what the name tells of is made up by people: then digits alone, or a path, may be
    it.
    """
    joined = "".join(segments(name))
    return not any(
        word in joined
        for word in ("token", "key", "secret", "cred", "auth", "sas", "cert", "webhook")
    )


def changes(text: str) -> int:
    """How often letters and digits, or small and large letters, follow each other."""
    kinds = ["d" if char.isdigit() else "u" if char.isupper() else "l" for char in text]
    return sum(kind != following for kind, following in zip(kinds, kinds[1:]))


def looks_random(value: str, least: int = 8) -> bool:
    """Whether a value has a part that no word has: digits inside of letters, a long number in
    hex, cases without order.
    """
    for piece in _RUN.findall(value):
        if len(piece) >= least and not piece.isdigit():
            digits = sum(char.isdigit() for char in piece)
            if _HEX.fullmatch(piece) or (
                digits and changes(piece) >= (2 if digits < len(piece) - 1 else 3)
            ):
                return True
            if not digits and len(piece) >= 16 and changes(piece) * 10 >= 4 * len(piece):
                return True
    bare = value.strip("\"'")
    return (
        len(bare) >= least
        and any(char in "!@#$%^&*+=~?" for char in bare)
        and any(char.isdigit() for char in bare)
        and "/" not in bare
    )


def is_plain(value: str, inside: str = "") -> bool:
    """Whether a value, quotes and all, holds nothing to mask: empty, a variable, a placeholder, a
    lookup.

    `inside`: the quote that the value stands in: there a shell replaces a variable within single
    quotes too.
    """
    literal = value[:1] == "'" and inside != '"'
    bare = value.replace('\\"', "").replace("\\'", "").strip("\"'")
    if not bare or _WORDLESS.fullmatch(bare) or bare.lower().rstrip(",;)]") in _CONSTANT:
        return True
    if _VARIABLES.fullmatch(bare) or _SUBSTITUTION.fullmatch(bare):
        return not literal or "$" not in bare
    return value[:1] not in "\"'" and bool(_LOOKUP.fullmatch(bare))


def is_secret(name: str, level: int, value: str, inside: str = "") -> bool:
    """Whether a value after a telling name is masked."""
    if is_plain(value, inside):
        return False
    bare = value.strip("\\\"'").rstrip(",;")
    if level == 1:
        return looks_random(bare) and not _PATH.fullmatch(bare)
    if is_password(name):
        return True
    if bare.isdigit() and len(bare) < 5:
        return False
    return not (
        (_PATH.fullmatch(bare) or _VARIABLE_NAME.fullmatch(bare))
        and not looks_random(bare.rpartition("/")[2], 20)
    )
