//! Size of Valkey's index of expiring hash fields (`vset.c`, from 9.0 on).
//!
//! A single field needs no structure, up to 127 form a vector of pointers. More are kept in a radix tree of buckets of
//! 8192 ms; a bucket is a field, a vector, or, if more than 127 fields expire at the same time, a table.

use super::Model;
use super::growth::{Growth, TableKind};
use super::rax::RaxTree;

/// Maximum number of fields in a vector.
const VECTOR: usize = 127;
/// Size of a vector's header.
const VECTOR_HEADER: u64 = 8;
/// Time span of a bucket in milliseconds.
const BUCKET_MILLIS: i64 = 8192;
/// Time resolution in milliseconds when splitting a bucket.
const SPLIT_RESOLUTION: i64 = 16;

/// Returns the size of the index for these field expiries, which are sorted in place.
pub fn index(model: &Model, expiries: &mut [i64], tree: &mut RaxTree) -> u64 {
    match expiries.len() {
        0 | 1 => return 0,
        2..=VECTOR => return vector(model, expiries.len()),
        _ => {}
    }
    expiries.sort_unstable();
    tree.clear(true);
    let mut sum = 0;
    for bucket in expiries.chunk_by(|a, b| a.div_euclid(BUCKET_MILLIS) == b.div_euclid(BUCKET_MILLIS)) {
        sum += window(model, bucket, tree);
    }
    let shape = tree.finish();
    sum + model.tree(shape)
}

/// Returns the size of the buckets of one time span, splitting overfull ones in the middle while their times differ.
fn window(model: &Model, mut rest: &[i64], tree: &mut RaxTree) -> u64 {
    let mut sum = 0;
    while let (Some(&first), Some(&last)) = (rest.first(), rest.last()) {
        let one_moment = |a: i64, b: i64| a.div_euclid(SPLIT_RESOLUTION) == b.div_euclid(SPLIT_RESOLUTION);
        let end = if rest.len() <= VECTOR || one_moment(first, last) {
            rest.len()
        } else {
            let middle = rest.get(VECTOR / 2).copied().unwrap_or(first);
            rest.partition_point(|&time| time <= middle || one_moment(time, middle))
        };
        let (bucket, later) = rest.split_at(end);
        let ends = bucket.last().map_or(first, |&time| {
            let step = if later.is_empty() { BUCKET_MILLIS } else { SPLIT_RESOLUTION };
            (time.div_euclid(step)).saturating_add(1).saturating_mul(step)
        });
        tree.insert(&ends.to_be_bytes());
        sum += match bucket.len() {
            1 => 0,
            2..=VECTOR => vector(model, bucket.len()),
            many => table(model, many),
        };
        rest = later;
    }
    sum
}

fn vector(model: &Model, fields: usize) -> u64 {
    let requested = VECTOR_HEADER + 8 * fields as u64;
    // A new vector has two fields, and notes the size that it asked for; a larger one notes what it got.
    if fields == 2 { requested } else { model.usable(requested) }
}

fn table(model: &Model, fields: usize) -> u64 {
    let mut growth = Growth::new(TableKind::Buckets);
    (0..fields).for_each(|_| growth.insert());
    model.bare_table() + 64 * growth.buckets()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Allocator, Server, ServerConfig};

    fn index_of(mut expiries: Vec<i64>) -> u64 {
        let server = Server::parse("valkey-9.1").unwrap();
        let model = Model::for_server(server, Allocator::Jemalloc, &ServerConfig::default());
        index(&model, &mut expiries, &mut RaxTree::new(Allocator::Jemalloc))
    }

    #[test]
    fn few_fields_are_a_vector() {
        assert_eq!([0, 1, 2, 3, 10].map(|n| index_of(vec![7; n])), [0, 0, 24, 32, 96]);
    }

    #[test]
    fn a_vector_of_two_fields_notes_what_it_asked_for() {
        let allocator = Allocator::JemallocQ16;
        let model = Model::for_server(Server::parse("valkey-9.1").unwrap(), allocator, &ServerConfig::default());
        let sizes = [2, 3, 4].map(|n| index(&model, &mut vec![7; n], &mut RaxTree::new(allocator)));
        assert_eq!(sizes, [24, 32, 48]);
    }

    #[test]
    fn many_fields_are_buckets_by_time() {
        let times = [2_007_894_382_905, 2_008_041_802_015, 2_007_855_037_096];
        let batches = times.iter().zip([60, 60, 8]).flat_map(|(&time, fields)| vec![time; fields]);
        assert_eq!(index_of(batches.collect()), 1280);
    }

    #[test]
    fn fields_expiring_together_are_a_table() {
        let size = index_of(vec![2_000_000_005_000; 351]);
        assert!((4952..=5272).contains(&size), "{size}");
    }

    #[test]
    fn arbitrary_times_do_not_panic() {
        assert!(index_of((0..1000).map(|n| i64::MIN + n * n).collect()) > 0);
        assert!(index_of((0..1000).map(|n| i64::MAX - n).collect()) > 0);
        assert!(index_of((0..100_000).collect()) > 0);
    }
}
