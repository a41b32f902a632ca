//! Hash templates: field names that compact hashes share (RDB 15, Redis 8.10).
//!
//! ```text
//! 242 id n name[n]        one template, before the first key
//! 30  listpack            a hash: template id, values
//! 32  id value[n]         a hash: n is that of the template, so even skipping the value needs the table
//! 29  names listpack      a hash with names of its own: 0, values
//! 31  names value[n]      a hash with names of its own
//! ```

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::header::{Family, RdbHeader};
use super::packed::{PackedElement, listpack};
use super::string::{RawString, StringForm};
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::limits;
use crate::rdb::scratch::Scratch;
use crate::wording::wording;

/// First version of the format with templates.
const FIRST_VERSION: u32 = 15;

/// Templates of a file, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Templates {
    list: Vec<HashTemplate>,
    /// Places in `list` of ids that differ from their place; servers number templates from 0 on.
    places: BTreeMap<u64, usize>,
    /// Memory of all templates.
    bytes: usize,
    /// True if the format of the file has no templates: other programs use their type bytes for other things.
    foreign: bool,
    /// True if some templates of the file are lost.
    incomplete: bool,
}

/// Field names of a template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HashTemplate {
    id: u64,
    /// Offset of its id in the file.
    offset: u64,
    /// Position in the table of the file.
    place: usize,
    /// All names, one after another.
    names: Vec<u8>,
    /// End of each name in `names`.
    ends: Vec<usize>,
    /// True if the names are lost, and only their number is known.
    lost: bool,
}

/// Template that was read, compared with those of the table.
#[derive(Debug)]
pub enum Defined {
    /// Its id is new.
    New(HashTemplate),
    /// The table has it: this part of the file is read again.
    Before,
    /// The id was defined before with the same names, at another place. The offset is this one's.
    Twice(u64),
}

impl Templates {
    /// Table of files without templates.
    pub const NONE: &'static Templates = &Templates::empty(false);
    /// Table of files whose format has no templates.
    pub const FOREIGN: &'static Templates = &Templates::empty(true);

    const fn empty(foreign: bool) -> Templates {
        Templates { list: Vec::new(), places: BTreeMap::new(), bytes: 0, foreign, incomplete: false }
    }

    /// Returns the table to start with in a file with this header.
    pub fn before(header: RdbHeader) -> &'static Templates {
        let known = header.family == Family::Redis && header.version >= FIRST_VERSION;
        if known { Templates::NONE } else { Templates::FOREIGN }
    }

    /// Returns whether the format of the file has no templates.
    pub fn are_foreign(&self) -> bool {
        self.foreign
    }

    /// Marks the table as one of which templates are lost.
    pub fn set_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Returns whether templates of the file are lost.
    pub fn are_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Gives a template whose names are lost one field more; adds it first unless it was the last one that was added.
    pub fn add_lost_field(&mut self, id: u64) {
        if self.list.last().is_none_or(|last| !last.lost || last.id != id) {
            self.add(HashTemplate { id, lost: true, ..HashTemplate::default() });
        }
        if let Some(template) = self.list.last_mut() {
            // Names that differ, and that are in order.
            template.push(&template.len().to_be_bytes());
        }
    }

    /// Returns the table without stand-ins.
    #[must_use]
    pub fn without_stand_ins(&self) -> Templates {
        let mut kept = Templates::empty(self.foreign);
        self.list.iter().filter(|template| !template.lost).cloned().for_each(|template| kept.add(template));
        kept
    }

    /// Returns the bytes of all names.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of templates.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether the file has no templates.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns all templates in file order.
    pub fn iter(&self) -> impl Iterator<Item = &HashTemplate> {
        self.list.iter()
    }

    #[inline(always)]
    fn place(&self, id: u64) -> Option<usize> {
        if self.places.is_empty() {
            // Each id is a position.
            return usize::try_from(id).ok().filter(|&at| at < self.list.len());
        }
        let dense = usize::try_from(id).ok().filter(|&at| self.list.get(at).is_some_and(|template| template.id == id));
        dense.or_else(|| self.places.get(&id).copied())
    }

    /// Returns the position of the template with whose id a listpack begins.
    #[inline(always)]
    pub(crate) fn place_of_packed(&self, start: &[u8]) -> Option<usize> {
        self.place(first_id(start)?)
    }

    /// Returns the template `id`, which is read at `offset`.
    #[inline]
    pub fn get(&self, id: u64, offset: u64) -> Result<&HashTemplate> {
        match self.place(id).and_then(|place| self.list.get(place)) {
            Some(template) => Ok(template),
            None => Err(unknown(id, offset)),
        }
    }

    /// Returns whether a template has this id.
    pub fn defines(&self, id: u64) -> bool {
        self.place(id).is_some()
    }

    /// Returns the template at a position of the table.
    pub fn at(&self, place: usize) -> Option<&HashTemplate> {
        self.list.get(place)
    }

    /// Reads the operands of the opcode.
    pub fn read(&self, cursor: &mut Cursor<'_>) -> Result<Defined> {
        let offset = cursor.offset();
        let id = cursor.length().within(Reading::TemplateId)?;
        let template = HashTemplate {
            offset,
            ..HashTemplate::read(id, cursor, limits::MAX_TEMPLATE_BYTES.saturating_sub(self.bytes))?
        };
        if !template.is_sorted() {
            return Err(Error::corrupt(
                offset,
                wording!(
                    "field names of hash template {id} are not in the order of their lengths and bytes",
                    "hash 模板 {id} 的字段名未按长度和字节排序"
                ),
            ));
        }
        match self.get(id, offset) {
            Ok(known) if known.offset == offset => Ok(Defined::Before),
            Ok(known) if known.has_names_of(&template) => Ok(Defined::Twice(offset)),
            Ok(_) => {
                Err(Error::corrupt(offset, wording!("hash template {id} is defined twice", "hash 模板 {id} 重复定义")))
            }
            Err(_) => Ok(Defined::New(template)),
        }
    }

    /// Adds a template whose id is new.
    pub fn add(&mut self, mut template: HashTemplate) {
        template.place = self.list.len();
        self.bytes = self.bytes.saturating_add(template.held());
        if usize::try_from(template.id).ok() != Some(self.list.len()) {
            self.places.insert(template.id, self.list.len());
        }
        self.list.push(template);
    }
}

#[cold]
fn unknown(id: u64, offset: u64) -> Error {
    Error::corrupt(offset, wording!("hash template {id} is not defined", "hash 模板 {id} 未定义"))
}

impl HashTemplate {
    /// Reads `n, name[n]`; fails if the template takes more than `most` bytes.
    fn read(id: u64, cursor: &mut Cursor<'_>, most: usize) -> Result<HashTemplate> {
        let mut template = HashTemplate { id, ..HashTemplate::default() };
        let mut scratch = Scratch::default();
        for _ in 0..count(cursor)? {
            let name = cursor.string().within(Reading::TemplateField)?;
            if name.len() > most.saturating_sub(template.held() + size_of::<usize>()) as u64 || template.held() >= most
            {
                return Err(too_long(name.offset));
            }
            template.push(name.decode(&mut scratch).within(Reading::TemplateField)?);
        }
        Ok(template)
    }

    /// Reads names stored with a hash.
    pub fn read_names(cursor: &mut Cursor<'_>) -> Result<HashTemplate> {
        HashTemplate::read(0, cursor, limits::MAX_TEMPLATE_BYTES)
    }

    /// Unpacks names stored as one listpack, of limited size as others are.
    pub fn of_listpack(blob: RawString<'_>) -> Result<HashTemplate> {
        let mut template = HashTemplate::default();
        if blob.len() > limits::MAX_TEMPLATE_BYTES as u64 {
            return Err(too_long(blob.offset));
        }
        let (mut scratch, mut digits) = (Scratch::default(), itoa::Buffer::new());
        for name in listpack::Elements::new(blob.decode(&mut scratch)?, blob.offset)? {
            template.push(match name? {
                PackedElement::Text(text) => text,
                PackedElement::Int(number) => digits.format(number).as_bytes(),
            });
        }
        if template.is_empty() { Err(no_fields(blob.offset)) } else { Ok(template) }
    }

    /// Returns the memory of the template.
    fn held(&self) -> usize {
        size_of::<HashTemplate>() + self.names.len() + self.ends.len() * size_of::<usize>()
    }

    /// Adds a name.
    pub fn push(&mut self, name: &[u8]) {
        self.names.extend_from_slice(name);
        self.ends.push(self.names.len());
    }

    /// Removes all names.
    pub fn clear(&mut self) {
        self.names.clear();
        self.ends.clear();
    }

    /// Returns the bytes of all names.
    pub fn bytes(&self) -> usize {
        self.names.len()
    }

    fn has_names_of(&self, other: &HashTemplate) -> bool {
        (&self.names, &self.ends) == (&other.names, &other.ends)
    }

    /// Returns whether the names are lost.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Returns the id by which keys refer to the template.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the position in the table of the file.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Returns the number of field names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the template has no names, which servers never write.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the field names in the order of the values.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.names.get(start..end).unwrap_or_default())
    }

    /// Returns whether the names are in the order that servers write: shorter ones first, then by bytes, none twice.
    pub fn is_sorted(&self) -> bool {
        self.fields().is_sorted_by(|one, next| (one.len(), one) < (next.len(), next))
    }

    /// Passes each field and its value to `see`. Fails if there are more or fewer values than fields.
    pub fn pairs<'v>(
        &self,
        values: &mut impl Iterator<Item = Result<PackedElement<'v>>>,
        offset: u64,
        mut see: impl FnMut(&[u8], PackedElement<'v>),
    ) -> Result<()> {
        let mut fields = self.fields();
        let mut seen = 0;
        for field in fields.by_ref() {
            let Some(value) = values.next() else { return Err(self.miscounted(seen, offset)) };
            see(field, value?);
            seen += 1;
        }
        match values.next() {
            None => Ok(()),
            Some(Err(error)) => Err(error),
            Some(Ok(_)) => Err(self.miscounted(seen + 1, offset)),
        }
    }

    #[cold]
    fn miscounted(&self, values: usize, offset: u64) -> Error {
        let fields = self.len();
        Error::corrupt(
            offset,
            if values > fields {
                wording!(
                    "compact hash has more values than its template has fields ({fields})",
                    "紧凑 hash 的值多于其模板的字段数（{fields}）"
                )
            } else {
                wording!(
                    "compact hash of {values} values has a template of {fields} fields",
                    "紧凑 hash 有 {values} 个值，其模板却有 {fields} 个字段"
                )
            },
        )
    }
}

/// Reads the number of fields of a template, at least one.
pub fn count(cursor: &mut Cursor<'_>) -> Result<u64> {
    let offset = cursor.offset();
    match cursor.count(1).within(Reading::TemplateSize)? {
        0 => Err(no_fields(offset)),
        count => Ok(count),
    }
}

#[cold]
fn no_fields(offset: u64) -> Error {
    Error::corrupt(offset, wording!("hash template without fields", "hash 模板没有字段"))
}

/// Returns the error for a compact hash that stores its own field names, at `offset`, in an order that no server writes.
#[cold]
pub fn unsorted(offset: u64) -> Error {
    Error::corrupt(
        offset,
        wording!(
            "field names of a compact hash are not in the order of their lengths and bytes",
            "紧凑 hash 的字段名未按长度和字节排序"
        ),
    )
}

#[cold]
fn too_long(offset: u64) -> Error {
    let most = limits::MAX_TEMPLATE_BYTES >> 20;
    Error::at(
        offset,
        ErrorKind::Limit(wording!(
            "hash templates take more than {most} MiB of memory",
            "hash 模板占用内存超过 {most} MiB"
        )),
    )
}

/// Bytes of the longest integer in a listpack, without its backlen.
const MAX_ID_LEN: usize = 9;

/// Returns the header and the first element of a listpack.
#[inline(always)]
fn packed_start<'s>(blob: RawString<'s>, scratch: &'s mut Scratch) -> Option<&'s [u8]> {
    match blob.form {
        StringForm::Plain(bytes) => Some(bytes), // the common case
        StringForm::Lzf { .. } | StringForm::Int(_) => blob.prefix(listpack::HEADER + MAX_ID_LEN, scratch).ok(),
    }
}

/// Returns the number of the template with which a listpack starts.
#[inline(always)]
fn first_id(start: &[u8]) -> Option<u64> {
    u64::try_from(listpack::first_int(start)?).ok()
}

/// Start of a compact hash stored in one listpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedHashStart {
    /// Position of its template in the table of the file.
    pub place: usize,
    /// Number of its values, as the header of the listpack tells.
    pub values: u64,
}

/// Field names of a compact hash stored in one listpack.
#[derive(Debug, Clone, Copy)]
pub enum TemplateNames<'t> {
    /// In the table of the file, under the id at the start of the listpack.
    Shared(&'t Templates),
    /// Stored with the hash.
    Own(&'t HashTemplate),
}

impl<'t> TemplateNames<'t> {
    /// Returns the position of the template of a packed hash in the table of the file, decompressing as little as possible.
    #[inline]
    pub fn place(self, blob: RawString<'_>, scratch: &mut Scratch) -> Option<usize> {
        let TemplateNames::Shared(all) = self else { return None };
        all.place_of_packed(packed_start(blob, scratch)?)
    }

    /// Returns how a packed hash begins that refers to the table of the file. Decompresses as little as possible; the values are
    /// not looked at.
    #[inline(always)]
    pub fn start(self, blob: RawString<'_>, scratch: &mut Scratch) -> Option<PackedHashStart> {
        let TemplateNames::Shared(all) = self else { return None };
        let start = packed_start(blob, scratch)?;
        let elements = listpack::count(start, blob.len(), blob.offset).ok()??;
        Some(PackedHashStart { place: all.place_of_packed(start)?, values: elements.checked_sub(1)? })
    }

    /// Returns the bytes of the field names of a packed hash.
    pub fn bytes(self, blob: RawString<'_>) -> Option<u64> {
        let template = match self {
            TemplateNames::Shared(all) => all.list.get(self.place(blob, &mut Scratch::default())?)?,
            TemplateNames::Own(own) => own,
        };
        Some(template.bytes() as u64)
    }

    /// Returns whether the field names of an unpacked hash are lost.
    pub fn are_lost(self, bytes: &[u8]) -> bool {
        let TemplateNames::Shared(all) = self else { return false };
        let is_lost = |id| all.place(id).and_then(|place| all.at(place)).is_none_or(HashTemplate::is_lost);
        all.incomplete && first_id(bytes).is_some_and(is_lost)
    }

    /// Returns the template and the values of an unpacked hash. `bytes` is the listpack, at `offset` of the file.
    pub fn unpack<'v>(self, bytes: &'v [u8], offset: u64) -> Result<(&'t HashTemplate, listpack::Elements<'v>)> {
        let mut elements = listpack::Elements::new(bytes, offset)?;
        let first = elements.next().transpose()?;
        let template = match (self, first) {
            (TemplateNames::Shared(all), Some(PackedElement::Int(id))) => match u64::try_from(id) {
                Ok(id) => all.get(id, offset)?,
                Err(_) => {
                    return Err(Error::corrupt(
                        offset,
                        wording!("negative hash template {id}", "hash 模板编号 {id} 为负数"),
                    ));
                }
            },
            (TemplateNames::Own(own), Some(PackedElement::Int(_))) => own,
            (_, Some(PackedElement::Text(_)) | None) => {
                return Err(Error::corrupt(
                    offset,
                    wording!("compact hash does not start with its template", "紧凑 hash 的开头不是模板编号"),
                ));
            }
        };
        Ok((template, elements))
    }
}

#[cfg(test)]
mod tests;
