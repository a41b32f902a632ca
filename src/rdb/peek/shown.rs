//! Limits on what is shown of a value, and conversion of its parts to text.

use super::{MAX_EXPANDED_BYTES, MAX_PARTS, MAX_TEXT_BYTES, MAX_VALUE_BYTES, PeekBuffers, ValuePart};
use crate::error::Result;
use crate::rdb::packed::PackedElement;
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm};

/// Consecutive elements of a packed value that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stride {
    Element,
    MemberScore,
    FieldValue,
    FieldValueTime,
}

/// Passes parts to the callback until a limit is reached.
pub(super) struct Shown<'s> {
    /// Bytes that may still be shown.
    left: usize,
    /// Bytes that packed parts may still be expanded to.
    expandable: u64,
    parts: usize,
    see: &'s mut dyn FnMut(ValuePart<'_>),
}

impl<'s> Shown<'s> {
    pub fn new(see: &'s mut dyn FnMut(ValuePart<'_>)) -> Self {
        Shown { left: MAX_VALUE_BYTES, expandable: MAX_EXPANDED_BYTES, parts: 0, see }
    }

    /// Returns whether nothing more will be shown.
    pub fn is_full(&self) -> bool {
        self.parts >= MAX_PARTS || self.left == 0
    }

    pub fn whole(&mut self, text: &[u8]) {
        (self.see)(ValuePart::String(beginning(text, MAX_TEXT_BYTES)));
    }

    pub fn element(&mut self, text: &[u8]) {
        if !self.is_full() {
            let text = self.cut(text);
            self.parts += 1;
            (self.see)(ValuePart::Element(text));
        }
    }

    pub fn number(&mut self, number: i64) {
        self.element(itoa::Buffer::new().format(number).as_bytes());
    }

    pub fn pair(&mut self, field: &[u8], value: &[u8]) {
        if !self.is_full() {
            let field = self.cut(field);
            let value = self.cut(value);
            self.parts += 1;
            (self.see)(ValuePart::Pair(field, value));
        }
    }

    fn cut<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        let text = beginning(text, MAX_TEXT_BYTES.min(self.left));
        self.left -= text.len();
        text
    }

    pub fn raw_element(&mut self, text: RawString<'_>, buffers: &mut PeekBuffers) -> Result<()> {
        if !self.is_full() {
            self.element(text.prefix(MAX_TEXT_BYTES, &mut buffers.value)?);
        }
        Ok(())
    }

    pub fn raw_pair(&mut self, field: RawString<'_>, value: RawString<'_>, buffers: &mut PeekBuffers) -> Result<()> {
        if !self.is_full() {
            let field = field.prefix(MAX_TEXT_BYTES, &mut buffers.field)?;
            self.pair(field, value.prefix(MAX_TEXT_BYTES, &mut buffers.value)?);
        }
        Ok(())
    }

    /// Returns the decoded blob, or an empty slice if nothing more will be shown or it would expand too far.
    pub fn expanded<'b>(&mut self, blob: RawString<'b>, buffers: &'b mut Scratch) -> Result<&'b [u8]> {
        if self.is_full() {
            return Ok(&[]);
        }
        if let StringForm::Lzf { len, .. } = blob.form {
            match self.expandable.checked_sub(len) {
                Some(left) => self.expandable = left,
                None => return Ok(&[]),
            }
        }
        blob.decode(buffers)
    }

    pub fn packed<'b>(
        &mut self,
        mut elements: impl Iterator<Item = Result<PackedElement<'b>>>,
        stride: Stride,
    ) -> Result<()> {
        let (mut one, mut other) = (itoa::Buffer::new(), itoa::Buffer::new());
        while !self.is_full() {
            let Some(first) = elements.next().transpose()? else { break };
            if stride == Stride::Element {
                self.element(text(&first, &mut one));
                continue;
            }
            let Some(second) = elements.next().transpose()? else { break };
            if stride == Stride::MemberScore {
                self.element(text(&first, &mut one));
                continue;
            }
            if stride == Stride::FieldValueTime {
                elements.next().transpose()?;
            }
            self.pair(text(&first, &mut one), text(&second, &mut other));
        }
        Ok(())
    }
}

/// Returns the text of a packed element.
pub(super) fn text<'t>(element: &PackedElement<'t>, digits: &'t mut itoa::Buffer) -> &'t [u8] {
    element.text(digits)
}

/// Returns the first `most` bytes. Where that cuts a text, digits at the cut are left out: part of a number is another number.
fn beginning(text: &[u8], most: usize) -> &[u8] {
    match text.get(..most) {
        Some(cut) if cut.len() < text.len() => {
            let end = cut.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
            &cut[..end]
        }
        _ => text,
    }
}
