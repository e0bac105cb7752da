//! Numbers for people.

/// `950`, `12.3k`, `4.5M`.
#[must_use]
pub fn short(number: u64) -> String {
    let (divisor, unit) = match number {
        ..1000 => return number.to_string(),
        1000..1_000_000 => (1000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    let whole = number / divisor;
    let tenth = number % divisor * 10 / divisor;
    format!("{whole}.{tenth}{unit}")
}

/// `950 B`, `12.3 KiB`, `4.5 MiB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    let (shift, unit) = match number {
        ..0x400 => return format!("{number} B"),
        0x400..0x10_0000 => (10, "KiB"),
        0x10_0000..0x4000_0000 => (20, "MiB"),
        _ => (30, "GiB"),
    };
    let whole = number >> shift;
    let tenth = ((number - (whole << shift)) * 10) >> shift;
    format!("{whole}.{tenth} {unit}")
}

/// A number of bytes as people write it: `500`, `10k`, `20M`, `1G`, also `20MiB`; a thousand is 1024.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    let shift = match unit.trim().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// `1 file`, `2 files`.
#[must_use]
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (12_345, "12.3k"),
            (4_560_000, "4.5M"),
            (7_000_000_000, "7.0G"),
        ] {
            assert_eq!(short(number), expected);
        }
    }

    #[test]
    fn sizes_are_written_and_read() {
        for (number, expected) in [
            (1023, "1023 B"),
            (1536, "1.5 KiB"),
            (20 << 20, "20.0 MiB"),
            (3 << 30, "3.0 GiB"),
        ] {
            assert_eq!(bytes(number), expected);
        }
        for (text, expected) in [
            ("500", 500),
            ("10k", 10 << 10),
            ("20M", 20 << 20),
            ("20 MiB", 20 << 20),
            ("1gb", 1 << 30),
        ] {
            assert_eq!(parse_bytes(text), Some(expected), "{text}");
        }
        for text in ["", "M", "-1", "1x", "99999999999999T"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
    }
}
