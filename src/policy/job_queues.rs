//! Names that libraries for jobs give their keys: `bull:mail:wait`, `asynq:{mail}:pending`. The segment behind the library is the name of
//! a queue, whatever it means elsewhere: `bull:cache:wait` lists jobs that warm a cache, `bull:lock:id` numbers jobs.

use super::content::is_one_of;
use super::content::lock::may_have_lock_part;
use super::environments::is_environment;
use super::rules::instance::mixed::is_usual_prefix;
use crate::pattern::name::KeyName;

/// First segments of the libraries: BullMQ and Bull, Asynq.
const LIBRARIES: [&[u8]; 3] = [b"bull", b"bullmq", b"asynq"];
/// First segment of Laravel, which says itself that a queue follows.
const QUEUES: &[u8] = b"queues";
/// First segments of Resque and RQ, whose queues follow a word for them.
const PREFIXES: [&[u8]; 2] = [b"resque", b"rq"];
const QUEUE: &[u8] = b"queue";

/// Place of a queue's name that is a word with a meaning of its own elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueName {
    /// Behind the name of a library.
    Library,
    /// Behind a word for queues, which says what the key is.
    Queues,
}

impl QueueName {
    /// Finds the name of a queue that means something else in other names; `None` without one.
    pub fn of(name: &KeyName<'_>) -> Option<QueueName> {
        let mut segments = name.segments().map(|(segment, _)| segment);
        let mut first = segments.next()?;
        while !may_be_library(first) {
            // Hardly any name begins with an environment.
            first = segments.next().filter(|_| is_environment(first))?;
        }
        let (place, queue) = match () {
            () if is_one_of(first, &LIBRARIES) => (QueueName::Library, segments.next()?),
            () if first.eq_ignore_ascii_case(QUEUES) => (QueueName::Queues, segments.next()?),
            () if is_one_of(first, &PREFIXES) && segments.next()?.eq_ignore_ascii_case(QUEUE) => {
                (QueueName::Queues, segments.next()?)
            }
            () => return None,
        };
        let queue = queue.strip_prefix(b"{").and_then(|queue| queue.strip_suffix(b"}")).unwrap_or(queue);
        let text = std::str::from_utf8(queue).unwrap_or_default();
        let is_compound = || text.to_ascii_lowercase().contains("cache") || text.contains("缓存");
        (is_usual_prefix(text) || may_have_lock_part(queue) || is_compound()).then_some(place)
    }
}

/// Returns false only if a segment is none of the first segments of libraries, by its first letter: many names are tested.
fn may_be_library(segment: &[u8]) -> bool {
    segment.first().is_some_and(|first| matches!(first | 0x20, b'a' | b'b' | b'q' | b'r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::PatternBuf;
    use crate::pattern::classify::Classifier;

    fn of(name: &str) -> Option<QueueName> {
        let mut pattern = PatternBuf::default();
        Classifier::default().classify(name.as_bytes(), &mut pattern);
        QueueName::of(&KeyName::Classified(name.as_bytes(), &pattern))
    }

    #[test]
    fn the_segment_behind_a_library_is_a_queue() {
        for name in [
            "bull:cache:wait",
            "BULL:lock:id",
            "asynq:{cache}:pending",
            "bull:page_cache:7",
            "prod:bull:session:7",
            "bullmq:order_lock:id",
        ] {
            assert_eq!(of(name), Some(QueueName::Library), "{name}");
        }
        for name in ["queues:cache:delayed", "resque:queue:lock", "rq:queue:cache:7", "queues:goodsCache:notify"] {
            assert_eq!(of(name), Some(QueueName::Queues), "{name}");
        }
        for name in [
            "bull:mail:wait",
            "bull:mail:7:lock",
            "shop:cache:7",
            "cache:bull:7",
            "bull",
            "resque:lock:7",
            "rq:lock:job:7",
            "queue:cache:7",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
