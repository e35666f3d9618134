"""The work of the engine's bench: prompts, and other wordings of each, made from a fixed seed.

`make(prompts, variants)` gives a list of {"prompt": text, "variants": [text, ...]}. A quarter of a prompt's variants each has marks
after it, spaces before it, letters in capitals, or a polite sentence around it; no two are equal, so that no engine can answer
one for another.
"""
import random

PROMPTS = [
    "Explain in a few sentences how a lighthouse helps ships at night.",
    "Why does bread rise when it is left in a warm place?",
    "Which planet has the most moons, and who found the first of them?",
    "Give me three ideas for a rainy afternoon with two small children.",
    "What is the difference between a violin and a viola?",
    "How did people keep food fresh before there were refrigerators?",
    "Describe the way from a cocoa bean to a bar of chocolate.",
    "Name a river that flows through more than two countries.",
]
OPENINGS = ["Good morning. ", "I hope you are well. ", "Sorry to bother you. ", "A friend asked me this today. ", "Please take your time. "]
CLOSINGS = ["", " Thank you.", " Many thanks in advance!", " I would be grateful for a short answer."]


def reworded(prompt, kind, strength, draw):
    if kind == 0:
        return prompt + "".join(draw.choice("!?.,;") for _ in range(strength))
    if kind == 1:
        return " " * (2 * strength) + prompt
    if kind == 2:
        return "".join(letter.upper() if draw.random() < strength / 22 else letter for letter in prompt)
    return OPENINGS[strength % 5] + prompt + CLOSINGS[strength // 5 % 4]


def make(prompts, variants):
    work = []
    for prompt in PROMPTS[:prompts]:
        draw, texts = random.Random(20260101), []
        for i in range(variants):
            text = reworded(prompt, i % 4, 1 + i // 4, draw)
            while text == prompt or text in texts:
                text = reworded(prompt, 0, 24, draw)
            texts.append(text)
        work.append({"prompt": prompt, "variants": texts})
    return work
