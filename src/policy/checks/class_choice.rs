//! Choice of the TTL class of a name among the classes whose patterns it matches.

use crate::pattern::name::KeyName;
use crate::policy::caches::{self, CACHE, PERSISTENT};
use crate::policy::dictionary::TtlClass;
use crate::policy::matcher::PolicyPattern;

/// Classes of a name, added in the order of precedence of their patterns.
pub(super) struct ClassChoice<'c> {
    /// All classes of the policy; the others are indexes into them.
    classes: &'c [TtlClass],
    /// Class of the first pattern.
    first: Option<u16>,
    /// True if that pattern may begin at any level.
    is_floating: bool,
    /// Class of caches behind a first one whose keys may live forever: `shop:config:cache:7`.
    cache: Option<u16>,
    /// Class of locks behind another first one: `cache:lock:7`.
    lock: Option<u16>,
}

impl<'c> ClassChoice<'c> {
    pub fn new(classes: &'c [TtlClass]) -> Self {
        ClassChoice { classes, first: None, is_floating: false, cache: None, lock: None }
    }

    /// Adds the class of a pattern that begins at the first segment.
    pub fn add(&mut self, class: u16) {
        self.first.get_or_insert(class);
    }

    /// Adds the class of a pattern that may begin at any level.
    pub fn add_floating(&mut self, class: u16) {
        let Some(first) = self.first else {
            return (self.first, self.is_floating) = (Some(class), true);
        };
        if !self.is_floating {
            return;
        }
        if class != first && self.class(class).is_some_and(|class| class.locks) {
            self.lock.get_or_insert(class);
        } else if self.class(first).is_some_and(|first| !first.required) && self.class(class).is_some_and(is_of_caches)
        {
            self.cache.get_or_insert(class);
        }
    }

    /// Adds the class of caches for a name with a compound such as `goods_cache`.
    pub fn add_compound(&mut self, class: u16) {
        if self.first.is_none() {
            (self.first, self.is_floating) = (Some(class), true);
        }
    }

    /// Returns the class of a key if it is a lock, where that is another one.
    pub fn of_lock(&self) -> Option<u16> {
        self.lock
    }

    /// Returns the class of a name that added these.
    pub fn of_name(&self, name: &KeyName<'_>) -> Option<u16> {
        let class = self.cache.filter(|_| caches::names_cache(name)).or(self.first)?;
        let Some(chosen) = self.class(class).filter(|_| self.is_floating) else { return Some(class) };
        if !chosen.required && self.may_be_cache(name) {
            return None; // the name does not say which of the two it is
        }
        if is_of_caches(chosen) && caches::measures_cache(name) {
            let place = self.classes.iter().position(|class| !class.required && class.name == PERSISTENT)?;
            return u16::try_from(place).ok();
        }
        Some(class)
    }

    fn class(&self, class: u16) -> Option<&'c TtlClass> {
        self.classes.get(usize::from(class))
    }

    /// Returns whether a name by which the key may live forever may be that of a cache, if the policy has a class of them.
    #[cold]
    fn may_be_cache(&self, name: &KeyName<'_>) -> bool {
        let kept = self.classes.iter().filter(|class| !class.required).flat_map(|class| &class.patterns);
        let is_kept = |word: &[u8]| {
            let is_word = |pattern: &PolicyPattern| pattern.first_name().is_some_and(|name| name.as_bytes() == word);
            kept.clone().any(|pattern| pattern.is_floating() && is_word(pattern))
        };
        self.classes.iter().any(is_of_caches) && caches::may_name_cache(name, is_kept)
    }
}

fn is_of_caches(class: &TtlClass) -> bool {
    class.required && class.name == CACHE
}
