//! Head of the page: the answers for a reader with ten seconds.

use super::PageNames;
use super::findings::text;
use super::prose::{HtmlName, HtmlProse};
use super::trend::TrendView;
use super::view::{SectionView, percent, permille};
use crate::render::document::{Headline, Name, Prose, inline, inline_visible};
use crate::render::{Lang, key_text};

/// Problems that are named.
const PROBLEMS: usize = 8;

/// The head of the page.
#[derive(Debug)]
pub struct HeadView {
    /// The file, as the page's title.
    pub name: HtmlName,
    /// Which snapshot it is.
    pub identity: Vec<HtmlProse>,
    /// Reasons to doubt the figures.
    pub problems: Vec<HtmlProse>,
    /// Everything in one sentence.
    pub sentence: HtmlProse,
    /// One figure each.
    pub tiles: Vec<TileView>,
    /// Memory over time.
    pub trend: Option<TrendView>,
    /// Sentences about what stands out.
    pub points: Vec<PointView>,
}

/// One figure.
#[derive(Debug)]
pub struct TileView {
    /// Name of the figure.
    pub label: &'static str,
    /// The figure.
    pub figure: String,
    /// Remark on it.
    pub note: HtmlProse,
    /// Length of its bar: its part of the memory.
    pub gauge: String,
    /// Section that tells more, if the page has it.
    pub section: Option<Link>,
}

/// A sentence about something that stands out.
#[derive(Debug)]
pub struct PointView {
    /// The sentence.
    pub said: HtmlProse,
    /// Section that tells more, if the page has it.
    pub section: Option<Link>,
}

/// A section's anchor and heading.
#[derive(Debug, Clone)]
pub struct Link {
    /// Anchor.
    pub id: &'static str,
    /// Heading.
    pub title: String,
}

impl HeadView {
    /// Returns the head of a page with these sections.
    pub fn of(head: &Headline, sections: &[SectionView], lang: Lang) -> HeadView {
        let link = |id: &str| {
            let section = sections.iter().find(|section| section.id == id)?;
            Some(Link { id: section.id, title: section.title.clone() })
        };
        let identity = head.identity.iter().chain(&head.facts).chain(&head.selection);
        HeadView {
            name: name(head),
            identity: identity.map(HtmlProse::from).collect(),
            problems: head.problems.iter().take(PROBLEMS + 1).map(HtmlProse::from).collect(),
            sentence: (&head.sentence).into(),
            tiles: head
                .tiles
                .iter()
                .map(|tile| TileView {
                    label: tile.label,
                    figure: text(&tile.figure, lang),
                    note: (&tile.note).into(),
                    gauge: percent(permille(tile.memory.0.0, tile.memory.1.0)),
                    section: link(tile.section),
                })
                .collect(),
            trend: head.trend.as_ref().and_then(|chart| TrendView::of(chart, lang)),
            points: head
                .points
                .iter()
                .map(|point| PointView { said: (&point.said).into(), section: link(point.section) })
                .collect(),
        }
    }
}

impl HeadView {
    /// Gives the page the names of a review; the file stays among the facts below its title.
    pub fn named(mut self, names: &PageNames) -> HeadView {
        if let Some(environment) = &names.environment {
            self.identity.insert(0, (&Prose::from(inline(environment))).into());
        }
        if let Some(title) = &names.title {
            let file = std::mem::replace(&mut self.name, HtmlName::visible(&key_text::text(title)));
            self.identity.insert(0, (&Prose::from(inline_visible(&file.shown))).into());
        }
        self
    }
}

/// Returns the name of the file without its folders, which are in the list of files.
fn name(head: &Headline) -> HtmlName {
    match &head.name {
        Ok(Name::Plain(file)) => HtmlName::prefix(file.rsplit('/').next().unwrap_or(file)),
        Ok(name) => HtmlName::of(name),
        Err(files) => HtmlName::visible(files),
    }
}
