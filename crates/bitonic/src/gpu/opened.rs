//! Which devices this process has opened, and what it waited for each.

use super::lock::lock;
use crate::Engine;
use std::sync::Mutex;
use std::time::Duration;

/// A device that was opened.
struct Opened {
    engine: Engine,
    name: String,
    waited: Duration,
}

static OPENED: Mutex<Vec<Opened>> = Mutex::new(Vec::new());

/// Notes that a device is open. What was waited counts the first time: then the driver was loaded and the context made.
pub(crate) fn note(engine: Engine, name: &str, waited: Duration) {
    let mut opened = lock(&OPENED);
    if !opened.iter().any(|known| known.engine == engine && known.name == name) {
        opened.push(Opened { engine, name: name.to_owned(), waited });
    }
}

/// What this process waited for a device; `None` if it is not open.
pub(crate) fn waited_for(engine: Engine, name: &str) -> Option<Duration> {
    let opened = lock(&OPENED);
    opened.iter().find(|known| known.engine == engine && known.name == name).map(|known| known.waited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_opening_counts() {
        let name = "a device of this test";
        assert_eq!(waited_for(Engine::Cuda, name), None);
        note(Engine::Cuda, name, Duration::from_millis(300));
        note(Engine::Cuda, name, Duration::from_millis(1));
        assert_eq!(waited_for(Engine::Cuda, name), Some(Duration::from_millis(300)));
        assert_eq!(waited_for(Engine::OpenCl, name), None);
    }
}
