//! A hub of a few files on this machine, spoken to over HTTP as the real one is.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::hash;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What the server does, and what it was asked.
#[derive(Default)]
struct Behaviour {
    /// Files by path; those with `is_large` are answered by a redirect.
    files: BTreeMap<String, (Vec<u8>, bool)>,
    /// Status and headers of every answer, where it refuses.
    refuses: Option<(u16, &'static str)>,
    /// Cuts this many transfers after so many bytes.
    cuts: (usize, usize),
    /// Bytes that large files are sent with in place of their own.
    swapped: Option<Vec<u8>>,
    /// Request lines, with the header `range` where there is one.
    asked: Vec<String>,
    /// Values of the header `authorization`.
    tokens: Vec<String>,
}

type Shared = Arc<Mutex<Behaviour>>;

struct Hub {
    behaviour: Shared,
    cache: TempDir,
    settings: Settings,
}

impl Hub {
    fn new(files: &[(&str, &[u8], bool)]) -> Hub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let files = files.iter().map(|&(name, bytes, large)| (name.to_string(), (bytes.to_vec(), large)));
        let behaviour: Shared = Arc::new(Mutex::new(Behaviour { files: files.collect(), ..Behaviour::default() }));
        let shared = Arc::clone(&behaviour);
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &shared);
            }
        });
        let cache = tempfile::tempdir().unwrap();
        let settings = Settings {
            cache: cache.path().to_path_buf(),
            endpoint: format!("http://{address}"),
            token: Some("hf_test".to_string()),
            offline: None,
            pause: Duration::from_millis(1),
        };
        Hub { behaviour, cache, settings }
    }

    fn set(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour.lock().unwrap());
    }

    fn find(&self, name: &str) -> Result<Found> {
        find(name, None, &self.settings, &Silent)
    }

    fn error(&self, name: &str) -> String {
        self.find(name).unwrap_err().to_string()
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.behaviour.lock().unwrap().asked)
    }

    fn offline(&self) -> Settings {
        Settings { offline: Some("HF_HUB_OFFLINE"), endpoint: "http://127.0.0.1:9".into(), ..self.settings.clone() }
    }
}

/// Answers one request and closes.
fn answer(mut stream: TcpStream, behaviour: &Shared) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let request = lines.next().unwrap().unwrap();
    let headers: Vec<String> = lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        headers.iter().find_map(|h| h.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v))
    };
    let mut behaviour = behaviour.lock().unwrap();
    let range = header("range");
    behaviour.asked.push(match range {
        Some(range) => format!("{request} {range}"),
        None => request.clone(),
    });
    behaviour.tokens.extend(header("authorization").map(str::to_string));
    let path = request.split(' ').nth(1).unwrap();
    if let Some((status, headers)) = behaviour.refuses {
        let head = format!("HTTP/1.1 {status} No\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        return;
    }
    if path.starts_with("/api/models/org/tiny/revision/") {
        let body = listing(&behaviour.files);
        send(&mut stream, 200, &body, body.len());
    } else if let Some(name) = path.strip_prefix("/cdn/") {
        let bytes = behaviour.swapped.clone().unwrap_or_else(|| behaviour.files[name].0.clone());
        send_file(&mut stream, &bytes, range, &mut behaviour.cuts);
    } else if let Some(name) = path.strip_prefix(&format!("/org/tiny/resolve/{COMMIT}/")) {
        match behaviour.files.get(name).cloned() {
            Some((_, true)) => {
                // Another host by its name.
                let port = stream.local_addr().unwrap().port();
                let to =
                    format!("location: http://localhost:{port}/cdn/{name}\r\ncontent-length: 0\r\nconnection: close");
                let to = format!("HTTP/1.1 302 Found\r\n{to}\r\n\r\n");
                stream.write_all(to.as_bytes()).unwrap();
            }
            Some((bytes, false)) => send_file(&mut stream, &bytes, range, &mut behaviour.cuts),
            None => send(&mut stream, 404, b"", 0),
        }
    } else {
        send(&mut stream, 404, b"", 0);
    }
}

fn listing(files: &BTreeMap<String, (Vec<u8>, bool)>) -> Vec<u8> {
    let sibling = |(name, (bytes, large)): (&String, &(Vec<u8>, bool))| {
        let sha256 = hash::of_bytes(bytes);
        match large {
            true => json!({"rfilename": name, "size": bytes.len(), "blobId": "ab", "lfs": {
                "sha256": sha256, "size": bytes.len(), "pointerSize": 134}}),
            false => json!({"rfilename": name, "size": bytes.len(), "blobId": &sha256[..40]}),
        }
    };
    let siblings: Vec<_> = files.iter().map(sibling).collect();
    json!({"id": "org/tiny", "sha": COMMIT, "siblings": siblings}).to_string().into_bytes()
}

fn send_file(stream: &mut TcpStream, bytes: &[u8], range: Option<&str>, cuts: &mut (usize, usize)) {
    let from = range.map_or(0, |r| r.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap());
    let mut sent = &bytes[from..];
    let length = sent.len();
    if cuts.0 > 0 && sent.len() > cuts.1 {
        cuts.0 -= 1;
        sent = &sent[..cuts.1];
    }
    send(stream, if range.is_some() { 206 } else { 200 }, sent, length);
}

fn send(stream: &mut TcpStream, status: u16, body: &[u8], length: usize) {
    let head = format!("HTTP/1.1 {status} So\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
}

/// A repository with more than is needed.
fn tiny() -> Hub {
    Hub::new(&[
        ("config.json", b"{}", false),
        ("tokenizer.json", b"{\"a\": 1}", true),
        ("tokenizer_config.json", b"{}\n", false),
        ("model.safetensors", b"weights", true),
        ("pytorch_model.bin", b"the same again", true),
        ("README.md", b"about", false),
    ])
}

#[test]
fn what_is_needed_is_fetched_once_and_then_read_from_the_cache() {
    let hub = tiny();
    let found = hub.find("org/tiny").unwrap();
    assert_eq!(found.hub, Some(HubOrigin { id: "org/tiny".into(), commit: COMMIT.into() }));
    let folder = hub.cache.path().join("models--org--tiny/snapshots").join(COMMIT);
    assert_eq!(found.place, Place::Folder(folder.clone()));
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]);
    assert_eq!(fs::read(folder.join("model.safetensors")).unwrap(), b"weights");
    let link = fs::read_link(folder.join("model.safetensors")).unwrap();
    assert_eq!(link, Path::new("../../blobs").join(hash::of_bytes(b"weights")));
    let main = hub.cache.path().join("models--org--tiny/refs/main");
    assert_eq!(fs::read_to_string(main).unwrap(), COMMIT);
    let asked = hub.asked();
    assert_eq!(asked[0], "GET /api/models/org/tiny/revision/main?blobs=true HTTP/1.1");
    // a listing, two small files, two large ones by way of another place
    assert_eq!(asked.len(), 7, "{asked:?}");
    // The other place is not given the token.
    assert_eq!(hub.behaviour.lock().unwrap().tokens, ["Bearer hf_test"; 5]);

    for name in ["org/tiny", &format!("org/tiny@{COMMIT}")] {
        assert_eq!(hub.find(name).unwrap(), found);
        assert_eq!(find(name, None, &hub.offline(), &Silent).unwrap(), found);
    }
    assert_eq!(hub.asked(), [""; 0]);
    // A snapshot that lacks a file is completed from the same commit.
    fs::remove_file(folder.join("model.safetensors")).unwrap();
    fs::remove_file(hub.cache.path().join("models--org--tiny/blobs").join(hash::of_bytes(b"weights"))).unwrap();
    let offline = find("org/tiny", None, &hub.offline(), &Silent).unwrap_err().to_string();
    assert!(offline.contains("HF_HUB_OFFLINE keeps") && offline.contains("without model.safetensors"), "{offline}");
    assert_eq!(hub.find("org/tiny").unwrap(), found);
    assert_eq!(hub.asked().len(), 3);
}

#[test]
fn what_another_program_cached_is_used_without_the_network() {
    let hub = tiny();
    hub.find("org/tiny").unwrap();
    // That program did not ask for the template: the hub is asked, and where it does not answer, what is there is used.
    fs::remove_dir_all(hub.cache.path().join("models--org--tiny/.no_exist")).unwrap();
    let gone = Settings { endpoint: "http://127.0.0.1:9".into(), ..hub.settings.clone() };
    assert!(find("org/tiny", None, &gone, &Silent).unwrap().hub.is_some());
    hub.asked();
    hub.find("org/tiny").unwrap();
    assert_eq!(hub.asked(), [format!("GET /api/models/org/tiny/revision/{COMMIT}?blobs=true HTTP/1.1")]);
    hub.find("org/tiny").unwrap();
    assert_eq!(hub.asked(), [""; 0]);
}

#[test]
fn shards_are_those_that_the_index_names() {
    let index = br#"{"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}}"#;
    let hub = Hub::new(&[
        ("config.json", b"{}", false),
        ("tokenizer.json", b"{}\n", false),
        ("model.safetensors.index.json", index, false),
        ("1.safetensors", b"one", true),
        ("2.safetensors", b"two", true),
        ("3.safetensors", b"three", true),
    ]);
    let Place::Folder(folder) = hub.find("org/tiny@v1").unwrap().place else { panic!() };
    assert!(folder.join("1.safetensors").exists() && folder.join("2.safetensors").exists());
    assert!(!folder.join("3.safetensors").exists());
    fs::remove_file(folder.join("2.safetensors")).unwrap();
    let offline = find("org/tiny@v1", None, &hub.offline(), &Silent).unwrap_err().to_string();
    assert!(offline.contains("without 2.safetensors"), "{offline}");
    let other = find("org/tiny@v2", None, &hub.offline(), &Silent).unwrap_err().to_string();
    assert!(other.contains("other revisions of it") && other.contains("models--org--tiny"), "{other}");
    hub.set(|b| drop(b.files.remove("2.safetensors")));
    assert!(hub.error("org/tiny@v1").contains("lacks its file 2.safetensors"));
    hub.set(|b| drop(b.files.remove("tokenizer.json")));
    assert!(hub.error("org/tiny@v3").contains("has no tokenizer.json"));
}

#[test]
fn a_gguf_file_is_named_or_the_choice_is_listed() {
    let parts = ["q/m-00001-of-00002.gguf", "q/m-00002-of-00002.gguf"];
    let hub = Hub::new(&[(parts[0], b"one", true), (parts[1], b"two", true), ("x.gguf", b"x", true)]);
    let choice = hub.error("org/tiny");
    assert!(choice.contains("found: q/m-00001-of-00002.gguf, x.gguf\n"), "{choice}");
    assert!(choice.contains("org/tiny:FILE.gguf"), "{choice}");
    assert!(hub.error("org/tiny:y.gguf").contains("has no file y.gguf"));
    let name = format!("org/tiny:{}", parts[0]);
    let Place::Gguf(path) = hub.find(&name).unwrap().place else { panic!() };
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(fs::read(path.with_file_name("m-00002-of-00002.gguf")).unwrap(), b"two");
    hub.asked();
    hub.find(&name).unwrap();
    assert_eq!(hub.asked(), [""; 0]);
}

#[test]
fn a_cut_transfer_goes_on_where_it_ended() {
    let hub = tiny();
    hub.set(|b| {
        b.files.retain(|name, _| name != "tokenizer.json");
        b.files.insert("tokenizer.json".into(), (b"{}  ".to_vec(), false));
        b.cuts = (1, 5);
    });
    hub.find("org/tiny").unwrap();
    let asked = hub.asked();
    assert!(asked.last().unwrap().ends_with("/cdn/model.safetensors HTTP/1.1 bytes=5-"), "{asked:?}");

    // Cut too often, it is an error, and what is there is kept for the next time.
    let hub = tiny();
    hub.set(|b| b.cuts = (9, 1));
    let cut = hub.error("org/tiny");
    assert!(cut.contains("can't be reached") && cut.contains("run the same command again"), "{cut}");
    hub.set(|b| b.cuts = (0, 0));
    hub.find("org/tiny").unwrap();
    assert!(hub.asked().iter().any(|asked| asked.contains("bytes=")));
}

#[test]
fn bytes_that_are_not_what_the_hub_says_are_refused() {
    let hub = tiny();
    hub.set(|b| b.swapped = Some(b"WEIGHTS".to_vec()));
    hub.set(|b| b.files.get_mut("tokenizer.json").unwrap().1 = false);
    let damaged = hub.error("org/tiny");
    assert!(damaged.contains("model.safetensors of org/tiny came damaged"), "{damaged}");
    assert!(damaged.contains(&hash::of_bytes(b"weights")), "{damaged}");
    hub.set(|b| b.swapped = Some(b"weights and more".to_vec()));
    assert!(hub.error("org/tiny").contains("longer than the hub says"));
    hub.set(|b| b.swapped = None);
    hub.find("org/tiny").unwrap();
}

#[test]
fn refusals_say_what_to_do() {
    let hub = tiny();
    let refused = |status, headers| {
        hub.set(|b| b.refuses = Some((status, headers)));
        hub.error("org/tiny")
    };
    let unknown = refused(404, "x-error-code: RepoNotFound\r\n");
    assert!(unknown.contains("no model org/tiny") && unknown.contains("status 404"), "{unknown}");
    let revision = refused(404, "x-error-code: RevisionNotFound\r\n");
    assert!(revision.contains("no revision main"), "{revision}");
    let unnamed = refused(401, "");
    assert!(unnamed.contains("private or gated") && unnamed.contains("HF_TOKEN"), "{unnamed}");
    let gated = refused(403, "x-error-code: GatedRepo\r\nx-error-message: ask first\r\n");
    assert!(gated.contains("is gated") && gated.contains("ask first"), "{gated}");
    assert!(gated.contains(&format!("open {}/org/tiny, accept its terms", hub.settings.endpoint)), "{gated}");
    let busy = refused(503, "");
    assert!(busy.contains("status 503") && busy.contains("try again later"), "{busy}");
    for error in [unknown, unnamed, gated] {
        assert!(!error.contains("hf_test"), "{error}");
    }
}

#[test]
fn no_network_and_no_model_say_so() {
    let hub = tiny();
    let gone = Settings { endpoint: "http://127.0.0.1:9".into(), ..hub.settings.clone() };
    let unreachable = find("org/tiny", None, &gone, &Silent).unwrap_err().to_string();
    assert!(unreachable.contains("can't be reached") && unreachable.contains("127.0.0.1:9"), "{unreachable}");
    let offline = find("org/tiny", None, &hub.offline(), &Silent).unwrap_err().to_string();
    assert!(offline.contains("nothing of it") && offline.contains("models--org--tiny"), "{offline}");
    assert!(hub.error("no/such/path").contains("there is no model no/such/path"));
    assert!(hub.error("llama.gguf").contains("a hub id as org/name"));
    let both = find("org/tiny@a", Some("b"), &hub.settings, &Silent).unwrap_err().to_string();
    assert!(both.contains("a and b"), "{both}");
    assert!(find("org/tiny", Some("../b"), &hub.settings, &Silent).unwrap_err().to_string().contains("../b"));
    assert_eq!(hub.asked(), [""; 0]);
}

#[test]
fn paths_are_taken_as_they_are() {
    let hub = tiny();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let no_config = hub.error(&at(""));
    assert!(no_config.contains("has no config.json"), "{no_config}");
    fs::write(at("a.gguf"), "").unwrap();
    assert_eq!(hub.find(&at("a.gguf")).unwrap(), Found { place: Place::Gguf(at("a.gguf").into()), hub: None });
    assert!(hub.error(&at("")).contains("found: a.gguf"));
    fs::write(at("config.json"), "{}").unwrap();
    assert_eq!(hub.find(&at("")).unwrap().place, Place::Folder(at("").into()));
    assert!(hub.error(&at("config.json")).contains("named by its folder"));
    let revision = find(&at("a.gguf"), Some("v1"), &hub.settings, &Silent).unwrap_err().to_string();
    assert!(revision.contains("only a model of the hub has a revision"), "{revision}");
}
