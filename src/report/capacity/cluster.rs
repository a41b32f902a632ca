//! The nodes of a cluster, from the output of `CLUSTER NODES` or a node's `nodes.conf`.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;

/// Number of slots of a cluster.
pub(super) const SLOTS: u16 = 16_384;

/// Most nodes that are read: a cluster has at most about a thousand.
const MOST_NODES: usize = 16_384;

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
            let wrong = |what: &str| Error::usage(format!("{name}: line {number}: {what}")).with_hint(remedy);
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields.is_empty() || fields[0] == "vars" {
                continue;
            }
            let [id, address, flags, _, _, _, _, _, slots @ ..] = fields.as_slice() else {
                return Err(wrong("a node has at least eight fields"));
            };
            if !flags.split(',').any(|flag| flag == "master") {
                continue;
            }
            if nodes.len() == MOST_NODES {
                return Err(wrong("more nodes than a cluster has slots"));
            }
            if id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Err(wrong("the id of a node is made of letters and digits"));
            }
            // Addresses are shown within commands: a shell must find nothing in them.
            let address = host_and_port(address);
            if !address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_".contains(&byte)) {
                return Err(wrong("the address of a node is no HOST:PORT"));
            }
            let mut node = ClusterNode { id: (*id).to_owned(), address: address.to_owned(), slots: Vec::new() };
            // `[93-<-id]` is a slot on the move, which its owner lists as well.
            for slot in slots.iter().filter(|slot| !slot.starts_with('[')) {
                let (first, last) = slot.split_once('-').unwrap_or((slot, slot));
                let bound = |text: &str| text.parse::<u16>().ok().filter(|slot| *slot < SLOTS);
                let (Some(first), Some(last)) = (bound(first), bound(last)) else {
                    return Err(wrong(&format!("{slot:?} is no slot or range of slots")));
                };
                for slot in first..=last {
                    if std::mem::replace(&mut owned[usize::from(slot)], true) {
                        return Err(wrong(&format!("slot {slot} has two owners")));
                    }
                }
                node.slots.push(SlotSpan { first, last });
            }
            node.slots.sort_unstable();
            nodes.push(node);
        }
        match nodes.iter().any(|node| !node.slots.is_empty()) {
            true => Ok(ClusterNodes(nodes)),
            false => Err(Error::usage(format!("{name}: no node with slots")).with_hint(remedy)),
        }
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
        assert!(error("").contains("no node with slots"));
        assert!(error(&NODES.replace("127.0.0.1:30002", "$(id)")).contains("is no HOST:PORT"));
    }

    #[test]
    fn spans_join_neighbours() {
        let span = |first, last| SlotSpan { first, last };
        assert_eq!(SlotSpan::of([0, 1, 3, 16_383]), [span(0, 1), span(3, 3), span(16_383, 16_383)]);
    }
}
