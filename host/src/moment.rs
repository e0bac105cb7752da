//! Times as people write and read them.

use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp, civil};

use crate::error::{Error, Result};

/// Milliseconds since 1970. A time that cannot be read is long ago; what is removed by its age asks [`known`].
#[must_use]
pub fn milliseconds(time: &str) -> i64 {
    known(time).unwrap_or(0)
}

/// Milliseconds since 1970. `None`: it is no time.
#[must_use]
pub fn known(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// RFC 3339 with milliseconds, UTC.
#[must_use]
pub fn written(time: i64) -> String {
    format!("{:.3}", Timestamp::from_millisecond(time).unwrap_or_default())
}

/// Now, in milliseconds since 1970.
#[must_use]
pub fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// What a person calls a time: a day (`2026-01-31`), a time (`2026-01-31T12:00`, RFC 3339), or how long ago it is (`90m`,
/// `2h`, `3d`, `1w`). In milliseconds since 1970.
///
/// # Errors
/// It is none of these.
pub fn parse(text: &str, now: i64) -> Result<i64> {
    let text = text.trim();
    let civil = || {
        text.parse::<civil::DateTime>()
            .or_else(|_| text.parse::<civil::Date>().map(Into::into))
    };
    if let Some(ago) = duration(text) {
        return Ok(now.saturating_sub(ago));
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let local = civil().and_then(|civil| civil.to_zoned_datetime(TimeZone::system()));
    local.map(|zoned| zoned.timestamp().as_millisecond()).map_err(|_| {
        Error::usage(format!("{text} is no time"))
            .hint("a day (2026-01-31), a time (2026-01-31T12:00) or how long ago (90m, 2h, 3d, 1w)")
    })
}

/// A length of time in milliseconds: `90m`, `2h`, `3d`, `1w`, also put together.
#[must_use]
pub fn duration(text: &str) -> Option<i64> {
    let starts_with_digit = text.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    let span: Span = Some(text)
        .filter(|_| starts_with_digit)
        .and_then(|text| text.parse().ok())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    i64::try_from(length.as_millis()).ok()
}

/// A time in relation to now, short: `12s ago`, `5m ago`, `3h ago`, `2d ago`; what is older is a day.
#[must_use]
pub fn ago(time: i64, now: i64) -> String {
    let seconds = now.saturating_sub(time) / 1000;
    match seconds {
        ..0 => clock(time),
        0..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..604_800 => format!("{}d ago", seconds / 86_400),
        _ => day(time),
    }
}

/// The local day.
#[must_use]
pub fn day(time: i64) -> String {
    local(time, "%Y-%m-%d")
}

/// The local day and time.
#[must_use]
pub fn clock(time: i64) -> String {
    local(time, "%Y-%m-%d %H:%M:%S")
}

/// The local time of the day.
#[must_use]
pub fn time_of_day(time: i64) -> String {
    local(time, "%H:%M:%S")
}

/// How long something took: `12ms`, `3.4s`, `2m 05s`, `1h 02m`.
#[must_use]
pub fn took(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    match milliseconds {
        ..1000 => format!("{}ms", milliseconds.max(0)),
        1000..60_000 => format!("{seconds}.{}s", milliseconds % 1000 / 100),
        60_000..3_600_000 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

fn local(time: i64, format: &str) -> String {
    match Timestamp::from_millisecond(time) {
        Ok(time) => time.to_zoned_datetime(TimeZone::system()).strftime(format).to_string(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-02T03:04:05.678Z.
    const NOW: i64 = 1_767_323_045_678;

    #[test]
    fn times_are_read_as_people_write_them() {
        let minute = 60_000;
        assert_eq!(parse("90m", NOW).unwrap(), NOW - 90 * minute);
        assert_eq!(parse("1h30m", NOW).unwrap(), NOW - 90 * minute);
        assert_eq!(parse("2h", NOW).unwrap(), NOW - 120 * minute);
        assert_eq!(parse("3d", NOW).unwrap(), NOW - 3 * 24 * 60 * minute);
        assert_eq!(parse("1w", NOW).unwrap(), NOW - 7 * 24 * 60 * minute);
        assert_eq!(parse("2026-01-02T03:04:05.678Z", 0).unwrap(), NOW);
        assert_eq!(parse("2026-01-02T04:04:05.678+01:00", 0).unwrap(), NOW);
        let day = parse("2026-01-02", 0).unwrap();
        assert!((NOW - day).abs() < 36 * 60 * minute);
        assert_eq!(parse("2026-01-02T01:00", 0).unwrap() - day, 60 * minute);
    }

    #[test]
    fn what_is_no_time_is_said() {
        for text in ["", "x", "yesterdayish", "-2h", "12", "2026-13-01"] {
            assert!(parse(text, NOW).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        for (seconds, expected) in [
            (0, "0s ago"),
            (59, "59s ago"),
            (60, "1m ago"),
            (7200, "2h ago"),
            (86_400, "1d ago"),
        ] {
            assert_eq!(ago(NOW - seconds * 1000, NOW), expected);
        }
        assert_eq!(ago(NOW - 30 * 86_400_000, NOW).len(), "2025-12-03".len());
    }

    #[test]
    fn lengths_are_shown_in_the_unit_that_fits() {
        for (length, expected) in [
            (-5, "0ms"),
            (12, "12ms"),
            (3_460, "3.4s"),
            (125_000, "2m 05s"),
            (3_725_000, "1h 02m"),
        ] {
            assert_eq!(took(length), expected);
        }
    }
}
