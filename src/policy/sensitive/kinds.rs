//! The kinds of sensitive data, and sets of them.

/// A kind of sensitive data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SensitiveKind {
    /// A mobile number of mainland China.
    Phone,
    /// The number of a Chinese identity card.
    IdCard,
    /// An address of mail.
    Email,
    /// The number of a bank card.
    BankCard,
    /// A JSON web token.
    Jwt,
    /// A block with a private key.
    PrivateKey,
    /// A field called like a password, with something in it.
    Password,
}

impl SensitiveKind {
    /// All of them.
    pub const ALL: [SensitiveKind; 7] = [
        SensitiveKind::Phone,
        SensitiveKind::IdCard,
        SensitiveKind::Email,
        SensitiveKind::BankCard,
        SensitiveKind::Jwt,
        SensitiveKind::PrivateKey,
        SensitiveKind::Password,
    ];

    /// The names, in the same order.
    pub const NAMES: [&str; 7] = ["phone", "id-card", "email", "bank-card", "jwt", "private-key", "password"];

    /// The word in reports and policies.
    pub const fn name(self) -> &'static str {
        SensitiveKind::NAMES[self as usize]
    }

    /// The kind of this name.
    pub fn parse(name: &str) -> Option<SensitiveKind> {
        SensitiveKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SensitiveKinds(u8);

impl SensitiveKinds {
    /// Every kind.
    pub const ALL: SensitiveKinds = SensitiveKinds((1 << SensitiveKind::ALL.len()) - 1);

    /// The set of these bits, in the order of [`SensitiveKind::ALL`].
    pub const fn from_bits(bits: u8) -> SensitiveKinds {
        SensitiveKinds(bits)
    }

    /// Its bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether the kind is in it.
    pub const fn has(self, kind: SensitiveKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// Adds a kind.
    pub const fn add(&mut self, kind: SensitiveKind) {
        self.0 |= 1 << kind as u8;
    }

    /// The kinds in both.
    pub const fn both(self, other: SensitiveKinds) -> SensitiveKinds {
        SensitiveKinds(self.0 & other.0)
    }

    /// The kinds in either.
    pub const fn or(self, other: SensitiveKinds) -> SensitiveKinds {
        SensitiveKinds(self.0 | other.0)
    }

    /// The kinds in this and not in the other.
    pub const fn without(self, other: SensitiveKinds) -> SensitiveKinds {
        SensitiveKinds(self.0 & !other.0)
    }

    /// True if there is none.
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
