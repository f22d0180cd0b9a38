mod disk;
use crate::config::{self, Settings};
use super::config as other;
pub struct Store;
