"""Source code and documents printed whole: like a read of the file, never cut."""

from __future__ import annotations

import os
import re

DATA = frozenset(
    (
        ".log .csv .tsv .json .jsonl .ndjson .out .txt .lock .sum .svg .map .dat .data .diff "
        ".patch .err .trace .ndjson"
    ).split()
)
CODE = frozenset(
    ".py .pyi .pyx .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .go .rs .c .h .cc .cpp .cxx "
    ".hpp .hh .m .mm .java .kt .kts .scala .groovy .gradle .rb .erb .php "
    ".cs .fs .vb .swift .dart .lua .pl .pm .r .jl .ex .exs .erl .hs .ml .mli .clj .cljs .elm .zig "
    ".nim .v .sv .vhd .asm .s .sh .bash .zsh .fish .ps1 .bat .cmd .sql "
    ".md .mdx .rst .adoc .tex .org .toml .ini .cfg .conf .env .yml .yaml .proto .graphql .gql .tf "
    ".tfvars .hcl .nix .cmake .mk .mak .bzl .bazel .css .scss .sass .less "
    ".html .htm .xhtml .xml .xsl .astro .hbs .mustache .ejs .twig .liquid .njk .cshtml .razor "
    ".xaml .csproj .fsproj .vbproj .sln .props .targets .prisma .sol .cu .cuh .metal .glsl .vert "
    ".frag .hlsl .wgsl "
    ".thrift .capnp .avsc .rego .bicep .el .lisp .scm .rkt .gd .f .f90 .f95 .cob .pas .tcl .awk "
    ".sed .d .cr .res .mjml .edn .feature .http .rest .plist .xcconfig .pbxproj .gemspec .podspec "
    ".j2 .jinja .tmpl .tpl .ipynb .wat .service .properties .dockerfile .editorconfig "
    ".gitignore".split()
)
NAMES = frozenset(
    (
        "Makefile Dockerfile Containerfile Jenkinsfile Vagrantfile Gemfile Rakefile Procfile "
        "CMakeLists.txt README LICENSE CHANGELOG CODEOWNERS requirements.txt"
    ).split()
)
SHAPED = re.compile(
    r"^\s*(?:def |class |import |from \S+ import|function |func |fn |pub |use |package "
    r"|#include|#define|const |let |var |export |public |private |protected |static |return\b"
    r"|if \(|for \(|while \(|struct |enum |interface |type \w+ |@\w+|}|\);?$|#|//|/\*|\*)"
)


def is_code_file(path: str) -> bool:
    """Whether a path names source code, configuration or a document, by its last part."""
    name = os.path.basename(path.rstrip("/"))
    return (
        name in NAMES or os.path.splitext(name)[1].lower() in CODE or name.startswith("Dockerfile")
    )


def is_data_file(path: str) -> bool:
    """Whether a path names data: logs, tables, JSON."""
    name = os.path.basename(path)
    return name not in NAMES and (os.path.splitext(name)[1].lower() in DATA or ".log." in name)


def is_code_shaped(sample: str) -> bool:
    """Whether a sample of lines reads like source code."""
    lines = [line for line in sample.split("\n") if line.strip()]
    return len(lines) >= 12 and sum(SHAPED.match(line) is not None for line in lines) >= 0.3 * len(
        lines
    )
