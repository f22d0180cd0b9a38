"""One module a language: `definitions`, `imports`, `targets`.  The table of rows is in project/languages.py."""
