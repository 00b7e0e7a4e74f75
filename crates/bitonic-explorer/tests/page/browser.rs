//! Chromium without a window, driven over its debugging protocol through a pair of pipes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How a reader looks at the page.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) dark: bool,
    pub(crate) reduced_motion: bool,
}

impl Look {
    pub(crate) const DESK: Self = Self { width: 1280, height: 900, dark: false, reduced_motion: true };
    pub(crate) const PHONE: Self = Self { width: 360, height: 740, dark: true, reduced_motion: true };
    /// With everything in motion.
    pub(crate) const MOVING: Self = Self { reduced_motion: false, ..Self::DESK };
}

/// A browser with the explorer in it.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    calls: u64,
    /// What the console and the browser complained about.
    complaints: Vec<String>,
    /// Kept as long as the browser runs.
    _profile: tempfile::TempDir,
}

/// The committed page.
pub(crate) fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("explorer.html").canonicalize().unwrap()
}

impl Browser {
    /// Opens the page at an address such as `#view=tour`.
    pub(crate) fn open(look: Look, hash: &str) -> Self {
        Self::open_file(look, &page(), hash)
    }

    /// Opens any page made by `page::open_with`.
    pub(crate) fn open_file(look: Look, page: &Path, hash: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The browser reads commands from descriptor 3 and answers on 4, which the shell makes of its own input and output.
        let script = "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
        let mut process = Command::new("sh")
            .args(["-c", script, "sh", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let to = process.stdin.take().unwrap();
        let from = BufReader::new(process.stdout.take().unwrap());
        let mut browser =
            Self { process, to, from, session: None, calls: 0, complaints: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session =
            browser.call("Target.attachToTarget", attach)["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.call(domain, json!({}));
        }
        let Look { width, height, dark, reduced_motion } = look;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        browser.call("Emulation.setDeviceMetricsOverride", size);
        browser.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": width < 600 }));
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } },
            { "name": "prefers-reduced-motion", "value": if reduced_motion { "reduce" } else { "no-preference" } },
        ] });
        browser.call("Emulation.setEmulatedMedia", features);
        browser.call("Page.navigate", json!({ "url": format!("file://{}{hash}", page.display()) }));
        browser.wait_for("document.documentElement?.dataset.ready === 'yes'");
        // Nothing moves on the page any more once the first verdict stands.
        browser.wait_for("explorer.bench.verdict !== null");
        browser
    }

    /// Calls a command of the protocol.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to
            .write_all(format!("{message}\0").as_bytes())
            .expect("chromium takes commands; ./scripts/test installs it");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "chromium has ended; ./scripts/test installs it");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == json!(self.calls) {
                assert_eq!(answer.get("error"), None, "{method}");
                return answer["result"].clone();
            }
            let parameters = &answer["params"];
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => {
                    self.complaints.push(parameters["exceptionDetails"].to_string())
                }
                Some("Runtime.consoleAPICalled") => self.complaints.push(parameters["args"].to_string()),
                Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
                _ => {}
            }
        }
    }

    /// What an expression is worth in the page.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        let question = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let answer = self.call("Runtime.evaluate", question);
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].clone()
    }

    /// The same as text.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        match self.ask(expression) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// The text of an element.
    pub(crate) fn text_of(&mut self, selector: &str) -> String {
        self.text(&format!("document.querySelector({}).innerText", json!(selector)))
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let started = Instant::now();
        while self.ask(expression) != json!(true) {
            assert!(started.elapsed() < Duration::from_secs(120), "never: {expression}");
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    /// Clicks the middle of an element with the mouse.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.ask(&format!(
            "new Promise((done) => {{ const e = document.querySelector({}); e.scrollIntoView({{ block: 'center' }}); \
             requestAnimationFrame(() => requestAnimationFrame(() => {{ const b = e.getBoundingClientRect(); \
             done([b.left + b.width / 2, b.top + b.height / 2]); }})); }})",
            json!(selector)
        ));
        let place = [place[0].as_f64().unwrap(), place[1].as_f64().unwrap()];
        self.drag(place, place);
    }

    /// Presses the mouse at one place and lets it go at another, in pixels of the window.
    pub(crate) fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        let event = |kind: &str, [x, y]: [f64; 2], buttons: u32| json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event("mouseMoved", from, 0));
        self.call("Input.dispatchMouseEvent", event("mousePressed", from, 1));
        if from != to {
            let middle = [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0];
            self.call("Input.dispatchMouseEvent", event("mouseMoved", middle, 1));
            self.call("Input.dispatchMouseEvent", event("mouseMoved", to, 1));
        }
        self.call("Input.dispatchMouseEvent", event("mouseReleased", to, 0));
    }

    /// Puts a finger down at one place, moves it to another and lifts it.
    pub(crate) fn drag_finger(&mut self, from: [f64; 2], to: [f64; 2]) {
        let mut touch = |kind: &str, places: &[[f64; 2]]| {
            let points: Vec<Value> = places.iter().map(|[x, y]| json!({ "x": x, "y": y })).collect();
            self.call("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
        };
        touch("touchStart", &[from]);
        // In small steps: the browser takes the first of them for the beginning of a scroll unless the page forbids it.
        for step in 1..=10 {
            let part = f64::from(step) / 10.0;
            touch("touchMove", &[[from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part]]);
        }
        touch("touchEnd", &[]);
    }

    /// Presses keys one after the other: `ArrowLeft`, `Enter`, `z`, `Ctrl+z`.
    pub(crate) fn press(&mut self, keys: &[&str]) {
        for key in keys {
            let (control, key) = key.strip_prefix("Ctrl+").map_or((false, *key), |key| (true, key));
            let (shift, key) = key.strip_prefix("Shift+").map_or((false, key), |key| (true, key));
            let text = match key {
                "Enter" => Some("\r"),
                key if key.chars().count() == 1 && !control => Some(key),
                _ => None,
            };
            let code = match key {
                "Tab" => 9,
                "Enter" => 13,
                "Escape" => 27,
                " " => 32,
                "End" => 35,
                "Home" => 36,
                "ArrowLeft" => 37,
                "ArrowUp" => 38,
                "ArrowRight" => 39,
                "ArrowDown" => 40,
                "Delete" => 46,
                other => u32::from(other.as_bytes()[0].to_ascii_uppercase()),
            };
            let modifiers = 2 * u32::from(control) + 8 * u32::from(shift);
            let mut event = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers });
            if let Some(text) = text {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event.clone());
            event["type"] = json!("keyUp");
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types into the element that has the focus.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Ends the visit: nothing may have been said on the console.
    pub(crate) fn leave(mut self) {
        assert!(self.complaints.is_empty(), "the console has something to say: {:#?}", self.complaints);
        self.call("Browser.close", json!({}));
        self.process.wait().unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
