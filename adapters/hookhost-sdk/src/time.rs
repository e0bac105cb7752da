//! Times as text: agents write them as milliseconds, as seconds or in ISO 8601.

use crate::Json;

/// Numbers below this are seconds: as milliseconds they would lie in 1973 or earlier.
const FIRST_MILLIS: u64 = 100_000_000_000;
const LAST_SECOND_OF_9999: u64 = 253_402_300_799;
const SECONDS_A_DAY: u64 = 86_400;
const DAYS_IN_400_YEARS: u64 = 146_097;

/// RFC 3339 with milliseconds, UTC. `None` for a time behind the year 9999.
#[must_use]
// Every signature in a component is one more that each hook makes known to the engine; no other function has this one.
#[inline(always)]
pub fn from_millis(millis: u64) -> Option<String> {
    let seconds = millis / 1000;
    if seconds > LAST_SECOND_OF_9999 {
        return None;
    }
    let (year, month, day) = civil(seconds / SECONDS_A_DAY);
    let of_day = seconds % SECONDS_A_DAY;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let fraction = millis % 1000;
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"
    ))
}

/// The time in a field, whichever way it is written: a number (or its digits as a text) of milliseconds or seconds, or
/// a text that begins with a date and a time of day, which stays as it is.
#[must_use]
pub fn of(value: Json<'_>) -> Option<String> {
    if let Some(number) = value.count().filter(|number| *number > 0) {
        let millis = if number < FIRST_MILLIS { number * 1000 } else { number };
        return from_millis(millis);
    }
    let text = value.text()?;
    begins_with_date_and_time(&text).then(|| text.into_owned())
}

/// The milliseconds since 1970 of a time in RFC 3339, without an offset taken as UTC. `None` for any other text and
/// for times before 1970.
#[must_use]
pub fn millis(text: &str) -> Option<u64> {
    if !begins_with_date_and_time(text) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    let mut rest = text.get(16..)?;
    let mut second = 0;
    let mut fraction = 0;
    if let Some(after) = rest.strip_prefix(':') {
        second = after.get(..2)?.parse().ok()?;
        rest = after.get(2..)?;
        if let Some(after) = rest.strip_prefix(['.', ',']) {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, behind) = after.split_at(digits);
            fraction = format!("{digits:0<3}").get(..3)?.parse().ok()?;
            rest = behind;
        }
    }
    let of_day = hour * 3600 + minute * 60 + second;
    let local = (days(year, month, day)? * SECONDS_A_DAY + of_day) * 1000 + fraction;
    match offset_minutes(rest)? {
        ahead @ 0.. => local.checked_sub(ahead.unsigned_abs() * 60_000),
        behind => local.checked_add(behind.unsigned_abs() * 60_000),
    }
}

/// The minutes that a local time is ahead of UTC.
fn offset_minutes(text: &str) -> Option<i64> {
    let sign = match text.trim_end() {
        "" | "Z" | "z" => return Some(0),
        text if text.starts_with('+') => 1,
        text if text.starts_with('-') => -1,
        _ => return None,
    };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = (digits.get(..2)?, digits.get(2..).unwrap_or_default());
    let minutes: i64 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
    Some(sign * (hours.parse::<i64>().ok()? * 60 + minutes))
}

/// Days since 1970-01-01; see [`civil`]. `None` for dates before it.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year.checked_sub(u64::from(month <= 2))?;
    let of_era = year % 400;
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    (year / 400 * DAYS_IN_400_YEARS + day_of_era).checked_sub(719_468)
}

/// `2026-08-20T09:15`, also with a space for the `T`.
fn begins_with_date_and_time(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00";
    text.len() >= SHAPE.len()
        && text.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't' | b' '),
            _ => byte == *shape,
        })
}

/// Year, month and day from days since 1970-01-01, counted in eras of 400 years that begin on the first of March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / DAYS_IN_400_YEARS;
    let of_era = shifted % DAYS_IN_400_YEARS;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_text_gives_its_milliseconds_whatever_its_offset() {
        assert_eq!(millis("2026-08-20T09:15:01.037Z"), Some(1_787_217_301_037));
        assert_eq!(millis("2026-08-20T11:15:01.0379+02:00"), Some(1_787_217_301_037));
        assert_eq!(millis("2026-08-20 04:45:01.037-0430"), Some(1_787_217_301_037));
        assert_eq!(millis("2000-02-29T00:00Z"), Some(951_782_400_000));
        assert_eq!(millis("1970-01-01T00:00:00"), Some(0));
        assert_eq!(millis("9999-12-31T23:59:59.999Z"), Some(253_402_300_799_999));
        for text in [
            "1969-12-31T23:59:59Z",
            "2026-13-01T00:00:00Z",
            "2026-08-20",
            "yesterday",
            "2026-08-20T09:15:01 CET",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }

    #[test]
    fn milliseconds_become_a_date_and_a_time() {
        let shown = |millis| from_millis(millis).unwrap();
        assert_eq!(shown(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(shown(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(shown(1_787_217_301_037), "2026-08-20T09:15:01.037Z");
        assert_eq!(shown(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
        assert_eq!(shown(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(shown(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
        assert_eq!(from_millis(253_402_300_800_000), None);
        assert_eq!(from_millis(u64::MAX), None);
    }

    #[test]
    fn every_way_of_writing_a_time_is_understood() {
        let time = |text| of(Json::parse(text).unwrap());
        assert_eq!(time("1787217301037").as_deref(), Some("2026-08-20T09:15:01.037Z"));
        assert_eq!(time("\"1787217301037\"").as_deref(), Some("2026-08-20T09:15:01.037Z"));
        assert_eq!(time("1787217301").as_deref(), Some("2026-08-20T09:15:01.000Z"));
        assert_eq!(
            time("\"2026-08-20T11:15:01+02:00\"").as_deref(),
            Some("2026-08-20T11:15:01+02:00")
        );
        assert_eq!(time("\"yesterday\""), None);
        assert_eq!(time("0"), None);
        assert_eq!(time("{}"), None);
    }
}
