"""The manifests, skills and agents say what their loaders read: a loader ignores a wrong key
without a word.
"""

from __future__ import annotations

import json
import os
import re

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLUGIN_KEYS = {
    "$schema",
    "name",
    "displayName",
    "version",
    "description",
    "author",
    "homepage",
    "repository",
    "license",
    "keywords",
    "mcpServers",
    "network",
    "userConfig",
    "skills",
    "agents",
    "commands",
    "dependencies",
    "experimental",
}
SKILL_KEYS = {
    "name",
    "description",
    "allowed-tools",
    "argument-hint",
    "user-invocable",
    "disable-model-invocation",
    "context",
    "agent",
    "model",
    "license",
}
AGENT_KEYS = {"name", "description", "tools", "model", "color", "skills", "disallowedTools"}


def read_json(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as handle:
        return json.load(handle)


def front_matter(path):
    """Key -> text of a Markdown file's front matter, folded lines joined; raises AssertionError
    when there is none.
    """
    with open(path, encoding="utf-8") as handle:
        found = re.match(r"---\n(.*?\n)---\n", handle.read(), re.S)
    assert found, f"{path}: no front matter"
    fields, key = {}, ""
    for line in found.group(1).split("\n"):
        named = re.match(r"([A-Za-z][\w-]*):\s*(.*)$", line)
        if named:
            key = named.group(1)
            fields[key] = named.group(2).strip().strip("\"'")
        elif line.strip() and key:
            fields[key] += " " + line.strip()
    return fields


def below(folder, name):
    return sorted(
        os.path.join(where, file)
        for where, _, files in os.walk(os.path.join(ROOT, folder))
        for file in files
        if re.fullmatch(name, file)
    )


SKILLS = below("skills", r"SKILL\.md")
AGENTS = below("agents", r".*\.md")


def short(path):
    return os.path.relpath(path, ROOT)


def test_plugin_json():
    manifest = read_json(".claude-plugin", "plugin.json")
    assert manifest["name"] == "context-kernel"
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert not set(manifest) - PLUGIN_KEYS, "the loader ignores unknown keys"
    assert len(manifest["description"]) <= 200
    assert manifest["license"] == "MIT"
    assert manifest["author"]["name"]
    assert "hooks" not in manifest, "hooks/hooks.json is found by itself; naming it loads it twice"
    assert list(manifest["mcpServers"]) == ["kernel"]
    server = manifest["mcpServers"]["kernel"]
    assert any("${CLAUDE_PLUGIN_ROOT}/mcp/server.py" in part for part in server["args"])
    assert "-I" in server["args"]
    assert "-S" in server["args"]


def test_marketplace_json():
    market = read_json(".claude-plugin", "marketplace.json")
    assert market["name"] == "context-kernel-marketplace"
    assert market["owner"]["name"]
    [entry] = market["plugins"]
    assert (entry["name"], entry["source"]) == ("context-kernel", "./")
    components = {"mcpServers", "hooks", "skills", "agents", "commands"} & set(entry)
    assert not components, f"components in both manifests do not load: {components}"


def test_one_version_everywhere():
    versions = {read_json(".claude-plugin", "plugin.json")["version"]}
    versions |= {
        entry["version"]
        for entry in read_json(".claude-plugin", "marketplace.json")["plugins"]
        if "version" in entry
    }
    with open(
        os.path.join(ROOT, "hooks", "contextkernel", "__init__.py"), encoding="utf-8"
    ) as handle:
        versions |= set(re.findall(r'VERSION = "([^"]+)"', handle.read()))
    assert len(versions) == 1, versions


@pytest.mark.parametrize("path", SKILLS, ids=short)
def test_skill(path):
    fields = front_matter(path)
    assert fields.get("name") == os.path.basename(os.path.dirname(path))
    assert "tools" not in fields, "a skill's key is allowed-tools"
    assert not set(fields) - SKILL_KEYS, "the loader ignores unknown keys"
    assert re.search(r"\bUse (when|before|after|to|for)\b", fields["description"])
    assert len(fields["description"]) <= 1024
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    assert text.count("\n") < 200
    for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        assert os.path.exists(os.path.join(os.path.dirname(path), link)), link


@pytest.mark.parametrize("path", AGENTS, ids=short)
def test_agent(path):
    fields = front_matter(path)
    assert fields.get("name") == os.path.basename(path)[:-3]
    assert "allowed-tools" not in fields, (
        "an agent's key is tools; allowed-tools passes the validator and is ignored"
    )
    assert fields.get("tools")
    assert fields.get("description")
    assert not set(fields) - AGENT_KEYS, "the loader ignores unknown keys"
