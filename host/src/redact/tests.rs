use std::path::Path;

use super::*;

fn redactor(settings: &str) -> Redactor {
    Redactor::new(&Config::read(Path::new("c"), settings).unwrap(), None).unwrap()
}

/// The text with the tags' hashes left out.
fn redacted(text: &str) -> String {
    without_hashes(&redactor("").text(text))
}

fn without_hashes(text: &str) -> String {
    let mut parts = text.split("[redacted:");
    let mut shown = parts.next().unwrap().to_owned();
    for part in parts {
        let (tag, rest) = part.split_once(']').unwrap();
        let (kind, hash) = tag.split_once(':').unwrap();
        assert_eq!(hash.len(), 8);
        shown.push_str(&format!("<{kind}>{rest}"));
    }
    shown
}

/// A token of a known shape is put together here, so that no scanner takes this file for a leak.
fn token(beginning: &str, letters: &str, count: usize) -> String {
    beginning.to_owned() + &letters.chars().cycle().take(count).collect::<String>()
}

#[test]
fn tokens_are_known_by_their_shape() {
    for (secret, kind) in [
        (token("ghp_", "aB3", 36), "github-token"),
        (token("github_pat_", "aB3_", 60), "github-token"),
        (token("sk-ant-api03-", "aB3-_", 60), "anthropic-key"),
        (token("sk-proj-", "aB3", 40), "openai-key"),
        (token("sk-", "aB3", 48), "openai-key"),
        (token("AKIA", "AB3", 16), "aws-access-key"),
        (token("AIza", "aB3-_", 35), "google-api-key"),
        (token("xoxb-", "123-", 30), "slack-token"),
        (token("sk_live_", "aB3", 24), "stripe-key"),
        (token("npm_", "aB3", 36), "npm-token"),
        (token("123456789:AA", "aB3-_", 33), "telegram-token"),
        (
            format!(
                "{}.{}.{}",
                token("eyJ", "aB3", 20),
                token("eyJ", "aB3", 40),
                token("", "aB3-_", 43)
            ),
            "jwt",
        ),
    ] {
        for (before, after) in [
            ("", ""),
            ("a ", " b"),
            ("\"", "\""),
            ("(", ")."),
            ("x=", "\n"),
            ("é", "é"),
        ] {
            assert_eq!(
                redacted(&format!("{before}{secret}{after}")),
                format!("{before}<{kind}>{after}"),
                "{secret}"
            );
        }
    }
}

#[test]
fn private_keys_go_as_a_whole_even_when_they_are_cut_off() {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----";
    assert_eq!(redacted(&format!("a\n{key}\nb")), "a\n<private-key>\nb");
    assert_eq!(redacted(&key[..50]), "<private-key>");
    let public = "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----";
    assert_eq!(redacted(public), public);
}

#[test]
fn passwords_in_urls_go_and_the_rest_of_the_url_stays() {
    assert_eq!(
        redacted("psql postgres://bob:s3c:r@t@db.example.com:5432/x?a=b@c"),
        "psql postgres://bob:<url-password>@db.example.com:5432/x?a=b@c"
    );
    for plain in [
        "https://example.com/a:b@c",
        "https://user@host/",
        "postgres://u:$PASSWORD@h",
        "see http://a and b:c@d",
    ] {
        assert_eq!(redacted(plain), plain);
    }
}

#[test]
fn what_stands_behind_the_name_of_a_secret_goes() {
    for (text, expected) in [
        ("password: hunter2", "password: <named>"),
        ("export API_KEY=abc123def", "export API_KEY=<named>"),
        ("curl --token abc123def x", "curl --token <named> x"),
        ("DB_PASSWORD='correct horse'", "DB_PASSWORD='<named> horse'"),
        (
            "{\\\"client_secret\\\": \\\"letmein\\\"}",
            "{\\\"client_secret\\\": \\\"<named>\\\"}",
        ),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer <named>"),
        ("const apiKey = \"abcdefgh\";", "const apiKey = \"<named>\";"),
    ] {
        assert_eq!(redacted(text), expected);
    }
    for plain in [
        "the token is refreshed by token = getToken2()",
        "password: string",
        "const password = request.body.password",
        "API_KEY=$API_KEY",
        "token: <your token>",
        "secret = None",
        "max_tokens: 4096000",
        "password=\"\"",
        "tokenizer: abcdef123",
    ] {
        assert_eq!(redacted(plain), plain);
    }
}

#[test]
fn random_words_go_and_names_paths_and_digests_stay() {
    assert_eq!(redacted("x Zk3vQ9bT7mXw2Lr8Yp5Ns1Hd y"), "x <random> y");
    for plain in [
        "0193f2c4-7d1e-7a30-9c1b-2f64a8d01c11",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "handleHttp2ConnectionPoolTimeoutAndRetry3Times",
        "/home/dev/project/src/components/UserProfileCard2.tsx",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "THIS_IS_A_LONG_CONSTANT_NAME_2_FOR_Tests",
    ] {
        assert_eq!(redacted(plain), plain);
    }
}

#[test]
fn equal_secrets_have_equal_tags_on_one_machine_only() {
    let secret = token("ghp_", "aB3", 36);
    let mut one = redactor("");
    let twice = one.text(&format!("{secret} {secret}")).into_owned();
    let (first, second) = twice.split_once(' ').unwrap();
    assert_eq!(first, second);
    assert_ne!(one.text(&token("ghp_", "aB4", 36)), first);
    assert_ne!(redactor("").text(&secret), first);
    assert_eq!(one.take_counts(), Counts::from([("github-token".to_owned(), 3)]));
    assert!(one.take_counts().is_empty());
}

#[test]
fn the_salt_is_kept_for_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert_eq!(salt(Some(&data)), salt(Some(&data)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(data.join(SALT)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn own_patterns_are_secrets_too() {
    let mut own = redactor("redact.patterns = ['CUST-[0-9]{4}', '']\nredact.entropy = false");
    assert_eq!(without_hashes(&own.text("for CUST-1234 x")), "for <own> x");
    let random = "Zk3vQ9bT7mXw2Lr8Yp5Ns1Hd";
    assert_eq!(own.text(random), random);
    let config = Config::read(Path::new("c"), "redact.patterns = ['(']").unwrap();
    let error = Redactor::new(&config, None).unwrap_err().to_string();
    assert!(
        error.starts_with("redact.patterns: ( is not a regular expression"),
        "{error}"
    );
}

#[test]
fn in_json_only_the_strings_with_secrets_change() {
    let mut redactor = redactor("");
    let secret = token("ghp_", "aB3", 36);
    let json = format!(
        "\u{feff} {{ \"a\" : 1.50, \"b\":[\"x\\u0041\",\"{secret}\\n\"],\"password\":\"hunter2\",\"tool_use_id\":\"Zk3vQ9bT7mXw2Lr8Yp5Ns1Hd\" }}\n"
    );
    assert_eq!(
        without_hashes(&redactor.json(&json)),
        "\u{feff} { \"a\" : 1.50, \"b\":[\"x\\u0041\",\"<github-token>\\n\"],\"password\":\"<named>\",\"tool_use_id\":\"Zk3vQ9bT7mXw2Lr8Yp5Ns1Hd\" }\n"
    );
    let plain = "{\"a\":\"b\\ud800\",\"c\":[]}";
    assert!(matches!(redactor.json(plain), Cow::Borrowed(_)));
}

#[test]
fn escapes_do_not_hide_a_secret() {
    let escaped = format!("{{\"a\":\"{}\"}}", token("\\u0067hp_", "aB3", 36));
    assert_eq!(
        without_hashes(&redactor("").json(&escaped)),
        "{\"a\":\"<github-token>\"}"
    );
}

#[test]
fn torn_json_is_redacted_as_far_as_it_goes() {
    let secret = token("ghp_", "aB3", 36);
    let torn = format!("{{\"a\":\"{secret} and");
    assert_eq!(without_hashes(&redactor("").json(&torn)), "{\"a\":\"<github-token> and");
}

#[test]
fn payloads_in_base64_are_redacted_inside() {
    let secret = token("ghp_", "aB3", 36);
    let line = format!(
        "{{\"v\":1,\"payload_base64\":\"{}\"}}",
        STANDARD.encode(format!("{{\n\"a\":\"{secret}\"}}"))
    );
    let redacted = redactor("").line(line.as_bytes());
    let value: serde_json::Value = serde_json::from_slice(&redacted).unwrap();
    let payload = STANDARD.decode(value["payload_base64"].as_str().unwrap()).unwrap();
    assert_eq!(
        without_hashes(&String::from_utf8(payload).unwrap()),
        "{\n\"a\":\"<github-token>\"}"
    );
}

#[test]
fn what_is_redacted_stays_as_it_is_when_it_is_redacted_again() {
    let mut redactor = redactor("");
    let text = format!(
        "password: hunter22 {} Zk3vQ9bT7mXw2Lr8Yp5Ns1Hd",
        token("ghp_", "aB3", 36)
    );
    let once = redactor.text(&text).into_owned();
    assert_eq!(redactor.text(&once), once);
    let json = format!("{{\"password\":\"hunter22\",\"t\":\"{text}\"}}");
    let once = redactor.json(&json).into_owned();
    assert_eq!(redactor.json(&once), once);
}
