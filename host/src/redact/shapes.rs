//! Secrets that can be told by their shape: what services give out as keys and tokens.
//!
//! To add one, add a row: the text it begins with, the letters that follow, and how many there are at least. Rows with
//! the longer beginning stand first.

use super::Secret;

/// Which letters a token is made of.
#[derive(Clone, Copy)]
enum Letters {
    /// Letters and digits.
    Alnum,
    /// And `_`.
    Word,
    /// And `_` and `-`.
    Url,
    /// And `_`, `-`, `.`, `=`, `/`, `+` and `:`.
    Wide,
    /// Capitals and digits.
    Upper,
    /// Hexadecimal.
    Hex,
}

impl Letters {
    fn hold(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Wide => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'/' | b'+' | b':')
            }
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
        }
    }
}

/// Beginning, letters, least number of letters behind the beginning, kind.
type Shape = (&'static str, Letters, usize, &'static str);

const SHAPES: &[Shape] = &[
    // Source code hosts.
    ("github_pat_", Letters::Word, 22, "github-token"),
    ("ghp_", Letters::Alnum, 36, "github-token"),
    ("gho_", Letters::Alnum, 36, "github-token"),
    ("ghu_", Letters::Alnum, 36, "github-token"),
    ("ghs_", Letters::Alnum, 36, "github-token"),
    ("ghr_", Letters::Alnum, 36, "github-token"),
    ("glpat-", Letters::Wide, 20, "gitlab-token"),
    ("gldt-", Letters::Wide, 20, "gitlab-token"),
    ("glrt-", Letters::Wide, 20, "gitlab-token"),
    ("glcbt-", Letters::Wide, 20, "gitlab-token"),
    ("glptt-", Letters::Wide, 20, "gitlab-token"),
    ("glft-", Letters::Wide, 20, "gitlab-token"),
    ("glsoat-", Letters::Wide, 20, "gitlab-token"),
    ("glagent-", Letters::Wide, 20, "gitlab-token"),
    ("ATBB", Letters::Alnum, 32, "bitbucket-token"),
    ("ATATT3", Letters::Wide, 60, "atlassian-token"),
    // Models.
    ("sk-ant-", Letters::Url, 20, "anthropic-key"),
    ("sk-proj-", Letters::Url, 20, "openai-key"),
    ("sk-svcacct-", Letters::Url, 20, "openai-key"),
    ("sk-admin-", Letters::Url, 20, "openai-key"),
    ("sk-or-", Letters::Url, 20, "openrouter-key"),
    ("sk-lf-", Letters::Url, 20, "langfuse-key"),
    ("sk-", Letters::Alnum, 32, "openai-key"),
    ("hf_", Letters::Alnum, 30, "huggingface-token"),
    ("r8_", Letters::Alnum, 37, "replicate-token"),
    ("gsk_", Letters::Alnum, 40, "groq-key"),
    ("xai-", Letters::Alnum, 60, "xai-key"),
    ("pplx-", Letters::Alnum, 40, "perplexity-key"),
    ("lsv2_", Letters::Word, 32, "langsmith-key"),
    ("tvly-", Letters::Url, 20, "tavily-key"),
    ("fw_", Letters::Alnum, 24, "fireworks-key"),
    // Clouds.
    ("AKIA", Letters::Upper, 16, "aws-access-key"),
    ("ASIA", Letters::Upper, 16, "aws-access-key"),
    ("ABIA", Letters::Upper, 16, "aws-access-key"),
    ("ACCA", Letters::Upper, 16, "aws-access-key"),
    ("AIza", Letters::Url, 35, "google-api-key"),
    ("GOCSPX-", Letters::Url, 24, "google-client-secret"),
    ("ya29.", Letters::Wide, 20, "google-oauth-token"),
    ("1//0", Letters::Url, 40, "google-refresh-token"),
    ("dop_v1_", Letters::Hex, 64, "digitalocean-token"),
    ("doo_v1_", Letters::Hex, 64, "digitalocean-token"),
    ("dor_v1_", Letters::Hex, 64, "digitalocean-token"),
    ("hvs.", Letters::Url, 24, "vault-token"),
    ("hvb.", Letters::Url, 24, "vault-token"),
    ("FlyV1 ", Letters::Wide, 40, "flyio-token"),
    ("fo1_", Letters::Url, 40, "flyio-token"),
    ("nfp_", Letters::Alnum, 36, "netlify-token"),
    ("HRKU-", Letters::Url, 36, "heroku-key"),
    ("sbp_", Letters::Hex, 40, "supabase-token"),
    ("sb_secret_", Letters::Url, 20, "supabase-key"),
    ("pscale_tkn_", Letters::Wide, 32, "planetscale-token"),
    ("pscale_pw_", Letters::Wide, 32, "planetscale-password"),
    ("dapi", Letters::Hex, 32, "databricks-token"),
    ("dp.pt.", Letters::Alnum, 40, "doppler-token"),
    ("tskey-", Letters::Url, 20, "tailscale-key"),
    ("pul-", Letters::Hex, 40, "pulumi-token"),
    // Registries.
    ("npm_", Letters::Alnum, 36, "npm-token"),
    ("pypi-AgE", Letters::Url, 50, "pypi-token"),
    ("rubygems_", Letters::Hex, 48, "rubygems-key"),
    ("cio", Letters::Alnum, 32, "crates-io-token"),
    ("dckr_pat_", Letters::Url, 20, "docker-token"),
    ("dckr_oat_", Letters::Url, 20, "docker-token"),
    // Messages, payments, tools.
    ("xoxb-", Letters::Url, 20, "slack-token"),
    ("xoxp-", Letters::Url, 20, "slack-token"),
    ("xoxa-", Letters::Url, 20, "slack-token"),
    ("xoxr-", Letters::Url, 20, "slack-token"),
    ("xoxs-", Letters::Url, 20, "slack-token"),
    ("xoxe.", Letters::Wide, 20, "slack-token"),
    ("xapp-", Letters::Url, 20, "slack-token"),
    ("https://hooks.slack.com/services/", Letters::Wide, 20, "slack-webhook"),
    (
        "https://discord.com/api/webhooks/",
        Letters::Wide,
        20,
        "discord-webhook",
    ),
    ("sk_live_", Letters::Alnum, 16, "stripe-key"),
    ("sk_test_", Letters::Alnum, 16, "stripe-key"),
    ("rk_live_", Letters::Alnum, 16, "stripe-key"),
    ("rk_test_", Letters::Alnum, 16, "stripe-key"),
    ("whsec_", Letters::Wide, 24, "webhook-secret"),
    ("SG.", Letters::Wide, 40, "sendgrid-key"),
    ("shpat_", Letters::Hex, 32, "shopify-token"),
    ("shpca_", Letters::Hex, 32, "shopify-token"),
    ("shppa_", Letters::Hex, 32, "shopify-token"),
    ("shpss_", Letters::Hex, 32, "shopify-token"),
    ("sq0csp-", Letters::Url, 40, "square-secret"),
    ("glsa_", Letters::Word, 40, "grafana-token"),
    ("glc_", Letters::Wide, 40, "grafana-token"),
    ("NRAK-", Letters::Upper, 27, "newrelic-key"),
    ("sntrys_", Letters::Wide, 40, "sentry-token"),
    ("sntryu_", Letters::Hex, 64, "sentry-token"),
    ("PMAK-", Letters::Url, 50, "postman-key"),
    ("lin_api_", Letters::Alnum, 32, "linear-key"),
    ("ntn_", Letters::Alnum, 40, "notion-token"),
    ("secret_", Letters::Alnum, 43, "notion-token"),
    ("figd_", Letters::Url, 40, "figma-token"),
    ("sl.u.", Letters::Url, 60, "dropbox-token"),
    ("AGE-SECRET-KEY-1", Letters::Upper, 50, "age-key"),
];

/// The secrets in a text that can be told by their shape, in order.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut secrets = vec![];
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let found = match byte {
            b'-' => private_key(text, at),
            b':' => password_in_url(bytes, at),
            _ if !is_boundary(bytes, at) => None,
            b'e' => json_web_token(bytes, at).or_else(|| token(bytes, at)),
            b'0'..=b'9' => bot_token(bytes, at).or_else(|| token(bytes, at)),
            _ => token(bytes, at),
        };
        match found {
            Some(secret) => {
                at = secret.end.max(at + 1);
                secrets.push(secret);
            }
            None => at += 1,
        }
    }
    secrets
}

/// Tokens begin where a word does.
fn is_boundary(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

fn token(bytes: &[u8], start: usize) -> Option<Secret> {
    let rest = bytes.get(start..)?;
    SHAPES.iter().find_map(|(beginning, letters, least, kind)| {
        let tail = rest.strip_prefix(beginning.as_bytes())?;
        let count = run(tail, |byte| letters.hold(byte));
        (count >= *least).then_some(Secret {
            start,
            end: start + beginning.len() + count,
            kind,
        })
    })
}

fn run(bytes: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !holds(byte)).unwrap_or(bytes.len())
}

/// More than the header of a JSON web token has.
const JWT_HEADER: usize = 4096;

/// `eyJ….eyJ….…`
fn json_web_token(bytes: &[u8], start: usize) -> Option<Secret> {
    let mut end = start;
    for part in 0..3 {
        if part > 0 {
            (bytes.get(end) == Some(&b'.')).then_some(())?;
            end += 1;
        }
        let rest = bytes.get(end..)?;
        (part == 2 || rest.starts_with(b"eyJ")).then_some(())?;
        // A header is short; looking further at every place where one could begin would take long.
        let rest = if part == 0 {
            rest.get(..JWT_HEADER).unwrap_or(rest)
        } else {
            rest
        };
        let count = run(rest, |byte| Letters::Url.hold(byte));
        (count >= 10).then_some(())?;
        end += count;
    }
    Some(Secret {
        start,
        end,
        kind: "jwt",
    })
}

/// A Telegram bot's: `123456789:AA…`
fn bot_token(bytes: &[u8], start: usize) -> Option<Secret> {
    let rest = bytes.get(start..)?;
    let digits = run(rest, |byte| byte.is_ascii_digit());
    (8..=10).contains(&digits).then_some(())?;
    let tail = rest.get(digits..)?.strip_prefix(b":AA")?;
    let count = run(tail, |byte| Letters::Url.hold(byte));
    (count >= 30).then_some(Secret {
        start,
        end: start + digits + 3 + count,
        kind: "telegram-token",
    })
}

/// From `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of a text in which it is cut off.
fn private_key(text: &str, start: usize) -> Option<Secret> {
    let rest = text.get(start..)?.strip_prefix("-----BEGIN ")?;
    let (label, _) = rest.split_once("-----")?;
    let is_key = label.len() < 40 && label.contains("PRIVATE KEY");
    is_key.then_some(())?;
    let end_mark = format!("-----END {label}-----");
    let end = match rest.find(&end_mark) {
        Some(at) => text.len() - rest.len() + at + end_mark.len(),
        None => text.len(),
    };
    Some(Secret {
        start,
        end,
        kind: "private-key",
    })
}

/// The password of `scheme://user:password@host`; `at` is where `://` begins.
fn password_in_url(bytes: &[u8], at: usize) -> Option<Secret> {
    let rest = bytes.get(at..)?.strip_prefix(b"://")?;
    let authority = rest.get(
        ..run(rest, |byte| {
            !matches!(
                byte,
                b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b' ' | b'\n' | b'\r' | b'\t'
            )
        }),
    )?;
    let sign = authority.iter().rposition(|&byte| byte == b'@')?;
    let colon = authority.get(..sign)?.iter().position(|&byte| byte == b':')?;
    let password = authority.get(colon + 1..sign)?;
    // Placeholders and variables are none.
    let is_real = !password.is_empty() && !matches!(password.first(), Some(b'$' | b'{' | b'<' | b'*' | b'['));
    is_real.then_some(Secret {
        start: at + 3 + colon + 1,
        end: at + 3 + sign,
        kind: "url-password",
    })
}
