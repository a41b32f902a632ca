//! Texts in both languages within JSON: field `demand` is English, `demand_zh` Chinese, so that any version can render a
//! stored report in Chinese.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Wording;

/// Reads a list of objects that the first reports had as plain texts: a text becomes an object that has words only.
pub(super) fn read_list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<String>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TypedOrText<T> {
        Typed(T),
        Text(String),
    }
    let list: Vec<TypedOrText<T>> = Vec::deserialize(deserializer)?;
    let object = |read| match read {
        TypedOrText::Typed(object) => object,
        TypedOrText::Text(text) => T::from(text),
    };
    Ok(list.into_iter().map(object).collect())
}

/// Declares a serde module for a [`Wording`]: English under one field name, Chinese under another; use it with `flatten`.
macro_rules! in_both_languages {
    ($name:ident, $zh:ident, $what:literal) => {
        pub(super) mod $name {
            use super::*;

            /// The fields.
            #[derive(Debug, Serialize, Deserialize)]
            #[cfg_attr(feature = "internals", derive(JsonSchema))]
            pub struct Form {
                #[doc = $what]
                #[serde(default)]
                $name: String,
                /// Text in Chinese.
                #[serde(skip_serializing_if = "Option::is_none")]
                $zh: Option<String>,
            }

            pub fn serialize<S: Serializer>(wording: &Wording, serializer: S) -> Result<S::Ok, S::Error> {
                let Wording { en, zh } = wording;
                Form { $name: en.clone(), $zh: (zh != en).then(|| zh.clone()) }.serialize(serializer)
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wording, D::Error> {
                let Form { $name: en, $zh: zh } = Form::deserialize(deserializer)?;
                Ok(Wording { zh: zh.unwrap_or_else(|| en.clone()), en })
            }
        }
    };
}

in_both_languages!(demand, demand_zh, "What the rule demands, in a line, with the numbers in force.");
in_both_languages!(problem, problem_zh, "Names the problem, with the numbers in force.");
in_both_languages!(text, text_zh, "Text for people, in English.");
in_both_languages!(ours, ours_zh, "Value by this program.");
in_both_languages!(theirs, theirs_zh, "Value by the second reader.");
in_both_languages!(reason, reason_zh, "What was missing.");
in_both_languages!(remedy, remedy_zh, "What to provide so that the rule is evaluated.");
in_both_languages!(fix, fix_zh, "Recommended fix, in one line.");
