//! Counts the live keys of each set of field names.

use crate::rdb::scratch::Scratch;
use hashbrown::HashMap;

use super::held::{ModelSets, NameSizes, PlacedTemplate};
use super::{FieldSet, HeldTemplate, HeldTemplates, LoadedSets, RdbLoad};
use crate::limits;
use crate::memory::Model;
use crate::rdb::packed::{PackedElement, listpack};
use crate::rdb::string::RawString;
use crate::rdb::template::{HashTemplate, TemplateNames, Templates};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::{PlainValue, Visit};
use crate::units::Bytes;

/// Visitor that counts the users of templates, and what `hash-rdb-load-*` would convert.
#[derive(Debug)]
pub struct TemplateCensus {
    /// Live keys by place in the table of the file.
    shared: Vec<u64>,
    /// Sets whose names stand with their keys.
    sets: Vec<NamedSet>,
    by_set: HashMap<FieldSet, usize>,
    /// Bytes of their names.
    bytes: usize,
    most_sets: usize,
    most_bytes: usize,
    overflow: bool,
    /// Templates made on load, by model.
    loads: Vec<Option<LoadedSets>>,
    converts: bool,
    value: WalkedNames,
    scratch: Scratch,
}

/// Set of field names.
#[derive(Debug)]
struct NamedSet {
    names: HashTemplate,
    /// Live compact hashes that have these names.
    users: u64,
}

/// Field names of the value walked last.
#[derive(Debug, Default)]
struct WalkedNames {
    kind: NamesKind,
    names: HashTemplate,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum NamesKind {
    /// Not a hash that has, or may get, a template.
    #[default]
    None,
    /// Refers to a table, at this place once known.
    Shared(Option<usize>),
    /// Compact hash with names of its own.
    Own,
    /// Hash that may be converted.
    Ordinary,
}

impl TemplateCensus {
    /// Creates a census for the models of one of `files` files.
    pub fn new<'m>(models: impl Iterator<Item = &'m Model>, files: usize) -> TemplateCensus {
        let loads: Vec<_> = models.map(|model| RdbLoad::of(model).map(LoadedSets::new)).collect();
        TemplateCensus {
            shared: Vec::new(),
            sets: Vec::new(),
            by_set: HashMap::new(),
            bytes: 0,
            most_sets: limits::MAX_FIELD_SETS / files.max(1),
            most_bytes: limits::MAX_TEMPLATE_BYTES / files.max(1),
            overflow: false,
            converts: loads.iter().any(Option::is_some),
            loads,
            value: WalkedNames::default(),
            scratch: Scratch::new(limits::MAX_TEMPLATE_BYTES as u64),
        }
    }

    /// Counts the value walked last, if it is alive.
    #[inline]
    pub fn count(&mut self, alive: bool) {
        match std::mem::take(&mut self.value.kind) {
            NamesKind::Shared(Some(place)) if alive => self.count_user(place),
            NamesKind::Own if alive => {
                if let Some(set) = self.set(|_| true) {
                    self.sets[set].users += 1;
                }
            }
            NamesKind::Ordinary if alive => {
                let fields = self.value.names.len() as u64;
                let makes = |load: &LoadedSets| load.takes(fields) && !load.has_stopped();
                let Some(set) = self.set(|loads| loads.iter().flatten().any(makes)) else { return };
                self.loads.iter_mut().flatten().filter(|load| load.takes(fields)).for_each(|load| load.load(set));
            }
            NamesKind::None | NamesKind::Shared(_) | NamesKind::Own | NamesKind::Ordinary => {}
        }
    }

    /// Counts a live key whose template is at this position in the table of the file.
    #[inline(always)]
    pub(crate) fn count_user(&mut self, place: usize) {
        if self.shared.len() <= place {
            self.shared.resize(place + 1, 0);
        }
        self.shared[place] += 1;
    }

    /// Returns the set of the names walked last. A new one is added if it is wanted and there is room.
    fn set(&mut self, wanted: impl FnOnce(&[Option<LoadedSets>]) -> bool) -> Option<usize> {
        let names = &self.value.names;
        let set = FieldSet::of(names.fields());
        if let Some(&known) = self.by_set.get(&set) {
            return Some(known);
        }
        if !wanted(&self.loads) {
            return None;
        }
        if self.sets.len() >= self.most_sets || names.bytes() > self.most_bytes - self.bytes {
            self.overflow = true;
            return None;
        }
        self.bytes += names.bytes();
        self.by_set.insert(set, self.sets.len());
        self.sets.push(NamedSet { names: names.clone(), users: 0 });
        Some(self.sets.len() - 1)
    }

    /// Adds the keys that follow. Returns false if the sum depends on more than both: on the order of keys, where settings make
    /// templates on load or there are more sets of field names than are told apart.
    pub fn merge(&mut self, next: TemplateCensus) -> bool {
        self.shared.resize(self.shared.len().max(next.shared.len()), 0);
        self.shared.iter_mut().zip(next.shared).for_each(|(users, more)| *users += more);
        for NamedSet { names, users } in next.sets {
            self.value.names = names;
            match self.set(|_| true) {
                Some(set) => self.sets[set].users += users,
                None => return false,
            }
        }
        !self.converts && !self.overflow && !next.overflow
    }

    /// Returns whether more users would change no price of a key whose template is in the table so far: shares of templates
    /// that have more users than bytes are zero. `models` are those of the census.
    ///
    /// Totals under alternatives need all users, and so do names that stand with their keys.
    pub fn suffices<'m>(&self, mut models: impl Iterator<Item = &'m Model>, table: Option<&Templates>) -> bool {
        let (Some(table), Some(model), None) = (table, models.next(), models.next()) else { return false };
        let is_shareless = |(template, &users): (&HashTemplate, &u64)| users > model.template_bytes(template);
        !self.converts
            && self.sets.is_empty()
            && self.shared.len() == table.len()
            && table.iter().zip(&self.shared).all(is_shareless)
    }

    /// Returns the templates that each server holds after loading the file. `models` are those of the census; `table` is the
    /// whole table of the file.
    pub fn finish<'m>(self, models: impl Iterator<Item = &'m Model>, table: Option<&Templates>) -> HeldTemplates {
        let TemplateCensus { shared, sets: own, by_set: own_by_set, overflow, loads, .. } = self;
        let table = table.unwrap_or(Templates::NONE);
        let (mut sets, mut by_set, mut ids) = (Vec::new(), HashMap::new(), Vec::new());
        let mut places = Vec::with_capacity(table.len());
        // Templates of the table come first, so that their positions do not change when others are found.
        for (template, users) in table.iter().zip(shared.into_iter().chain(std::iter::repeat(0))) {
            let names = FieldSet::of(template.fields());
            let set = *by_set.entry(names).or_insert(sets.len());
            if set == sets.len() {
                let with_own = own_by_set.get(&names).map_or(0, |&set| own[set].users);
                sets.push(NamedSet { names: template.clone(), users: with_own });
                // While it loads the table a server numbers templates anew, in the order of the file.
                ids.push(Some(template.place() as u64));
            }
            sets[set].users += users;
            places.push(set);
        }
        for set in own {
            by_set.entry(FieldSet::of(set.names.fields())).or_insert_with(|| {
                sets.push(set);
                ids.push(None);
                sets.len() - 1
            });
        }
        // A server numbers templates that the table lacks when it meets them.
        let mut next = table.len() as u64;
        let mut id_of = |known: Option<u64>| {
            known.unwrap_or_else(|| {
                next = next.saturating_add(1);
                next - 1
            })
        };
        let in_table: Vec<bool> = ids.iter().map(Option::is_some).collect();
        let ids: Vec<u64> =
            sets.iter().zip(ids).map(|(set, id)| if set.users > 0 || id.is_some() { id_of(id) } else { 0 }).collect();
        let converts = table.is_empty();
        let sizes: Vec<NameSizes> = sets.iter().map(|set| NameSizes::of(&set.names)).collect();
        let models = models.zip(loads).map(|(model, load)| {
            let load = load.filter(|_| converts);
            let held = |(at, (set, &id)): (usize, (&NamedSet, &u64))| {
                let loaded = load.as_ref().and_then(|load| load.kept(at));
                let users = set.users + loaded.map_or(0, |(_, users)| users);
                let id = loaded.filter(|_| set.users == 0).map_or(id, |(id, _)| id);
                let bytes = || Bytes(model.template_bytes(&set.names));
                // A template without users prices keys that had expired as if they were alive.
                (users > 0 || in_table[at]).then(|| HeldTemplate { id, users, bytes: bytes() })
            };
            let held: Vec<_> =
                if model.layout.templates { sets.iter().zip(&ids).enumerate().map(held).collect() } else { Vec::new() };
            let placed = |(template, &set): (&HashTemplate, &usize)| {
                PlacedTemplate::new(template, set, (*held.get(set)?)?, *sizes.get(set)?)
            };
            let placed = table.iter().zip(&places).map(placed).collect();
            let apart = load.iter().flat_map(|load| (0..sets.len()).map(|set| load.took_apart(set))).collect();
            ModelSets { held, placed, apart, converts: load.is_some() }
        });
        let models = models.collect();
        let names = sets.into_iter().map(|set| set.names).collect();
        HeldTemplates { names, sizes, by_set, places, models, overflow, is_whole: true }
    }

    /// Fast path for a value stored in one string: reads it without a walk, or returns false. `templates` are those of the file.
    #[inline]
    pub(crate) fn read_plain(&mut self, value_type: ValueType, value: PlainValue<'_>, templates: &Templates) -> bool {
        self.value.kind = if value_type == ValueType::HashTemplateListpackRef {
            if templates.are_foreign() || value.is_compressed() {
                return false;
            }
            NamesKind::Shared(templates.place_of_packed(value.content))
        } else {
            if self.converts && value_type == ValueType::HashListpack {
                return false;
            }
            NamesKind::None
        };
        true
    }

    fn wants(&self, fields: u64) -> bool {
        self.loads.iter().flatten().any(|load| load.takes(fields))
    }

    /// Adds a field name of the value.
    fn name(&mut self, name: RawString<'_>) {
        let room = self.most_bytes.saturating_sub(self.value.names.bytes()) as u64;
        if name.len() > room {
            self.overflow = true;
            self.value.kind = NamesKind::None;
            return;
        }
        match name.decode(&mut self.scratch) {
            Ok(text) => self.value.names.push(text),
            // Damage is reported by the pass that follows.
            Err(_) => self.value.kind = NamesKind::None,
        }
    }

    /// Adds the field names of an ordinary packed hash.
    fn packed_names(&mut self, blob: RawString<'_>, scratch: &mut Scratch) -> Option<()> {
        let prefix = blob.prefix(listpack::HEADER, scratch).ok()?;
        if let Some(count) = listpack::count(prefix, blob.len(), blob.offset).ok()?
            && !self.wants(count / 2)
        {
            return None;
        }
        let elements = listpack::Elements::new(blob.decode(scratch).ok()?, blob.offset).ok()?;
        let mut digits = itoa::Buffer::new();
        for (at, element) in elements.enumerate() {
            let element = element.ok()?;
            if at % 2 == 0 {
                self.value.names.push(match element {
                    PackedElement::Text(text) => text,
                    PackedElement::Int(number) => digits.format(number).as_bytes(),
                });
            }
        }
        self.wants(self.value.names.len() as u64).then_some(())
    }
}

/// Only the field names of a value matter.
impl Visit for TemplateCensus {
    #[inline]
    fn begin(&mut self, value_type: ValueType) {
        self.value.kind = match value_type {
            ValueType::HashTemplateListpackRef | ValueType::HashTemplateArrayRef => NamesKind::Shared(None),
            ValueType::HashTemplateListpack | ValueType::HashTemplateArray => NamesKind::Own,
            ValueType::Hash | ValueType::HashListpack if self.converts => NamesKind::Ordinary,
            _ => {
                self.value.kind = NamesKind::None;
                return;
            }
        };
        self.value.names.clear();
    }

    #[inline]
    fn lengths_suffice(&self) -> bool {
        !matches!(self.value.kind, NamesKind::Own | NamesKind::Ordinary)
    }

    fn count(&mut self, count: u64) {
        if self.value.kind == NamesKind::Ordinary && !self.wants(count) {
            self.value.kind = NamesKind::None;
        }
    }

    fn pair(&mut self, field: RawString<'_>, _value: RawString<'_>) {
        if matches!(self.value.kind, NamesKind::Own | NamesKind::Ordinary) {
            self.name(field);
        }
    }

    fn blob(&mut self, blob: RawString<'_>) {
        if self.value.kind == NamesKind::Ordinary {
            let mut scratch = std::mem::take(&mut self.scratch);
            if self.packed_names(blob, &mut scratch).is_none() {
                self.value.kind = NamesKind::None;
            }
            self.scratch = scratch;
        }
    }

    fn template(&mut self, template: &HashTemplate) {
        self.value.kind = NamesKind::Shared(Some(template.place()));
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        match names {
            TemplateNames::Shared(_) => {
                self.value.kind = NamesKind::Shared(names.place(blob, &mut self.scratch));
            }
            TemplateNames::Own(template) => template.fields().for_each(|name| self.name(RawString::plain(name))),
        }
    }
}
