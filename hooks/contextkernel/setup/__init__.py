"""The installer: one module a client, with what all of them need in context.py."""
