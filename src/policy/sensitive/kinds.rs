//! Kinds of sensitive data, and sets of them.

use serde::{Deserialize, Serialize};

use crate::report::Text;

/// Kind of sensitive data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SensitiveKind {
    /// Mobile number of mainland China.
    Phone,
    /// Number of a Chinese identity card.
    IdCard,
    /// Email address.
    Email,
    /// Number of a bank card.
    BankCard,
    /// JSON web token.
    Jwt,
    /// PEM or PGP block with a private key.
    PrivateKey,
    /// Field that is named like a password and has a value.
    Password,
}

impl SensitiveKind {
    /// All kinds.
    pub const ALL: [SensitiveKind; 7] = [
        SensitiveKind::Phone,
        SensitiveKind::IdCard,
        SensitiveKind::Email,
        SensitiveKind::BankCard,
        SensitiveKind::Jwt,
        SensitiveKind::PrivateKey,
        SensitiveKind::Password,
    ];

    /// Names of all kinds, in the order of [`SensitiveKind::ALL`].
    pub const NAMES: [&str; 7] = ["phone", "id-card", "email", "bank-card", "jwt", "private-key", "password"];

    /// Returns the name used in reports and policies.
    pub const fn name(self) -> &'static str {
        SensitiveKind::NAMES[self as usize]
    }

    /// Returns the name in both languages.
    pub const fn text(self) -> Text {
        let zh = match self {
            SensitiveKind::Phone => "手机号",
            SensitiveKind::IdCard => "身份证号",
            SensitiveKind::Email => "邮箱",
            SensitiveKind::BankCard => "银行卡号",
            SensitiveKind::Jwt => "JWT",
            SensitiveKind::PrivateKey => "私钥",
            SensitiveKind::Password => "密码",
        };
        Text { en: self.name(), zh }
    }

    /// Returns the kind of this name.
    pub fn parse(name: &str) -> Option<SensitiveKind> {
        SensitiveKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Set of kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SensitiveKinds(u8);

impl SensitiveKinds {
    /// Set of all kinds.
    pub const ALL: SensitiveKinds = SensitiveKinds((1 << SensitiveKind::ALL.len()) - 1);

    /// Creates a set from bits, in the order of [`SensitiveKind::ALL`].
    pub const fn from_bits(bits: u8) -> SensitiveKinds {
        SensitiveKinds(bits)
    }

    /// Returns the bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns whether the kind is in the set.
    pub const fn has(self, kind: SensitiveKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// Adds a kind.
    pub const fn add(&mut self, kind: SensitiveKind) {
        self.0 |= 1 << kind as u8;
    }

    /// Returns the kinds in both sets.
    pub const fn both(self, other: SensitiveKinds) -> SensitiveKinds {
        SensitiveKinds(self.0 & other.0)
    }

    /// Returns the kinds in either set.
    pub const fn or(self, other: SensitiveKinds) -> SensitiveKinds {
        SensitiveKinds(self.0 | other.0)
    }

    /// Returns the kinds that are not in `other`.
    pub const fn without(self, other: SensitiveKinds) -> SensitiveKinds {
        SensitiveKinds(self.0 & !other.0)
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<SensitiveKind> for SensitiveKinds {
    fn from_iter<I: IntoIterator<Item = SensitiveKind>>(kinds: I) -> SensitiveKinds {
        let mut set = SensitiveKinds::default();
        kinds.into_iter().for_each(|kind| set.add(kind));
        set
    }
}
