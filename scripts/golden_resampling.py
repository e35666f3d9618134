"""Writes golden values of tests, tails and power from scipy, statsmodels and mpmath: the file that is asked for.

Run: python scripts/golden_resampling.py NAME > tests/golden/NAME.jsonl      (scipy 1.11, statsmodels 0.14, mpmath 1.3)
NAME: sign_flip (scipy.stats.permutation_test), binomial (scipy.stats.binomtest), noncentral_t (mpmath, checked against
scipy.stats.nct), quantiles (scipy and mpmath), power (statsmodels TTestPower), hedges (mpmath).
"""

import json
import math
import sys

import numpy as np
from mpmath import erfc, exp, gamma, inf, mp, mpf, quad, sqrt
from scipy import stats
from scipy.special import log_ndtr
from statsmodels.stats.power import TTestPower

mp.dps = 30


def out(**row):
    print(json.dumps(row))


def sign_flip():
    """All assignments of signs, where a tie within 1e-14 relative counts; n up to 12."""
    rng = np.random.default_rng(20)
    samples = [rng.exponential(0.1, n) for n in (2, 3, 5, 8, 12)]
    # Eighths are exact: sums tie to the last bit.
    samples += [rng.integers(0, 5, n) / 8 for n in (4, 7, 11)]
    for sample in samples:
        for popmean in (0.0, 0.125, 0.25):
            row = {}
            for name, alternative in (("p", "greater"), ("p_two_sided", "two-sided")):
                test = stats.permutation_test(
                    (sample - popmean,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative=alternative
                )
                row[name] = min(1.0, float(test.pvalue))
            out(sample=sample.tolist(), popmean=popmean, **row)


def binomial():
    for trials in (1, 2, 5, 16, 17, 96, 97, 1000, 100_001):
        spread = math.sqrt(trials) / 2
        middle = trials / 2
        for successes in {0, 1, *(round(middle + z * spread) for z in (-3, -1, 0, 0.3, 1, 2, 4, 8)), trials}:
            if 0 <= successes <= trials:
                p = stats.binomtest(successes, trials, 0.5, alternative="greater").pvalue
                if p > 1e-300:
                    out(successes=successes, trials=trials, p=float(p))


def noncentral_tail(t, df, delta):
    """E P(Z > t S - delta) over S = sqrt(V / df), for df >= 1; split about the mode so that no peak is missed."""
    half = mpf(df) / 2
    scale = 2 * half**half / gamma(half)

    def term(s):
        return scale * s ** (df - 1) * exp(-df * s * s / 2) * erfc((t * s - delta) / sqrt(2)) / 2 if s > 0 else mpf(0)

    grid = np.exp(np.linspace(-12, 4, 16_001))
    log_terms = (df - 1) * np.log(grid) - df * grid**2 / 2 + log_ndtr(delta - t * grid)
    mode = mpf(grid[np.argmax(log_terms)])
    t, df, delta = mpf(t), mpf(df), mpf(delta)
    width = 1 / sqrt(2 * df + (t * t if t != 0 else 0))
    cuts = sorted({mpf(0), *(c for k in (-30, -10, -3, 0, 3, 10, 30) if (c := mode + k * width) > 0)})
    return quad(term, cuts) + quad(term, [cuts[-1], cuts[-1] + 1, cuts[-1] + 10, inf])


def noncentral_t():
    worst = 0.0
    for df in (1, 2.5, 15, 95, 1000, 10_000):
        for delta in (-40, -5, 0, 0.5, 2, 20, 40):
            for shift in (-4, -1, 0.3, 2, 5):
                t = round(delta + shift * math.sqrt(1 + delta * delta / (2 * df)), 3)
                sf = float(noncentral_tail(t, df, delta))
                if sf < 1e-12 or sf > 1 - 1e-12:
                    continue
                out(t=t, df=df, delta=delta, sf=sf)
                theirs = float(stats.nct.sf(t, df, delta))
                worst = max(worst, abs(theirs / sf - 1))
    print(f"scipy.stats.nct is off by a relative {worst:.1e} at most", file=sys.stderr)


def quantiles():
    """scipy's, polished by Newton steps on mpmath's tails."""
    from mpmath import betainc, findroot, pi

    def t_cdf(x, df):
        tail = betainc(df / 2, mpf(1) / 2, 0, df / (df + x * x), regularized=True) / 2
        return 1 - tail if x > 0 else tail

    for p in (1e-10, 0.001, 0.025, 0.05, 0.3, 0.49, 0.5, 0.51, 0.7, 0.95, 0.975, 0.9995):
        # 1 - p loses digits near 1: the double p itself is what is asked for.
        exact = mpf(p)
        z = mpf(0) if p == 0.5 else findroot(lambda x: erfc(-x / sqrt(2)) / 2 - exact, stats.norm.ppf(p))
        out(p=p, df=None, quantile=float(z))
        for df in (1, 1.5, 2, 4, 15, 31.7, 95, 1000):
            guess = stats.t.ppf(p, df)
            t = mpf(0) if p == 0.5 else findroot(lambda x: t_cdf(x, mpf(df)) - exact, guess, tol=mpf(10) ** -35, verify=False)
            out(p=p, df=df, quantile=float(t))


def power():
    solver = TTestPower()
    for alpha in (0.05, 0.01):
        for effect in (0.2, 0.5, 0.8):
            for n in (2, 5, 16, 30, 96, 500):
                out(n=n, effect=effect, alpha=alpha, power=float(solver.power(effect, n, alpha, alternative="larger")))


def hedges():
    for df in (1.5, 2, 3, 10, 15, 29, 95, 1000, 100_000):
        a = mpf(df) / 2
        out(df=df, correction=float(gamma(a) / (sqrt(a) * gamma(a - mpf(1) / 2))))


{
    "sign_flip": sign_flip,
    "binomial": binomial,
    "noncentral_t": noncentral_t,
    "quantiles": quantiles,
    "power": power,
    "hedges": hedges,
}[sys.argv[1]]()
