//! The nodes of a cluster, from the output of `CLUSTER NODES` or a node's `nodes.conf`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
pub(super) use crate::rdb::slot_info::SLOTS;
use crate::report::{Warning, WarningKind};

/// Most nodes that are read: a cluster has at most about a thousand.
const MAX_NODES: usize = SLOTS as usize;

/// Primary nodes of a cluster, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterNodes(pub Vec<ClusterNode>);

/// Primary node of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterNode {
    /// Its id.
    pub id: String,
    /// Its address, as `HOST:PORT`.
    pub address: String,
    /// Its slots, ascending.
    pub slots: Vec<SlotSpan>,
    /// State of the connection to it.
    pub state: NodeState,
    /// Slots that it is giving or taking. A node knows those of itself only.
    pub open: Vec<OpenSlot>,
}

/// State of the connection of a cluster to a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NodeState {
    /// Nothing is known against it.
    #[default]
    Reachable,
    /// The node that was asked does not reach it (`fail?`).
    Suspected,
    /// The majority does not reach it (`fail`).
    Failed,
    /// It has not joined yet (`handshake`).
    Joining,
    /// Its address is not known (`noaddr`).
    NoAddress,
}

impl NodeState {
    /// Returns the flag in the output of `CLUSTER NODES`.
    pub const fn flag(self) -> &'static str {
        match self {
            NodeState::Reachable => "master",
            NodeState::Suspected => "fail?",
            NodeState::Failed => "fail",
            NodeState::Joining => "handshake",
            NodeState::NoAddress => "noaddr",
        }
    }

    /// Returns the state that the flags of a node tell, the gravest of several.
    fn of(flags: &str) -> NodeState {
        let states = [NodeState::Failed, NodeState::Suspected, NodeState::Joining, NodeState::NoAddress];
        let told = |state: &NodeState| flags.split(',').any(|flag| flag == state.flag());
        states.into_iter().find(told).unwrap_or_default()
    }
}

/// Slot on the move between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenSlot {
    /// Its number.
    pub slot: u16,
    /// Id of the node that gives it.
    pub from: String,
    /// Id of the node that takes it.
    pub to: String,
}

impl OpenSlot {
    /// Parses `[93->-ID]` or `[93-<-ID]` of the line of node `own`.
    fn parse(text: &str, own: &str) -> Option<OpenSlot> {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let give = inner.split_once("->-").map(|(slot, other)| (slot, own, other));
        let (slot, from, to) = give.or_else(|| inner.split_once("-<-").map(|(slot, other)| (slot, other, own)))?;
        let slot = slot.parse().ok().filter(|slot| *slot < SLOTS)?;
        (is_id(from) && is_id(to)).then(|| OpenSlot { slot, from: from.to_owned(), to: to.to_owned() })
    }
}

/// Returns whether a text may be the id of a node: it is shown within commands.
fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Slots beside each other, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SlotSpan {
    /// The first of them.
    pub first: u16,
    /// The last of them.
    pub last: u16,
}

impl fmt::Display for SlotSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SlotSpan { first, last } = self;
        if first == last { write!(f, "{first}") } else { write!(f, "{first}–{last}") }
    }
}

impl SlotSpan {
    /// Returns ascending slots as spans.
    pub(super) fn of(slots: impl IntoIterator<Item = u16>) -> Vec<SlotSpan> {
        let mut spans: Vec<SlotSpan> = Vec::new();
        for slot in slots {
            match spans.last_mut().filter(|span| span.last.checked_add(1) == Some(slot)) {
                Some(span) => span.last = slot,
                None => spans.push(SlotSpan { first: slot, last: slot }),
            }
        }
        spans
    }
}

impl ClusterNodes {
    /// Parses the text. `name` stands for the file in messages; each error names the line.
    pub fn parse(text: &str, name: &str) -> Result<ClusterNodes, Error> {
        let remedy = "give the output of `redis-cli CLUSTER NODES`, or the nodes.conf of a node";
        let mut nodes: Vec<ClusterNode> = Vec::new();
        let mut owned = vec![false; usize::from(SLOTS)];
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |what: String| Error::usage(format!("{name}: line {number}: {what}")).with_hint(remedy);
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields.is_empty() || fields[0] == "vars" {
                continue;
            }
            let [id, address, flags, _, _, _, _, _, slots @ ..] = fields.as_slice() else {
                return Err(wrong("a node has at least eight fields".to_owned()));
            };
            // A node that is joining has no role yet.
            if !flags.split(',').any(|flag| flag == "master" || flag == "handshake") {
                continue;
            }
            if nodes.len() == MAX_NODES {
                return Err(wrong("more nodes than a cluster has slots".to_owned()));
            }
            let node = ClusterNode::new(id, address, flags).and_then(|node| node.with_slots(slots, &mut owned));
            nodes.push(node.map_err(wrong)?);
        }
        if nodes.iter().any(|node| !node.slots.is_empty()) {
            Ok(ClusterNodes(nodes))
        } else {
            Err(Error::usage(format!("{name}: no node with slots")).with_hint(remedy))
        }
    }

    /// Returns the nodes that hold slots or can take some.
    pub(super) fn in_use(&self) -> ClusterNodes {
        let is_in_use = |node: &&ClusterNode| !node.slots.is_empty() || node.state == NodeState::Reachable;
        ClusterNodes(self.0.iter().filter(is_in_use).cloned().collect())
    }

    /// Returns a warning for each thing that is wrong with the cluster and keeps its slots from being moved.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let (holding, empty): (Vec<&ClusterNode>, Vec<&ClusterNode>) =
            self.0.iter().filter(|node| node.state != NodeState::Reachable).partition(|node| !node.slots.is_empty());
        let named = |nodes: Vec<&ClusterNode>| -> Vec<String> {
            nodes.into_iter().map(|node| format!("{} ({})", node.name(), node.state.flag())).collect()
        };
        let mut owned = vec![false; usize::from(SLOTS)];
        for slot in self.0.iter().flat_map(|node| &node.slots).flat_map(|span| span.first..=span.last) {
            owned[usize::from(slot)] = true;
        }
        let without = (0..SLOTS).zip(owned).filter(|(_, owned)| !owned).map(|(slot, _)| slot);
        let without = SlotSpan::of(without);
        let slots = without.iter().map(|span| u64::from(span.last - span.first) + 1).sum();
        let open: BTreeSet<&OpenSlot> = self.0.iter().flat_map(|node| &node.open).collect();
        // The first of nodes with one id counts.
        let names: BTreeMap<&str, &str> = self.0.iter().rev().map(|node| (node.id.as_str(), node.name())).collect();
        let name = |id: &str| names.get(id).map_or_else(|| id.to_owned(), |name| (*name).to_owned());
        let open = open.into_iter().map(|it| format!("{} ({} → {})", it.slot, name(&it.from), name(&it.to)));
        let (holding, empty, open) = (named(holding), named(empty), open.collect::<Vec<_>>());
        let kinds = [
            (!holding.is_empty()).then_some(WarningKind::ClusterNodesFailed { nodes: holding }),
            (!empty.is_empty()).then_some(WarningKind::ClusterNodesLeftOut { nodes: empty }),
            (slots > 0).then(|| WarningKind::ClusterSlotsUnassigned {
                slots,
                ranges: without.iter().map(SlotSpan::to_string).collect(),
            }),
            (!open.is_empty()).then_some(WarningKind::ClusterSlotsOpen { slots: open }),
        ];
        kinds.into_iter().flatten().map(Warning::new).collect()
    }
}

impl ClusterNode {
    /// Creates a node without slots, or returns what is wrong with its fields.
    fn new(id: &str, address: &str, flags: &str) -> Result<ClusterNode, String> {
        if !is_id(id) {
            return Err("the id of a node is made of letters and digits".to_owned());
        }
        // Addresses are shown within commands: a shell must find nothing in them.
        let address = host_and_port(address);
        if !address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_".contains(&byte)) {
            return Err("the address of a node is no HOST:PORT".to_owned());
        }
        let (id, address) = (id.to_owned(), address.to_owned());
        Ok(ClusterNode { id, address, slots: Vec::new(), state: NodeState::of(flags), open: Vec::new() })
    }

    /// Adds the slots that its line lists, each of which is marked as `owned`, or returns what is wrong with one.
    fn with_slots(mut self, slots: &[&str], owned: &mut [bool]) -> Result<ClusterNode, String> {
        for slot in slots {
            // Its owner lists a slot on the move as well.
            if slot.starts_with('[') {
                let open = OpenSlot::parse(slot, &self.id);
                self.open.push(open.ok_or_else(|| format!("{slot:?} is no slot on the move"))?);
                continue;
            }
            let (first, last) = slot.split_once('-').unwrap_or((slot, slot));
            let bound = |text: &str| text.parse::<u16>().ok().filter(|slot| *slot < SLOTS);
            let (Some(first), Some(last)) = (bound(first), bound(last)) else {
                return Err(format!("{slot:?} is no slot or range of slots"));
            };
            if first > last {
                return Err(format!("{slot:?} ends before it begins"));
            }
            for slot in first..=last {
                if std::mem::replace(&mut owned[usize::from(slot)], true) {
                    return Err(format!("slot {slot} has two owners"));
                }
            }
            self.slots.push(SlotSpan { first, last });
        }
        self.slots.sort_unstable();
        Ok(self)
    }

    /// Returns the address, or the id of a node without one.
    fn name(&self) -> &str {
        if self.address.starts_with(':') || self.address.is_empty() { &self.id } else { &self.address }
    }
}

/// Returns the address without bus port and host name: of `10.0.0.1:7000@17000,host` the part before `@`.
fn host_and_port(address: &str) -> &str {
    address.split(['@', ',']).next().unwrap_or(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: &str = "\
07c37d 127.0.0.1:30004@31004,hostname4 slave e7d1ee 0 1426238317239 4 connected
67ed2d 127.0.0.1:30002@31002,hostname2 master - 0 1426238316232 2 connected 5461-10922
e7d1ee 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-5459 5460 [93-<-67ed2d]
vars currentEpoch 6 lastVoteEpoch 0
";

    #[test]
    fn primaries_are_read_with_their_slots() {
        let nodes = ClusterNodes::parse(NODES, "nodes").unwrap().0;
        let shown: Vec<_> = nodes.iter().map(|node| (node.id.as_str(), node.address.as_str())).collect();
        assert_eq!(shown, [("67ed2d", "127.0.0.1:30002"), ("e7d1ee", "127.0.0.1:30001")]);
        let span = |first, last| SlotSpan { first, last };
        assert_eq!(nodes[1].slots, [span(0, 5459), span(5460, 5460)]);
    }

    #[test]
    fn an_error_names_the_line_and_the_remedy() {
        let error = |text: &str| ClusterNodes::parse(text, "n").unwrap_err().to_string();
        assert!(error("a b c").starts_with("n: line 1: a node has at least eight fields"));
        let two = NODES.replace("5461-10922", "5460-10922");
        assert!(error(&two).starts_with("n: line 3: slot 5460 has two owners"), "{}", error(&two));
        assert!(error(&NODES.replace("10922", "16384")).contains("\"5461-16384\" is no slot"));
        let reversed = error(&NODES.replace("5461-10922", "10922-5461"));
        assert!(reversed.starts_with("n: line 2: \"10922-5461\" ends before it begins"), "{reversed}");
        assert!(error("").contains("no node with slots"));
        assert!(error(&NODES.replace("127.0.0.1:30002", "$(id)")).contains("is no HOST:PORT"));
    }

    #[test]
    fn what_is_wrong_with_a_cluster_is_told() {
        let line = |id: &str, address: &str, flags: &str, slots: &str| {
            format!("{id} {address} {flags} - 0 0 1 connected {slots}\n")
        };
        let told = |lines: &[String]| -> Vec<WarningKind> {
            let nodes = ClusterNodes::parse(&lines.concat(), "n").unwrap();
            nodes.warnings().into_iter().map(|warning| warning.kind).collect()
        };
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let one = line("a1", "h:1@2", "myself,master", "0-16000");
        let whole = [one.clone(), line("b2", "h:2@3", "master", "16001-16383")];
        assert_eq!(told(&whole), []);
        for (flag, name) in [("fail", "h:2 (fail)"), ("fail?", "h:2 (fail?)"), ("noaddr", "h:2 (noaddr)")] {
            let lines = [one.clone(), line("b2", "h:2@3", &format!("master,{flag}"), "16001-16383")];
            assert_eq!(told(&lines), [WarningKind::ClusterNodesFailed { nodes: texts(&[name]) }], "{flag}");
            assert_eq!(ClusterNodes::parse(&lines.concat(), "n").unwrap().in_use().0.len(), 2);
        }
        let spare = [
            whole.concat(),
            line("c3", ":0@0", "master,fail,noaddr", ""),
            line("d4", "h:4@5", "handshake", ""),
            line("e5", "h:5@6", "master", ""),
            line("f6", "h:6@7", "slave,fail", ""),
        ];
        assert_eq!(
            told(&spare),
            [WarningKind::ClusterNodesLeftOut { nodes: texts(&["c3 (fail)", "h:4 (handshake)"]) }]
        );
        let in_use = ClusterNodes::parse(&spare.concat(), "n").unwrap().in_use().0;
        assert_eq!(in_use.iter().map(|node| node.id.as_str()).collect::<Vec<_>>(), ["a1", "b2", "e5"]);
        let moving = line("b2", "h:2@3", "master", "16001-16005 16007-16380 [93-<-a1] [16003->-a1] [7->-zz]");
        assert_eq!(
            told(&[one.clone(), moving]),
            [
                WarningKind::ClusterSlotsUnassigned { slots: 4, ranges: texts(&["16006", "16381–16383"]) },
                WarningKind::ClusterSlotsOpen {
                    slots: texts(&["7 (h:2 → zz)", "93 (h:1 → h:2)", "16003 (h:2 → h:1)"])
                },
            ]
        );
        for wrong in ["[93]", "[93->-$(id)]", "[16384->-a1]", "[93->-", "[x-<-a1]"] {
            let lines = [one.clone(), line("b2", "h:2@3", "master", wrong)].concat();
            let error = ClusterNodes::parse(&lines, "n").unwrap_err().to_string();
            assert!(error.starts_with("n: line 2:") && error.contains("is no slot on the move"), "{error}");
        }
    }

    #[test]
    fn very_many_slots_on_the_move_are_named_at_once() {
        let start = std::time::Instant::now();
        let line = |id: &str, slots: &str| format!("{id} h:1@2 master - 0 0 1 connected {slots}\n");
        let open: Vec<String> = (0..100_000).map(|at| format!("[{}->-n{}]", at % 16_384, at % 8_000)).collect();
        let mut lines = line("n0", &format!("0-16383 {}", open.join(" ")));
        (1..8_000).for_each(|at| lines += &line(&format!("n{at}"), ""));
        let nodes = ClusterNodes::parse(&lines, "n").unwrap();
        let [Warning { kind: WarningKind::ClusterSlotsOpen { slots }, .. }] = &nodes.warnings()[..] else {
            panic!("{:?}", nodes.warnings())
        };
        assert_eq!((slots.len(), slots[0].as_str()), (100_000, "0 (h:1 → h:1)"));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    #[test]
    fn spans_join_neighbours() {
        let span = |first, last| SlotSpan { first, last };
        assert_eq!(SlotSpan::of([0, 1, 3, 16_383]), [span(0, 1), span(3, 3), span(16_383, 16_383)]);
    }
}
