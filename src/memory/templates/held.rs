//! Templates that a server holds, and what each key bears of them.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::OnceLock;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::FieldSet;
use crate::memory::Model;
use crate::memory::growth::{Growth, TableKind};
use crate::memory::item::PackedItem;
use crate::rdb::template::HashTemplate;
use crate::units::Bytes;

/// Structures of a template besides its names.
const TEMPLATE: u64 = 80;
/// Pointer to a name.
const POINTER: u64 = 8;
/// Entry of the table that finds a template by its field names.
const ENTRY: u64 = 24;
/// Block of pointers that finds templates by their numbers, and the number of templates in one.
const BLOCK: u64 = 1032;
const BLOCK_TEMPLATES: u64 = 128;
/// Number of blocks that the smallest directory of blocks has room for; it doubles.
const MIN_BLOCKS: u64 = 8;

impl Model {
    /// Returns the bytes that a template takes.
    pub fn template_bytes(&self, template: &HashTemplate) -> u64 {
        let names = template.fields().map(|name| POINTER + self.usable(self.sds_size(name.len() as u64)));
        names.fold(TEMPLATE, u64::saturating_add)
    }
}

/// Template on a server that has loaded the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldTemplate {
    /// Its number, with which packed hashes begin.
    pub id: u64,
    /// Live keys that use it, in all databases.
    pub users: u64,
    /// Its size.
    pub bytes: Bytes,
}

impl HeldTemplate {
    /// Returns what a key that uses the template bears of it.
    #[inline]
    pub fn share(&self) -> u64 {
        self.bytes.0 / self.users.max(1)
    }
}

/// Lengths of the field names of a template, as an ordinary hash would store them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameSizes {
    /// All names in a listpack, without its frame.
    pub packed: u64,
    /// The longest name.
    pub longest: u64,
}

impl NameSizes {
    pub(super) fn of(template: &HashTemplate) -> NameSizes {
        template.fields().fold(NameSizes::default(), |sizes, name| NameSizes {
            packed: sizes.packed.saturating_add(PackedItem::of_text(name).in_listpack()),
            longest: sizes.longest.max(name.len() as u64),
        })
    }
}

/// Template at a position in the table of the file: all that the price of a packed hash takes, in half a cache line, because
/// templates come in random order.
#[derive(Debug, Clone, Copy)]
pub struct PlacedTemplate {
    /// Index of its set of field names.
    pub set: u32,
    /// Number of field names.
    pub fields: NonZeroU32,
    /// Length of the longest name.
    pub longest: u32,
    /// Size of its number in listpacks of the file.
    pub stored_id: u8,
    /// Size of its number in listpacks of the server.
    pub held_id: u8,
    /// Size of all names in a listpack, without its frame.
    pub names: u64,
    /// Share of each key.
    pub share: u64,
}

impl PlacedTemplate {
    pub(super) fn new(template: &HashTemplate, set: usize, held: HeldTemplate, sizes: NameSizes) -> Option<Self> {
        Some(PlacedTemplate {
            set: u32::try_from(set).ok()?,
            fields: NonZeroU32::new(u32::try_from(template.len()).ok()?)?,
            longest: u32::try_from(sizes.longest).ok()?,
            stored_id: u8::try_from(id_size(template.id())).ok()?,
            held_id: u8::try_from(id_size(held.id)).ok()?,
            names: sizes.packed,
            share: held.share(),
        })
    }
}

/// Returns the size of the number of a template in a listpack.
pub fn id_size(id: u64) -> u64 {
    PackedItem::Int(i64::try_from(id).unwrap_or(i64::MAX)).in_listpack()
}

/// Template of a compact hash, and its price without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateUse {
    /// Index of its set of field names: see [`HeldTemplates::names`].
    pub set: usize,
    /// Memory of an ordinary hash with the same pairs on the same server.
    pub ordinary: Bytes,
}

/// Templates of one server, by set of field names.
#[derive(Debug, Clone, Default)]
pub(super) struct ModelSets {
    pub held: Vec<Option<HeldTemplate>>,
    /// Templates of the table of the file that a server holds, by position.
    pub placed: Vec<Option<PlacedTemplate>>,
    /// True for templates that were made on load and taken apart at its end.
    pub apart: Vec<bool>,
    /// True if ordinary hashes are converted on load.
    pub converts: bool,
}

/// Templates of a file under each model: that of its server, then the alternatives.
#[derive(Debug, Default)]
pub struct HeldTemplates {
    /// Field names, by set.
    pub(super) names: Vec<HashTemplate>,
    pub(super) sizes: Vec<NameSizes>,
    pub(super) by_set: HashMap<FieldSet, usize>,
    /// Set of each template in the table of the file.
    pub(super) places: Vec<usize>,
    pub(super) models: Vec<ModelSets>,
    /// True if there are more sets of field names than are told apart.
    pub(super) overflow: bool,
    /// False if counting ended early, as [`TemplateCensus::suffices`](super::TemplateCensus::suffices) allows: later templates
    /// and names that stand with their keys are missing.
    pub(super) is_whole: bool,
}

/// Number of templates of a server, their users and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateTotals {
    /// Templates.
    pub templates: u64,
    /// Live keys that use them.
    pub keys: u64,
    /// Their size.
    pub bytes: Bytes,
}

impl TemplateTotals {
    /// Adds those of another server.
    #[must_use]
    pub fn plus(self, other: TemplateTotals) -> TemplateTotals {
        let TemplateTotals { templates, keys, bytes } = other;
        TemplateTotals {
            templates: self.templates.saturating_add(templates),
            keys: self.keys.saturating_add(keys),
            bytes: self.bytes + bytes,
        }
    }
}

impl HeldTemplates {
    /// Marks the count as one that ended early.
    #[must_use]
    pub fn ended_early(self) -> HeldTemplates {
        HeldTemplates { is_whole: false, ..self }
    }

    /// Returns the templates under the model at this position.
    pub fn of(&self, model: usize) -> Option<ModelTemplates<'_>> {
        Some(ModelTemplates { all: self, sets: self.models.get(model)? })
    }

    /// Returns the field names of a set.
    pub fn names(&self, set: usize) -> Option<&HashTemplate> {
        self.names.get(set)
    }

    /// Returns whether there are more sets of field names than are told apart.
    pub fn overflowed(&self) -> bool {
        self.overflow
    }
}

/// Templates of a file under one model.
#[derive(Debug, Clone, Copy)]
pub struct ModelTemplates<'t> {
    all: &'t HeldTemplates,
    sets: &'t ModelSets,
}

impl<'t> ModelTemplates<'t> {
    /// Returns whether ordinary hashes are converted on load.
    pub fn converts(self) -> bool {
        self.sets.converts
    }

    /// Returns the templates in the table of the file, by position.
    pub fn placed(self) -> &'t [Option<PlacedTemplate>] {
        &self.sets.placed
    }

    /// Returns the set of the template at a position in the table of the file.
    #[inline]
    pub fn shared(self, place: usize) -> Option<(usize, HeldTemplate)> {
        self.at(*self.all.places.get(place)?)
    }

    /// Returns the template of a set of field names.
    pub fn of_names(self, set: FieldSet) -> Option<(usize, HeldTemplate)> {
        self.at(*self.all.by_set.get(&set)?)
    }

    #[inline]
    fn at(self, set: usize) -> Option<(usize, HeldTemplate)> {
        Some((set, (*self.sets.held.get(set)?)?))
    }

    /// Returns the template of a set, if the server holds it.
    pub fn held(self, set: usize) -> Option<HeldTemplate> {
        self.at(set).map(|(_, held)| held)
    }

    /// Returns whether the server made a template for these names while it loaded the file, and took it apart at the end.
    pub fn took_apart(self, set: FieldSet) -> bool {
        self.all.by_set.get(&set).and_then(|&set| self.sets.apart.get(set)).is_some_and(|&apart| apart)
    }

    /// Returns the sizes of the field names of a set.
    #[inline]
    pub fn sizes(self, set: usize) -> NameSizes {
        self.all.sizes.get(set).copied().unwrap_or_default()
    }

    /// Returns the field names of a set.
    pub fn names(self, set: usize) -> Option<&'t HashTemplate> {
        self.all.names.get(set)
    }

    /// Returns the sums over all templates that have users.
    pub fn totals(self) -> TemplateTotals {
        let used = self.sets.held.iter().flatten().filter(|held| held.users > 0);
        let one = |held: &HeldTemplate| TemplateTotals { templates: 1, keys: held.users, bytes: held.bytes };
        used.map(one).fold(TemplateTotals::default(), TemplateTotals::plus)
    }

    /// Returns the allocated bytes of the templates beyond the shares of their keys: what finds them, and what the shares lose
    /// to rounding.
    pub fn beyond_shares(self, model: &Model) -> u64 {
        let (mut templates, mut beyond) = (0u64, 0u64);
        for (held, names) in self.sets.held.iter().zip(&self.all.names) {
            let Some(held) = held.filter(|held| held.users > 0) else { continue };
            let pointers = POINTER.saturating_mul(names.len() as u64);
            let rounding = held.bytes.0.saturating_sub(held.users.saturating_mul(held.share()));
            templates += 1;
            beyond = beyond.saturating_add(model.usable(pointers) - pointers).saturating_add(rounding);
        }
        if templates == 0 {
            return 0;
        }
        beyond.saturating_add(self.registry(templates).bytes(|size| model.usable(size)))
    }

    /// Returns what `MEMORY STATS` reports as `hash.templates`, without the 72 bytes of an empty server.
    pub fn reported(self) -> Bytes {
        let TemplateTotals { templates, bytes, .. } = self.totals();
        if templates == 0 { bytes } else { bytes + Bytes(self.registry(templates).bytes(|size| size)) }
    }

    /// Returns the structures that find this number of templates.
    fn registry(self, templates: u64) -> Registry {
        // Hashes that name their fields look up their template, which soon ends rehashing.
        let grow = if self.all.places.is_empty() { Growth::presized } else { Growth::after_lookups };
        Registry { templates, slots: grow(TableKind::Slots, templates).size() }
    }
}

/// Structures that find templates by their field names and by their numbers.
#[derive(Debug, Clone, Copy)]
struct Registry {
    templates: u64,
    /// Slots of the table by field names, of both tables during rehashing.
    slots: u64,
}

impl Registry {
    /// Returns the sum of all allocations; `size_of` gives the size that counts for a requested one.
    fn bytes(self, size_of: impl Fn(u64) -> u64) -> u64 {
        let blocks = self.templates.div_ceil(BLOCK_TEMPLATES);
        let directory = POINTER.saturating_mul(TableKind::Slots.size_for(blocks.max(MIN_BLOCKS)));
        let slots = POINTER.saturating_mul(self.slots);
        let entries = self.templates.saturating_mul(size_of(ENTRY));
        let blocks = blocks.saturating_mul(size_of(BLOCK));
        [size_of(slots), entries, size_of(directory), blocks].into_iter().fold(0, u64::saturating_add)
    }
}

/// How far users are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CensusExtent {
    /// Until more users would change no price.
    Enough,
    /// To the end of the file.
    Whole,
}

/// Counts the users of templates. Returns `None` for input that can be read only once.
type Count = dyn Fn(CensusExtent) -> Option<HeldTemplates> + Send + Sync;

/// Templates of a file, counted when the first key needs them: most files have no compact hash.
///
/// In most dumps with compact hashes every template soon has more users than bytes, so that the first megabytes suffice. The
/// rest is counted once a key refers to a template that was not among them.
pub struct LazyTemplates {
    enough: OnceLock<Option<HeldTemplates>>,
    whole: OnceLock<Option<HeldTemplates>>,
    count: Box<Count>,
}

impl LazyTemplates {
    /// Creates templates that `count` will count.
    pub fn new(count: impl Fn(CensusExtent) -> Option<HeldTemplates> + Send + Sync + 'static) -> Self {
        LazyTemplates { enough: OnceLock::new(), whole: OnceLock::new(), count: Box::new(count) }
    }

    /// Creates templates that have been counted.
    #[cfg(any(test, feature = "internals"))]
    pub fn counted(held: HeldTemplates) -> Self {
        LazyTemplates { enough: OnceLock::from(Some(held)), whole: OnceLock::new(), count: Box::new(|_| None) }
    }

    /// Returns the templates, at least those of keys that have been read; the first call counts them, others wait for it.
    /// `None` if the input can be read only once.
    #[inline]
    pub fn get(&self) -> Option<&HeldTemplates> {
        self.enough.get_or_init(|| (self.count)(CensusExtent::Enough)).as_ref()
    }

    /// Returns all templates of the file, if [`LazyTemplates::get`] has not: for a key whose template is not among those.
    pub fn get_whole(&self) -> Option<&HeldTemplates> {
        let ended_early = self.get().is_some_and(|held| !held.is_whole);
        if ended_early { self.whole.get_or_init(|| (self.count)(CensusExtent::Whole)).as_ref() } else { None }
    }

    /// Returns the templates if a key needed them.
    pub fn needed(&self) -> Option<&HeldTemplates> {
        self.whole.get().unwrap_or(self.enough.get()?).as_ref()
    }

    /// Returns whether a key needed them, but they could not be counted.
    #[inline]
    pub fn are_missing(&self) -> bool {
        matches!(self.whole.get().or(self.enough.get()), Some(None))
    }
}

impl fmt::Debug for LazyTemplates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("LazyTemplates").field(&self.needed()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Allocator, Server, ServerConfig};

    fn model(allocator: Allocator) -> Model {
        Model::for_server(Server::parse("redis-8.10").unwrap(), allocator, &ServerConfig::default())
    }

    /// Returns this number of templates of four names of six characters, each with this number of users.
    fn templates(model: &Model, number: u64, users: u64) -> HeldTemplates {
        let mut template = HashTemplate::default();
        (0..4).for_each(|name| template.push(format!("field{name}").as_bytes()));
        let bytes = Bytes(model.template_bytes(&template));
        let held = (0..number).map(|id| Some(HeldTemplate { id, users, bytes })).collect();
        let names = vec![template; usize::try_from(number).unwrap()];
        HeldTemplates { names, models: vec![ModelSets { held, ..ModelSets::default() }], ..HeldTemplates::default() }
    }

    #[test]
    fn what_finds_templates_is_counted() {
        let model = model(Allocator::JemallocQ16);
        let of = |number, users| templates(&model, number, users).of(0).unwrap().beyond_shares(&model);
        // Read off 8.10.2: 1000 and 4000 templates took 48,992 and 200,208 more than one.
        assert_eq!((of(1000, 2) - of(1, 2), of(4000, 2) - of(1, 2)), (49_088, 200_576));
        // 144 bytes shared by 10 keys: each counts 14.
        assert_eq!(of(1000, 10) - of(1000, 2), 4000);
        assert_eq!((of(0, 2), of(10, 0)), (0, 0));
    }

    #[test]
    fn reported_templates_are_those_of_a_server() {
        let model = model(Allocator::JemallocQ16);
        let reported = |number, users, places: usize| {
            let held = HeldTemplates { places: vec![0; places], ..templates(&model, number, users) };
            held.of(0).unwrap().reported().0
        };
        // `hash.templates` of 8.10.2 after loading a table of templates, with the 72 bytes of an empty server.
        let told = [
            (1, 1368),
            (4, 1872),
            (5, 2104),
            (8, 2576),
            (9, 2872),
            (128, 23_696),
            (129, 26_944),
            (166, 33_160),
            (180, 34_488),
        ];
        for (number, bytes) in told {
            assert_eq!(reported(number, 2, 1) + 72, bytes, "{number}");
        }
        // Names of 8 characters take 8 bytes more each.
        let longer = [(1024, 221_384), (1025, 239_064), (2049, 476_824), (4000, 866_120), (5000, 1_140_168)];
        for (number, bytes) in longer {
            assert_eq!(reported(number, 2, 1) + 32 * number + 72, bytes, "{number}");
        }
        // Rehashing has ended.
        assert_eq!(reported(5, 2, 0), reported(5, 2, 1) - 32);
        assert_eq!((reported(0, 2, 0), reported(3, 0, 0)), (0, 0));
    }
}
