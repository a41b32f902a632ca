//! Container of an input file and the server that wrote it.

use std::fmt;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::wording::{Wording, wording};

/// Container of a snapshot, and the compression around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Container {
    /// Form of the file.
    pub form: ContainerForm,
    /// Compression; null if there is none.
    #[serde(default)]
    pub compression: Option<Compression>,
}

/// Form of an input file. Later versions of the program may add forms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContainerForm {
    /// A snapshot alone.
    Rdb,
    /// An append-only file that begins with a snapshot.
    AofPreamble,
    /// A directory of append-only files, the base of which is a snapshot.
    MultiPartAof,
    /// A captured replication stream.
    Replication,
    /// No form, because the file could not be read.
    Unreadable,
    /// A form that this version of the program does not know.
    #[serde(untagged)]
    Other(String),
}

/// Compression of an input file. Later versions of the program may add formats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// LZ4 frames.
    Lz4,
    /// Valkey's envelope around an LZ4 frame.
    Vcs,
    /// A format that this version of the program does not know.
    #[serde(untagged)]
    Other(String),
}

/// Server that wrote one input file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct FileServer {
    /// `redis`, `valkey`, `keydb`, `redis-enterprise`, `dragonfly`.
    pub family: String,
    /// Version, such as `7.2.6`; the lines that write the RDB version, such as `2.6–3.0`, if it was guessed.
    #[serde(default)]
    pub version: String,
    /// RDB version that the server was guessed from; null if the file names its server.
    #[serde(default)]
    pub guessed_from: Option<u32>,
}

impl ContainerForm {
    /// Returns the word in reports.
    pub fn name(&self) -> &str {
        match self {
            ContainerForm::Rdb => "rdb",
            ContainerForm::AofPreamble => "aof-preamble",
            ContainerForm::MultiPartAof => "multi-part-aof",
            ContainerForm::Replication => "replication",
            ContainerForm::Unreadable => "unreadable",
            ContainerForm::Other(word) => word,
        }
    }
}

impl Compression {
    /// Returns the word in reports.
    pub fn name(&self) -> &str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Vcs => "vcs",
            Compression::Other(word) => word,
        }
    }
}

impl From<ContainerForm> for Container {
    /// Returns a container without compression.
    fn from(form: ContainerForm) -> Container {
        Container { form, compression: None }
    }
}

impl fmt::Display for Container {
    /// Writes the container in English: `rdb in gzip`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.form.name())?;
        match &self.compression {
            Some(compression) => write!(f, " in {}", compression.name()),
            None => Ok(()),
        }
    }
}

impl FileServer {
    /// Returns the name of the server: `redis 7.2.6`.
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version).trim().to_owned()
    }

    /// Words the server in both languages: `redis 7.0 (guessed from RDB version 10)`.
    pub fn wording(&self) -> Wording {
        let (name, note) = (self.name(), self.guessed_from);
        let note =
            note.map(|version| wording!(" (guessed from RDB version {version})", "（由 RDB 版本 {version} 推测）"));
        let Wording { en, zh } = note.unwrap_or_default();
        Wording { en: format!("{name}{en}"), zh: format!("{name}{zh}") }
    }
}

impl fmt::Display for FileServer {
    /// Writes the server in English: `redis 7.0 (guessed from RDB version 10)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wording().en)
    }
}

/// Reads a container; plain text, as the first reports had it, is kept as an unknown form.
pub(super) fn read_container<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Container, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Form(ContainerForm),
        Container(Container),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Form(form) => form.into(),
        Stored::Container(container) => container,
    })
}

/// Reads a server; of plain text, as the first reports had it, the first word is the family.
pub(super) fn read_server<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FileServer>, D::Error> {
    Ok(Option::<StoredServer>::deserialize(deserializer)?.and_then(StoredServer::server))
}

/// Reads several servers, each as [`read_server`] does.
pub(super) fn read_servers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FileServer>, D::Error> {
    let stored: Vec<StoredServer> = Vec::deserialize(deserializer)?;
    Ok(stored.into_iter().filter_map(StoredServer::server).collect())
}

/// Server in a report of any version of the program.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredServer {
    Text(String),
    Server(FileServer),
}

impl StoredServer {
    fn server(self) -> Option<FileServer> {
        match self {
            StoredServer::Text(text) if text.is_empty() => None,
            StoredServer::Text(text) => {
                let (family, version) = text.split_once(' ').unwrap_or((&text, ""));
                Some(FileServer { family: family.to_owned(), version: version.to_owned(), guessed_from: None })
            }
            StoredServer::Server(server) => Some(server),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn container(json: &Value) -> Container {
        read_container(json).unwrap()
    }

    #[test]
    fn a_container_is_a_form_and_a_compression() {
        let forms = [
            ContainerForm::Rdb,
            ContainerForm::AofPreamble,
            ContainerForm::MultiPartAof,
            ContainerForm::Replication,
            ContainerForm::Unreadable,
        ];
        for form in forms {
            let plain = Container::from(form);
            let json = serde_json::to_value(&plain).unwrap();
            assert_eq!(json, json!({"form": plain.form.name(), "compression": null}));
            assert_eq!((container(&json), plain.to_string()), (plain.clone(), plain.form.name().to_owned()));
        }
        for compression in [Compression::Gzip, Compression::Zstd, Compression::Lz4] {
            let word = compression.name().to_owned();
            let compressed = Container { form: ContainerForm::Rdb, compression: Some(compression) };
            let json = serde_json::to_value(&compressed).unwrap();
            assert_eq!(json, json!({"form": "rdb", "compression": word}));
            assert_eq!((container(&json), compressed.to_string()), (compressed, format!("rdb in {word}")));
        }
    }

    #[test]
    fn words_of_other_versions_are_kept() {
        let later = json!({"form": "valkey-envelope", "compression": "brotli"});
        let read = container(&later);
        assert_eq!(read.to_string(), "valkey-envelope in brotli");
        assert_eq!(serde_json::to_value(read).unwrap(), later);
        assert_eq!(container(&json!("rdb")), ContainerForm::Rdb.into());
        assert_eq!(container(&json!("rdb in gzip")).to_string(), "rdb in gzip");
        assert!(read_container(&json!(7)).is_err());
    }

    #[test]
    fn a_server_may_be_guessed_or_missing() {
        let guessed = json!({"family": "redis", "version": "7.0", "guessed_from": 10});
        let read = read_server(&guessed).unwrap().unwrap();
        assert_eq!(read.to_string(), "redis 7.0 (guessed from RDB version 10)");
        assert_eq!(serde_json::to_value(read).unwrap(), guessed);
        let named = FileServer { family: "redis".to_owned(), version: "7.2.6".to_owned(), guessed_from: None };
        assert_eq!(read_server(&json!("redis 7.2.6")).unwrap(), Some(named));
        assert_eq!(read_server(&json!("keydb")).unwrap().unwrap().to_string(), "keydb");
        assert_eq!((read_server(&json!("")).unwrap(), read_server(&Value::Null).unwrap()), (None, None));
    }
}
