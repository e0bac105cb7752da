//! A line of the transcript, read in one pass. Fields that are missing, null or of another type are absent.

use std::borrow::Cow;

use hookhost_sdk::Json;
use hookhost_sdk::json::{Broken, Cursor};

type Text<'a> = Option<Cow<'a, str>>;

#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    pub(super) kind: Text<'a>,
    pub(super) subtype: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) parent_id: Text<'a>,
    pub(super) time: Text<'a>,
    pub(super) session_id: Text<'a>,
    pub(super) version: Text<'a>,
    pub(super) cwd: Text<'a>,
    /// Set on lines of a subagent, besides `is_sidechain`.
    pub(super) agent_id: Text<'a>,
    pub(super) is_sidechain: bool,
    /// Written by Claude Code under the user's name.
    pub(super) is_meta: bool,
    pub(super) is_compact_summary: bool,
    pub(super) is_api_error: bool,
    /// The session that the line was copied from.
    pub(super) forked_from: Text<'a>,
    /// Who the user is: `human`, a task, another session.
    pub(super) origin: Text<'a>,
    pub(super) title: Title<'a>,
    /// What made the context be compressed.
    pub(super) trigger: Text<'a>,
    pub(super) message: Message<'a>,
    pub(super) result: Outcome<'a>,
    pub(super) queued: Queued<'a>,
}

/// The session's title, by who gave it.
#[derive(Debug, Default)]
pub(super) enum Title<'a> {
    #[default]
    None,
    Summary(Cow<'a, str>),
    Agent(Cow<'a, str>),
    User(Cow<'a, str>),
}

#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) id: Text<'a>,
    pub(super) model: Text<'a>,
    pub(super) stop_reason: Text<'a>,
    pub(super) content: Content<'a>,
    pub(super) usage: Option<Usage>,
}

/// A message's content: one text, or blocks.
#[derive(Debug, Default)]
pub(super) struct Content<'a> {
    pub(super) text: Option<Json<'a>>,
    pub(super) blocks: Vec<Block<'a>>,
}

#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) kind: Text<'a>,
    /// The text, also of a thought.
    pub(super) text: Option<Json<'a>>,
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) input: Option<Json<'a>>,
    pub(super) tool_use_id: Text<'a>,
    pub(super) content: Option<Json<'a>>,
    pub(super) is_error: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) cache_creation: u64,
    pub(super) cache_read: u64,
    pub(super) output: u64,
}

/// `toolUseResult`: what the tool itself gave back.
#[derive(Debug, Default)]
pub(super) struct Outcome<'a> {
    pub(super) is_there: bool,
    /// It is a text, which it is when the tool failed or was refused.
    pub(super) text: Option<Json<'a>>,
    /// `create` or `update`.
    pub(super) kind: Text<'a>,
    pub(super) file_path: Text<'a>,
    pub(super) agent_id: Text<'a>,
}

/// What was typed while the agent worked. No line of kind `user` tells of it.
#[derive(Debug, Default)]
pub(super) struct Queued<'a> {
    pub(super) kind: Text<'a>,
    pub(super) mode: Text<'a>,
    pub(super) origin: Text<'a>,
    pub(super) is_meta: bool,
    pub(super) prompt: Content<'a>,
}

impl<'a> Record<'a> {
    pub(super) fn read(line: &'a str) -> Result<Self, String> {
        let mut cursor = Cursor::new(line);
        let is_object = cursor.peek() == Some(b'{');
        let mut record = Self::default();
        cursor.object(|key, cursor| record.field(&key, cursor))?;
        cursor.end()?;
        if is_object {
            Ok(record)
        } else {
            Err("not an object".to_owned())
        }
    }

    fn field(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Result<(), Broken> {
        match key {
            "type" => self.kind = cursor.text()?,
            "message" => self.message = Message::read(cursor)?,
            "toolUseResult" => self.result = Outcome::read(cursor)?,
            "uuid" => self.id = cursor.text()?,
            "parentUuid" => self.parent_id = cursor.text()?,
            "timestamp" => self.time = cursor.text()?,
            "sessionId" => self.session_id = cursor.text()?,
            "version" => self.version = cursor.text()?,
            "cwd" => self.cwd = cursor.text()?,
            "agentId" => self.agent_id = cursor.text()?,
            "isSidechain" => self.is_sidechain = cursor.flag()?,
            "isMeta" => self.is_meta = cursor.flag()?,
            "isCompactSummary" => self.is_compact_summary = cursor.flag()?,
            "isApiErrorMessage" => self.is_api_error = cursor.flag()?,
            "subtype" => self.subtype = cursor.text()?,
            "attachment" => self.queued = Queued::read(cursor)?,
            "summary" => self.title = cursor.text()?.map_or(Title::None, Title::Summary),
            "aiTitle" => self.title = cursor.text()?.map_or(Title::None, Title::Agent),
            "customTitle" => self.title = cursor.text()?.map_or(Title::None, Title::User),
            "forkedFrom" => self.forked_from = inner_text(cursor, "sessionId")?,
            "origin" => self.origin = inner_text(cursor, "kind")?,
            "compactMetadata" => self.trigger = inner_text(cursor, "trigger")?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }
}

impl<'a> Message<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut message = Self::default();
        cursor.object(|key, cursor| {
            match &*key {
                "id" => message.id = cursor.text()?,
                "model" => message.model = cursor.text()?,
                "stop_reason" => message.stop_reason = cursor.text()?,
                "content" => message.content = Content::read(cursor)?,
                "usage" => message.usage = Usage::read(cursor)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl<'a> Content<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut content = Self::default();
        if cursor.peek() == Some(b'"') {
            content.text = Some(cursor.value()?);
            return Ok(content);
        }
        cursor.list(|cursor| {
            content.blocks.push(Block::read(cursor)?);
            Ok(())
        })?;
        Ok(content)
    }

    pub(super) fn has_tool_results(&self) -> bool {
        self.blocks.iter().any(|block| block.is("tool_result"))
    }

    /// The texts, one after the other.
    pub(super) fn texts(&self) -> impl Iterator<Item = Cow<'a, str>> {
        let blocks = self.blocks.iter().filter(|block| block.is("text"));
        self.text
            .into_iter()
            .chain(blocks.filter_map(|block| block.text))
            .filter_map(Json::text)
    }

    pub(super) fn pictures(&self) -> usize {
        self.blocks.iter().filter(|block| block.is("image")).count()
    }
}

impl<'a> Block<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut block = Self::default();
        cursor.object(|key, cursor| {
            match &*key {
                "type" => block.kind = cursor.text()?,
                "text" | "thinking" => block.text = Some(cursor.value()?),
                "id" => block.id = cursor.text()?,
                "name" => block.name = cursor.text()?,
                "input" => block.input = Some(cursor.value()?),
                "tool_use_id" => block.tool_use_id = cursor.text()?,
                "content" => block.content = Some(cursor.value()?),
                "is_error" => block.is_error = cursor.flag()?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(block)
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }
}

impl Usage {
    fn read(cursor: &mut Cursor<'_>) -> Result<Option<Self>, Broken> {
        if cursor.peek() != Some(b'{') {
            cursor.skip()?;
            return Ok(None);
        }
        let mut usage = Self::default();
        let mut by_lifetime = 0_u64;
        cursor.object(|key, cursor| {
            let count = |cursor: &mut Cursor<'_>| Ok(cursor.count()?.unwrap_or_default());
            match &*key {
                "input_tokens" => usage.input = count(cursor)?,
                "cache_creation_input_tokens" => usage.cache_creation = count(cursor)?,
                "cache_read_input_tokens" => usage.cache_read = count(cursor)?,
                "output_tokens" => usage.output = count(cursor)?,
                "cache_creation" => cursor.object(|key, cursor| {
                    if matches!(&*key, "ephemeral_5m_input_tokens" | "ephemeral_1h_input_tokens") {
                        by_lifetime = by_lifetime.saturating_add(count(cursor)?);
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        // The same tokens in parts; before 2.1.152 the sum can be 0 while the parts are not.
        if usage.cache_creation == 0 {
            usage.cache_creation = by_lifetime;
        }
        Ok(Some(usage))
    }
}

impl<'a> Outcome<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut outcome = Self::default();
        match cursor.peek() {
            Some(b'"') => outcome.text = Some(cursor.value()?),
            Some(b'{') => cursor.object(|key, cursor| {
                match &*key {
                    "type" => outcome.kind = cursor.text()?,
                    "filePath" => outcome.file_path = cursor.text()?,
                    "agentId" => outcome.agent_id = cursor.text()?,
                    _ => {}
                }
                Ok(())
            })?,
            _ => {
                outcome.is_there = !cursor.value()?.is_null();
                return Ok(outcome);
            }
        }
        outcome.is_there = true;
        Ok(outcome)
    }
}

impl<'a> Queued<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut queued = Self::default();
        cursor.object(|key, cursor| {
            match &*key {
                "type" => queued.kind = cursor.text()?,
                "commandMode" => queued.mode = cursor.text()?,
                "origin" => queued.origin = inner_text(cursor, "kind")?,
                "isMeta" => queued.is_meta = cursor.flag()?,
                "prompt" => queued.prompt = Content::read(cursor)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(queued)
    }
}

/// The text of one field of an object.
fn inner_text<'a>(cursor: &mut Cursor<'a>, wanted: &str) -> Result<Text<'a>, Broken> {
    let mut found = None;
    cursor.object(|key, cursor| {
        if key == wanted {
            found = cursor.text()?;
        }
        Ok(())
    })?;
    Ok(found)
}
