"""What the figures were measured on: processor, memory, versions."""
import importlib.metadata
import os
import platform
import subprocess

# Extensions that the engines' kernels are made for.
FLAGS = ["avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8", "asimd", "asimddp", "sve"]
PACKAGES = ["torch", "transformers", "llama-cpp-python", "numpy", "tokenizers", "safetensors"]


def describe(root):
    info = {}
    for line in open("/proc/cpuinfo"):
        name, _, value = line.partition(":")
        info.setdefault(name.strip(), value.strip())
    flags = info.get("flags", info.get("Features", "")).split()
    git = lambda *command: subprocess.run(["git", "-C", root, *command], capture_output=True, text=True).stdout.strip()
    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no", "--", "src", "Cargo.lock") else ""
    return {
        "cpu": info.get("model name", platform.machine()), "family": f"family {info.get('cpu family', '?')}, model {info.get('model', '?')}",
        "cores": os.cpu_count(), "flags": [f for f in FLAGS if f in flags], "memory_gib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        "kernel": f"{platform.system()} {platform.release()}", "python": platform.python_version(), "load": os.getloadavg()[0],
        "rustc": subprocess.run(["rustc", "--version"], capture_output=True, text=True, cwd=root).stdout.strip(),
        "sago": git("rev-parse", "--short=12", "HEAD") + changed, "versions": {name: version(name) for name in PACKAGES},
    }


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
