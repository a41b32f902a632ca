//! Visitor behind `rdblens check`: decompresses every string and walks every packed blob.

use super::packed::{intset, listpack, ziplist, zipmap};
use super::string::{RawString, StringForm};
use super::template::TemplateNames;
use super::value_type::ValueType;
use super::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, StreamHead, Visit};
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::limits;
use crate::wording::wording;

/// Visitor that validates every part of a value and keeps the first fault.
#[derive(Debug, Default)]
pub struct Verify {
    value_type: Option<ValueType>,
    scratch: Vec<u8>,
    fault: Option<Error>,
    /// Sum of the live entries declared by the stream's nodes.
    entries: u64,
    head: StreamHead,
}

impl Verify {
    /// Returns the first fault of the value walked since the last call.
    pub fn finish(&mut self) -> Result<()> {
        if self.scratch.capacity() > limits::EXPAND_AT_ONCE {
            self.scratch = Vec::new();
        }
        let is_stream = matches!(self.value_type, Some(ValueType::Stream(_)));
        let (entries, length) = (std::mem::take(&mut self.entries), self.head.length);
        match self.fault.take() {
            Some(fault) => Err(fault),
            None if is_stream && entries != length => Err(Error::new(ErrorKind::Corrupt(wording!(
                "stream: nodes hold {entries} entries, but its length is {length}",
                "stream：节点中有 {entries} 个条目，长度却为 {length}"
            )))),
            None => Ok(()),
        }
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.fault.get_or_insert(error);
        }
    }

    fn text(&mut self, string: RawString<'_>, reading: Reading) {
        if let StringForm::Lzf { .. } = string.form {
            let result = string.decode(&mut self.scratch).map(|_| ()).within(reading);
            self.note(result);
        }
    }

    fn packed(&mut self, blob: RawString<'_>, reading: Reading, check: impl Fn(&[u8], u64) -> Result<()>) {
        let result = blob.decode(&mut self.scratch).and_then(|bytes| check(bytes, blob.offset)).within(reading);
        self.note(result);
    }
}

/// Walks a listpack and checks that its element count is a multiple of `group`.
fn check_listpack(bytes: &[u8], offset: u64, group: u64) -> Result<()> {
    let mut seen = 0u64;
    for element in listpack::Elements::new(bytes, offset)? {
        element?;
        seen += 1;
    }
    check_groups(seen, offset, group)
}

fn check_ziplist(bytes: &[u8], offset: u64, group: u64) -> Result<()> {
    let mut seen = 0u64;
    for entry in ziplist::Entries::new(bytes, offset)? {
        entry?;
        seen += 1;
    }
    check_groups(seen, offset, group)
}

fn check_groups(seen: u64, offset: u64, group: u64) -> Result<()> {
    if seen.is_multiple_of(group) {
        return Ok(());
    }
    Err(Error::corrupt(
        offset,
        wording!("element count {seen} is not a multiple of {group}", "元素数 {seen} 不是 {group} 的倍数"),
    ))
}

fn check_intset(bytes: &[u8], offset: u64) -> Result<()> {
    let mut numbers = intset::numbers(bytes, offset)?;
    let mut last = numbers.next();
    for number in numbers {
        if last >= Some(number) {
            return Err(Error::corrupt(offset, wording!("intset is not in ascending order", "intset 未按升序排列")));
        }
        last = Some(number);
    }
    Ok(())
}

fn check_zipmap(bytes: &[u8], offset: u64) -> Result<()> {
    zipmap::Pairs::new(bytes, offset)?.try_for_each(|pair| pair.map(|_| ()))
}

/// Walks all elements of a stream node and returns its declared number of live entries.
fn check_stream_node(bytes: &[u8], offset: u64) -> Result<u64> {
    let mut elements = listpack::Elements::new(bytes, offset)?;
    let live = match elements.next() {
        Some(Ok(super::packed::PackedElement::Int(live))) => u64::try_from(live).ok(),
        Some(Err(error)) => return Err(error),
        _ => None,
    };
    elements.try_for_each(|element| element.map(|_| ()))?;
    live.ok_or_else(|| {
        Error::corrupt(offset, wording!("stream node does not start with its entry count", "stream 节点开头不是条目数"))
    })
}

impl Visit for Verify {
    fn begin(&mut self, value_type: ValueType) {
        self.value_type = Some(value_type);
        self.head = StreamHead::default();
    }

    fn string(&mut self, value: RawString<'_>) {
        self.text(value, Reading::StringValue);
    }

    fn element(&mut self, element: RawString<'_>) {
        self.text(element, Reading::Element);
    }

    fn scored(&mut self, member: RawString<'_>, score: ScoreValue<'_>) {
        self.text(member, Reading::SortedSetMember);
        let not_a_number = match score {
            ScoreValue::Binary(score) => score.is_nan(),
            ScoreValue::Text(text) => text == b"nan",
        };
        if not_a_number {
            self.note(
                Err(Error::corrupt(member.offset, wording!("score is NaN", "score 为 NaN"))).within(Reading::Score),
            );
        }
    }

    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        self.text(field, Reading::HashField);
        self.text(value, Reading::HashValue);
    }

    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, _expiry: FieldExpiry) {
        self.pair(field, value);
    }

    fn blob(&mut self, blob: RawString<'_>) {
        match self.value_type {
            Some(ValueType::HashZipmap) => self.packed(blob, Reading::Zipmap, check_zipmap),
            Some(ValueType::SetIntset) => self.packed(blob, Reading::Intset, check_intset),
            Some(ValueType::ListZiplist) => {
                self.packed(blob, Reading::Ziplist, |bytes, at| check_ziplist(bytes, at, 1));
            }
            Some(ValueType::ZsetZiplist | ValueType::HashZiplist) => {
                self.packed(blob, Reading::Ziplist, |bytes, at| check_ziplist(bytes, at, 2));
            }
            Some(ValueType::HashListpackEx | ValueType::HashListpackExPreGa) => {
                self.packed(blob, Reading::Listpack, |bytes, at| check_listpack(bytes, at, 3));
            }
            Some(ValueType::SetListpack) => {
                self.packed(blob, Reading::Listpack, |bytes, at| check_listpack(bytes, at, 1));
            }
            _ => self.packed(blob, Reading::Listpack, |bytes, at| check_listpack(bytes, at, 2)),
        }
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        let check = |bytes: &[u8], offset: u64| {
            let (template, mut values) = names.unpack(bytes, offset)?;
            template.pairs(&mut values, offset, |_, _| ())
        };
        self.packed(blob, Reading::Listpack, check);
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        match node {
            ListNode::Ziplist => self.packed(blob, Reading::ListNode, |bytes, at| check_ziplist(bytes, at, 1)),
            ListNode::Listpack => self.packed(blob, Reading::ListNode, |bytes, at| check_listpack(bytes, at, 1)),
            ListNode::Plain => self.text(blob, Reading::ListNode),
        }
    }

    fn stream_node(&mut self, _master: &[u8; 16], blob: RawString<'_>) {
        let live = blob
            .decode(&mut self.scratch)
            .and_then(|bytes| check_stream_node(bytes, blob.offset))
            .within(Reading::StreamNode);
        match live {
            Ok(live) => self.entries = self.entries.saturating_add(live),
            Err(error) => self.note(Err(error)),
        }
    }

    fn stream_head(&mut self, head: StreamHead) {
        self.head = head;
    }

    fn group(&mut self, name: RawString<'_>, _last: (u64, u64), _read: Option<u64>, _pending: u64) {
        self.text(name, Reading::GroupName);
    }

    fn consumer(&mut self, name: RawString<'_>, _seen: i64, _active: Option<i64>, _pending: u64) {
        self.text(name, Reading::ConsumerName);
    }

    fn producer(&mut self, name: RawString<'_>, _ids: u64) {
        self.text(name, Reading::ProducerName);
    }

    fn idempotency(&mut self, id: RawString<'_>, _entry: (u64, u64)) {
        self.text(id, Reading::IdempotencyId);
    }

    fn module_item(&mut self, item: ModuleItem<'_>) {
        if let ModuleItem::String(string) = item {
            self.text(string, Reading::StringInModuleData);
        }
    }

    fn array_item(&mut self, _index: u64, item: ModuleItem<'_>) {
        self.module_item(item);
    }
}
