//! Memory model: encoding, length and memory of a value as a given server would have after loading it.
//!
//! Memory is what `MEMORY USAGE key SAMPLES 0` would report. A [`Model`] is one server with its settings and allocator;
//! a [`Meter`] is the visitor that prices values during the walk, and [`Meters`] runs several of them on one walk. A
//! [`WhatIf`] derives another model from a base model.
//!
//! ```text
//! servers/*  ->  layout  ->  Model  ->  price      one formula each: sds, packed blob, table, skiplist, radix tree
//!                                  \->  meter/*    which of them a value takes, after the conversions of loading
//! ```
//!
//! `docs/memory-model.md` describes the arithmetic, the measured error and what cannot be known from a dump.

mod alloc;
mod compress;
mod config;
mod encoding;
mod growth;
mod instance;
mod item;
mod joint_pairs;
mod layout;
mod meter;
mod meters;
mod module_facts;
mod modules;
mod price;
mod rax;
mod score;
mod server;
mod servers;
mod skiplist;
mod slack;
mod stream_facts;
mod string_sizes;
mod templates;
mod vset;
mod what_if;

pub use alloc::Allocator;
pub use config::ServerConfig;
pub use encoding::Encoding;
pub use instance::{DatabaseShape, InstanceShape, SlotShape, TableBytes};
pub(crate) use meter::PricedPlain;
pub use meter::{Measured, Meter, ValueFacts};
pub(crate) use meters::AlternativeSizes;
pub use meters::Meters;
pub use module_facts::{ModuleFacts, Quantization};
#[cfg(feature = "internals")]
pub use server::ServerFamily;
pub use server::{Server, WriterTraces};
pub use stream_facts::StreamFacts;
pub use templates::{CensusExtent, HeldTemplates, LazyTemplates, RdbLoad, TemplateCensus, TemplateTotals, TemplateUse};
pub(crate) use what_if::NEWEST;
pub use what_if::WhatIf;

use crate::limits;
use crate::units::Bytes;
use alloc::SizeClasses;
use joint_pairs::JointPairs;
use layout::Layout;
use meter::KeptPacked;
use skiplist::NodePrices;

/// Memory model of one server with its settings and allocator.
#[derive(Debug)]
pub struct Model {
    server: Server,
    allocator: Allocator,
    config: ServerConfig,
    layout: Layout,
    classes: SizeClasses,
    about_layout: Option<Caveat>,
    nodes: NodePrices,
    short: ShortPrices,
    /// Prices of hash pairs whose entry holds them.
    joint: Option<Box<JointPairs>>,
    /// Precomputed size of key and object, by expiry and key length.
    frames: [[ShortFrame; ShortPrices::STRINGS]; 2],
    /// Precomputed price of a string that is no integer, beyond key and object, by length.
    texts: [Option<TextPrice>; ShortPrices::TEXTS],
    /// Packed collections that are kept as they are stored.
    packed_kept: [Option<KeptPacked>; KeptPacked::LAYOUTS],
    shares_numbers: bool,
    /// True if nothing is known about the server's memory: keys have no figures then.
    is_unknown: bool,
}

/// Precomputed prices of short strings and table elements.
#[derive(Debug, Clone, Copy)]
struct ShortPrices {
    /// A separately allocated string, by length.
    strings: [u32; ShortPrices::STRINGS],
    /// A table entry, by [`price::TableUse`].
    entries: [u64; 3],
    /// A table element with its entry, by [`price::TableUse`] and length; for hashes, the field.
    elements: [[ElementPrice; ShortPrices::STRINGS]; 3],
    /// The value of a hash field, by length.
    values: [ElementPrice; ShortPrices::STRINGS],
    /// True if a field and its value have separate allocations, so that their prices add up.
    apart: bool,
}

/// Compact form of [`price::FrameSize`] for short keys.
#[derive(Debug, Clone, Copy, Default)]
struct ShortFrame {
    outside: u32,
    object: u32,
    slack: i32,
    /// Strings that are embedded beside such a key; `None` if their length alone does not tell.
    embedding: Option<ShortEmbedding>,
}

/// Strings that are embedded beside a short key.
#[derive(Debug, Clone, Copy)]
struct ShortEmbedding {
    /// Bytes before the string.
    frame: u32,
    /// Strings shorter than this are embedded.
    lengths: u32,
}

/// Price of a short string beyond key and object.
#[derive(Debug, Clone, Copy)]
struct TextPrice {
    price: ElementPrice,
    encoding: Encoding,
}

/// Price of one part of a table element.
#[derive(Debug, Clone, Copy)]
struct ElementPrice {
    /// Bytes counted by `MEMORY USAGE`.
    memory: u32,
    /// Bytes allocated beyond those counted.
    slack: i32,
}

impl ShortPrices {
    /// Number of precomputed lengths; prices of longer strings are computed each time.
    const STRINGS: usize = 128;
    /// Number of precomputed lengths of string values, of which many are a little longer than names.
    const TEXTS: usize = 512;
    /// Placeholder while the model is being built.
    const NONE: ShortPrices = ShortPrices {
        strings: [0; ShortPrices::STRINGS],
        entries: [0; 3],
        elements: [[ElementPrice::NONE; ShortPrices::STRINGS]; 3],
        values: [ElementPrice::NONE; ShortPrices::STRINGS],
        apart: false,
    };
}

impl ElementPrice {
    const NONE: ElementPrice = ElementPrice { memory: 0, slack: 0 };

    /// Returns `None` if a value does not fit 32 bits.
    fn of((memory, slack): (u64, i64)) -> Option<ElementPrice> {
        Some(ElementPrice { memory: u32::try_from(memory).ok()?, slack: i32::try_from(slack).ok()? })
    }
}

impl Model {
    /// Returns whether this is the model of the same server with the same settings and allocator.
    pub fn is(&self, other: &Model) -> bool {
        (self.server, self.allocator, &self.config) == (other.server, other.allocator, &other.config)
    }

    /// Builds the model of a server; built once and shared by all workers.
    pub fn for_server(server: Server, allocator: Allocator, config: &ServerConfig) -> Model {
        let (layout, about_layout) = servers::layout(&server);
        let nodes = NodePrices::new(layout.skiplist.node, allocator);
        let shares_numbers = layout.shared_numbers && !config.evicts_by_use();
        let mut model = Model {
            server,
            allocator,
            config: config.clone(),
            layout,
            classes: SizeClasses::new(allocator),
            about_layout,
            nodes,
            short: ShortPrices::NONE,
            joint: None,
            frames: [[ShortFrame::default(); ShortPrices::STRINGS]; 2],
            shares_numbers,
            texts: [None; ShortPrices::TEXTS],
            packed_kept: [None; KeptPacked::LAYOUTS],
            is_unknown: matches!(about_layout, Some(Caveat::NoModel)),
        };
        // Order matters: prices of elements are computed from those of strings.
        model.short = model.short_prices();
        model.short_elements();
        model.joint = JointPairs::of(&model).map(Box::new);
        model.frames = model.short_frames();
        model.texts = model.short_texts();
        model.packed_kept = model.packed_layouts();
        model
    }

    /// Returns whether small integers are objects shared by all keys.
    #[inline]
    fn shares_numbers(&self) -> bool {
        self.shares_numbers
    }

    /// Returns whether the server is a cluster node.
    pub fn in_cluster(&self) -> bool {
        self.config.in_cluster()
    }

    /// Returns the memory of a hash, given the key length and its field and value lengths; none of them are integers.
    pub fn hash_of_texts(&self, key_len: u64, has_ttl: bool, pairs: &[(u64, u64)]) -> Bytes {
        let key = price::Key { len: key_len.min(limits::MAX_KEY_BYTES), expires: has_ttl };
        Bytes(meter::hash_of_texts(self, key, pairs))
    }

    /// Returns a model of the same server with the limits of packed collections multiplied by `factor`.
    pub fn raised(&self, factor: u64) -> Model {
        Model::for_server(self.server, self.allocator, &self.config.raised(factor))
    }

    /// Returns the settings.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// Returns the server.
    pub fn server(&self) -> Server {
        self.server
    }

    /// Returns whether keys have figures: nothing is known about the memory of some servers.
    pub fn is_known(&self) -> bool {
        !self.is_unknown
    }

    /// Returns a description: server, allocator and settings that change figures.
    pub fn name(&self) -> String {
        // Without the note on a guess, which is a caveat of its own.
        let mut name = format!("{}, {}", self.server.line_name(), self.allocator);
        for changed in self.config.changed_figures() {
            name.push_str(", ");
            name.push_str(&changed);
        }
        name
    }

    /// Returns the caveats that apply to this model's figures.
    pub fn caveats(&self) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if let Some(rdb) = self.server.guessed {
            caveats.push(Caveat::ServerGuessed { rdb_version: rdb, assumed: self.server });
        }
        caveats.extend(self.about_layout);
        if self.allocator == Allocator::Glibc {
            caveats.push(Caveat::AllocatorApproximate);
        }
        if self.layout.templates && self.config.makes_templates_on_write() {
            caveats.push(Caveat::TemplatesOnWrite);
        }
        caveats
    }
}

/// Reason to doubt the figures of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caveat {
    /// The dump does not name its server.
    ServerGuessed {
        /// RDB version that the server was guessed from.
        rdb_version: u32,
        /// The server that the figures are computed for.
        assumed: Server,
    },
    /// Redis Enterprise was not compared: open-source Redis of its version is taken instead.
    PricedAsOpenSource,
    /// Nothing is known about the memory of this server.
    NoModel,
    /// The server is older than `MEMORY USAGE`; Redis 4.0 is taken instead.
    ServerTooOld,
    /// The server is newer than those known; the newest known is taken instead.
    ServerTooNew,
    /// The model was checked against single values of a real server, not against whole dumps.
    ModelLittleChecked,
    /// Allocation sizes of glibc depend on what was freed before.
    AllocatorApproximate,
    /// Settings make hashes compact when they are written, which loading a file does not do.
    TemplatesOnWrite,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_up_is_what_is_computed() {
        use super::layout::TableUse;
        for name in
            ["redis-2.8", "redis-4.0", "redis-7.2", "redis-8.2", "redis-8.4", "valkey-8.0", "valkey-9.1", "keydb-6.3"]
        {
            let server = Server::parse(name).unwrap();
            let model = Model::for_server(server, Allocator::Jemalloc, &ServerConfig::default());
            assert!((0..300).all(|len| model.sds(len) == model.computed_sds(len)), "{name}");
            for table_use in [TableUse::Set, TableUse::Hash, TableUse::Zset] {
                assert_eq!(model.entry(table_use), model.computed_entry(table_use), "{name} {table_use:?}");
                assert!(
                    (0..300).all(|len| model.element(table_use, len) == model.computed_element(table_use, len)),
                    "{name} {table_use:?}"
                );
            }
            for (len, expires) in (0..300).flat_map(|len| [(len, false), (len, true)]) {
                let key = price::Key { len, expires };
                assert_eq!(model.frame(key), model.computed_frame(key), "{name} {len}");
                let texts =
                    (0..600).filter_map(|len| Some((model.short_text(key, len)?, meter::text(&model, key, len))));
                assert_eq!(texts.clone().count() >= 70, len < 128, "{name} {len}");
                assert!(texts.into_iter().all(|(one, other)| one == other), "{name} {len}");
                if let layout::ShortStrings::Joint(embedding) = &model.layout.short {
                    let values = (0..200).map(|len| (model.embedded(embedding, key, len), len));
                    let computed = (0..200).map(|len| (model.computed_embedded(embedding, key, len), len));
                    assert!(values.eq(computed), "{name} {len}");
                }
            }
            for (field, value) in
                (0..150).flat_map(|field| [0, 1, 31, 32, 99, 127, 128, 999].map(|value| (field, value)))
            {
                let computed = (model.pair(field, value, false), model.pair_slack(field, value, false));
                assert_eq!(model.plain_pair(field, value), computed, "{name}, {field} and {value} bytes");
            }
        }
    }

    #[test]
    fn model_is_send_and_sync() {
        fn shared<T: Send + Sync>() {}
        shared::<Model>();
    }

    #[test]
    fn name_and_caveats_describe_the_model() {
        let mut config = ServerConfig::default();
        config.set("hash-max-ziplist-entries", "64").unwrap();
        let server = Server::parse("redis-3.2").unwrap();
        let model = Model::for_server(server, Allocator::Glibc, &config);
        assert_eq!(model.name(), "redis 3.2, glibc, hash-max-listpack-entries 64");
        assert_eq!(model.caveats().len(), 2);
        config.set("hash-min-template-entries", "2").unwrap();
        let caveats =
            |name: &str| Model::for_server(Server::parse(name).unwrap(), Allocator::Jemalloc, &config).caveats();
        assert_eq!(caveats("redis-8.10"), [Caveat::TemplatesOnWrite]);
        assert!(caveats("redis-8.6").is_empty());
    }
}
