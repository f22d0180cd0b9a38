mod config;
use shop_core::{store::Store, Settings};
use std::fs;

fn main() {}
