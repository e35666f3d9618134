"""Writes tests/golden/student_t.jsonl: upper tails of Student's t from mpmath at 60 digits.

Run: python scripts/golden_student_t.py > tests/golden/student_t.jsonl   (mpmath 1.3 or later)
"""

import json

from mpmath import betainc, mp, mpf

mp.dps = 60


def upper_tail(t, df):
    """I_x(df/2, 1/2) / 2 at x = df / (df + t^2), for t >= 0."""
    t, df = mpf(t), mpf(df)
    return betainc(df / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2


for df in (1, 1.5, 2, 3, 5, 15, 31, 95, 500, 1e4, 1e6):
    for t in (0, 1e-12, 1e-8, 1e-3, 0.3, 1, 1.7, 1.8, 2.5, 4, 8, 15, 30):
        tail = upper_tail(t, df)
        if tail > mpf("1e-300"):
            print(json.dumps({"t": t, "df": df, "sf": float(tail)}))
    if df <= 31:
        for t in (1e2, 1e4, 1e8):
            tail = upper_tail(t, df)
            if tail > mpf("1e-300"):
                print(json.dumps({"t": t, "df": df, "sf": float(tail)}))
