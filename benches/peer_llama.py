"""Generation alone on llama.cpp, batched, one JSON object on standard output.

usage: peer_llama.py GGUF IDS.json FOLDER [--try 16]
       peer_llama.py GGUF IDS.json FOLDER --best JSON [--new 64] [--runs 3]
IDS.json: a list of prompts as token ids. Their common start is computed once; sequences decode side by side in one context, as many as
the batch size, in groups until all prompts are done. The first form tries every weight type that can be made from the file, every batch
size and layout of the cache, with few new tokens; the second measures one of them. FOLDER takes the converted files.
Tokens are chosen by numpy's argmax, which is faster than llama.cpp's own greedy sampler; its share is reported.
"""
import argparse
import ctypes
import json
import math
import os
import statistics
import time

import llama_cpp as llama
import numpy as np

# The first of them chooses the layout of the cache.
TYPES = {"Q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0, "Q4_1": None, "Q4_0": llama.LLAMA_FTYPE_MOSTLY_Q4_0,
         "F16": llama.LLAMA_FTYPE_MOSTLY_F16, "BF16": llama.LLAMA_FTYPE_MOSTLY_BF16, "F32": llama.LLAMA_FTYPE_ALL_F32}
THREADS = int(os.environ["OMP_NUM_THREADS"])
LAYOUTS = [{"unified": unified, "flash": flash} for unified in (False, True) for flash in (False, True)]
BATCH = 2048


def convert(source, kind, folder):
    """The same weights in another type; the file itself where it has that type."""
    if TYPES[kind] is None:
        return source
    path = os.path.join(folder, f"{kind}.gguf")
    how = llama.llama_model_quantize_default_params()
    how.ftype, how.allow_requantize, how.nthread = TYPES[kind], True, THREADS
    if not os.path.exists(path) and llama.llama_model_quantize(source.encode(), path.encode(), ctypes.byref(how)) != 0:
        raise RuntimeError(f"llama.cpp cannot make {kind} from {source}")
    return path


def load(path):
    model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
    if not model:
        raise RuntimeError(f"llama.cpp cannot load {path}")
    return model


class Context:
    """Decodes rows (token, position, sequences) and gives the next tokens of those that ask for one."""

    def __init__(self, model, sequences, length, unified, flash):
        settings = llama.llama_context_default_params()
        settings.n_ctx = sequences * (256 * math.ceil(length / 256) if not unified else length)
        settings.n_seq_max, settings.n_batch, settings.n_ubatch = sequences, BATCH, 512
        settings.n_threads = settings.n_threads_batch = THREADS
        settings.kv_unified, settings.no_perf = unified, True
        settings.flash_attn_type = int(flash)
        self.context = llama.llama_init_from_model(model, settings)
        if not self.context:
            raise RuntimeError("llama.cpp makes no such context")
        self.memory = llama.llama_get_memory(self.context)
        self.vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
        self.batch = llama.llama_batch_init(BATCH, 0, sequences)
        self.choosing = 0.0

    def close(self):
        llama.llama_batch_free(self.batch)
        llama.llama_free(self.context)

    def decode(self, rows):
        """Rows are (token, position, sequence, whether the next token is wanted). The next tokens, in order."""
        made = []
        for first in range(0, len(rows), BATCH):
            some, batch = rows[first : first + BATCH], self.batch
            batch.n_tokens = len(some)
            for i, (token, position, sequence, wanted) in enumerate(some):
                batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, position, 1, wanted
                batch.seq_id[i][0] = sequence
            status = llama.llama_decode(self.context, batch)
            if status:
                raise RuntimeError(f"llama_decode: {status}")
            count = sum(row[3] for row in some)
            if count:
                # Decoding may go on in the background until the logits are asked for.
                logits = llama.llama_get_logits(self.context)
                start = time.perf_counter()
                made += np.ctypeslib.as_array(logits, shape=(count, self.vocabulary)).argmax(1).tolist()
                self.choosing += time.perf_counter() - start
        return made

    def generate(self, prompts, new):
        llama.llama_memory_clear(self.memory, True)
        shared = len(os.path.commonprefix(prompts)) if len(prompts) > 1 else 0
        shared = min(shared, min(map(len, prompts)) - 1)
        if shared > 0:
            self.decode([(token, i, 0, False) for i, token in enumerate(prompts[0][:shared])])
            for sequence in range(1, len(prompts)):
                llama.llama_memory_seq_cp(self.memory, 0, sequence, -1, -1)
        rows = [(token, i, s, i + 1 == len(p)) for s, p in enumerate(prompts) for i, token in enumerate(p) if i >= shared]
        responses = [[token] for token in self.decode(rows)]
        for step in range(new - 1):
            rows = [(r[-1], len(p) + step, s, True) for s, (p, r) in enumerate(zip(prompts, responses))]
            for response, token in zip(responses, self.decode(rows)):
                response.append(token)
        return responses


def measure(model, prompts, batch, layout, new):
    """Responses to all prompts, seconds, and those of them that went to choosing tokens."""
    context = Context(model, batch, max(map(len, prompts)) + new, **layout)
    try:
        # Weights are read from the file before the clock starts.
        context.generate([prompts[0][-1:]], 1)
        context.choosing = 0.0
        start = time.perf_counter()
        responses = [r for i in range(0, len(prompts), batch) for r in context.generate(prompts[i : i + batch], new)]
        return responses, time.perf_counter() - start, context.choosing
    finally:
        context.close()


def tries_of(given, prompts):
    """Tokens per second of one batch of every type and size; the layout of the cache is chosen first, with one type and size."""
    # The largest first: all prompts in one batch.
    sizes = [math.ceil(len(prompts) / k) for k in (1, 2, 4)]
    tries, f32_responses = [], None

    def tried(model, kind, size, layout):
        responses, seconds, _ = measure(model, prompts[:size], size, layout, given.tried)
        tries.append({"type": kind, "batch": size, **layout, "tokens_per_second": size * given.tried / seconds})
        return responses

    for kind in TYPES:
        model = load(convert(given.gguf, kind, given.folder))
        if not tries:
            for layout in LAYOUTS:
                tried(model, kind, sizes[1], layout)
            layout = {name: fastest(tries)[name] for name in LAYOUTS[0]}
        responses = [tried(model, kind, size, layout) for size in sizes]
        if kind == "F32":
            f32_responses = responses[0]
        llama.llama_model_free(model)
    return {"tries": tries, "best": fastest(tries[len(LAYOUTS) :]), "f32_responses": f32_responses}


def fastest(tries):
    return max(tries, key=lambda t: t["tokens_per_second"])


def run(given, prompts):
    best = json.loads(given.best)
    model = load(convert(given.gguf, best["type"], given.folder))
    layout = {name: best[name] for name in LAYOUTS[0]}
    runs = [measure(model, prompts, best["batch"], layout, given.new) for _ in range(given.runs)]
    seconds = statistics.median(seconds for _, seconds, _ in runs)
    return {**best, "seconds": seconds, "choosing_seconds": statistics.median(choosing for _, _, choosing in runs),
            "tokens_per_second": len(prompts) * given.new / seconds, "responses": runs[0][0],
            "system": llama.llama_print_system_info().decode(), "version": llama.__version__}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("gguf")
    arguments.add_argument("ids")
    arguments.add_argument("folder")
    arguments.add_argument("--try", type=int, default=16, dest="tried")
    arguments.add_argument("--best")
    arguments.add_argument("--new", type=int, default=64)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    silent = llama.llama_log_callback(lambda level, text, data: None)
    llama.llama_log_set(silent, ctypes.c_void_p(0))
    llama.llama_backend_init()
    prompts = json.load(open(given.ids))
    print(json.dumps(run(given, prompts) if given.best else tries_of(given, prompts)))


if __name__ == "__main__":
    main()
