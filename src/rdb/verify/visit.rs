//! Checks of each part of a value.

use super::Verify;
use super::packed::{self, LATEST_FIELD_EXPIRY};
use super::stream::{self, StreamCheck};
use crate::error::{Error, Reading, Within};
use crate::rdb::packed::{Layout, Packing, listpack};
use crate::rdb::score::{self, ScoreText};
use crate::rdb::string::RawString;
use crate::rdb::template::{self, HashTemplate, TemplateNames};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, StreamHead, Visit};
use crate::wording::wording;

/// Longest string that servers keep within the slot of an array (`AR_SMALLSTR_MAXLEN`).
const MAX_SMALL_TEXT_LEN: u64 = 7;

impl Visit for Verify {
    fn begin(&mut self, value_type: ValueType) {
        self.value_type = Some(value_type);
        self.elements = 0;
        if self.again {
            return;
        }
        self.unique.clear();
        self.names = None;
        self.modules.stop();
        self.last_name = None;
        if let ValueType::Stream(layout) = value_type {
            self.stream.begin(layout);
        }
    }

    fn count(&mut self, count: u64) {
        if self.value_type.is_some_and(|it| !matches!(it, ValueType::ListQuicklist | ValueType::ListQuicklist2)) {
            self.elements = count;
        }
        if !self.again {
            self.unique.expect(count);
        }
    }

    fn string(&mut self, value: RawString<'_>) {
        self.text(value, Reading::StringValue);
    }

    fn element(&mut self, element: RawString<'_>) {
        match self.value_type {
            Some(ValueType::Set) => self.name(element, Reading::SetMember),
            _ => self.text(element, Reading::Element),
        }
    }

    fn scored(&mut self, member: RawString<'_>, score: ScoreValue<'_>) {
        self.name(member, Reading::SortedSetMember);
        let fault = match score {
            ScoreValue::Binary(score) if score.is_nan() => packed::not_a_number(member.offset),
            ScoreValue::Binary(_) => return,
            ScoreValue::Text(text) => match score::classify(text) {
                ScoreText::Number => return,
                ScoreText::Prefix => {
                    self.notes.odd_score = true;
                    return;
                }
                ScoreText::Nan => packed::not_a_number(member.offset),
                ScoreText::NoNumber => {
                    Error::corrupt(member.offset, wording!("score is not a number", "score 不是数字"))
                }
            },
        };
        self.note(Err(fault).within(Reading::Score));
    }

    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        if self.value_type == Some(ValueType::HashTemplateArray) {
            self.follows(field);
        }
        self.name(field, Reading::HashField);
        self.text(value, Reading::HashValue);
    }

    fn earliest_expiry(&mut self, time: i64, offset: u64) {
        // One more than the latest expiry means that no field has one.
        if !(0..=LATEST_FIELD_EXPIRY + 1).contains(&time) {
            self.note(Err(packed::impossible_expiry(time, offset)).within(Reading::EarliestFieldExpiry));
        }
    }

    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {
        self.pair(field, value);
        let FieldExpiry(Some(time)) = expiry else { return };
        let latest = if self.value_type == Some(ValueType::Hash2) { i64::MAX } else { LATEST_FIELD_EXPIRY };
        if !(0..=latest).contains(&time) {
            self.note(Err(packed::impossible_expiry(time, field.offset)).within(Reading::FieldExpiry));
        }
    }

    fn blob(&mut self, blob: RawString<'_>) {
        let Some(value_type) = self.value_type else { return };
        let packing = Packing::of(value_type);
        self.packed(blob, packing.reading(), Layout::of(value_type), packing);
    }

    fn template(&mut self, template: &HashTemplate) {
        self.elements = template.len() as u64;
        self.notes.lost_template |= template.is_lost();
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        self.check_large(blob, Reading::Listpack);
        let notes = &mut self.notes;
        let check = |bytes: &[u8]| {
            if names.are_lost(bytes) {
                notes.lost_template = true;
                return listpack::Elements::new(bytes, blob.offset)?.try_for_each(|value| value.map(|_| ()));
            }
            let (template, mut values) = names.unpack(bytes, blob.offset)?;
            if matches!(names, TemplateNames::Own(own) if !own.is_sorted()) {
                return Err(template::unsorted(blob.offset));
            }
            template.pairs(&mut values, blob.offset, |_, _| ())?;
            notes.edge_element |= values.met_edge();
            Ok(())
        };
        let result = blob.decode(&mut self.scratch).and_then(check).within(Reading::Listpack);
        self.note(result);
        self.elements = 1;
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        if blob.is_empty() {
            self.note(
                Err(Error::corrupt(blob.offset, wording!("empty list node", "list 节点为空")))
                    .within(Reading::ListNode),
            );
        }
        match node {
            ListNode::Ziplist => self.packed(blob, Reading::ListNode, Layout::List, Packing::Ziplist),
            ListNode::Listpack => self.packed(blob, Reading::ListNode, Layout::List, Packing::Listpack),
            ListNode::Plain => {
                self.elements += 1;
                self.text(blob, Reading::ListNode);
            }
        }
    }

    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {
        self.check_large(blob, Reading::StreamNode);
        if blob.is_compressed() && blob.len() > self.scratch.most() {
            self.stream.large_node(master);
        }
        let result = blob
            .decode(&mut self.scratch)
            .and_then(|bytes| self.stream.node(master, bytes, blob.offset))
            .within(Reading::StreamNode);
        self.note(result);
    }

    fn stream_head(&mut self, head: StreamHead) {
        let result = self.stream.head(head);
        self.note(result);
    }

    fn group(&mut self, name: RawString<'_>, _last: (u64, u64), read: Option<u64>, _pending: u64) {
        let result = self.stream.entries_read(read);
        self.note(result);
        self.stream_name(name, Reading::GroupName, StreamCheck::group);
    }

    fn pending(&mut self, id: &[u8; 16], _delivered: i64, _deliveries: u64) {
        if !self.lenient {
            self.stream.pending(id);
        }
    }

    fn consumer(&mut self, name: RawString<'_>, _seen: i64, _active: Option<i64>, _pending: u64) {
        self.stream_name(name, Reading::ConsumerName, StreamCheck::consumer);
    }

    fn consumer_pending(&mut self, id: &[u8; 16]) {
        if !self.lenient {
            let result = self.stream.consumer_pending(id);
            self.note(result);
        }
    }

    fn nacked(&mut self, id: &[u8; 16]) {
        if !self.lenient {
            let result = self.stream.returned(id);
            self.note(result);
        }
    }

    fn idempotency_limits(&mut self, duration: u64, ids: u64) {
        let result = stream::check_idempotency(duration, ids);
        self.note(result);
    }

    fn producer(&mut self, name: RawString<'_>, _ids: u64) {
        self.text(name, Reading::ProducerName);
    }

    fn idempotency(&mut self, id: RawString<'_>, _entry: (u64, u64)) {
        self.text(id, Reading::IdempotencyId);
    }

    fn module(&mut self, id: u64) {
        // The values of Dragonfly's own types are not those that the modules store.
        if self.value_type == Some(ValueType::Module2) && !self.lenient {
            self.modules.begin(id);
        }
    }

    #[inline]
    fn module_tag(&mut self, tag: u64, offset: u64) {
        let result = self.modules.tag(tag, offset);
        self.note(result);
    }

    #[inline]
    fn module_item(&mut self, item: ModuleItem<'_>) {
        if let ModuleItem::String(string) = item {
            self.module_text(string);
        }
        let result = self.modules.item(item);
        self.note(result);
    }

    fn small_text(&mut self, text: RawString<'_>) {
        if text.len() > MAX_SMALL_TEXT_LEN && !self.lenient {
            let error = Error::corrupt(
                text.offset,
                wording!(
                    "{} bytes marked as a small string, which has at most {MAX_SMALL_TEXT_LEN}",
                    "{} 字节被标记为短字符串，短字符串最多 {MAX_SMALL_TEXT_LEN} 字节",
                    text.len()
                ),
            );
            self.note(Err(error).within(Reading::ArrayItem));
        }
    }

    fn array_item(&mut self, _index: u64, item: ModuleItem<'_>) {
        if let ModuleItem::String(string) = item {
            self.text(string, Reading::StringInModuleData);
        }
    }
}
