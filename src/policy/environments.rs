//! First segments that name an environment (`prod:`), not what a key is about.

/// First segments that name an environment, where several share an instance or names are made for that.
pub const ENVIRONMENTS: [&str; 19] = [
    "prod",
    "prd",
    "production",
    "online",
    "pre",
    "preprod",
    "stage",
    "staging",
    "stg",
    "gray",
    "grey",
    "uat",
    "sit",
    "test",
    "testing",
    "qa",
    "dev",
    "develop",
    "local",
];

/// Returns whether a segment is one of them, in whatever case.
pub fn is_environment(segment: &[u8]) -> bool {
    ENVIRONMENTS.iter().any(|word| segment.eq_ignore_ascii_case(word.as_bytes()))
}
