"""Secrets never reach the ledger; ordinary words stay."""

import time

import pytest

from contextkernel.masking import masked


@pytest.mark.parametrize(
    "command, secret",
    [
        ("curl -H 'Authorization: Bearer abcdefghijkl' x", "abcdefghijkl"),
        ("DB_PASSWORD=hunter2abc make", "hunter2abc"),
        ("mysql --password s3cret -u root", "s3cret"),
        ("mysql -u root -ps3cret db", "s3cret"),
        ("git clone https://me:pw123@host/x", "pw123"),
        ("export OPENAI_API_KEY='sk-aaaaaaaaaaaaaaaaaaaaa'; ls", "sk-aaaa"),
        ("aws configure set x AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
        ("echo ghp_0123456789abcdefghij0123456789abcdefgh", "ghp_0123"),
        ('{"client_secret": "zzz"}', "zzz"),
        ("curl -u admin:s3cretWord https://x", "s3cretWord"),
        ("curl -H 'Cookie: sid=s3cretWord' x", "s3cretWord"),
        ("curl -b 'sid=s3cretWord' x", "s3cretWord"),
        ("curl -H 'Authorization: token s3cretWord'", "s3cretWord"),
        ("curl -H 'X-Auth: s3cretWord'", "s3cretWord"),
        ("git clone https://s3cretWord@host/x", "s3cretWord"),
        ("git clone https://me:p@s3cretWord@host/x", "s3cretWord"),
        ("redis-cli -a s3cretWord ping", "s3cretWord"),
        ("docker login -u me -p s3cretWord reg", "s3cretWord"),
        ("DB_PASS=s3cretWord make", "s3cretWord"),
        ("MYSQL_PWD=s3cretWord mysql", "s3cretWord"),
        ("ENCRYPTION_KEY=s3cretWord x", "s3cretWord"),
        ("openssl x -passin pass:s3cretWord", "s3cretWord"),
        ('PASSWORD="a\\"s3cretWord b" x', "s3cretWord"),
        ("PASSWORD='a b's3cretWord", "s3cretWord"),
        ("TOKEN=$'s3cretWord'", "s3cretWord"),
        ("TOKEN=a\\ s3cretWord", "s3cretWord"),
        ("curl 'https://h/?sig=s3cretWord'", "s3cretWord"),
        ("echo s3cretWord | docker login --password-stdin", "s3cretWord"),
        ("gh auth login --with-token <<< s3cretWord", "s3cretWord"),
        ('curl -d "{\\"password\\": \\"s3cretWord\\"}"', "s3cretWord"),
        ("kubectl create secret generic x --from-literal=a=s3cretWord", "s3cretWord"),
        ("vault write x value=s3cretWord", "s3cretWord"),
        ("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.s3cretWord", "s3cretWord"),
        ("x sk_live_51H8xxxxxxxxs3cretWord", "s3cretWord"),
        ("printf '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'", "MIIE"),
    ],
)
def test_masked(command, secret):
    assert secret not in masked(command)
    assert "***" in masked(command)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -k token tests/test_auth.py",
        "grep -rn password src",
        "git log --author=me",
        "ls -p src",
        "echo hi # secret plan",
        "sort -k2 f",
        "docker run -p 80:80 x",
        "git clone ssh://git@github.com/a/b",
        "curl http://localhost:8080/x@2x.png",
        "ssh-keygen -t ed25519",
        "git commit -m 'auth: fix token refresh'",
    ],
)
def test_ordinary_commands_stay(command):
    assert masked(command) == command


def test_cut():
    assert len(masked("x" * 1000)) == 300
    assert masked("x" * 1000, 10) == "xxxxxxxxx…"


@pytest.mark.parametrize(
    "piece",
    [
        "--pass-",
        "docker login ",
        "_key-pass_",
        "redis-cli -a",
        "echo ",
        'key="\\a',
        "http://a:",
        "token ",
    ],
)
def test_no_text_takes_long(piece):
    masked("key")
    start = time.process_time()
    masked(piece * (4000 // len(piece)) + "-stdin with-token")
    assert time.process_time() - start < 0.3


@pytest.mark.parametrize(
    "text, seen",
    [
        ("curl https://a@.b@c.com/x", "curl https://***@c.com/x"),
        ("ssh://a@.b@c.com/x", "ssh://a@.b@c.com/x"),
    ],
)
def test_a_user_name_that_holds_an_at_sign_is_masked_as_one(text, seen):
    assert masked(text) == seen
