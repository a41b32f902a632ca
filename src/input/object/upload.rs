//! Writes objects: whole or not at all.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use object_store::path::Path as StorePath;
use object_store::{Attribute, Attributes, MultipartUpload, PutMultipartOptions, PutOptions, PutPayload};

use super::address::{Address, unusable};
use super::failure::Answer;
use super::fetch::{Object, path_of};
use super::folder::input;
use super::store::Store;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::wording::wording;

/// Size of a part; what is shorter is sent by one request.
const PART: u64 = 8 << 20;
/// Number of parts that every store takes.
const MAX_PARTS: u64 = 9_000;

/// Object to be written.
pub struct Target {
    address: Address,
    path: StorePath,
    store: Arc<Store>,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Target({})", self.address)
    }
}

impl Target {
    pub(super) fn new(address: Address, store: Arc<Store>) -> Result<Target> {
        if address.scheme.is_web() {
            let error = unusable(
                wording!("cannot write to a web server", "无法写入 Web 服务器"),
                wording!(
                    "write to a file, or to s3://, gs://, az://, oss:// or cos://",
                    "请写入文件，或 s3://、gs://、az://、oss://、cos://"
                ),
            );
            return Err(error.in_file(&address.to_string()));
        }
        if address.key.ends_with('/') {
            let error = unusable(
                wording!("the address of an output names an object, not a prefix", "输出的地址应为对象，而不是前缀"),
                wording!("add the name of the object", "请加上对象名"),
            );
            return Err(error.in_file(&address.to_string()));
        }
        Ok(Target { path: path_of(&address)?, address, store })
    }

    /// Returns the address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns what is there now.
    pub fn existing(&self) -> Result<Option<Input>> {
        Ok(Object::find(self.address.clone(), &self.store)?.ok().map(input))
    }

    /// Writes the content of a file. An object that is there is replaced once all has arrived.
    pub fn put(&self, file: &mut File) -> Result<()> {
        let len = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let refused = |error: object_store::Error| {
            Answer::of(&error).error(self.address.scheme).in_file(&self.address.to_string())
        };
        let attributes = attributes(&self.address.key);
        self.store.runtime.wait(async {
            if len <= PART {
                let bytes = part(file, PART)?;
                let options = PutOptions { attributes, ..PutOptions::default() };
                return self.store.objects.put_opts(&self.path, bytes, options).await.map(|_| ()).map_err(refused);
            }
            let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
            let upload = self.store.objects.put_multipart_opts(&self.path, options).await;
            let mut upload = upload.map_err(refused)?;
            let sent = match self.send_parts(file, len, upload.as_mut(), &refused).await {
                Ok(()) => upload.complete().await.map(|_| ()).map_err(refused),
                Err(error) => Err(error),
            };
            if sent.is_err() {
                // Parts that nobody completes are stored and paid for.
                let _ = upload.abort().await;
            }
            sent
        })
    }

    async fn send_parts(
        &self,
        file: &mut File,
        len: u64,
        upload: &mut dyn MultipartUpload,
        refused: &impl Fn(object_store::Error) -> Error,
    ) -> Result<()> {
        let size = PART.max(len / MAX_PARTS);
        let mut left = len;
        while left > 0 {
            let bytes = part(file, size)?;
            left = left.saturating_sub(bytes.content_length() as u64);
            upload.put_part(bytes).await.map_err(refused)?;
        }
        Ok(())
    }
}

/// Returns the attributes of an object: without its type, a browser saves a page instead of showing it.
fn attributes(key: &str) -> Attributes {
    let ending = key.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending);
    let of_text = match ending.to_ascii_lowercase().as_str() {
        "html" => "text/html; charset=utf-8",
        "md" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        _ => return Attributes::new(),
    };
    [(Attribute::ContentType, of_text)].into_iter().collect()
}

/// Reads the next part of a file.
fn part(file: &mut File, most: u64) -> Result<PutPayload> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}
