//! Target `policy`: reads any policy file and judges a snapshot by it.

use rdblens::internals::pattern::classify::Classifier;
use rdblens::internals::pattern::segment::Separators;
use rdblens::internals::policy::file::{PatternSyntax, parse};
use rdblens::internals::render::Lang;
use rdblens::internals::render::draft::{Base, Draft};
use rdblens::{Plan, PolicySource, ReadPlan, Unwatched, analyze};

use super::{InputFile, Sample, render, shows_all};

/// Keys of several types, with and without expiry: rules have something to say of them.
const SNAPSHOT: &[u8] = b"REDIS0011\xfa\x09redis-ver\x057.2.4\xfa\x05ctime\xc2\x00\xf1\x53\x65\xfe\x00\
    \x00\x06user:1\x05hello\xfc\0\x08\xdc\x6d\x8c\x01\0\0\x00\x09session:1\x0ba@email.com\
    \x00\x07Bad Key\x00\x00\x05plain\xc0\x07\x01\x07queue:1\x02\x01a\x01b\x02\x05set:1\x01\x01m\
    \x04\x0bproduct:{1}\x01\x04name\x03tea\x05\x06rank:1\x01\x01m\0\0\0\0\0\0\xf0\x3f\xfe\x02\
    \xf8\x40\xff\x00\x0ccache:page:\xff\x01x\xff\0\0\0\0\0\0\0\0";

/// Parses a policy and evaluates its rules.
pub fn check(input: &[u8], mut sample: Sample) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let separators = Separators::new(&[":".to_owned()]).expect("a colon separates");
    let classifier = Classifier::new(separators.clone());
    let syntax = PatternSyntax { separators: separators.as_bytes(), classifier: &classifier };
    let policy = match parse(text, "policy.toml", syntax) {
        Ok(policy) => policy,
        Err(error) => {
            let told = error.to_string();
            // What to write follows in parentheses, unless the fault says it.
            let has_remedy = [" (", " must be "].iter().any(|remedy| told.contains(remedy));
            assert!(told.starts_with("policy.toml") && has_remedy, "{told}");
            return;
        }
    };
    let file = InputFile::new(SNAPSHOT);
    let mut plan = Plan::new(ReadPlan { threads: 1, ..ReadPlan::new(std::env::temp_dir()) });
    plan.policy = PolicySource::File { name: "policy.toml".to_owned(), text: text.to_owned() };
    plan.inspect_values = true;
    let report = analyze(&[file.path()], &plan, &Unwatched).expect("the snapshot is sound");
    render(&report, &mut sample);
    let mut draft = Vec::new();
    Draft { syntax, base: Base::File(&policy), most: 1000, lang: Lang::En }
        .write(&report, &mut draft)
        .expect("memory can be written");
    shows_all(&draft);
}
