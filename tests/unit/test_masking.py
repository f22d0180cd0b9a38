"""Secrets never reach the ledger; ordinary words stay."""
import pytest

from contextkernel.masking import masked


@pytest.mark.parametrize("command, secret", [
    ("curl -H 'Authorization: Bearer abcdefghijkl' x", "abcdefghijkl"),
    ("DB_PASSWORD=hunter2abc make", "hunter2abc"),
    ("mysql --password s3cret -u root", "s3cret"),
    ("mysql -u root -ps3cret db", "s3cret"),
    ("git clone https://me:pw123@host/x", "pw123"),
    ("export OPENAI_API_KEY='sk-aaaaaaaaaaaaaaaaaaaaa'; ls", "sk-aaaa"),
    ("aws configure set x AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
    ("echo ghp_0123456789abcdefghij0123456789abcdefgh", "ghp_0123"),
    ('{"client_secret": "zzz"}', "zzz"),
    ("printf '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'", "MIIE"),
])
def test_masked(command, secret):
    assert secret not in masked(command) and "***" in masked(command)


@pytest.mark.parametrize("command", ["pytest -k token tests/test_auth.py", "grep -rn password src", "git log --author=me", "ls -p src", "echo hi # secret plan"])
def test_ordinary_commands_stay(command):
    assert masked(command) == command


def test_cut():
    assert len(masked("x" * 1000)) == 300 and masked("x" * 1000, 10) == "xxxxxxxxx…"
