use super::*;

#[test]
fn absent_null_and_wrongly_typed_fields_are_all_absent() {
    let object = Object::parse(r#"{"a":null,"b":3,"c":"","d":"x","d":"y"}"#).unwrap();
    assert_eq!(object.text("a"), None);
    assert_eq!(object.text("b"), None);
    assert_eq!(object.text("c"), None);
    assert_eq!(object.text("missing"), None);
    assert_eq!(object.text("d").as_deref(), Some("y"));
    assert_eq!(object.id(&["a", "b"]).as_deref(), Some("3"));
}

#[test]
fn paths_find_either_spelling_of_a_key() {
    let object = Object::parse(r#"{"toolInput":{"filePath":"f","file_path":"exact"},"tool_name":null}"#).unwrap();
    let text = |path| object.at(path).and_then(Json::text).map(Cow::into_owned);
    assert_eq!(text("tool_input.file_path").as_deref(), Some("exact"));
    assert_eq!(text("tool-input.filepath").as_deref(), Some("exact"));
    assert_eq!(text("tool_name"), None);
    assert_eq!(text("tool_input.file_path.further"), None);
    assert_eq!(text("tool_input."), None);
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    let object = Object::parse(r#"{"p":"x\ud83dy"}"#).unwrap();
    assert_eq!(object.text("p").as_deref(), Some("x\u{fffd}y"));
}

#[test]
fn depth_is_no_obstacle_and_the_text_stays_as_it_came() {
    let deep = format!(
        "{{\"a\":{}1.50{},\"z\":\"end\"}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let object = Object::parse(&deep).unwrap();
    assert_eq!(object.text("z").as_deref(), Some("end"));
    assert!(object.get("a").unwrap().raw().contains("1.50"));
    let mixed = format!("{}1{}", "[{\"a\":[".repeat(150), "]}]".repeat(150));
    assert!(is_complete(&mixed));
    assert!(!is_complete(&mixed.replacen("]}]", "]]]", 1)));
    assert!(!is_complete(&mixed[..mixed.len() - 1]));
}

#[test]
fn comments_and_last_commas_become_white_space() {
    let text = "\u{feff}{ // one, \n \"a\": [1, /* two */ 2, ], /* , */ \"b\": \"// \\\" , ]\", \"\u{e4}\": 1, \n}";
    let plain = without_comments(text);
    let object = Object::parse(&plain).unwrap();
    assert_eq!(object.items("a").len(), 2);
    assert_eq!(object.text("b").as_deref(), Some("// \" , ]"));
    assert_eq!(object.count("\u{e4}"), 1);
    assert_eq!(without_comments("{\"a\": \"open"), "{\"a\": \"open");
    assert_eq!(without_comments("/* open"), " ");
}

#[test]
fn a_second_value_behind_the_first_is_an_error() {
    assert!(Object::parse("{} {}").is_err());
    assert!(Object::parse("{\"a\":1").is_err());
}

#[test]
fn control_characters_in_strings_are_escaped_and_nothing_else_changes() {
    let clean = "{\n\t\"a\": \"b\\n\\\"c\"\n}";
    assert!(matches!(with_escaped_controls(clean), Cow::Borrowed(text) if text == clean));
    let raw = "{\r\n\"a\":\"x\ty\\\\\nz\\\u{7}\"}";
    let repaired = with_escaped_controls(raw);
    assert_eq!(repaired, "{\r\n\"a\":\"x\\u0009y\\\\\\u000az\\u0007\"}");
    let object = Object::parse(&repaired).unwrap();
    assert_eq!(object.text("a").as_deref(), Some("x\ty\\\nz\u{7}"));
}

#[test]
fn counts_are_read_from_numbers_and_digits_only() {
    let json = |text| Json::parse(text).unwrap().count();
    assert_eq!(json("12"), Some(12));
    assert_eq!(json("12.9"), Some(12));
    assert_eq!(json("\"7\""), Some(7));
    assert_eq!(json("-1"), None);
    assert_eq!(json("\"x\""), None);
    assert_eq!(json("1.25e2"), Some(125));
    assert_eq!(json("12e-1"), Some(1));
    assert_eq!(json("5e-9999"), Some(0));
    assert_eq!(json("1e99"), Some(u64::MAX));
    assert_eq!(json("18446744073709551616"), Some(u64::MAX));
    assert_eq!(json("\"1.\""), Some(1));
    assert_eq!(json("\"inf\""), None);
    assert_eq!(json("{}"), None);
}

#[test]
fn quoting_is_undone_by_reading() {
    let text: String = (0..0x300)
        .filter_map(char::from_u32)
        .chain("\u{1f600}\u{2028}".chars())
        .collect();
    assert_eq!(quoted("a\"\\\n\u{1}"), r#""a\"\\\n\u0001""#);
    assert_eq!(serde_json::from_str::<String>(&quoted(&text)).unwrap(), text);
    assert_eq!(Json::parse(&quoted(&text)).unwrap().text().unwrap(), text);
}

/// Whether serde_json reads the text, and what it reads. Lone surrogates it can only pass over.
fn reference(text: &str) -> Option<serde_json::Value> {
    serde_json::from_str(text).ok()
}

/// The same by our means.
fn value(json: Json<'_>) -> serde_json::Value {
    match json.raw().as_bytes()[0] {
        b'{' => json
            .object()
            .unwrap()
            .fields()
            .map(|(key, field)| (key.to_owned(), value(field)))
            .collect(),
        b'[' => json.items().into_iter().map(value).collect(),
        b'"' => json.text().unwrap().into(),
        _ => reference(json.raw()).unwrap(),
    }
}

#[test]
fn the_same_texts_are_json_as_for_serde_json() {
    const SEEDS: &[&str] = &[
        r#"{"a":[1,-2.50e+3,0,true,false,null,"x\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00"],"b":{"":{}},"c":[[],{}] }"#,
        r#" [ {"k" : "v"} , [ "a","b" ] , 1e9 , "" ] "#,
        r#""just text""#,
        "-0.0",
    ];
    const PIECES: &[&str] = &[
        "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", "+", "t", "null", " ", "\n", "\u{1}",
        "u", "ä", "\\u12",
    ];
    // A linear congruential generator: the same changes in every run.
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut good = 0;
    for _ in 0..60_000 {
        let mut text = SEEDS[random(SEEDS.len())].to_owned();
        for _ in 0..random(3) {
            let (mut from, mut to) = (random(text.len() + 1), random(4));
            while !text.is_char_boundary(from) {
                from -= 1;
            }
            to = (from + to).min(text.len());
            while !text.is_char_boundary(to) {
                to += 1;
            }
            text.replace_range(from..to, PIECES[random(PIECES.len())]);
        }
        let ours = Json::parse(&text);
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{text}");
        if let (Ok(ours), Some(theirs)) = (ours, reference(&text)) {
            assert_eq!(value(ours), theirs, "{text}");
            good += 1;
        }
    }
    assert!(good > 10_000, "{good}");
}
