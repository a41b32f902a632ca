//! `--lang`, with the locale as its default.

use clap::Args;

use crate::render::Lang;

/// Flag that selects the language of texts.
#[derive(Debug, Default, Args)]
pub struct LangArgs {
    /// Language of texts; ids and numbers do not change [default: from the locale]
    #[arg(long, value_enum, value_name = "LANG", help_heading = "Output")]
    pub lang: Option<Lang>,
}

impl LangArgs {
    /// Returns the requested language, or that of the locale.
    pub fn lang(&self) -> Lang {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        self.lang.unwrap_or_else(|| of_locale(variable))
    }
}

/// Returns the language of the locale; the first variable that is set and not empty decides.
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
