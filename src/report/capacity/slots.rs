//! Slots by bytes: which node should hold which slots, so that all take equally much memory after few moves.

use std::cmp::Reverse;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::cluster::{ClusterNodes, SLOTS, SlotSpan};
use super::layout::Layout;
use super::ranges;
use crate::report::{Example, NamedReport, Slots, Weight};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// A slot is listed as heavy if it is more than this part of a node's share, in thousandths: no assignment is more even than
/// its heaviest slot allows.
const HEAVY_PERMILLE: u128 = 20;

/// Assignment of the slots to nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SlotPlan {
    /// Start of the assignment.
    pub layout: SlotLayout,
    /// Number of nodes planned for.
    pub target_nodes: u64,
    /// The nodes: those that are there in the order given, then new ones.
    pub nodes: Vec<NodeLoad>,
    /// Moves, in the order in which they are to be made. Empty for a new cluster.
    pub moves: Vec<SlotMove>,
    /// Slots moved.
    pub moved_slots: u64,
    /// Memory of their keys.
    pub moved_memory: Bytes,
    /// The heaviest node as a multiple of the mean today; null for a new cluster.
    pub max_to_mean_now: Option<f64>,
    /// The heaviest node as a multiple of the mean after the moves.
    pub max_to_mean: f64,
    /// Least number of nodes that ranges of slots fit on; present for a new cluster if a range does not fit on one of the nodes
    /// planned for, but each slot does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewest_nodes: Option<u64>,
    /// Slots that weigh more than 2 % of a node's share, or more than a node has room for, heaviest first.
    pub heavy_slots: Vec<HeavySlot>,
    /// Commands that make the moves, in order.
    pub commands: Vec<SlotCommand>,
    /// True if the owner of slots without keys is a guess: give the nodes of the cluster to know.
    pub owners_guessed: bool,
}

/// Start of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SlotLayout {
    /// The inputs are nodes of a cluster, each with its own slots.
    Cluster,
    /// The inputs are no cluster: its nodes are all new.
    New,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct NodeLoad {
    /// Input that holds its keys, else its address; null for a new node.
    pub name: Option<String>,
    /// Its id in the cluster, where it is known.
    pub id: Option<String>,
    /// Slots today.
    pub slots_now: u64,
    /// Memory of their keys today.
    pub memory_now: Bytes,
    /// Slots after the moves.
    pub slots: u64,
    /// Memory of their keys after the moves.
    pub memory: Bytes,
    /// That with a share of the tables, in proportion.
    pub total: Bytes,
    /// True if the total is within the memory for data of a node.
    pub fits: bool,
    /// Slots after the moves, as ranges.
    pub ranges: Vec<SlotSpan>,
}

/// One move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SlotMove {
    /// Position of the node that gives, among the nodes.
    pub from: usize,
    /// Position of the node that takes.
    pub to: usize,
    /// Number of slots: the lowest that the giving node still has.
    pub slots: u64,
    /// Memory of their keys.
    pub memory: Bytes,
    /// The slots, as ranges.
    pub ranges: Vec<SlotSpan>,
}

/// One command. What the reader has to fill in is in capitals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SlotCommand {
    /// The command.
    pub command: String,
    /// Its effect.
    #[serde(flatten)]
    pub effect: SlotEffect,
}

/// Effect of a command. Nodes are positions among the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum SlotEffect {
    /// A new node joins the cluster.
    AddNode {
        /// The node.
        node: usize,
    },
    /// Slots move, with their keys.
    MoveSlots {
        /// The node that gives.
        from: usize,
        /// The node that takes.
        to: usize,
        /// Number of slots.
        slots: u64,
    },
    /// A node of a new cluster gets its slots.
    AssignSlots {
        /// The node.
        node: usize,
    },
    /// An empty node leaves the cluster.
    RemoveNode {
        /// The node.
        node: usize,
    },
}

/// Slot that alone is a notable part of a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct HeavySlot {
    /// Its number.
    pub slot: u16,
    /// Keys.
    pub keys: u64,
    /// Memory.
    pub memory: Bytes,
    /// That with a share of the tables, in proportion.
    pub total: Bytes,
    /// The memory as a part of a node's share.
    pub of_share: f64,
    /// True if the total is within the memory for data of a node. If not, no number of nodes suffices.
    pub fits: bool,
    /// Its heaviest key, where the report lists it.
    pub example: Option<Example>,
}

/// Reason why slots are not planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPlan {
    /// One node holds everything.
    OneNode,
    /// Stored reports do not have the memory of every slot.
    SlotsNotStored,
    /// Two nodes of a cluster hold keys of one slot.
    SlotsOverlap,
    /// A node of the cluster has slots, but its snapshot is not among the inputs.
    NodeMissing,
}

/// Room of a node, and the deployment that fills it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeRoom {
    /// Memory of a node that data may take.
    pub usable: Bytes,
    /// Memory of all keys.
    pub keys: Bytes,
    /// Memory that nodes are needed for: of keys and tables, where it is known.
    pub total: Bytes,
}

impl NodeRoom {
    /// Returns the memory of some keys with a share of the tables, in proportion: that of all keys is the total.
    fn total_of(self, keys: Bytes) -> Bytes {
        let total = (u128::from(keys.0) * u128::from(self.total.0)).div_ceil(u128::from(self.keys.0.max(1)));
        Bytes(u64::try_from(total).unwrap_or(u64::MAX))
    }

    fn fits(self, keys: Bytes) -> bool {
        self.total_of(keys) <= self.usable
    }

    /// Returns the most memory of keys that fits.
    fn most_keys(self) -> u64 {
        let keys = u128::from(self.usable.0) * u128::from(self.keys.0.max(1)) / u128::from(self.total.0.max(1));
        u64::try_from(keys).unwrap_or(u64::MAX)
    }
}

/// Plans the slots of `count` nodes.
pub(super) fn plan(
    servers: &[NamedReport],
    known: Option<&ClusterNodes>,
    count: u64,
    room: NodeRoom,
    top: usize,
) -> Result<SlotPlan, NoPlan> {
    let count = usize::try_from(count.clamp(1, u64::from(SLOTS))).unwrap_or(1);
    if count == 1 && servers.len() == 1 && known.is_none() {
        return Err(NoPlan::OneNode);
    }
    let slots: Vec<&Slots> = servers.iter().filter_map(|named| named.report.slots.as_ref()).collect();
    if slots.len() < servers.len() || slots.iter().any(|slots| slots.used > 0 && slots.weights.is_empty()) {
        return Err(NoPlan::SlotsNotStored);
    }
    let weights: Vec<&[Weight]> = slots.iter().map(|slots| slots.weights.as_slice()).collect();
    let mut all = vec![Weight::default(); usize::from(SLOTS)];
    for weights in &weights {
        all.iter_mut().zip(*weights).for_each(|(sum, weight)| sum.merge(*weight));
    }
    let is_cluster = known.is_some() || servers.iter().all(|named| named.report.server.cluster);
    // Redis before 8.0 does not say in its dumps that it is the node of a cluster: no two of them hold keys of one slot.
    let of_new = || Layout::of_new(&ranges::divide(&all, count, room.most_keys()), count);
    let layout = match Layout::of_cluster(servers, &weights, known) {
        Err(NoPlan::SlotsOverlap) if !is_cluster => of_new(),
        Ok(_) if !is_cluster && servers.len() == 1 => of_new(),
        layout => layout?,
    };
    let mut plan = layout.plan(&all, count);
    for node in &mut plan.nodes {
        (node.total, node.fits) = (room.total_of(node.memory), room.fits(node.memory));
    }
    if plan.layout == SlotLayout::New && plan.nodes.iter().any(|node| !node.fits) {
        plan.fewest_nodes = ranges::fewest(&all, room.most_keys());
    }
    plan.heavy_slots = heavy(&all, &slots, count, room, top);
    Ok(plan)
}

/// Lists slots that are a notable part of a node's share, or more than a node has room for.
fn heavy(all: &[Weight], slots: &[&Slots], count: usize, room: NodeRoom, top: usize) -> Vec<HeavySlot> {
    let share = all.iter().map(|weight| weight.memory).sum::<Bytes>().0 / count as u64;
    let is_heavy =
        |memory: Bytes| !room.fits(memory) || u128::from(memory.0) * 1000 > u128::from(share) * HEAVY_PERMILLE;
    let mut rows: Vec<(u16, &Weight)> = (0..).zip(all).filter(|(_, weight)| is_heavy(weight.memory)).collect();
    rows.compact_sort_by_key(|(slot, weight)| (Reverse(weight.memory), *slot));
    let example = |slot: u16| {
        let rows = slots.iter().flat_map(|slots| &slots.heaviest).filter(|row| row.slot == slot);
        rows.max_by_key(|row| row.memory).map(|row| row.example.clone())
    };
    let row = |(slot, weight): (u16, &Weight)| HeavySlot {
        slot,
        keys: weight.keys,
        memory: weight.memory,
        total: room.total_of(weight.memory),
        of_share: weight.memory.0 as f64 / share.max(1) as f64,
        fits: room.fits(weight.memory),
        example: example(slot),
    };
    rows.into_iter().take(top).map(row).collect()
}
