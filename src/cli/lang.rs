//! `--lang`, and the locale where it is not given.

use clap::Args;

use crate::render::Lang;

/// The language of texts.
#[derive(Debug, Default, Args)]
pub struct LangArgs {
    /// The language of texts; ids and figures do not change [default: the locale's]
    #[arg(long, value_enum, value_name = "LANG", help_heading = "Output")]
    pub lang: Option<Lang>,
}

impl LangArgs {
    /// The language asked for, or that of the locale.
    pub fn lang(&self) -> Lang {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        self.lang.unwrap_or_else(|| of_locale(variable))
    }
}

/// The language of the locale of messages: the first of these variables that says anything counts.
fn of_locale(variable: impl Fn(&str) -> Option<String>) -> Lang {
    let said = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    match said {
        Some(locale) if locale.starts_with("zh") => Lang::Zh,
        _ => Lang::En,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let locale = |set: &'static [(&str, &str)]| {
            of_locale(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(locale(&[]), Lang::En);
        assert_eq!(locale(&[("LANG", "zh_CN.UTF-8")]), Lang::Zh);
        assert_eq!(locale(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")]), Lang::En);
        assert_eq!(locale(&[("LANG", "en_US.UTF-8"), ("LC_MESSAGES", "zh_TW")]), Lang::Zh);
        assert_eq!(locale(&[("LC_ALL", ""), ("LANG", "zh")]), Lang::Zh);
    }
}
