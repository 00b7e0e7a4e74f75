//! Patterns in which `*` stands for any characters and `?` for one.

/// Whether a name fits a pattern, as a shell has it.
///
/// ```
/// use bitonic_lab::glob;
///
/// assert!(glob::matches("iterative_*", "iterative_scan"));
/// assert!(!glob::matches("iterative_?", "iterative_scan"));
/// ```
pub fn matches(pattern: &str, name: &str) -> bool {
    bytes_match(pattern.as_bytes(), name.as_bytes())
}

fn bytes_match(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], _) => name.is_empty(),
        // Stars in a row are one star; trying them one by one would take exponential time.
        ([b'*', b'*', ..], _) => bytes_match(&pattern[1..], name),
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| bytes_match(rest, &name[skipped..])),
        ([b'?', rest @ ..], [_, name @ ..]) => bytes_match(rest, name),
        ([first, rest @ ..], [letter, name @ ..]) => first == letter && bytes_match(rest, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches as fits;

    #[test]
    fn patterns_fit_as_a_shell_has_it() {
        assert!(fits("a*c", "abbc") && fits("a*c", "ac") && fits("*", "") && fits("a?c", "abc"));
        assert!(fits("**b**", "abc"));
        assert!(!fits("a*c", "abcd") && !fits("a?c", "ac") && !fits("", "a") && !fits("?", ""));
    }
}
