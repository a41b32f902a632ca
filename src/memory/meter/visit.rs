//! The walk of a value, part by part: each goes to the meter of its type.

use super::{FieldNames, Meter, compact, string};
use crate::memory::item::MAX_INT_LEN;
use crate::rdb::kind::{Kind, ModuleName};
use crate::rdb::payload::{self, Payload, SCORE_BYTES};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::template::{HashTemplate, TemplateNames};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, StreamHead, Visit};

impl Visit for Meter<'_> {
    #[inline(always)]
    fn begin(&mut self, value_type: ValueType) {
        self.value_type = value_type;
        if value_type == ValueType::String {
            return; // fast path: strings keep no state
        }
        self.payload = Payload::default();
        if self.lengths.is_counting() {
            self.lengths.forget(); // the last value was damaged
        }
        match value_type.kind() {
            Kind::String => {}
            Kind::List => self.list.begin(),
            Kind::Set => self.set.begin(self.model),
            Kind::Zset => self.zset.begin(self.model),
            Kind::Hash => {
                self.field_names = self.field_names_of(value_type);
                if self.field_names != FieldNames::Shared {
                    self.hash.begin(self.model, value_type);
                }
                if self.field_names != FieldNames::Own {
                    self.compact.begin(compact::StoredForm::of(value_type));
                }
            }
            Kind::Stream => self.stream.begin(),
            Kind::Module => {
                let cron = value_type == ValueType::KeydbCron;
                self.module.begin(cron.then_some(ModuleName::KEYDB_CRON));
            }
            Kind::Array => self.array.begin(),
        }
    }

    #[inline(always)]
    fn string(&mut self, value: RawString<'_>) {
        match value.form {
            StringForm::Plain(text) if text.len() as u64 > MAX_INT_LEN => {
                let (model, len) = (self.model, text.len() as u64);
                let priced = model.short_text(self.key, len).unwrap_or_else(|| string::text(model, self.key, len));
                self.measured = priced.measured(string::look_at(text));
                self.priced = true;
            }
            _ => self.other_string(value),
        }
    }
    #[inline]
    fn count(&mut self, count: u64) {
        self.expect(count);
        self.announce(count);
    }

    #[inline]
    fn lengths_suffice(&self) -> bool {
        match self.value_type {
            ValueType::Set => self.set.is_table(),
            ValueType::Zset | ValueType::Zset2 => self.zset.is_table(self.model),
            ValueType::Hash => self.hash.is_table() && self.field_names == FieldNames::Own,
            _ => false,
        }
    }

    #[inline(always)]
    fn element_len(&mut self, len: u64) {
        self.add_member(len, &mut []);
    }

    #[inline(always)]
    fn pair_len(&mut self, field: u64, value: u64) {
        self.add_pair(field, value, &mut []);
    }

    #[inline(always)]
    fn scored_len(&mut self, member: u64) {
        self.add_scored(member, &mut []);
    }

    #[inline]
    fn element(&mut self, element: RawString<'_>) {
        self.count_element(element.len());
        let result = match self.value_type {
            ValueType::Set | ValueType::DragonflySet => self.set.member(self.model, element, &mut self.scratch),
            _ => self.list.element(self.model, element, &mut self.scratch),
        };
        self.keep(result);
    }

    #[inline]
    fn scored(&mut self, member: RawString<'_>, score: ScoreValue<'_>) {
        self.payload.add(member.len(), SCORE_BYTES);
        let result = self.zset.member(self.model, member, score, &mut self.scratch);
        self.keep(result);
    }

    #[inline]
    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        self.count_element(field.len().saturating_add(value.len()));
        let result = match self.field_names {
            FieldNames::Own => self.hash.pair(self.model, field, value, &mut self.scratch),
            FieldNames::Shared | FieldNames::SharedIfConverted => self.compact_pair(field, value),
        };
        self.keep(result);
    }

    #[inline]
    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {
        self.count_element(field.len().saturating_add(value.len()));
        let result = self.hash.expiring_pair(self.model, (field, value), expiry, &mut self.scratch);
        self.keep(result);
    }

    #[inline(always)]
    fn blob(&mut self, blob: RawString<'_>) {
        self.look_at_size(blob);
        let (model, scratch) = (self.model, &mut self.scratch);
        let result = match self.value_type {
            ValueType::ListZiplist => self.list.ziplist(model, blob, scratch),
            ValueType::SetIntset => self.set.intset(model, blob, scratch),
            ValueType::SetListpack => self.set.listpack(model, blob, scratch),
            ValueType::ZsetZiplist => self.zset.ziplist(model, blob, scratch),
            ValueType::ZsetListpack => self.zset.listpack(model, blob, scratch),
            ValueType::HashZipmap => self.hash.zipmap(model, blob, scratch),
            ValueType::HashZiplist => self.hash.ziplist(model, blob, scratch),
            ValueType::HashListpack if self.field_names == FieldNames::SharedIfConverted => {
                self.compact.convertible(model, blob, scratch).and_then(|()| self.hash.listpack(model, blob, scratch))
            }
            ValueType::HashListpack => self.hash.listpack(model, blob, scratch),
            ValueType::HashListpackEx | ValueType::HashListpackExPreGa => self.hash.listpack_ex(model, blob, scratch),
            // No other layout is a single blob.
            _ => Ok(()),
        };
        // The value is complete: price it here, where inlining has made its layout a constant.
        let result = if result.is_ok() { self.price() } else { result };
        self.priced = result.is_ok();
        self.keep(result);
    }

    fn template(&mut self, template: &HashTemplate) {
        self.compact.template(template.id(), template.place());
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        // An uncompressed header takes no buffer.
        if let StringForm::Plain(_) = blob.form
            && self.template_header(names, blob, &mut Scratch::default())
        {
            return;
        }
        self.look_at_size(blob);
        let most = self.scratch.most();
        let mut scratch = std::mem::replace(&mut self.scratch, Scratch::new(most));
        let result = if self.template_header(names, blob, &mut scratch) {
            Ok(())
        } else {
            self.template_values(names, blob, &mut scratch)
        };
        self.scratch = scratch;
        self.keep(result);
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        self.look_at_size(blob);
        let result = self.list.node(self.model, node, blob, &mut self.scratch);
        self.keep(result);
    }

    fn stream_node(&mut self, master: &[u8; 16], blob: RawString<'_>) {
        self.look_at_size(blob);
        self.stream.node(self.model, master, blob);
    }

    fn stream_head(&mut self, head: StreamHead) {
        self.stream.head(head);
    }

    fn group(&mut self, name: RawString<'_>, _last_id: (u64, u64), _entries_read: Option<u64>, _pending: u64) {
        let result = self.stream.group(self.model, name, &mut self.scratch);
        self.keep(result);
    }

    fn pending(&mut self, id: &[u8; 16], delivered_at: i64, _deliveries: u64) {
        self.stream.pending(self.model, id, delivered_at);
    }

    fn consumer(&mut self, name: RawString<'_>, seen_at: i64, _active_at: Option<i64>, pending: u64) {
        let idle_since = (pending > 0).then_some(seen_at);
        let result = self.stream.consumer(self.model, name, idle_since, &mut self.scratch);
        self.keep(result);
    }

    fn consumer_pending(&mut self, id: &[u8; 16]) {
        self.stream.consumer_pending(id);
    }

    fn producer(&mut self, name: RawString<'_>, _ids: u64) {
        let result = self.stream.producer(self.model, name, &mut self.scratch);
        self.keep(result);
    }

    fn idempotency(&mut self, id: RawString<'_>, _entry: (u64, u64)) {
        self.stream.idempotency(self.model, id);
    }

    fn module(&mut self, id: u64) {
        self.module.module(self.model, id);
    }

    fn module_item(&mut self, item: ModuleItem<'_>) {
        let result = self.module.item(self.model, item, &mut self.scratch, self.stream.tree());
        self.keep(result);
    }

    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {
        self.count_element(payload::array_item(item));
        self.array.add(self.model, index, item);
    }
}
