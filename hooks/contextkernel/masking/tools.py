"""Where programs take a secret: which option, which place in the line, and what is piped into
those that read one.
"""

from __future__ import annotations

from contextkernel.masking.names import Pattern

# (programs, options whose value is a secret: after a blank, after "=" or joined). ":" at an
# option's end: of user:password the password alone; "%" and "," likewise with these signs; "+":
# only where it is joined.
TOOLS = (
    (
        "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mysqlsh mysqlslap "
        "mysqlbinlog mariadb mariadb-dump"
        " mariadb-admin mycli percona xtrabackup innobackupex",
        "-p",
    ),
    (
        (
            "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop "
            "mongofiles"
        ),
        "-p",
    ),
    (
        "sshpass cqlsh crackmapexec nxc netexec evil-winrm hydra medusa ncftp ncftpget ncftpput "
        "twine rdesktop psexec psexec.py winrs"
        " elasticsearch-users arangosh couchbase-cli vncdotool useradd usermod adduser"
        " cypher-shell rabbitmqadmin nodetool",
        "-p",
    ),
    ("redis-cli valkey-cli keydb-cli redis-benchmark", "-a"),
    ("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn", "-w"),
    ("ldappasswd", "-w -s -a"),
    (
        (
            "smbclient rpcclient smbget smbcacls smbtree smbspool winexe wmic pth-winexe net "
            "nmblookup wbinfo"
        ),
        "-U% --user% -a%",
    ),
    ("curl", "-u: -U: --user: --proxy-user: -b --cookie -E: --cert: --proxy-cert:"),
    ("wget aria2c", "-b"),
    ("http https xh httpie", "-a: --auth:"),
    ("ab", "-A: -P:"),
    ("hey", "-a:"),
    ("etcdctl", "--user:"),
    ("lftp", "-u,"),
    ("ftp", "-u:"),
    ("openssl", "-k -K -hmac -pass -passin -passout"),
    ("gpg gpg2", "--passphrase"),
    ("sqlcmd bcp osql isql tsql mssql-cli", "-P"),
    ("zip unzip zipcloak zipnote", "-P"),
    ("7z 7za 7zr 7zz rar unrar", "-p+ -hp+"),
    ("mosquitto_pub mosquitto_sub mosquitto_rr ipmitool", "-P"),
    ("snmpwalk snmpget snmpset snmpbulkwalk", "-A -X"),
    ("ssh-keygen", "-N -P"),
    ("security", "-p -w -P"),
    ("pdftotext pdftoppm pdfimages", "-upw -opw"),
    ("plink pscp psftp", "-pw"),
    ("nuget dotnet", "-k"),
    ("swaks", "-ap -a"),
    ("sendemail", "-xp"),
    ("vercel codecov flyctl fly", "-t"),
    ("xfreerdp wfreerdp", "/p"),
    ("schtasks", "/rp /p"),
    ("cmdkey", "/pass"),
    ("hashcat john", "-w"),
    ("bw op", "--session"),
    ("netlify", "--auth"),
    ("gh", "-b --body"),
)
# Of any other program: what follows -p where a user was named, unless it is a port, a mapping or a
# folder to be made.
USER = ("-u", "-U", "-l", "-user", "--user", "--username", "-username", "--login")
OTHERS = frozenset(
    (
        "sudo doas su docker podman nerdctl ssh scp sftp rsync cp mv mkdir install tar ps patch "
        "git psql pg_dump runuser chown id crontab systemctl journalctl lsof top kill pgrep pkill"
    ).split()
)
USER_JOINED = ("--user=", "--username=", "-u=")
PASSWORD_OPTIONS = ("-p", "-P")
PORT = Pattern(r"\d{1,5}|[\d.]*:?\d{1,5}:\d{1,5}(?:/(?:tcp|udp))?|[./~$].*")
# (a row applies where the text holds one of these words, what stands before the secret, the
# secret): shell words as one item.
SHELL_WORD = r"""(?:"(?:\\.|[^"\\])*"|\$?'[^']*'|\\.|[^\s"'&;|\\])+"""
_LINE = r"[^|;&\n]"
PLACES = (
    (
        ("login", "auth init"),
        (
            r"\b(?:docker|podman|az|helm|nerdctl|oras|crane|skopeo|buildah|oc|cf|ibmcloud|argocd"
            r"|rancher|glab|doctl|cloudctl|odo|kubelogin|regctl)\b"
        )
        + _LINE
        + r"{0,60}?\b(?:login|auth init)\b"
        + _LINE
        + r"{0,120}?\s(?:-p|-t|-u\s+[^\s:|;&]+:)[\s=]*",
        SHELL_WORD,
    ),
    (
        ("htpasswd",),
        r"\bhtpasswd\s+(?=" + _LINE + r"{0,80}-\w*b)" + _LINE + r"{0,200}\s",
        SHELL_WORD,
    ),
    (("vault",), r"\bvault\s+(?:kv\s+)?(?:write|put|patch)\b", _LINE + r"*"),
    (
        ("vault",),
        (
            r"\bvault\s+(?:unseal|login|unwrap|operator\s+unseal"
            r"|token\s+\w+)\s+(?:-[\w-]+=\S*\s+)*(?!-)"
        ),
        SHELL_WORD,
    ),
    (("net use", "net user"), r"\bnet user?\b", _LINE + r"*"),
    (("--from-literal",), r"--from-literal(?:\s+|=)['\"]?[^=\s]{1,200}=", SHELL_WORD),
    (("aws_s",), r"\baws_(?:secret_access_key|session_token)\s+", SHELL_WORD),
    (
        ("sqlplus", "sqlldr", "expdp", "impdp", "rman", "sqlcl"),
        r"\b(?:sqlplus|sqlldr|expdp|impdp|rman|sqlcl)\b"
        + _LINE
        + r"{0,200}?[\s='\"][\w$#.]{1,60}/(?!/)",
        r"(?:\"[^\"]*\"|[^\s@\"'/|;&]+)",
    ),
    (
        ("rabbitmqctl", "rabbitmqadmin"),
        r"\brabbitmqctl\b"
        + _LINE
        + r"{0,80}?\b(?:add_user|change_password|authenticate_user)\s+"
        + SHELL_WORD
        + r"\s+",
        SHELL_WORD,
    ),
    (
        ("alias set", "config host add"),
        r"\b(?:mc|mcli)\b" + _LINE + r"{0,60}?(?:alias set|config host add)\s+\S+\s+",
        _LINE + r"*",
    ),
    (("mysqladmin",), r"\bmysqladmin\b" + _LINE + r"{0,200}?\s(?:old-)?password\s+", SHELL_WORD),
    (("token set", "token add", "tokens add"), r"\btokens?\s+(?:set|add)\s+(?!-)", SHELL_WORD),
    (("config set api=",), r"\bconfig set api=", SHELL_WORD),
    (("securestring",), r"(?i)\bConvertTo-SecureString\s+(?:-String\s+)?", SHELL_WORD),
    (("-cli",), r"(?i)\b(?:redis|valkey|keydb)-cli\b" + _LINE + r"{0,100}?\sauth\s+", _LINE + r"+"),
    (("ftp",), r"(?i)^\s*(?:quote\s+)?(?:user\s+\S+|pass)\s+", SHELL_WORD),
    (("-setairportnetwork",), r"-setairportnetwork\s+\S+\s+" + SHELL_WORD + r"\s+", SHELL_WORD),
    (
        ("passw", "secret", "token", "cred", "key", "pwd"),
        (
            r"\b(?:echo|printf)\s+(?:-[neE]+\s+)*(?=[^|;&\n>]{1,500}>{1,2}\s*['\"]?[^\s>"
            r"|;&]{0,100}(?:passw|secret|token|credential|\.pem|_key|api-?key|pwd))"
        ),
        r"[^|;&\n>]+(?=>)",
    ),
    (("passw", "secret", "token", "askpass", "passphrase"), r"<\(\s*(?:echo|printf)\s+", r"[^)]+"),
    (("--arg",), r"(?i)--arg(?:json)?\s+\w*(?:pass|pwd|secret|token|key|cred)\w*\s+", SHELL_WORD),
    (("--set",), r"--set\s+'(?:\[[^\[\]\n]{1,80}\])+\s+", r"\"[^\"]*\""),
    (("wpa_passphrase",), r"\bwpa_passphrase\s+" + SHELL_WORD + r"\s+", SHELL_WORD),
    (
        ("nmcli", "iwconfig", "netsh", "wpa_cli"),
        (
            r"\b(?:password|psk|wep-key\d?|(?:[\w-]+\.)(?:psk|password|wep-key\d)|key"
            r"|keymaterial)[\s=]+"
        ),
        SHELL_WORD,
    ),
    (("passwd",), r"\bopenssl\s+passwd\b(?:\s+-(?!salt)\w+)*\s+(?!-)", SHELL_WORD),
    (
        ("mkpasswd", "obscure", "hash-password", "grub-mkpasswd", "encrypt_string"),
        (
            r"\b(?:mkpasswd(?:\s+-\S+(?:\s+sha-?\d+)?)*|rclone\s+obscure"
            r"|hash-password\s+--plaintext|ansible-vault\s+encrypt_string)\s+(?!-)"
        ),
        SHELL_WORD,
    ),
    (
        ("rclone",),
        r"\brclone\s+config\s+\w+" + _LINE + r"{0,200}?\s(?:pass|password|secret_access_key)\s+",
        SHELL_WORD,
    ),
    (
        ("config", "configure", "setx", "setenv", "env ", "set ", "set-", "secret"),
        "",
        "",
    ),  # NAME VALUE: see `masking`
    (("http-basic",), r"\bhttp-basic\.\S+\s+" + SHELL_WORD + r"\s+", SHELL_WORD),
    (
        ("pypi-token", "-oauth.", "gitlab-token", "bearer."),
        r"\b(?:pypi-token|github-oauth|gitlab-oauth|gitlab-token|bearer)\.\S+\s+",
        SHELL_WORD,
    ),
    (
        (
            "setapikey",
            "snyk auth",
            "cargo login",
            "login --api-key",
            "bw login",
            "bw unlock",
            "lpass",
            "travis encrypt",
            "secret set",
            "secrets put",
            "put-parameter",
            "create-secret",
            "secret-string",
            "versions add",
            "chamber write",
            "keyvault secret",
            "authorize-account",
            "infisical",
            "akeyless",
            "secrets create",
        ),
        (
            r"\b(?:setapikey|snyk\s+auth|cargo\s+login(?:\s+--registry\s+\S+)?|bw\s+unlock"
            r"|bw\s+login\s+\S+|travis\s+encrypt|chamber\s+write\s+\S+\s+\S+"
            r"|authorize-account\s+\S+|put-parameter\b"
        )
        + _LINE
        + r"{0,200}?--value|keyvault\s+secret\s+set\b"
        + _LINE
        + r"{0,200}?--value|secret\s+set\s+\S+\s+(?:--value|-v)|--secret-string|"
        r"infisical\s+secrets\s+set)[\s=]+",
        SHELL_WORD,
    ),
    (
        ("identified", "password"),
        (
            r"(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by"
            r"|as)\s+(?:random\s+)?(?:password\s+)?(?:values\s+)?"
        ),
        r"""(?:\\?'[^']*'|\\?"[^"]*"|[^\s;"')]+)""",
    ),
    (
        ("password", "passwd"),
        (
            r"(?i)\b(?:user|role|login|server|encrypted|with|set|create|alter|mapping|default"
            r"|unencrypted)\b[^;\n]{0,160}?\b(?:password|passwd)\b(?:\s+for\s+\S+)?\s*(?:=|to\b"
            r"|is\b)?\s*\(?\s*"
        ),
        r"""(?:\\?E?'[^']*'|\\?"[^"]*")""",
    ),
    (
        ("password(", "pgp_sym", "aes_encrypt", "crypt(", "aes_decrypt", "encode("),
        r"(?i)\b(?:old_)?password\s*\(\s*",
        r"""(?:\\?'[^']*'|\\?"[^"]*")""",
    ),
    (
        ("pgp_sym", "aes_encrypt", "aes_decrypt", "crypt("),
        r"(?i)\b(?:pgp_sym_\w+|aes_(?:en|de)crypt|crypt)\s*\([^()\n]{0,200}?,\s*",
        r"""(?:\\?'[^']*'|\\?"[^"]*")""",
    ),
    (
        ("auth ",),
        r"(?:(?<![\w.-])AUTH\s+(?:[A-Za-z]\w{0,40}\s+(?=\S))?|(?<=['\"\n\\n>|])\s*auth\s+)(?!-)",
        r"""(?:'[^']*'|"[^"]*"|[^\s"'|;&\\]+)""",
    ),
    (
        ("requirepass", "masterauth", "masteruser"),
        r"(?i)\b(?:requirepass|masterauth)\s+",
        SHELL_WORD,
    ),
    (("setuser",), r"(?i)\bacl\s+setuser\b[^;\n]{0,200}?\s['\"]?[>#]", r"[^\s\"']+"),
    (("hello ",), r"(?i)\bhello\s+3\s+auth\s+\S+\s+", SHELL_WORD),
    (
        ("machine", "login", "default"),
        (
            r"(?i)\b(?:machine\s+\S+|default|login\s+\S+|account\s+\S+)(?:\s|\\n)+(?:login(?:\s"
            r"|\\n)+\S+(?:\s|\\n)+)?(?:account(?:\s|\\n)+\S+(?:\s|\\n)+)?(?:password|passwd)(?:\s"
            r"|\\n)+"
        ),
        r"""(?:"[^"]*"|[^\s"'\\]+)""",
    ),
    (
        ("pgpass", "5432", "5433", ":*:"),
        r"(?<![\w/.])[\w.*-]{1,100}:(?:\d{4,5}|\*):[^:\s]{1,60}:[^:\s]{1,60}:",
        r"[^\s\"']+",
    ),
    (("pserver",), r":(?:p|s|k)server:[^:@\s]+:", r"[^@\s]+(?=@)"),
    (("send", "expect"), r"\bsend\s+(?:--\s+)?\\?[\"{](?=[^\"}\n]{1,200}\\r)", r"[^\"}\n\\]+"),
    (("user_pw", "owner_pw", "input_pw"), r"\b(?:user_pw|owner_pw|input_pw)\s+", SHELL_WORD),
    (("--encrypt",), r"--encrypt\s+", SHELL_WORD + r"\s+" + SHELL_WORD),
    (
        ("auth",),
        r"""(?i)\bauth\s*[=:(]\s*[(\[]?\s*["'][^"'\n]{0,80}["']\s*,\s*""",
        r"""["'][^"'\n]*["']""",
    ),
    (
        ("pass", "secret", "token", "credential", "apikey", "api_key"),
        r"""(?i)\b\w{0,40}(?:passw(?:or)?d|passphrase|secret|token|credentials?|api_?key)\w{0,20}\(\s*"""
        r"""(?:["'][\w.@-]{1,60}["']\s*,\s*)?""",
        r"""["'][^"'\n]+["']""",
    ),
)
# all words of the table, to pass over it at once
PLACE_WORDS = tuple({word: 1 for words, before, _ in PLACES if before for word in words})
# Programs and options that read a secret from stdin.
READERS = Pattern(
    r"""(?i)\bchpasswd\b|\bpasswd\b|-stdin\b|-with-token\b|\bsudo\b[^|;&\n]{0,40}\s(?:-\w*S\b"""
    r"""|--stdin)|\bpass(?:in|out)?[\s=]+(?:stdin|fd:)|-passphrase-fd\b|\bkinit\b|\bsmbpasswd\b"""
    r"""|\bsecret-tool\b|\bkeyring\b|\bpass\s+insert\b|/dev/stdin\b|\bsecrets?\s+(?:create|set|put"""
    r"""|add|versions|import)\b|--data-file[\s=]-|\bhtpasswd\b|\bmkpasswd\b|\bcryptsetup\b"""
    r"""|\bssh-add\b|\bvault\b"""
    r"""|\benv\s+add\b|\bsu\b\s|\bkeyctl\b|\bkubeseal\b|\bansible-vault\b|\bsops\b|\bage\s"""
    r"""|\bnpm\s+login\b|\blogin\b|\bsnap\s+login\b|\bgpg2?\b|\bbase64\b(?!\s+(?:-d|-D|--decode))"""
    r"""|\bdebconf-set-selections\b|\bopenssl\b"""
    r"""|\bwpa_passphrase\b|\bpg_restore\b|\bfscrypt\b|\bveracrypt\b|\bborg\b|\brestic\b|\bunlock\b"""
    r"""|\bsecurity\b|\bredis-cli\b|\bmysql_config_editor\b|\blxc\b|\bcredential\b"""
)
# program -> its options that take a secret, with their signs
OPTIONS = {name: row[1].split() for row in TOOLS for name in row[0].split()}
