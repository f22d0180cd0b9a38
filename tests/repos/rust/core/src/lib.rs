pub mod store;
mod config;
// mod never;
#[path = "odd/place.rs"]
mod placed;
pub use store::Store;
/*
mod never;
*/
