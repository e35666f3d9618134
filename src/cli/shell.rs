//! `sago completions` and `sago man`: for shells and `man`, made of the command line itself.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Arguments, Done, print};
use crate::{Error, Result};

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sago completions bash > ~/.local/share/bash-completion/completions/sago
  sago completions zsh > ~/.zfunc/_sago
  sago completions fish > ~/.config/fish/completions/sago.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn carry_out(&self) -> Result<Done> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "sago", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Done::All)
    }
}

/// Write the manual pages
#[derive(Debug, Args)]
#[command(after_help = "Example:
  sago man --out ~/.local/share/man/man1 && man sago-run")]
pub struct Man {
    /// The folder for sago.1 and a page a command
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
}

impl Man {
    pub fn carry_out(&self) -> Result<Done> {
        std::fs::create_dir_all(&self.out).map_err(Error::io("create", &self.out))?;
        clap_mangen::generate_to(Arguments::command(), &self.out).map_err(Error::io("write in", &self.out))?;
        print(&format!("{}\n", self.out.join("sago.1").display()))?;
        Ok(Done::All)
    }
}
