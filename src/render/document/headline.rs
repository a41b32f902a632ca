//! The head of a document: the answer in short.

use super::{Cell, Name, Prose, Table, TrendChart};
use crate::units::Bytes;

/// The answer in short. Backends show what fits them: the terminal a table of answers, HTML tiles and points.
#[derive(Debug)]
pub struct Headline {
    /// Reasons to doubt the figures.
    pub problems: Vec<Prose>,
    /// Number of further such reasons.
    pub more_problems: u64,
    /// The file, or the number of files.
    pub name: Result<Name, String>,
    /// Server and time of the snapshot.
    pub identity: Vec<Prose>,
    /// Keys and memory.
    pub size: [Prose; 2],
    /// Further facts about the snapshot.
    pub facts: Vec<Prose>,
    /// Selection of keys, if not all count.
    pub selection: Option<Prose>,
    /// Table of what dominates and what is wrong.
    pub answers: Option<Table>,
    /// Everything in one sentence.
    pub sentence: Prose,
    /// One figure each.
    pub tiles: Vec<Tile>,
    /// Memory over time, where earlier snapshots are known.
    pub trend: Option<TrendChart>,
    /// Sentences about what stands out.
    pub points: Vec<Highlight>,
}

impl Headline {
    /// Returns the file and which snapshot it is.
    pub fn title_facts(&self) -> Vec<String> {
        let name = match &self.name {
            Ok(name) => name.visible().into_owned(),
            Err(files) => files.clone(),
        };
        let facts = std::iter::once(name).chain(self.identity.iter().map(|fact| fact.plain().into_owned()));
        facts.filter(|fact| !fact.is_empty()).collect()
    }

    /// Returns how much there is.
    pub fn size_facts(&self) -> Vec<String> {
        self.size.iter().chain(&self.facts).map(|fact| fact.plain().into_owned()).collect()
    }
}

/// One figure.
#[derive(Debug)]
pub struct Tile {
    /// Name of the figure.
    pub label: &'static str,
    /// The figure.
    pub figure: Cell,
    /// Remark on it.
    pub note: Prose,
    /// Memory that it stands for, and memory of all keys.
    pub memory: (Bytes, Bytes),
    /// Id of the section that tells more.
    pub section: &'static str,
}

/// A sentence about something that stands out.
#[derive(Debug)]
pub struct Highlight {
    /// The sentence.
    pub said: Prose,
    /// Id of the section that tells more.
    pub section: &'static str,
}
