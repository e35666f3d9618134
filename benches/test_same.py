"""Results that differ are said, and end the bench with 1."""
import contextlib
import io
import sys
import unittest
from unittest import mock

import analysis
from same import same

GOOD = "model,axis,sgs\na,bleu,0.5\nb,bleu,0.25\n\nmodel,dataset,t\na,d,1.5\n"


class Same(unittest.TestCase):
    def test_the_same_to_nine_digits(self):
        self.assertTrue(same(GOOD, GOOD))
        self.assertTrue(same(GOOD.replace("0.25", "0.25000000001"), GOOD))
        self.assertFalse(same(GOOD.replace("0.25", "0.2500001"), GOOD))
        self.assertFalse(same(GOOD.replace("b,bleu", "c,bleu"), GOOD))

    def test_other_counts_differ(self):
        for other in (GOOD.replace("b,bleu,0.25\n", ""), GOOD.replace("a,d,1.5", "a,d,1.5,2"), GOOD.split("\n\n")[0], ""):
            self.assertFalse(same(other, GOOD))
            self.assertFalse(same(GOOD, other))

    def test_nan_equals_nothing(self):
        nan = GOOD.replace("0.25", "nan")
        for a, b in ((nan, GOOD), (GOOD, nan), (nan, nan), (GOOD.replace("0.25", ""), GOOD)):
            self.assertFalse(same(a, b))

    def ends(self, others):
        """Exit status and output of a bench in which every engine but sago gives `others`."""
        def timed(command):
            is_sago = command[0] == "SAGO"
            return GOOD if is_sago else others, 1.0, 1.0

        out = io.StringIO()
        fakes = mock.patch.multiple(analysis, timed=timed, whole_analysis=lambda *_: None)
        with fakes, mock.patch.object(sys, "argv", ["analysis.py", "SAGO", "--rows", "1"]), contextlib.redirect_stdout(out):
            with self.assertRaises(SystemExit) as end:
                analysis.main()
        return end.exception.code, out.getvalue()

    def test_a_difference_is_an_exit_code(self):
        code, out = self.ends(GOOD)
        self.assertEqual((code, "RESULTS DIFFER" in out), (0, False))
        for other in (GOOD.replace("b,bleu,0.25\n", ""), GOOD.replace("0.25", "nan")):
            code, out = self.ends(other)
            self.assertEqual((code, "RESULTS DIFFER" in out), (1, True))


if __name__ == "__main__":
    unittest.main()
