//! Assignment of slots to nodes: moves between the nodes of a cluster, or ranges of a new one.
//!
//! `redis-cli --cluster reshard` moves the lowest slots of a node first and cannot be told which. So a node gives away its lowest
//! slots for as long as it has more than its share: the moves planned are those that the commands make.

use std::cmp::Reverse;

use super::cluster::{ClusterNodes, SLOTS, SlotSpan};
use super::slots::{NoPlan, NodeLoad, SlotCommand, SlotEffect, SlotLayout, SlotMove, SlotPlan};
use crate::report::{NamedReport, Weight};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Slots moved by one command at most, so that a long move can be interrupted between two.
const BATCH: usize = 1_000;

/// Nodes with the slots that they hold.
pub(super) struct Layout {
    kind: SlotLayout,
    nodes: Vec<Node>,
    owners_guessed: bool,
}

#[derive(Default)]
struct Node {
    /// `None` for a new node.
    name: Option<String>,
    id: Option<String>,
    address: Option<String>,
    /// Ascending.
    slots: Vec<u16>,
}

impl Layout {
    /// Returns the nodes of a cluster. Fails if two servers hold keys of one slot, as copies do, or a node has no snapshot.
    pub fn of_cluster(
        servers: &[NamedReport],
        weights: &[&[Weight]],
        known: Option<&ClusterNodes>,
    ) -> Result<Layout, NoPlan> {
        let mut holder: Vec<Option<usize>> = vec![None; usize::from(SLOTS)];
        for (server, weights) in weights.iter().enumerate() {
            for (holder, weight) in holder.iter_mut().zip(*weights) {
                if weight.keys > 0 && holder.replace(server).is_some() {
                    return Err(NoPlan::SlotsOverlap);
                }
            }
        }
        let listed = known.and_then(|known| Some((known, servers_of(known, &holder, servers.len())?)));
        let (nodes, owners_guessed) = match listed {
            Some((ClusterNodes(known), servers_of)) => {
                let without = known.iter().zip(&servers_of);
                let without = without.filter(|(node, server)| server.is_none() && !node.slots.is_empty()).count();
                let empty = servers.len() - servers_of.iter().flatten().count();
                if without > empty {
                    return Err(NoPlan::NodeMissing);
                }
                let node = |(node, server): (&super::ClusterNode, &Option<usize>)| Node {
                    name: Some(server.map_or_else(|| node.address.clone(), |server| servers[server].name.clone())),
                    id: Some(node.id.clone()),
                    // A node that has not been told its own address lists it without a host.
                    address: Some(node.address.clone()).filter(|address| !address.starts_with(':')),
                    slots: node.slots.iter().flat_map(|span| span.first..=span.last).collect(),
                };
                (known.iter().zip(&servers_of).map(node).collect(), false)
            }
            None => {
                // A list that does not fit says nothing about these servers.
                let guessed = known.is_some() || holder.iter().any(Option::is_none);
                let node = |named: &NamedReport| Node { name: Some(named.name.clone()), ..Node::default() };
                let mut nodes: Vec<Node> = servers.iter().map(node).collect();
                // Slots beside each other mostly have one owner.
                let mut last = holder.iter().flatten().next().copied().unwrap_or(0);
                for (slot, holder) in (0..).zip(&holder) {
                    last = holder.unwrap_or(last);
                    nodes[last].slots.push(slot);
                }
                (nodes, guessed)
            }
        };
        Ok(Layout { kind: SlotLayout::Cluster, nodes, owners_guessed })
    }

    /// Returns the nodes of a new cluster, given the node of each slot.
    pub fn of_new(node_of: &[usize], count: usize) -> Layout {
        let mut nodes: Vec<Node> = std::iter::repeat_with(Node::default).take(count).collect();
        for (slot, node) in (0..SLOTS).zip(node_of) {
            if let Some(node) = nodes.get_mut(*node) {
                node.slots.push(slot);
            }
        }
        Layout { kind: SlotLayout::New, nodes, owners_guessed: false }
    }

    /// Plans the moves to `count` equally heavy nodes.
    pub fn plan(mut self, all: &[Weight], count: usize) -> SlotPlan {
        let now: Vec<(u64, u64)> =
            self.nodes.iter().map(|node| (node.slots.len() as u64, total(all, node.slots.iter().copied()))).collect();
        let present: Vec<u64> = now.iter().map(|(_, memory)| *memory).collect();
        self.nodes.resize_with(count.max(present.len()), Node::default);
        let mut balance = Balance::new(&self.nodes, all, count);
        let moves = if self.kind == SlotLayout::Cluster { balance.moves() } else { Vec::new() };
        let Balance { held, load, leaving, .. } = balance;
        let stays: Vec<u64> =
            load.iter().zip(&leaving).filter(|(_, leaving)| !**leaving).map(|(load, _)| *load).collect();
        let is_cluster = self.kind == SlotLayout::Cluster;
        let nodes: Vec<NodeLoad> = (self.nodes.iter().zip(held).zip(&load).enumerate())
            .map(|(at, ((node, mut slots), load))| {
                slots.sort_unstable();
                let (slots_now, memory_now) = now.get(at).copied().filter(|_| is_cluster).unwrap_or_default();
                NodeLoad {
                    name: node.name.clone(),
                    id: node.id.clone(),
                    slots_now,
                    memory_now: Bytes(memory_now),
                    slots: slots.len() as u64,
                    memory: Bytes(*load),
                    total: Bytes(*load),
                    fits: true,
                    ranges: SlotSpan::of(slots),
                }
            })
            .collect();
        SlotPlan {
            layout: self.kind,
            target_nodes: count as u64,
            commands: match self.kind {
                SlotLayout::Cluster => self.reshard_commands(&moves, &leaving),
                SlotLayout::New => create_commands(&nodes),
            },
            moved_slots: moves.iter().map(|it| it.slots).sum(),
            moved_memory: moves.iter().map(|it| it.memory).sum(),
            max_to_mean_now: is_cluster.then(|| max_to_mean(&present)),
            max_to_mean: max_to_mean(&stays),
            fewest_nodes: None,
            heavy_slots: Vec::new(),
            owners_guessed: self.owners_guessed,
            nodes,
            moves,
        }
    }

    /// Returns the commands for the moves.
    fn reshard_commands(&self, moves: &[SlotMove], leaving: &[bool]) -> Vec<SlotCommand> {
        let fill = |known: &Option<String>, what: &str, node: usize| {
            known.clone().unwrap_or_else(|| format!("{what}_OF_NODE_{}", node + 1))
        };
        let id = |node: usize| fill(&self.nodes[node].id, "ID", node);
        let address = |node: usize| fill(&self.nodes[node].address, "ADDRESS", node);
        let all = || 0..self.nodes.len();
        let mut commands = Vec::new();
        for node in all().filter(|node| self.nodes[*node].name.is_none()) {
            let command = format!("redis-cli --cluster add-node {} {}", address(node), address(0));
            commands.push(SlotCommand { command, effect: SlotEffect::AddNode { node } });
        }
        for &SlotMove { from, to, slots, .. } in moves {
            let batches = (0..slots).step_by(BATCH);
            commands.extend(batches.map(|begin| {
                let slots = (slots - begin).min(BATCH as u64);
                let command = format!(
                    "redis-cli --cluster reshard {} --cluster-from {} --cluster-to {} --cluster-slots {slots} --cluster-yes",
                    address(from),
                    id(from),
                    id(to),
                );
                SlotCommand { command, effect: SlotEffect::MoveSlots { from, to, slots } }
            }));
        }
        // A node that was removed knows the cluster no more.
        let stays = all().find(|node| !leaving[*node]).unwrap_or_default();
        for node in all().filter(|node| leaving[*node]) {
            let command = format!("redis-cli --cluster del-node {} {}", address(stays), id(node));
            commands.push(SlotCommand { command, effect: SlotEffect::RemoveNode { node } });
        }
        commands
    }
}

/// Returns the commands that give the nodes of a new cluster their slots.
fn create_commands(nodes: &[NodeLoad]) -> Vec<SlotCommand> {
    let command = |(node, load): (usize, &NodeLoad)| {
        let ranges: Vec<String> = load.ranges.iter().map(|span| format!("{} {}", span.first, span.last)).collect();
        let address = format!("redis://ADDRESS_OF_NODE_{}", node + 1);
        let command = format!("redis-cli -u {address} CLUSTER ADDSLOTSRANGE {}", ranges.join(" "));
        (!ranges.is_empty()).then_some(SlotCommand { command, effect: SlotEffect::AssignSlots { node } })
    };
    nodes.iter().enumerate().filter_map(command).collect()
}

/// Returns for each node the server that holds its keys, or `None` if the keys of a server are in slots of several nodes or of
/// none: the list is not of these servers at this time.
fn servers_of(
    ClusterNodes(known): &ClusterNodes,
    holder: &[Option<usize>],
    servers: usize,
) -> Option<Vec<Option<usize>>> {
    let mut node_of: Vec<Option<usize>> = vec![None; usize::from(SLOTS)];
    for (at, node) in known.iter().enumerate() {
        let slots = node.slots.iter().flat_map(|span| span.first..=span.last);
        slots.for_each(|slot| node_of[usize::from(slot)] = Some(at));
    }
    let mut by_node: Vec<Option<usize>> = vec![None; known.len()];
    let mut by_server: Vec<Option<usize>> = vec![None; servers];
    for (server, node) in holder.iter().zip(&node_of).filter_map(|(server, node)| Some(((*server)?, *node))) {
        let node = node?;
        if *by_node[node].get_or_insert(server) != server || *by_server[server].get_or_insert(node) != node {
            return None;
        }
    }
    Some(by_node)
}

/// Node that gives, node that takes, and the slots.
type PlannedMove = (usize, usize, Vec<u16>);

/// Rounds of moves at most; two are enough for one heavy slot.
const ROUNDS: usize = 8;

/// Most slots that are moved although they make nodes less even at first.
const HAND_OVERS: usize = 32;

/// Slots and bytes of nodes while moves are planned.
struct Balance<'w> {
    weights: &'w [Weight],
    held: Vec<Vec<u16>>,
    load: Vec<u64>,
    /// Nodes that are to be emptied.
    leaving: Vec<bool>,
    /// Equal share of those that stay.
    share: u64,
    /// Slots that have moved since the last start.
    moved: Vec<bool>,
}

impl<'w> Balance<'w> {
    fn new(nodes: &[Node], weights: &'w [Weight], count: usize) -> Self {
        let held: Vec<Vec<u16>> = nodes.iter().map(|node| node.slots.clone()).collect();
        let load: Vec<u64> = held.iter().map(|slots| total(weights, slots.iter().copied())).collect();
        let share = load.iter().fold(0_u64, |sum, load| sum.saturating_add(*load)) / count as u64;
        let moved = vec![false; usize::from(SLOTS)];
        let mut balance = Balance { weights, held, leaving: vec![false; nodes.len()], load, share, moved };
        // With fewer nodes than today the lightest leave.
        for node in balance.heaviest_first().into_iter().skip(count) {
            balance.leaving[node] = true;
        }
        balance
    }

    fn heaviest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.load.len()).collect();
        order.compact_sort_by_key(|node| Reverse(self.load[*node]));
        order
    }

    fn excess(&self, node: usize) -> u64 {
        self.load[node].saturating_sub(if self.leaving[node] { 0 } else { self.share })
    }

    fn lack(&self, node: usize) -> u64 {
        if self.leaving[node] { 0 } else { self.share.saturating_sub(self.load[node]) }
    }

    /// Plans the moves that even out the nodes.
    fn moves(&mut self) -> Vec<SlotMove> {
        let mut moves = Vec::new();
        self.settle(&mut moves, 0);
        if self.heaviest() > self.bound() {
            self.moved.fill(false);
            self.settle(&mut moves, 1);
        }
        // A slot that is heavier than what its node has too much and than what any other node lacks stays where it is, and so do
        // the slots above it. Its move pays if the rest of the plan gets more even by it.
        for _ in 0..HAND_OVERS {
            let heaviest = self.heaviest();
            if heaviest <= self.bound() {
                break;
            }
            let before = (self.held.clone(), self.load.clone(), moves.clone());
            if !self.hand_over(&mut moves) {
                break;
            }
            self.moved.fill(false);
            self.settle(&mut moves, 1);
            if self.heaviest().saturating_add(self.tolerance()) > heaviest {
                (self.held, self.load, moves) = before;
                break;
            }
        }
        let memory = |slots: &[u16]| Bytes(total(self.weights, slots.iter().copied()));
        let step = |(from, to, slots): PlannedMove| SlotMove {
            from,
            to,
            slots: slots.len() as u64,
            memory: memory(&slots),
            ranges: SlotSpan::of(slots),
        };
        moves.into_iter().map(step).collect()
    }

    /// Moves slots, round by round, until no node has more than its share by half of a slot. No slot moves twice.
    ///
    /// One slot may be heavier than what any node lacks. In round 0 a node takes it all the same, and gives slots of its own before
    /// or in a later round.
    fn settle(&mut self, moves: &mut Vec<PlannedMove>, first_round: usize) {
        for round in first_round..ROUNDS {
            let before = moves.len();
            for from in self.heaviest_first() {
                self.give(from, round > 0, moves);
            }
            if moves.len() == before {
                break;
            }
        }
    }

    /// Moves the lowest slots of a node to others while it has too much. If `fits` is set, only nodes that lack most of a slot take
    /// it.
    fn give(&mut self, from: usize, fits: bool, moves: &mut Vec<PlannedMove>) {
        self.held[from].sort_unstable();
        let mut given = 0;
        for slot in self.held[from].clone() {
            let memory = total(self.weights, [slot]);
            // A slot goes if the node is nearer to its share without it.
            let goes = self.leaving[from] || memory < self.excess(from).saturating_mul(2);
            if !goes || self.moved[usize::from(slot)] {
                break;
            }
            let to = self.receiver(from, slot, memory, moves.last());
            let takes = |to: &usize| !fits || self.lack(*to).saturating_mul(2) > memory;
            let Some(to) = to.filter(takes) else { break };
            if !self.is_room(to, memory) {
                self.held[from].drain(..given);
                self.swap(slot, from, to, moves);
                return;
            }
            self.transfer(slot, from, to, moves);
            given += 1;
        }
        self.held[from].drain(..given);
    }

    /// Moves the lowest slot of the heaviest node to another one if both can then be lighter than the heaviest is now. Returns
    /// whether they can.
    fn hand_over(&mut self, moves: &mut Vec<PlannedMove>) -> bool {
        let Some(&from) = self.heaviest_first().first() else { return false };
        let Some(&slot) = self.held[from].iter().min() else { return false };
        let Some(to) = self.taker_of_heavy(from, slot) else { return false };
        let least = self.share.max(total(self.weights, [slot]));
        let pays = least.saturating_add(self.tolerance()) < self.load[from];
        if pays {
            self.swap(slot, from, to, moves);
        }
        pays
    }

    /// Moves the lowest slot of a node to another one that has too much with it, and lighter ones the other way.
    ///
    /// The node that takes it can give slots below it afterwards. If these are too few, it gives its lowest slots before: those
    /// above the slot stay with the other node, those below come back, as they are the first that the other node gives.
    fn swap(&mut self, slot: u16, from: usize, to: usize, moves: &mut Vec<PlannedMove>) {
        let heavy = total(self.weights, [slot]);
        self.held[to].sort_unstable();
        let (below, above) = self.held[to].split_at(self.held[to].partition_point(|held| *held < slot));
        let mut excess = self.load[to].saturating_add(heavy).saturating_sub(self.share);
        let mut given = Vec::new();
        if total(self.weights, below.iter().copied()) < excess && !self.leaving[from] {
            for &held in above {
                let memory = total(self.weights, [held]);
                // Move it only if the node is then nearer to its share.
                if memory >= excess.saturating_mul(2) {
                    break;
                }
                excess -= memory.min(excess);
                given.push(held);
            }
        }
        let below = if given.is_empty() { Vec::new() } else { below.to_vec() };
        for slot in below.iter().chain(&given) {
            self.transfer(*slot, to, from, moves);
        }
        for slot in below.iter().copied().chain([slot]) {
            self.transfer(slot, from, to, moves);
        }
        let stays = |held: &u16, gone: &[u16]| gone.binary_search(held).is_err();
        self.held[to].retain(|held| stays(held, &given));
        self.held[from].retain(|held| *held != slot && stays(held, &below));
        // Both moves have added the slots that came back.
        self.held[to].sort_unstable();
        self.held[to].dedup();
    }

    /// Notes the move of a slot, and adds it to the node that takes it.
    fn transfer(&mut self, slot: u16, from: usize, to: usize, moves: &mut Vec<PlannedMove>) {
        let memory = total(self.weights, [slot]);
        match moves.last_mut() {
            Some((giver, taker, slots)) if (*giver, *taker) == (from, to) => slots.push(slot),
            _ => moves.push((from, to, vec![slot])),
        }
        self.load[from] = self.load[from].saturating_sub(memory);
        self.load[to] = self.load[to].saturating_add(memory);
        self.held[to].push(slot);
        self.moved[usize::from(slot)] = true;
    }

    fn heaviest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or_default()
    }

    /// Difference between nodes that is not worth further moves.
    fn tolerance(&self) -> u64 {
        self.share / 50
    }

    /// Returns what the heaviest node weighs if nodes are as even as their heaviest slot allows.
    fn bound(&self) -> u64 {
        let slot = self.weights.iter().map(|weight| weight.memory.0).max().unwrap_or_default();
        self.share.max(slot).saturating_add(self.tolerance())
    }

    /// Returns the node that takes a slot: that of the last move while it lacks half of the slot, else the one that lacks most. A
    /// slot that is heavier than what any node lacks goes to the node that has the least with it.
    fn receiver(&self, from: usize, slot: u16, memory: u64, last: Option<&PlannedMove>) -> Option<usize> {
        let same = last.filter(|(giver, ..)| *giver == from).map(|(_, taker, _)| *taker);
        let fits = |taker: &usize| self.lack(*taker).saturating_mul(2) > memory;
        let rank = |node: &usize| (self.lack(*node), Reverse(self.load[*node]), Reverse(*node));
        let most = || self.others(from).max_by_key(rank).filter(fits);
        same.filter(fits).or_else(most).or_else(|| self.taker_of_heavy(from, slot))
    }

    /// Returns the node that has to move the least to take a slot; of several the lightest.
    fn taker_of_heavy(&self, from: usize, slot: u16) -> Option<usize> {
        let heavy = total(self.weights, [slot]);
        let cost = |node: usize| {
            let excess = self.load[node].saturating_add(heavy).saturating_sub(self.share);
            let below = total(self.weights, self.held[node].iter().copied().filter(|held| *held < slot));
            excess.saturating_add(if below < excess { below.saturating_mul(2) } else { 0 })
        };
        self.others(from).min_by_key(|node| (cost(*node), self.load[*node], *node))
    }

    /// Returns the nodes that may take slots of `from`.
    fn others(&self, from: usize) -> impl Iterator<Item = usize> {
        (0..self.load.len()).filter(move |node| *node != from && !self.leaving[*node])
    }

    /// Returns whether a node has about its share at most with this much more.
    fn is_room(&self, node: usize, memory: u64) -> bool {
        self.load[node].saturating_add(memory) <= self.share.saturating_add(self.tolerance())
    }
}

/// Returns the memory of some slots.
fn total(weights: &[Weight], slots: impl IntoIterator<Item = u16>) -> u64 {
    let memory = |slot: u16| weights.get(usize::from(slot)).map_or(0, |weight| weight.memory.0);
    slots.into_iter().fold(0, |sum, slot| sum.saturating_add(memory(slot)))
}

/// Returns the heaviest as a multiple of the mean; 1 if there is nothing.
fn max_to_mean(load: &[u64]) -> f64 {
    let sum: u128 = load.iter().map(|load| u128::from(*load)).sum();
    let max = load.iter().max().copied().unwrap_or_default();
    if sum == 0 { 1.0 } else { max as f64 * load.len() as f64 / sum as f64 }
}
