"""Runs a program and watches its memory: resident at most, and anonymous at most (what is not pages of a mapped file)."""
import os
import re
import subprocess
import tempfile
import threading
import time

# Every engine gets the same number of threads, whatever library it takes them from.
THREADS = int(os.environ.get("THREADS") or os.cpu_count())
ENV = {**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1",
       **{name: str(THREADS) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")}}


class Failed(Exception):
    """The program's last words."""

    def first_line(self):
        lines = [line for line in str(self).splitlines() if "rror" in line] or str(self).splitlines() or ["it failed"]
        return lines[0].strip()


def run(command, until=None):
    """Output, messages, seconds and MiB of a process. Memory is that before a message matches `until`; anonymous memory is
    looked at fifty times a second, resident memory is the system's own high-water mark."""
    start, messages, reached = time.perf_counter(), [], threading.Event()
    peak = {"resident": 0, "anonymous": 0}
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.PIPE, text=True, env=ENV, errors="replace")

        def listen():
            for line in process.stderr:
                messages.append(line)
                if until and re.search(until, line):
                    reached.set()

        listener = threading.Thread(target=listen)
        listener.start()
        while process.poll() is None:
            if not reached.is_set():
                look(process.pid, peak)
            time.sleep(0.02)
        listener.join()
        seconds = time.perf_counter() - start
        out.seek(0)
        if process.returncode:
            raise Failed("".join(messages).strip()[-2000:])
        return {"out": out.read(), "err": "".join(messages), "seconds": seconds, "peak_mib": peak["resident"] // 1024, "anonymous_mib": peak["anonymous"] // 1024}


def look(pid, peak):
    try:
        with open(f"/proc/{pid}/status") as status:
            kib = {line.split(":")[0]: int(line.split()[1]) for line in status if line.startswith(("VmHWM:", "RssAnon:"))}
    except OSError:
        return
    peak["resident"] = max(peak["resident"], kib.get("VmHWM", 0))
    peak["anonymous"] = max(peak["anonymous"], kib.get("RssAnon", 0))
