//! Settings of which two members of an object hold name and value: `{"configKey":"sys.user.initPassword","configValue":"Abc@123456"}`.
//!
//! The name stands before the value, in the same object, and both members begin alike (`config`). Since such objects also hold labels
//! of forms, the value must look like a password; under members of settings and parameters it may have six digits or more instead.

use std::ops::Range;

use super::NUMBER;
use crate::pattern::segment::Separators;
use crate::policy::content::is_one_of;
use crate::policy::sensitive::named::{self, PasswordName};
use crate::policy::sensitive::split_hump;

/// Last words of members with the name of a setting.
const NAMES: [&[u8]; 5] = [b"key", b"name", b"code", b"property", b"label"];

/// Names of members with its value.
const VALUES: [&[u8]; 3] = [b"value", b"val", b"content"];

/// Beginnings of the names of members of settings.
const SETTINGS: [&[u8]; 10] =
    [b"config", b"conf", b"setting", b"param", b"parameter", b"prop", b"property", b"option", b"sys", b"env"];

/// Longest name of a setting, and most bytes between it and the value.
const MAX_NAME_LEN: usize = 128;
const MAX_DISTANCE: usize = 512;

/// Finder of such settings in the members of a text, which are shown to it in order.
#[derive(Debug, Default)]
pub(super) struct SettingPairs<'t, 'w> {
    named: Option<NamedSetting<'t, 'w>>,
}

/// Member that names a password.
#[derive(Debug)]
struct NamedSetting<'t, 'w> {
    password: PasswordName<'w>,
    /// Beginning of its name.
    beginning: &'t [u8],
    /// Backslashes before its quotes.
    escape: usize,
    end: usize,
}

impl<'t, 'w> SettingPairs<'t, 'w> {
    /// Takes in a member whose value is the string in `range`. Returns the word for a password if the value is that of a setting
    /// named before.
    pub fn take(
        &mut self,
        text: &'t [u8],
        member: &'t [u8],
        range: &Range<usize>,
        escape: usize,
        words: &'w [String],
    ) -> Option<&'w str> {
        let value = text.get(range.clone())?;
        let (beginning, last) = divided(member);
        if is_one_of(last, &NAMES) && value.len() <= MAX_NAME_LEN {
            if let Some(password) = named::find(value, words, &Separators::default()) {
                self.named = Some(NamedSetting { password, beginning, escape, end: range.end });
            }
            return None;
        }
        if !is_one_of(last, &VALUES) {
            return None;
        }
        let name = self.named.take()?;
        let between = text.get(name.end..range.start).filter(|between| between.len() <= MAX_DISTANCE)?;
        let is_object = !between.iter().any(|byte| matches!(byte, b'{' | b'}'));
        let is_pair = name.escape == escape && name.beginning.eq_ignore_ascii_case(beginning) && is_object;
        (is_pair && name.is_told_by(value)).then_some(name.password.word)
    }
}

impl NamedSetting<'_, '_> {
    fn is_told_by(&self, value: &[u8]) -> bool {
        let is_number = NUMBER.contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
        let may_be_number = is_one_of(self.beginning, &SETTINGS) && !self.password.is_of_code;
        self.password.doubted(true).is_told_by(value)
            || is_number && may_be_number && self.password.doubted(false).is_told_by(value)
    }
}

/// Splits the name of a member before its last word: `configKey`, `config_key`.
fn divided(member: &[u8]) -> (&[u8], &[u8]) {
    match member.iter().rposition(|byte| matches!(byte, b'_' | b'-' | b'.')) {
        Some(mark) => (&member[..mark], &member[mark + 1..]),
        None => split_hump(member),
    }
}
