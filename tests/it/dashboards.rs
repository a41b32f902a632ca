//! Checks that the dashboards of `docs/dashboards` use only what reports have: metrics and labels of the textfile,
//! paths of the JSON Schema and of a complete report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rdblens::internals::render::schema::Described;
use rdblens::internals::render::{Format, TableOptions};
use rdblens::report::Report;
use serde_json::Value;

use crate::common::reports::{sample, what_if};

/// Labels added by a scrape, or by users with `--label` as documented.
const FOREIGN_LABELS: [&str; 2] = ["instance", "snapshot"];
/// Functions allowed in an expression beside metrics and labels.
const FUNCTIONS: [&str; 7] = ["sum", "max", "min", "topk", "sort_desc", "delta", "time"];

/// Returns a report with every section.
fn report() -> Report {
    Report { what_if: what_if::asked().what_if, ..sample::full() }
}

fn dashboard(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/dashboards").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// Returns all panels, including those inside rows.
fn panels(dashboard: &Value) -> Vec<&Value> {
    list(dashboard, "panels").iter().flat_map(|panel| [panel].into_iter().chain(list(panel, "panels"))).collect()
}

fn queries<'a>(dashboard: &'a Value) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let of = |panel: &'a Value| list(panel, "targets").iter().map(|target| (text(&panel["title"]), target));
    panels(dashboard).into_iter().flat_map(of)
}

/// Collects all texts below a value, each with the name of its field.
fn texts<'a>(value: &'a Value, field: &'a str, found: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::String(text) => found.push((field, text)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, field, found)),
        Value::Object(members) => members.iter().for_each(|(name, member)| texts(member, name, found)),
        _ => {}
    }
}

#[test]
fn dashboards_are_whole() {
    let mut uids = BTreeSet::new();
    for name in ["prometheus.json", "infinity.json"] {
        let board = dashboard(name);
        assert!(uids.insert(text(&board["uid"]).to_owned()), "{name}: a uid twice");
        let variables: BTreeSet<&str> =
            list(&board["templating"], "list").iter().map(|variable| text(&variable["name"])).collect();
        let mut all = Vec::new();
        texts(&board, "", &mut all);
        let mut used = BTreeSet::new();
        for (_, text) in &all {
            used.extend(text.split('$').skip(1).map(|rest| word(rest.trim_start_matches('{'))));
        }
        used.retain(|name| !name.starts_with("__"));
        assert_eq!(used, variables, "{name}: variables used, and defined");

        let (mut ids, mut taken, mut titles) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for panel in panels(&board) {
            let title = text(&panel["title"]);
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{name}: {title}: an id twice");
            assert!(panel["type"] == "row" || titles.insert(title), "{name}: {title} twice");
            let place = |field: &str| panel["gridPos"][field].as_u64().unwrap();
            for x in place("x")..place("x") + place("w") {
                for y in place("y")..place("y") + place("h") {
                    assert!(x < 24 && taken.insert((x, y)), "{name}: {title} lies over another or outside");
                }
            }
            if panel["type"] != "row" {
                assert!(!text(&panel["description"]).is_empty(), "{name}: {title}");
                assert_eq!(panel["datasource"]["uid"], "${datasource}");
                let refs: BTreeSet<&str> = list(panel, "targets").iter().map(|target| text(&target["refId"])).collect();
                assert!(!refs.is_empty() && refs.len() == list(panel, "targets").len(), "{name}: {title}");
            }
        }
        assert!(ids.len() > 20, "{name}");
    }
}

/// Returns the labels of each metric in the textfile.
fn metrics() -> BTreeMap<String, BTreeSet<String>> {
    let mut out = Vec::new();
    Format::Prometheus.renderer(TableOptions::default()).render(&report(), &mut out).unwrap();
    let mut metrics: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(out).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let labels = metrics.entry(word(line).to_owned()).or_default();
        let mut before = None;
        for token in tokens(line) {
            match token {
                Token::Word(name) => before = Some(name),
                Token::Sign('=') => labels.extend(before.take().map(str::to_owned)),
                _ => before = None,
            }
        }
    }
    metrics
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Text,
    Sign(char),
}

/// Returns the name at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Splits an expression into words, quoted texts and operators.
fn tokens(mut rest: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    while let Some(c) = rest.chars().next() {
        let name = word(rest);
        let length = if !name.is_empty() {
            tokens.push(Token::Word(name));
            name.len()
        } else if c == '"' {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|&(_, c)| {
                let is_end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                is_end
            });
            tokens.push(Token::Text);
            end.unwrap_or_else(|| panic!("open quotes: {rest}")).0 + 1
        } else {
            tokens.extend((!c.is_whitespace()).then_some(Token::Sign(c)));
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the metrics of an expression with their selector labels, and the labels it groups by.
fn asked(expression: &str) -> (Vec<(&str, Vec<&str>)>, BTreeSet<&str>) {
    let (mut metrics, mut groups): (Vec<(&str, Vec<&str>)>, _) = (Vec::new(), BTreeSet::new());
    let mut tokens = tokens(expression).into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Sign('$') => drop(tokens.next()),
            Token::Word("by" | "on") => {
                assert_eq!(tokens.next(), Some(Token::Sign('(')), "{expression}");
                let within = tokens.by_ref().take_while(|token| *token != Token::Sign(')'));
                groups.extend(within.filter_map(|token| if let Token::Word(name) = token { Some(name) } else { None }));
            }
            Token::Word(name) if name.starts_with("rdblens_") => {
                let mut labels = Vec::new();
                if tokens.next_if_eq(&Token::Sign('{')).is_some() {
                    let within = tokens.by_ref().take_while(|token| *token != Token::Sign('}'));
                    labels.extend(
                        within.filter_map(|token| if let Token::Word(name) = token { Some(name) } else { None }),
                    );
                }
                metrics.push((name, labels));
            }
            Token::Word(name) => {
                let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
                assert!(is_number || FUNCTIONS.contains(&name), "{name} in {expression}");
            }
            _ => {}
        }
    }
    (metrics, groups)
}

#[test]
fn metrics_and_labels_are_those_of_the_textfile() {
    let (board, metrics) = (dashboard("prometheus.json"), metrics());
    let has = |metric: &str, label: &str| FOREIGN_LABELS.contains(&label) || metrics[metric].contains(label);
    let mut shown = BTreeSet::new();
    for (title, target) in queries(&board) {
        let expression = text(&target["expr"]);
        let (asked, groups) = asked(expression);
        for (metric, labels) in &asked {
            assert!(metrics.contains_key(*metric), "{title}: there is no {metric}");
            assert!(FOREIGN_LABELS.iter().all(|label| labels.contains(label)), "{title}: not all variables: {metric}");
            assert!(labels.iter().all(|label| has(metric, label)), "{title}: {metric} has not all of {labels:?}");
            assert!(groups.iter().all(|label| has(metric, label)), "{title}: {metric} has not all of {groups:?}");
            shown.insert((*metric).to_owned());
        }
        for rest in text(&target["legendFormat"]).split("{{").skip(1) {
            assert!(groups.contains(word(rest)), "{title}: legend {rest}");
        }
    }
    for variable in list(&board["templating"], "list").iter().filter(|variable| variable["type"] == "query") {
        let query = text(&variable["query"]["query"]);
        let words: Vec<&str> = tokens(query)
            .iter()
            .filter_map(|token| if let Token::Word(name) = token { Some(*name) } else { None })
            .collect();
        assert!(words[0] == "label_values" && metrics.contains_key(words[1]), "{query}");
        assert!(words[2..].iter().all(|label| FOREIGN_LABELS.contains(label) || label == &"instance"), "{query}");
    }
    // Metrics with details that no panel shows.
    let untold = metrics.keys().filter(|metric| !shown.contains(*metric)).count();
    assert!(untold * 3 < metrics.len(), "{untold} of {} metrics are on no panel", metrics.len());
}

/// Checks that the columns in a table's transformations come from its queries.
#[test]
fn tables_name_the_columns_of_their_queries() {
    let board = dashboard("prometheus.json");
    let mut tables = 0;
    for panel in panels(&board).into_iter().filter(|panel| panel["type"] == "table") {
        let title = text(&panel["title"]);
        let mut columns = BTreeSet::from(["Time".to_owned()]);
        for target in list(panel, "targets") {
            columns.insert(format!("Value #{}", text(&target["refId"])));
            columns.extend(asked(text(&target["expr"])).1.into_iter().map(str::to_owned));
        }
        let organize = list(panel, "transformations").iter().find(|step| step["id"] == "organize").unwrap();
        let options = &organize["options"];
        for field in ["excludeByName", "indexByName", "renameByName"] {
            for name in options[field].as_object().unwrap().keys() {
                assert!(columns.contains(name), "{title}: {field} names {name}");
            }
        }
        let renamed: BTreeSet<&str> = options["renameByName"].as_object().unwrap().values().map(text).collect();
        for name in overridden(panel) {
            assert!(renamed.contains(name), "{title}: an override of {name}");
        }
        tables += 1;
    }
    assert!(tables >= 4);
}

/// Returns the columns that overrides apply to.
fn overridden(panel: &Value) -> Vec<&str> {
    list(&panel["fieldConfig"], "overrides").iter().map(|row| text(&row["matcher"]["options"])).collect()
}

/// Looks up the schema of the value at a path, following references.
fn described<'a>(root: &'a Value, mut schema: &'a Value, path: &str) -> Option<Vec<&'a Value>> {
    let mut steps = path.split('.').filter(|step| !step.is_empty());
    loop {
        if let Some(reference) = schema["$ref"].as_str() {
            schema = root.pointer(reference.strip_prefix('#')?)?;
        } else if schema["properties"].get(steps.clone().next().unwrap_or_default()).is_some() {
            // Fields of all variants stand beside them.
            schema = &schema["properties"][steps.next()?];
        } else if let Some(any) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            schema = any.iter().find(|schema| schema["type"] != "null")?;
        } else if let Some(step) = steps.next() {
            let of_list = step.bytes().all(|byte| byte.is_ascii_digit());
            schema = if of_list { schema.get("items")? } else { schema["properties"].get(step)? };
        } else {
            let types = &schema["type"];
            return Some(types.as_array().map_or(vec![types], |types| types.iter().collect()));
        }
    }
}

fn join(root: &str, path: &str) -> String {
    [root, path].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

#[test]
fn paths_are_those_of_the_schema_and_of_a_report() {
    let board = dashboard("infinity.json");
    let schema = serde_json::to_value(Described::Report.schema()).unwrap();
    let report = serde_json::to_value(report()).unwrap();
    let mut checked = 0;
    for (title, target) in queries(&board) {
        let root = text(&target["root_selector"]);
        let types = described(&schema, &schema, root).unwrap_or_else(|| panic!("{title}: there is no {root}"));
        let of_list = types.iter().any(|kind| *kind == "array");
        assert!(of_list || types.iter().any(|kind| *kind == "object"), "{title}: {root} is {types:?}");
        for column in list(target, "columns") {
            let (selector, kind) = (text(&column["selector"]), text(&column["type"]));
            let path = join(&join(root, if of_list { "0" } else { "" }), selector);
            let types = described(&schema, &schema, &path).unwrap_or_else(|| panic!("{title}: there is no {path}"));
            let fits = |types: &[&str]| types.contains(&kind);
            let sound = types.iter().any(|of| match of.as_str() {
                Some("integer") if path.ends_with("ctime") => fits(&["timestamp_epoch_s"]),
                Some("integer") => fits(&["number", "timestamp_epoch"]),
                Some("number") => fits(&["number"]),
                Some("string") => fits(&["string"]),
                Some("boolean") => fits(&["boolean"]),
                _ => false,
            });
            assert!(sound, "{title}: {path} is {types:?}, not {kind}");
            let pointer = |at: usize| format!("/{}", join(&join(root, &at.to_string()), selector).replace('.', "/"));
            let found = if of_list {
                let rows = report.pointer(&format!("/{}", root.replace('.', "/"))).unwrap().as_array().unwrap().len();
                (0..rows).any(|at| report.pointer(&pointer(at)).is_some())
            } else {
                report.pointer(&format!("/{}", path.replace('.', "/"))).is_some()
            };
            assert!(found, "{title}: the report has no {path}");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn panels_name_the_columns_of_their_queries() {
    for panel in panels(&dashboard("infinity.json")) {
        let title = text(panel.get("title").unwrap());
        let targets = list(panel, "targets").iter();
        let columns: BTreeSet<&str> = targets
            .clone()
            .flat_map(|target| list(target, "columns").iter().chain(list(target, "computed_columns")))
            .map(|column| text(&column["text"]))
            .collect();
        for column in targets.flat_map(|target| list(target, "computed_columns")) {
            for name in text(&column["selector"]).split(['+', '-', '*', '/', '(', ')']).map(str::trim) {
                assert!(columns.contains(name), "{title}: {name}");
            }
        }
        let mut named = Vec::new();
        texts(&panel["transformations"], "", &mut named);
        named.retain(|(field, _)| *field == "names");
        named.extend(panel["options"]["xField"].as_str().map(|name| ("xField", name)));
        named.extend(overridden(panel).into_iter().map(|name| ("override", name)));
        // Rows by severity have fields of their own in panels that show all values.
        named.retain(|(_, name)| !["must", "should", "hint"].contains(name));
        for (field, name) in named {
            assert!(columns.contains(name), "{title}: {field} names {name}");
        }
    }
}
