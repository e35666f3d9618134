//! Client: what the hub answers over HTTP.
//!
//! In: a model and a revision, or one of its files. Out: the commit with its files, sizes and hashes; or the file's bytes.
//! Every answer that is none becomes a sentence that says what the user can do. A transfer that is cut goes on where it ended.
//! See <https://huggingface.co/docs/hub/api>.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde::Deserialize;
use ureq::config::RedirectAuthHeaders;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::Settings;
use super::cache::{is_commit, is_hash};
use crate::{Error, Result, hash};

/// A server that can't be connected to for this long is not waited for.
const CONNECT: Duration = Duration::from_secs(10);
/// Nor is one that says nothing for this long.
const SILENCE: Duration = Duration::from_secs(30);
/// How often a transfer is tried without getting further.
const TRIES: u32 = 4;
/// Most bytes of a list of files.
const LONGEST_LISTING: u64 = 64 << 20;
/// Bytes between two reports.
const PIECE: usize = 1 << 18;

/// A connection to the hub.
#[derive(Debug)]
pub struct Client<'a> {
    agent: Agent,
    settings: &'a Settings,
    id: &'a str,
}

/// A commit of a model.
#[derive(Debug)]
pub struct Listing {
    /// 40 hexadecimal digits.
    pub commit: String,
    /// Its files by path.
    pub files: BTreeMap<String, Remote>,
}

/// A file on the hub.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Bytes.
    pub size: u64,
    /// Name of its bytes in the cache: of a large file their SHA-256, else the hash that git has for it.
    pub hash: String,
    /// Whether that is a SHA-256.
    pub is_large: bool,
}

/// Why a try failed.
enum Failed {
    /// The connection broke, or the server is busy: the sentence that says so.
    ForNow(Error),
    /// Another try will not help.
    ForGood(Error),
}

#[derive(Deserialize)]
struct Answer {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    blob_id: Option<String>,
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    sha256: String,
    size: u64,
}

impl<'a> Client<'a> {
    /// For the model `id` (`org/name`).
    pub fn new(settings: &'a Settings, id: &'a str) -> Client<'a> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("sago/", env!("CARGO_PKG_VERSION")))
            // The token is for the hub, not for the servers that it sends to for large files.
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .build();
        Client { agent: Agent::new_with_config(config), settings, id }
    }

    /// The commit that a revision is now, with its files.
    pub fn listing(&self, revision: &str) -> Result<Listing> {
        let url = format!(
            "{}/api/models/{}/revision/{}?blobs=true",
            self.settings.endpoint,
            self.id,
            quoted(revision, false)
        );
        let unusable = |what: String| {
            let error = Error::input(format!("the answer of {} can't be used", self.settings.endpoint)).found(what);
            Error::from(error.expected(format!("a commit and its files with sizes and hashes, at {url}")))
        };
        let text = self.try_again(|| {
            let mut response = self.get(&url, 0)?;
            self.refused(&response, revision, None)?;
            let body = response.body_mut().with_config().limit(LONGEST_LISTING).read_to_vec();
            body.map_err(|e| Failed::ForNow(self.unreachable(&e.to_string())))
        })?;
        let answer: Answer = serde_json::from_slice(&text).map_err(|e| unusable(e.to_string()))?;
        if !is_commit(&answer.sha) {
            return Err(unusable(format!("the commit {:?}", answer.sha)));
        }
        if is_commit(revision) && answer.sha != revision {
            return Err(unusable(format!("the commit {}, where {revision} was asked for", answer.sha)));
        }
        // A file without size or hash can't be fetched; that is an error where it is wanted.
        let remote = |file: Sibling| {
            let remote = match file.lfs {
                Some(Large { sha256, size }) => Remote { size, hash: sha256, is_large: true },
                None => Remote { size: file.size?, hash: file.blob_id?, is_large: false },
            };
            is_hash(&remote.hash).then_some((file.rfilename, remote))
        };
        let (count, files) = (answer.siblings.len(), answer.siblings.into_iter().filter_map(remote).collect());
        let listing = Listing { commit: answer.sha, files };
        if count > 0 && listing.files.is_empty() {
            return Err(unusable("files without sizes and hashes".to_string()));
        }
        Ok(listing)
    }

    /// Fetches a file of a commit to `to`, and goes on there where an earlier try ended; `reach` is told how many bytes of it
    /// are there.
    pub fn fetch(&self, commit: &str, name: &str, file: &Remote, to: &Path, reach: &dyn Fn(u64)) -> Result<()> {
        let url = format!("{}/{}/resolve/{commit}/{}", self.settings.endpoint, self.id, quoted(name, true));
        self.try_again(|| self.go_on(&url, commit, name, file, to, reach))?;
        if file.is_large && hash::of_file(to)? != file.hash {
            fs::remove_file(to).map_err(Error::io("remove", to))?;
            return Err(Error::input(format!("{name} of {} came damaged", self.id))
                .file(to)
                .expected(format!("SHA-256 {}", file.hash))
                .fix("run the same command again: the file is fetched anew")
                .into());
        }
        Ok(())
    }

    /// One try to fetch the rest of a file.
    fn go_on(
        &self,
        url: &str,
        commit: &str,
        name: &str,
        file: &Remote,
        to: &Path,
        reach: &dyn Fn(u64),
    ) -> Result<(), Failed> {
        let io = |e| Failed::ForGood(Error::io("write", to)(e));
        let mut out = OpenOptions::new().create(true).append(true).open(to).map_err(io)?;
        let mut there = out.metadata().map_err(io)?.len();
        if there > file.size {
            out.set_len(0).map_err(io)?;
            there = 0;
        }
        if there == file.size {
            return Ok(());
        }
        let response = self.get(url, there)?;
        self.refused(&response, commit, Some(name))?;
        if response.status() != 206 {
            out.set_len(0).map_err(io)?;
            there = 0;
        }
        let mut body = response.into_body().into_reader();
        let mut piece = vec![0; PIECE];
        loop {
            let read = body.read(&mut piece).map_err(|e| Failed::ForNow(self.unreachable(&e.to_string())))?;
            out.write_all(piece.get(..read).unwrap_or_default()).map_err(io)?;
            there += read as u64;
            if there > file.size {
                out.set_len(0).map_err(io)?;
                let error = Error::input(format!("{name} of {} is longer than the hub says", self.id));
                return Err(Failed::ForGood(error.expected(format!("{} bytes", file.size)).into()));
            }
            reach(there);
            if read == 0 {
                break;
            }
        }
        match there == file.size {
            true => Ok(()),
            false => Err(Failed::ForNow(self.unreachable(&format!("{there} of {} bytes of {name}", file.size)))),
        }
    }

    fn get(&self, url: &str, from: u64) -> Result<Response<Body>, Failed> {
        let mut request = self.agent.get(url);
        if let Some(token) = &self.settings.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if from > 0 {
            request = request.header("range", format!("bytes={from}-"));
        }
        request.call().map_err(|e| Failed::ForNow(self.unreachable(&e.to_string())))
    }

    fn try_again<T>(&self, once: impl Fn() -> Result<T, Failed>) -> Result<T> {
        let mut tries = 0;
        loop {
            match once() {
                Ok(done) => return Ok(done),
                Err(Failed::ForGood(error)) => return Err(error),
                Err(Failed::ForNow(error)) => {
                    tries += 1;
                    if tries == TRIES {
                        return Err(error);
                    }
                    log::info!("{}: {error}; trying again", self.id);
                    sleep(self.settings.pause * tries);
                }
            }
        }
    }

    /// An answer that is no success, as a sentence.
    fn refused(&self, response: &Response<Body>, revision: &str, file: Option<&str>) -> Result<(), Failed> {
        let status = response.status().as_u16();
        if matches!(status, 200 | 206) {
            return Ok(());
        }
        let (id, endpoint) = (self.id, &self.settings.endpoint);
        let said = response.headers().get("x-error-message").and_then(|said| said.to_str().ok());
        let code = response.headers().get("x-error-code").and_then(|code| code.to_str().ok()).unwrap_or_default();
        let found = format!("status {status}{}", said.map(|said| format!(": {said}")).unwrap_or_default());
        let token = match self.settings.token {
            Some(_) => "the token that is set (HF_TOKEN, or the file of `hf auth login`) must be one with access",
            None => "set HF_TOKEN to a token of your account",
        };
        let accept = format!("open {endpoint}/{id}, accept its terms, and {token}");
        let error = match (status, code) {
            (401 | 403, "GatedRepo") => {
                Error::input(format!("the model {id} is gated: it needs your consent")).fix(accept)
            }
            (401, _) => Error::input(format!("the hub has no model {id}, or it is private or gated"))
                .fix(format!("check the id; if it is right: {accept}")),
            (403, _) => Error::input(format!("the hub does not give you the model {id}")).fix(accept),
            (404, "RevisionNotFound") => Error::input(format!("the model {id} has no revision {revision}"))
                .fix(format!("see {endpoint}/{id}/commits")),
            (404, _) => match file {
                Some(file) => Error::input(format!("the model {id} has no file {file} at {revision}")),
                None => Error::input(format!("the hub has no model {id}")).expected(super::EXPECTED),
            },
            _ => Error::input(format!("{endpoint} does not answer as it should"))
                .fix("try again later: what has been fetched is kept"),
        };
        let error = error.found(found).into();
        Err(if status == 429 || status >= 500 { Failed::ForNow(error) } else { Failed::ForGood(error) })
    }

    fn unreachable(&self, said: &str) -> Error {
        Error::input(format!("{} can't be reached to fetch {}", self.settings.endpoint, self.id))
            .found(said)
            .fix("check the network and run the same command again: what has been fetched is kept")
            .into()
    }
}

/// A text as a part of a URL's path; slashes stay where they part folders.
fn quoted(text: &str, keeps_slashes: bool) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b) || (keeps_slashes && b == b'/');
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
