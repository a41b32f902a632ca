//! Compares `docs/standards.md` with the rules: it names every rule and no other, has every chapter that a rule refers
//! to and every chapter of the originals, and states correctly what is in force.

use std::collections::BTreeSet;

use rdblens::internals::policy::{presets, registry};
use rdblens::internals::render::rules::severities;

const PAGE: &str = include_str!("../../docs/standards.md");

/// Headings of the originals, without their markup.
const HEADINGS: [(&str, &[&str]); 5] = [
    (
        "service",
        &[
            "Redis 使用规范",
            "适用范围",
            "Key 命名规范",
            "命名格式",
            "Key 长度限制",
            "常用前缀约定",
            "数据类型选择",
            "类型对照表",
            "String",
            "Hash",
            "List",
            "Sorted Set",
            "过期策略",
            "必须设置过期时间",
            "过期时间建议",
            "过期时间随机化",
            "缓存模式",
            "Cache-Aside (旁路缓存)",
            "缓存穿透防护",
            "分布式锁",
            "标准实现",
            "使用 redis-py 内置锁",
            "连接池配置",
            "禁止事项",
            "检查清单",
        ],
    ),
    (
        "hzero",
        &[
            "Redis开发规范",
            "总体要求",
            "key名设计",
            "可读性和可管理性",
            "简洁性",
            "不要包含特殊字符",
            "value设计",
            "拒绝bigkey",
            "选择适合的数据类",
            "控制key的生命周期",
            "Redis操作",
            "先操作缓存，还是先操作数据库",
            "1.先操作数据库，再操作缓存",
            "2.先操作缓存，再操作数据库；",
            "3.淘汰缓存和修改缓存中的数据，有什么差别",
            "4.缓存中的value数据一般是怎么修改的",
            "5.总结",
        ],
    ),
    (
        "platform",
        &[
            "一、核心设计规范",
            "1. Key 设计规范",
            "可读性与结构化",
            "简洁性",
            "唯一性",
            "避免特殊字符",
            "固定格式",
            "2. Value 设计规范",
            "拒绝大 Key",
            "选择合适的数据类型",
            "3. 生命周期管理(TTL)",
            "设置原则",
            "区分数据类别",
            "二、命令使用与操作规范",
            "1. 命令禁忌",
            "2. 高效使用命令",
            "三、数据持久化与安全",
            "理解持久化策略",
            "备份与恢复",
            "四、高可用与集群规范",
            "架构选择",
            "集群模式下的特殊规范",
            "五、运维与监控规范",
            "内存规划",
            "监控指标",
            "慢查询监控",
            "告警",
            "六、通用最佳实践总结",
            "七、高级设计与模式规范",
            "1. 缓存模式规范",
            "2. 分布式锁规范",
            "3. 延迟与管道优化",
            "八、稳定性与风险控制规范",
            "1. 容量与性能规划",
            "2. 慢查询与阻塞规避",
            "3. 客户端规范",
            "九、业务逻辑与数据一致性规范",
            "十、流程与协作规范",
            "十一、 数据清理与生命周期管理规范",
            "1. 渐进式清理",
            "2. 过期策略与内存回收",
            "十二、 客户端架构与配置规范",
            "1. 连接池精细化配置",
            "2. 读写分离与路由",
            "十三、 安全与权限管控规范",
            "1. 最小权限原则",
            "2. 敏感信息处理",
            "十四、 监控、告警与可观测性规范",
            "1. 超越基础指标",
            "2. 建立完整的可观测性",
            "十五、 成本优化规范",
            "1. 内存优化",
            "2. 实例规划",
            "十六、 混沌工程与韧性规范",
            "十七、 数据结构深度使用规范",
            "1. 流数据结构的正确使用",
            "2. 概率性数据结构的适用场景",
            "十八、 集群与扩展性深度规范",
            "1. 集群运维规范",
            "2. 跨数据中心规范",
            "十九、 客户端高级行为规范",
            "1. 防止缓存污染",
            "2. 热点发现与自动治理",
            "二十、 数据备份与恢复规范",
            "1. 备份策略",
            "2. 恢复演练",
            "二十一、 文档与文化规范",
        ],
    ),
    (
        "strict",
        &[
            "一. 实现目标",
            "二. 键值设计规约",
            "1. Redis key命名风格",
            "2. 命名规范",
            "业务模块名",
            "逻辑含义段",
            "value类型",
            "3. value 设计",
            "三、业务规范",
            "关于过期时间",
            "禁止大key",
            "选择合适的数据类型",
            "关于集合类操作",
        ],
    ),
    (
        "aliyun",
        &[
            "零、Redis不是什么",
            "一、键值设计",
            "1.(1) 可读性和可管理性",
            "1.(2) 简洁性",
            "1.(3) 不要包含特殊字符",
            "2.(1) 拒绝bigkey",
            "2.(2) 选择适合的数据类型",
            "3.控制key的生命周期，redis不是垃圾桶",
            "二、命令使用",
            "1. O(N)命令关注N的数量",
            "2. 禁用命令",
            "3. 合理使用select",
            "4. 使用批量操作提高效率",
            "5. Redis事务功能较弱，不建议过多使用",
            "6. Redis集群版本在使用Lua上有特殊要求",
            "7. 必要情况下使用monitor命令时，要注意不要长时间使用",
            "三、客户端使用",
            "1. 不混用实例",
            "2. 使用连接池",
            "3. 高并发熔断",
            "4. 淘汰策略选择",
            "其他策略如下",
        ],
    ),
];

/// Returns the part of the page on one standard.
fn part(preset: &str) -> &'static str {
    let from = PAGE.find(&format!("\n## {preset}: ")).unwrap_or_else(|| panic!("no part on {preset}"));
    let rest = &PAGE[from + 1..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// Iterates over the rows of tables with four columns or more, without headings.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    rows.filter(|cells| cells.len() >= 4 && !["chapter", "rule"].contains(&cells[0]))
}

/// Returns the rule ids in backticks.
fn ids(text: &'static str) -> BTreeSet<&'static str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|word| word.split_once('.').is_some_and(|(group, _)| GROUPS.contains(&group))).collect()
}

const GROUPS: [&str; 11] =
    ["backup", "big", "db", "instance", "key", "memory", "slot", "stream", "ttl", "type", "value"];

fn named() -> BTreeSet<&'static str> {
    HEADINGS.iter().flat_map(|(preset, _)| rows(part(preset))).flat_map(|cells| ids(cells[3])).collect()
}

#[test]
fn every_rule_is_named_and_every_rule_named_exists() {
    let known: BTreeSet<&str> = registry::RULES.iter().map(|rule| rule.meta.id).collect();
    let named = named();
    let unnamed: Vec<_> = known.difference(&named).collect();
    assert!(unnamed.is_empty(), "docs/standards.md covers nothing by {unnamed:?}");
    let missing: Vec<_> = named.difference(&known).collect();
    assert!(missing.is_empty(), "docs/standards.md names rules that do not exist: {missing:?}");
}

#[test]
fn every_demand_has_a_rule_or_a_reason() {
    let reasons = ["command", "client", "server", "runtime", "process", "meaning", "advice"];
    for (preset, _) in HEADINGS {
        for cells in rows(part(preset)) {
            let covered = cells[3];
            let reason =
                covered.split("– ").nth(1).is_some_and(|text| reasons.iter().any(|word| text.starts_with(word)));
            assert!(covered.contains('`') || reason, "{preset}: {cells:?}");
        }
    }
}

/// Returns the text without spaces and markup.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn every_heading_of_the_originals_is_on_the_page() {
    for (preset, headings) in HEADINGS {
        let page = bare(part(preset));
        for heading in headings {
            assert!(page.contains(&bare(heading)), "{preset}: {heading} is not covered");
        }
    }
}

/// Titles of the originals, as the presets cite them.
const DOCUMENTS: [(&str, &str); 5] = [
    ("Redis 使用规范", "service"),
    ("Redis开发规范", "hzero"),
    ("Redis 开发规范（二十一章）", "platform"),
    ("Redis 键值设计规约与业务规范", "strict"),
    ("阿里云Redis开发规范", "aliyun"),
];

/// Returns the chapters of a part: first cells of its rows with the section above them, and the sections.
fn chapters(part: &'static str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in part.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            section = heading;
            found.push(bare(heading));
        } else if let Some(row) = line.strip_prefix("| ") {
            found.push(bare(section) + &bare(row.split(" | ").next().unwrap_or_default()));
        }
    }
    found
}

#[test]
fn every_chapter_that_a_preset_cites_is_on_the_page() {
    let mut lost = Vec::new();
    for policy in presets::standards().unwrap() {
        for setting in &policy.settings {
            let Some(source) = &setting.source else { continue };
            let document = source.document.as_deref().unwrap_or_else(|| panic!("{policy:?}: no document"));
            let (_, preset) = DOCUMENTS.iter().find(|(title, _)| *title == document).unwrap();
            // Each word of the outermost and of the innermost heading must be on the page, except item numbers.
            let heading = source.chapter.as_deref().unwrap();
            let ends = [heading.split(" / ").next().unwrap(), heading.split(" / ").last().unwrap()];
            let words =
                ends.iter().flat_map(|end| end.split(|c: char| c.is_whitespace() || "、.()（）".contains(c)).map(bare));
            let wanted: Vec<String> =
                words.filter(|word| !word.is_empty() && !word.bytes().all(|byte| byte.is_ascii_digit())).collect();
            if !chapters(part(preset)).iter().any(|chapter| wanted.iter().all(|word| chapter.contains(word))) {
                lost.push(format!("{} in {}: {document}: {heading}", setting.rule.meta.id, policy.name));
            }
        }
    }
    assert!(lost.is_empty(), "chapters that docs/standards.md does not know:\n{}", lost.join("\n"));
}

#[test]
fn rules_listed_as_in_force_are() {
    let policies = presets::standards().unwrap();
    let from = PAGE.find("\n## Where the table of rules").unwrap();
    let mut wrong = Vec::new();
    for cells in rows(&PAGE[from..]) {
        let (id, preset, said) = (cells[0].trim_matches('`'), cells[1], cells[4]);
        assert!(registry::find(id).is_some(), "{id} does not exist");
        let policy = policies.iter().find(|policy| policy.name == preset).unwrap();
        let held = severities(policy, id).unwrap_or_else(|| "–".to_owned());
        if held != said {
            wrong.push(format!("{id} in {preset}: the page says {said}, the preset {held}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
