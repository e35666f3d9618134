//! Devices: where a model is computed.
//!
//! In: a word of the plan. Out: this processor, or an accelerator that this build knows and this machine has.
//! Which accelerators a build knows is chosen by cargo features, as their libraries must be there when it is built and run.

use std::fmt;

use super::candle::said;
use super::matrix::Compute;
use crate::error::InputError;
use crate::{Error, Result};

/// A device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Device {
    /// This processor, by the program's own code.
    #[default]
    Cpu,
    /// The CUDA device of this number.
    Cuda(usize),
    /// The Metal device.
    Metal,
}

/// An accelerator where there is one, else the processor.
const AUTO: &str = "auto";

impl Device {
    /// The device of this word: `auto`, `cpu`, `cuda` (the first), `cuda:N` or `metal`.
    ///
    /// # Errors
    /// [`Error::Input`] where it is none of these, or this build or machine does not have it.
    pub fn chosen(word: &str) -> Result<Device> {
        let device = match word {
            AUTO => return Ok(Device::auto()),
            "cpu" => Device::Cpu,
            "cuda" => Device::Cuda(0),
            "metal" => Device::Metal,
            _ => match word.strip_prefix("cuda:").and_then(|number| number.parse().ok()) {
                Some(number) => Device::Cuda(number),
                None => return Err(Error::input(format!("\"{word}\" is not a device")).expected(WORDS).into()),
            },
        };
        match device.feature().filter(|(_, built)| !built) {
            Some((feature, _)) => Err(Error::input(format!("this build of the program can't compute on {word}"))
                .expected("cpu, or auto")
                .fix(format!(
                    "build it with the cargo feature: cargo build --release --features {feature} (docs/devices.md)"
                ))
                .into()),
            None => device.open().map(|_| device),
        }
    }

    /// An accelerator where the build knows one and one is there, else the processor.
    pub fn auto() -> Device {
        let usable = |device: &Device| device.feature().is_some_and(|(_, built)| built) && device.open().is_ok();
        [Device::Cuda(0), Device::Metal].into_iter().find(usable).unwrap_or(Device::Cpu)
    }

    /// The kinds of device that this build knows.
    pub fn built() -> Vec<&'static str> {
        let known = |device: Device| device.feature().filter(|(_, built)| *built).map(|(feature, _)| feature);
        ["cpu"].into_iter().chain([Device::Cuda(0), Device::Metal].into_iter().filter_map(known)).collect()
    }

    /// The compute type that is right for it.
    pub fn compute(self) -> Compute {
        match self {
            Device::Cpu => Compute::default(),
            Device::Cuda(_) => Compute::Bf16,
            Device::Metal => Compute::F16,
        }
    }

    /// Why it can't compute in this type; None where it can.
    pub fn refusal(self, compute: Compute) -> Option<InputError> {
        (self != Device::Cpu && compute == Compute::Int8).then(|| self.refuses(compute))
    }

    pub(super) fn refuses(self, compute: Compute) -> InputError {
        Error::input(format!("{} is a compute type of the processor's alone", compute.as_str()))
            .found(format!("{} on {self}", compute.as_str()))
            .expected("f32, bf16, f16")
            .fix("say --device cpu, or another --dtype")
    }

    /// The cargo feature that it needs, and whether this build has it.
    fn feature(self) -> Option<(&'static str, bool)> {
        match self {
            Device::Cpu => None,
            Device::Cuda(_) => Some(("cuda", candle_core::utils::cuda_is_available())),
            Device::Metal => Some(("metal", candle_core::utils::metal_is_available())),
        }
    }

    /// Opens it for tensors.
    ///
    /// # Errors
    /// [`Error::Input`] where this machine does not have it.
    pub fn open(self) -> Result<candle_core::Device> {
        let opened = match self {
            Device::Cpu => return Ok(candle_core::Device::Cpu),
            Device::Cuda(number) => candle_core::Device::new_cuda(number),
            Device::Metal => candle_core::Device::new_metal(0),
        };
        opened.map_err(|error| {
            Error::input(format!("this machine has no device {self}"))
                .found(said(error))
                .expected("cpu, or auto")
                .into()
        })
    }

    /// Bytes of its memory that are free, where it has memory of its own and says so.
    pub fn free_memory(self) -> Option<u64> {
        match self {
            #[cfg(feature = "cuda")]
            Device::Cuda(_) => {
                // Of the device that this thread has opened last.
                self.open().ok()?;
                candle_core::cuda_backend::cudarc::driver::result::mem_get_info().ok().map(|(free, _)| free as u64)
            }
            _ => None,
        }
    }
}

const WORDS: &str = "auto, cpu, cuda, cuda:N (the device of that number), metal";

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
            Device::Metal => f.write_str("metal"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_devices() {
        assert_eq!(Device::chosen("cpu").unwrap(), Device::Cpu);
        for word in ["gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", ""] {
            let message = Device::chosen(word).unwrap_err().to_string();
            assert!(message.contains("is not a device\n  expected: auto, cpu, cuda, cuda:N"), "{message}");
        }
        assert_eq!(Device::Cuda(3).to_string(), "cuda:3");
        assert_eq!(
            [Device::Cpu, Device::Cuda(0), Device::Metal].map(Device::compute).map(Compute::as_str),
            ["f32", "bf16", "f16"]
        );
    }

    #[test]
    fn integers_are_the_processors_alone() {
        assert!(Device::Cpu.refusal(Compute::Int8).is_none() && Device::Metal.refusal(Compute::F16).is_none());
        let message = Device::Cuda(1).refusal(Compute::Int8).unwrap().to_string();
        assert!(message.contains("found: int8 on cuda:1") && message.contains("--device cpu"), "{message}");
    }

    #[test]
    fn a_device_of_another_build_names_its_feature() {
        for (word, feature, built) in
            [("cuda:1", "cuda", cfg!(feature = "cuda")), ("metal", "metal", cfg!(feature = "metal"))]
        {
            let chosen = Device::chosen(word);
            if !built {
                let message = chosen.unwrap_err().to_string();
                assert!(message.contains(&format!("can't compute on {word}")), "{message}");
                assert!(message.contains(&format!("--features {feature}")), "{message}");
            }
        }
        if !cfg!(any(feature = "cuda", feature = "metal")) {
            assert_eq!((Device::auto(), Device::built()), (Device::Cpu, vec!["cpu"]));
            assert!(Device::Cuda(0).open().is_err() && Device::Cuda(0).free_memory().is_none());
        }
    }
}
