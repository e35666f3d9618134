"""The bench's work is the same every time, its page keeps what is not a figure, and engines that did other work are found out."""
import pathlib
import tempfile
import unittest

import page
import work
from job import agreement


def row(text, response=(1, 2, 3), **scores):
    return {"text": text, "ids": [7, 8], "response": list(response), **scores}


def peers(response=(1, 2, 3), cosine=0.5):
    """Ours of two texts, and a peer's of the same with this response to the second."""
    ours = {text: row(text, logprobs=[-1.0, -2.0], entropies=[1.0, 3.0], cos=0.5) for text in ("a", "b")}
    theirs = {"results": [row("a"), row("b", response, forced_logprob=-3.0, forced_entropy=2.0, cosine=cosine)]}
    return agreement(ours, theirs, {"whole": theirs}, {"missing": "no"})


class Job(unittest.TestCase):
    def test_no_two_wordings_are_equal(self):
        made = work.make(8, 82)
        self.assertEqual(made, work.make(8, 82))
        for prompt in made:
            self.assertEqual(len({prompt["prompt"], *prompt["variants"]}), 83)
        self.assertEqual(work.make(2, 24)[1]["variants"], made[1]["variants"][:24])

    def test_other_work_is_found_out(self):
        found = peers()
        self.assertTrue(found["sound"])
        self.assertEqual((found["published"]["equal_responses"], found["published"]["forced_logprob"]), (2, 0.0))
        self.assertFalse(peers(response=(1, 2, 4))["sound"])
        self.assertFalse(peers(response=(1, 2))["sound"])
        self.assertFalse(peers(cosine=0.4)["sound"])

    def test_a_page_keeps_its_prose(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.md"
            path.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
            for figures in ("new", "newer"):
                page.write(path, figures)
                self.assertEqual(path.read_text(), f"before\n{page.BEGIN}\n\n{figures}\n{page.END}\nafter\n")


if __name__ == "__main__":
    unittest.main()
