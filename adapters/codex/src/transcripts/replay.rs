//! Which records of a rollout were copied from another session.
//!
//! A fork, and a subagent that was given its parent's context, begin with a copy of the parent's records: first the
//! parent's `session_meta`, then everything else, with the time of copying as their time. The parent's file, which
//! would tell where the copy ends, is out of reach here. So the end is judged by the turns: a copied turn is older
//! than the session that it was copied into.

use hookhost_sdk::{Object, time};

use crate::sessions::UuidTime;

/// Copies are written in one go; two records of one are never further apart than this.
const BURST_MILLIS: u64 = 1000;

#[derive(Default)]
pub(super) struct Replay {
    /// The session's own id.
    id: Option<String>,
    /// When the session began, in milliseconds.
    began: Option<u64>,
    /// The time of the record before.
    last: Option<u64>,
    /// The session's header names another session that it goes on from.
    forked: bool,
    /// The header of another session stands in this one: there is a copy.
    ancestor: bool,
    /// What is read now was copied, or may have been.
    copied: bool,
    /// A turn of the session's own has begun: no copy can follow.
    own: bool,
}

impl Replay {
    /// Whether the record is a copy.
    pub(super) fn is_copy(&mut self, kind: &str, record: &Object<'_>, payload: &Object<'_>) -> bool {
        let now = record.text("timestamp").and_then(|text| time::millis(&text));
        match kind {
            "session_meta" => return self.meta(payload, now),
            "turn_context" => self.turn(payload, now),
            "event_msg" if is_turn_start(payload) => self.turn(payload, now),
            _ => {}
        }
        self.last = now.or(self.last);
        self.copied
    }

    /// Whether the session began as a copy of another.
    pub(super) fn follows_copy(&self) -> bool {
        self.ancestor || self.forked
    }

    /// The first one is the session's own, whatever follows.
    fn meta(&mut self, payload: &Object<'_>, now: Option<u64>) -> bool {
        let id = payload.id(&["id", "session_id"]);
        if self.id.is_none() {
            self.began = payload.text("timestamp").and_then(|text| time::millis(&text)).or(now);
            self.forked = payload.text("forked_from_id").is_some();
            self.copied = self.forked;
            self.id = Some(id.unwrap_or_default());
            return false;
        }
        let of_another = id.is_some() && id != self.id;
        if of_another && !self.own {
            self.ancestor = true;
            self.copied = true;
        }
        self.last = now.or(self.last);
        of_another || self.copied
    }

    /// A turn begins: an own one ends the copy.
    fn turn(&mut self, payload: &Object<'_>, now: Option<u64>) {
        let own = !self.copied || self.is_own(payload, now);
        self.own |= own;
        self.copied &= !own;
    }

    fn is_own(&self, payload: &Object<'_>, now: Option<u64>) -> bool {
        let turn = payload.text("turn_id").and_then(|id| UuidTime::of(&id));
        let session = self.id.as_deref().and_then(UuidTime::of);
        if let (Some(turn), Some(session)) = (turn, session) {
            return !turn.is_before(session);
        }
        // In a copy, too, this is when the turn really began. In seconds.
        let started = payload.get("started_at").and_then(hookhost_sdk::Json::count);
        if let (Some(started), Some(began)) = (started, self.began) {
            return started >= began / 1000;
        }
        match (now, self.last) {
            (Some(now), Some(last)) if self.ancestor => {
                let paused = now > last.saturating_add(BURST_MILLIS);
                paused && self.began.is_none_or(|began| now >= began)
            }
            _ => true,
        }
    }
}

fn is_turn_start(payload: &Object<'_>) -> bool {
    matches!(payload.text("type").as_deref(), Some("task_started" | "turn_started"))
}
