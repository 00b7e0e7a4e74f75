//! The page in a real browser: Chromium, which `scripts/test` installs. And the page against its sources.

mod browser;
mod built;
mod edit;
mod network;
mod views;
