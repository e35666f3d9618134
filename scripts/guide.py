"""Runs every code block of README.md and docs/*.md, and compares what it prints with what the page says.

usage: guide.py SAGO [--write] [PAGE...]
SAGO is the program; --write puts the real outputs into the pages; PAGE names single pages, as docs/sql.md.

A page has a folder of its own with a copy of runs/first, the run that docs/first-run.md makes. What a block does is said by its language:
  console   lines after "$ " are commands; the lines after one are what it prints, where the page shows that
  sh        a script          sql      through `sago sql runs/first -f`          python   with the Python that runs this
A `text` block right after one of the last three is its output. A comment above a block says what else it is:
  <!-- file: NAME -->  write it to NAME     <!-- needs WHAT -->  leave it out; SKIPPED says what is known
In outputs [..] stands for anything in a line, a line ... for any lines, and numbers may differ by a thousandth (processors round differently).
A command must succeed, unless the page shows an error or FAILED as its output. Exit code 1 where anything differs.
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = {"the network", "the sources", "minutes", "a model file", "the owners' files", "R"}
FIRST = "docs/first-run.md"
GENERATED = "Made by `make dictionary`"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
# What differs from time to time, for --write.
VARIES = [(r"\b\d+(\.\d+)? (s|ms|seconds)\b", r"[..] \2"), (r"\b[0-9a-f]{64}\b", "[..]"), (r"/tmp/\S+", "[..]")]


def same_line(wanted, found):
    if "[..]" in wanted:
        return re.fullmatch(".*".join(map(re.escape, wanted.split("[..]"))), found) is not None
    numbers = list(zip(NUMBER.findall(wanted), NUMBER.findall(found)))
    # Columns are as wide as their numbers.
    words = [" ".join(re.sub("─+", "─", NUMBER.sub("#", line)).split()) for line in (wanted, found)]
    return wanted == found or words[0] == words[1] and all(math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-9) for a, b in numbers)


def same(wanted, found):
    """Whether the lines of an output are those of the page, where `...` stands for any lines."""
    if wanted and wanted[0] == "...":
        return any(same(wanted[1:], found[i:]) for i in range(len(found) + 1))
    if not wanted or not found:
        return wanted == found
    return same_line(wanted[0], found[0]) and same(wanted[1:], found[1:])


def lines_of(output):
    return [line.rstrip() for line in output.rstrip().split("\n")] if output.strip() else []


class Page:
    def __init__(self, name, folder, env, write):
        self.name, self.folder, self.env, self.write = name, folder, env, write
        self.lines = (ROOT / name).read_text().split("\n")
        self.ran = self.faults = 0
        self.skipped = []

    def command(self, words, at, wanted):
        """Runs a command; gives its output as the page should have it."""
        self.ran += 1
        done = subprocess.run(words, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=180)
        found = lines_of(done.stdout)
        if done.returncode != 0 and not re.search("error|FAILED", "\n".join(wanted or [])):
            self.fault(at, [f"exit code {done.returncode}", *found])
        elif wanted is not None and not same(wanted, found):
            if not self.write:
                self.fault(at, ["wanted", *(f"  {line}" for line in wanted), "found", *(f"  {line}" for line in found)])
            for pattern, instead in VARIES:
                found = [re.sub(pattern, instead, line) for line in found]
            return found
        return wanted

    def fault(self, at, what):
        self.faults += 1
        print(f"{self.name}, line {at + 1}:", *what, sep="\n    ")

    def console(self, body, at):
        """Each command of a console block, with the lines it continues on; gives the block anew."""
        anew, i = [], 0
        while i < len(body):
            start, command = i, [body[i].removeprefix("$ ")]
            while command[-1].endswith("\\"):
                i += 1
                command.append(body[i].removeprefix("> "))
            i += 1
            wanted = []
            while i < len(body) and not body[i].startswith("$ "):
                wanted.append(body[i])
                i += 1
            anew += body[start:i - len(wanted)]
            while wanted and not wanted[-1]:
                wanted.pop()
            anew += self.command(["bash", "-o", "pipefail", "-c", "\n".join(command)], at + start, wanted or None) or []
        return anew

    def run(self):
        i = 0
        while i < len(self.lines):
            if not self.lines[i].startswith("```"):
                i += 1
                continue
            end = next(j for j in range(i + 1, len(self.lines)) if self.lines[j].startswith("```"))
            self.block(i, end)
            # Outputs written anew may have moved the end.
            i = next(j for j in range(i + 1, len(self.lines)) if self.lines[j].startswith("```")) + 1
        if self.write:
            (ROOT / self.name).write_text("\n".join(self.lines))

    def block(self, start, end):
        language, body = self.lines[start][3:].strip(), self.lines[start + 1:end]
        note = re.fullmatch(r"<!-- (file:|needs) (.+) -->", self.lines[start - 1]) if start else None
        if note and note[1] == "file:":
            path = self.folder / note[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(body) + "\n")
        elif note:
            self.skipped.append(note[2])
            if note[2] not in SKIPPED:
                self.fault(start, [f"needs what no one knows: {note[2]}"])
        elif language == "console":
            self.lines[start + 1:end] = self.console(body, start + 1)
        elif language in ("sh", "sql", "python"):
            script = self.folder / f"block.{language}"
            script.write_text("\n".join(body) + "\n")
            words = {"sh": ["bash", "-euo", "pipefail", script], "sql": ["sago", "sql", "runs/first", "-f", script], "python": [sys.executable, script]}
            out = end + 2
            shown = self.lines[end + 1:out + 1] == ["", "```text"]
            last = next(j for j in range(out + 1, len(self.lines)) if self.lines[j] == "```") if shown else out
            found = self.command(words[language], start, self.lines[out + 1:last] if shown else None)
            if shown:
                self.lines[out + 1:last] = found
        elif language not in ("", "text", "toml"):
            self.fault(start, [f"no one knows what to do with a block of `{language}`"])


def links(name):
    """Relative links that lead nowhere."""
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / name).read_text()):
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        headings = [re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"(?m)^#+ (.+)$", file.read_text())] if file.suffix == ".md" and file.exists() else []
        if "://" not in target and (not file.exists() or anchor and anchor not in headings):
            yield target


def notebook(env, folder):
    """Runs the cells of docs/figures.ipynb on a release of the run."""
    subprocess.run(["sago", "release", "runs/first", "--out", "releases/first", "--quiet"], cwd=folder, env=env, check=True)
    cells = json.loads((ROOT / "docs/figures.ipynb").read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    code += "\nassert plt.get_fignums() == [1, 2, 3], plt.get_fignums()\n"
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=env | {"MPLBACKEND": "Agg"}, check=True)


def main(sago, *rest):
    write, chosen, began = "--write" in rest, [a for a in rest if a != "--write"], time.time()
    index = ["docs/" + name for name in dict.fromkeys(re.findall(r"\]\((\w[\w-]*\.md)", (ROOT / "docs/README.md").read_text()))]
    pages = [name for name in dict.fromkeys([FIRST, "README.md", "docs/README.md", *index]) if (ROOT / name).exists()]
    faults = [f"{name} is not in the index docs/README.md" for name in sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")) if name not in pages]
    faults += [f"{name}: {target} leads nowhere" for name in pages for target in links(name)]
    ran, skipped = 0, []
    with tempfile.TemporaryDirectory() as work:
        tools = pathlib.Path(work, "bin")
        tools.mkdir()
        (tools / "sago").symlink_to(pathlib.Path(sago).resolve())
        env = os.environ | {"PATH": f"{tools}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1", "SOURCES": str(ROOT)}
        for name in pages:
            text = (ROOT / name).read_text()
            if GENERATED in text or chosen and name not in [FIRST, *chosen]:
                continue
            folder = pathlib.Path(work, name)
            folder.mkdir(parents=True)
            if name != FIRST:
                shutil.copytree(pathlib.Path(work, FIRST, "runs/first"), folder / "runs/first")
            page, start = Page(name, folder, env, write), time.time()
            page.run()
            ran, skipped, faults = ran + page.ran, skipped + page.skipped, faults + [name] * page.faults
            print(f"{name:24}{page.ran:4} commands{len(page.skipped):4} left out{page.faults:4} faults{time.time() - start:7.1f} s", flush=True)
        if not chosen:
            notebook(env, pathlib.Path(work, FIRST))
    for fault in faults:
        print("fault:", fault)
    left_out = ", ".join(f"{skipped.count(what)} for want of {what}" for what in sorted(set(skipped)))
    print(f"{ran} commands, {len(faults)} faults, left out: {left_out or 'none'}; {time.time() - began:.0f} s")
    return 1 if faults or not ran else 0


sys.exit(main(*sys.argv[1:]))
