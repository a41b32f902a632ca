//! `docs/images/terminal.svg`, the picture at the head of the READMEs, shows what a terminal shows of the report on the demo dump.
//! `UPDATE_GOLDEN=1 cargo test --test it picture::` renews it.

use std::fmt::Write;

use crate::common::golden;
use crate::common::program::stdout_of;

/// Findings and heaviest prefixes.
const LINES: usize = 27;
const COLUMNS: usize = 120;
/// Pixels per character, in a font that is 0.6 as wide as high, and per line.
const WIDTH: usize = 9;
const HEIGHT: usize = 19;
const MARGIN: usize = 18;

const STYLE: &str = "rect{fill:#11151c}text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;\
                     fill:#d5dbe5;white-space:pre}.s1{font-weight:700;fill:#fff}.s2{fill:#7d8798}.s31{fill:#ff7b72}.s33{fill:#e3b341}";

#[test]
fn the_picture_shows_the_report() {
    let report = stdout_of(&["analyze", "testdata/dumps/shop.rdb", "--color", "always"]);
    let lines: Vec<&str> = report.lines().take(LINES).collect();
    golden::check("../../docs/images/terminal.svg", &picture(&lines));
}

fn picture(lines: &[&str]) -> String {
    let (width, height) = (COLUMNS * WIDTH + 2 * MARGIN, (lines.len() + 1) * HEIGHT + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"Report of rdblens on a terminal: findings and heaviest prefixes\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\"/>\n"
    );
    let prompt = ["$ rdblens analyze testdata/dumps/shop.rdb"];
    for (at, line) in prompt.iter().chain(lines).enumerate() {
        let y = MARGIN + (at + 1) * HEIGHT - 5;
        // Renderers have fonts of other widths: a line is as long as its characters are many.
        let length = text_of(line).chars().count() * WIDTH;
        if length > 0 {
            writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y}\" textLength=\"{length}\">{}</text>", spans(line)).unwrap();
        }
    }
    svg + "</svg>\n"
}

/// Returns a line without its escape sequences.
fn text_of(line: &str) -> String {
    parts(line).map(|(_, text)| text).collect()
}

/// Returns a line as SVG, styled as its escape sequences say.
fn spans(line: &str) -> String {
    let mut spans = String::new();
    for (style, text) in parts(line).filter(|(_, text)| !text.is_empty()) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        match style {
            "0" => spans += &text,
            style => write!(spans, "<tspan class=\"s{style}\">{text}</tspan>").unwrap(),
        }
    }
    spans
}

/// Splits a line at its escape sequences, each part with the style in force.
fn parts(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("\x1b[").enumerate().map(|(at, part)| if at == 0 { ("0", part) } else { part.split_once('m').unwrap() })
}

#[test]
fn styles_and_markup_are_kept_apart() {
    assert_eq!(spans("\x1b[1ma<b\x1b[0m & c"), "<tspan class=\"s1\">a&lt;b</tspan> &amp; c");
    assert_eq!(text_of("\x1b[31mmust\x1b[0m  x"), "must  x");
}
