//! Models: weights, tokenizer, chat template, and the batched decoder.
