"""Definition blocks of languages whose names are not traced."""

from __future__ import annotations

import pytest

from contextkernel.symbols.slice import symbol_slice

GO = """package main

import (
	"fmt"
)

// Store keeps { things }.
type Store struct {
	items map[string]int
}

// Get returns "}" or so.
func (s *Store) Get(name string) int {
	if name == "}" {
		return 0
	}
	return s.items[name]
}

func Get(name string) int { return len(name) }
"""
TYPESCRIPT = """import { a } from "./a";
const fs = require("fs");

export class Store<T> extends Base {
  private items: T[] = [];

  // gets
  @memo()
  get(name: string): T {
    const brace = /[}{]/;
    return this.items[`${name}}`];
  }

  put(x: T) { this.items.push(x); }
}

export const twice = (x: number) => x * 2;

export function outer(
  a: string,
): string {
  return a;
}
"""
JAVA = """package p;
import java.util.*;

@Deprecated
public class A extends B {
    private int x;

    @Override
    public String name(int a,
                       int b) throws Exception {
        return "}" + a;
    }

    abstract int g(int z);
}
"""
RUST = """use std::fmt;
use crate::{
    a,
};

pub struct Store { items: Vec<u8> }

impl Store {
    /// doc
    #[inline]
    pub fn get<'a>(&'a self, c: char) -> u8 {
        if c == '}' { return 0; }
        self.items[0]
    }
}
"""
C = """#include <stdio.h>
#define MAX(a,b) \\
   ((a) > (b) ? (a) : (b))
static int helper(int x);

/* doc } */
static int
helper(int x)
{
    if (x) { puts("}"); }
    return MAX(x, 1);
}
int main(void) { return helper(0); }
"""
RUBY = """require "set"

class Store
  def get(name)
    if name
      1
    end
  end

  def put(x)
    x
  end
end
"""


@pytest.mark.parametrize(
    "language, source, name, ranges",
    [
        ("Go", GO, "Store.Get", ((1, 5), (12, 18))),
        ("Go", GO, "Get", ((1, 5), (12, 20))),
        ("Go", GO, "Store", ((1, 10),)),
        ("JavaScript", TYPESCRIPT, "Store.get", ((1, 4), (7, 12))),
        ("JavaScript", TYPESCRIPT, "twice", ((1, 2), (17, 17))),
        ("JavaScript", TYPESCRIPT, "outer", ((1, 2), (19, 23))),
        ("Java", JAVA, "A.name", ((1, 2), (5, 5), (8, 12))),
        ("Java", JAVA, "g", ((1, 2), (5, 5), (14, 14))),
        ("Java", JAVA, "A", ((1, 15),)),
        ("Rust", RUST, "Store::get", ((1, 4), (8, 14))),
        ("C", C, "helper", ((1, 1), (6, 12))),
        ("C", C, "main", ((1, 1), (13, 13))),
        ("C", C, "MAX", ((1, 3),)),
        ("other", RUBY, "Store.put", ((1, 3), (10, 12))),
    ],
)
def test_block(language, source, name, ranges):
    found = symbol_slice(source, name, language)
    assert found.found
    assert found.ranges == ranges
    assert "not traced" in found.notes[0]


@pytest.mark.parametrize(
    "language, source",
    [
        ("Go", GO),
        ("JavaScript", TYPESCRIPT),
        ("Java", JAVA),
        ("Rust", RUST),
        ("C", C),
        ("other", RUBY),
    ],
)
@pytest.mark.parametrize("name", ["Missing", "Store.Missing", "Missing.get", ""])
def test_unknown_gives_no_lines(language, source, name):
    found = symbol_slice(source, name, language)
    assert not found.found
    assert found.ranges == ()
    assert found.notes


def test_near_matches_are_named():
    assert "Store" in symbol_slice(GO, "Stor", "Go").notes[0]


@pytest.mark.parametrize("language", ["Go", "JavaScript", "Java", "Rust", "C", "PHP", "other"])
@pytest.mark.parametrize(
    "source", ["", "\n", "{", "function f() {", "func f(", "\x00", "/* f(", "\r\n\r\n"]
)
def test_odd_sources_raise_nothing(language, source):
    symbol_slice(source, "f", language)
