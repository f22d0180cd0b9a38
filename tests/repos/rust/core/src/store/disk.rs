use super::Store;
