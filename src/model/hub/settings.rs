//! Settings: where the hub and its cache are, in the environment variables that the hub's own programs read.
//!
//! In: HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME; HF_ENDPOINT; HF_TOKEN, HF_TOKEN_PATH; HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE.
//! Out: [`Settings`]. See <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where and how models are fetched.
#[derive(Clone)]
pub struct Settings {
    /// The cache that all programs of the hub share.
    pub cache: PathBuf,
    /// The hub's address, without a slash at the end.
    pub endpoint: String,
    /// The user's token.
    pub token: Option<String>,
    /// The variable that keeps the program off the network.
    pub offline: Option<&'static str>,
    /// Before what failed is tried again; longer each time.
    pub pause: Duration,
}

impl Settings {
    /// What the environment says.
    pub fn of_environment() -> Settings {
        Settings::of(|name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Settings {
        let set = |name: &str| variable(name).map(|v| v.trim().to_string()).filter(|value| !value.is_empty());
        let yes = |name: &str| {
            set(name).is_some_and(|v| ["1", "ON", "YES", "TRUE"].contains(&v.to_ascii_uppercase().as_str()))
        };
        let home = PathBuf::from(set("HOME").unwrap_or_default());
        let path = |name: &str| set(name).map(|path| from_home(&path, &home));
        let own = path("HF_HOME")
            .unwrap_or_else(|| path("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache")).join("huggingface"));
        let cache = path("HF_HUB_CACHE").or_else(|| path("HUGGINGFACE_HUB_CACHE")).unwrap_or_else(|| own.join("hub"));
        let endpoint = set("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_string());
        let token = set("HF_TOKEN").or_else(|| {
            if yes("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
                return None;
            }
            let file = path("HF_TOKEN_PATH").unwrap_or_else(|| own.join("token"));
            fs::read_to_string(file).ok().map(|token| token.trim().to_string()).filter(|token| !token.is_empty())
        });
        let offline = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"].into_iter().find(|name| yes(name));
        let endpoint = endpoint.trim_end_matches('/').to_string();
        Settings { cache, endpoint, token, offline, pause: Duration::from_secs(1) }
    }
}

/// A path whose `~` is the user's home, as the hub's own programs read it.
fn from_home(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    }
}

/// Without the token, which belongs in no log.
impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Settings { cache, endpoint, token, offline, pause } = self;
        f.debug_struct("Settings")
            .field("cache", cache)
            .field("endpoint", endpoint)
            .field("token", &token.is_some())
            .field("offline", offline)
            .field("pause", pause)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_the_hubs_programs_read_them() {
        let of = |set: &[(&str, &str)]| {
            Settings::of(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_string()))
        };
        let plain = of(&[("HOME", "/h")]);
        assert_eq!(plain.cache, Path::new("/h/.cache/huggingface/hub"));
        assert_eq!((plain.endpoint.as_str(), plain.token, plain.offline), ("https://huggingface.co", None, None));
        let home = [("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), ("HF_HOME", "~/y"), ("HF_HUB_CACHE", "/z")];
        assert_eq!(of(&home[..2]).cache, Path::new("/x/huggingface/hub"));
        assert_eq!(of(&home[..3]).cache, Path::new("/h/y/hub"));
        assert_eq!(of(&home).cache, Path::new("/z"));
        let set = of(&[("HF_ENDPOINT", "http://m/"), ("HF_TOKEN", " t\n"), ("TRANSFORMERS_OFFLINE", "yes")]);
        assert_eq!((set.endpoint.as_str(), set.token.as_deref()), ("http://m", Some("t")));
        assert_eq!(set.offline, Some("TRANSFORMERS_OFFLINE"));
        assert_eq!(of(&[("HF_HUB_OFFLINE", "0")]).offline, None);
        assert!(!format!("{:?}", of(&[("HF_TOKEN", "secret")])).contains("secret"));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("token"), "from a file\n").unwrap();
        let home = folder.path().to_str().unwrap();
        assert_eq!(of(&[("HF_HOME", home)]).token.as_deref(), Some("from a file"));
        assert_eq!(of(&[("HF_HOME", home), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]).token, None);
    }
}
