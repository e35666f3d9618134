//! Simulates how often the tests reject and the intervals cover, with the library's own functions and fixed seeds.
//!
//! usage: calibrate_tests [SIMULATIONS]      (default 20000; prints Markdown, the tables of docs/statistics.md)

use anyhow::Context;
use rayon::prelude::*;
use sago::query::functions::bca::bca_interval;
use sago::query::functions::binomial::binomial_test_p;
use sago::query::functions::resample::Stream;
use sago::query::functions::sign_flip::{Sides, sign_flip};
use sago::query::functions::t_test::{t_interval, t_test};

/// Level of the tests; the intervals have one minus it.
const ALPHA: f64 = 0.05;
/// Draws of sign-flip tests above 20 scores and of BCa intervals.
const DRAWS: usize = 1999;
/// Simulations that share a seed of draws; the scores are new in each.
const SHARED: u64 = 50;

/// A distribution of scores.
struct Scores {
    name: &'static str,
    mean: f64,
    draw: fn(&mut Stream) -> f64,
}

fn normal(stream: &mut Stream) -> f64 {
    // Box and Muller 1958; 1 - fraction lies in (0, 1].
    let radius = (-2.0 * (1.0 - stream.fraction()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.fraction()).cos()
}

fn exponential(stream: &mut Stream) -> f64 {
    -(1.0 - stream.fraction()).ln()
}

fn laplace(stream: &mut Stream) -> f64 {
    let size = exponential(stream);
    if stream.below(2) == 0 { size } else { -size }
}

const SYMMETRIC: [Scores; 2] =
    [Scores { name: "normal", mean: 0.0, draw: normal }, Scores { name: "Laplace", mean: 0.0, draw: laplace }];

fn skewed() -> [Scores; 3] {
    [
        Scores { name: "exponential", mean: 1.0, draw: exponential },
        Scores { name: "lognormal, sigma 1", mean: f64::exp(0.5), draw: |stream| normal(stream).exp() },
        Scores {
            name: "80 % zeros, the rest exponential",
            mean: 0.2,
            draw: |stream| if stream.below(5) == 0 { exponential(stream) } else { 0.0 },
        },
    ]
}

/// Shares of `simulations` samples for which each of the `K` answers is yes.
fn shares<const K: usize>(
    scores: &Scores,
    n: usize,
    simulations: u64,
    ask: impl Fn(&[f64], i64) -> [bool; K] + Sync,
) -> [f64; K] {
    let one = |simulation: u64| {
        let mut stream = Stream::new(2026, &[scores.name, &n.to_string(), &simulation.to_string()]);
        let mut sample: Vec<f64> = (0..n).map(|_| (scores.draw)(&mut stream)).collect();
        sample.sort_unstable_by(f64::total_cmp);
        ask(&sample, (simulation / SHARED) as i64).map(u64::from)
    };
    let add = |mut a: [u64; K], b: [u64; K]| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let counts = (0..simulations as usize)
        .into_par_iter()
        .with_min_len(SHARED as usize)
        .map(|i| one(i as u64))
        .reduce(|| [0; K], add);
    counts.map(|count| count as f64 / simulations as f64)
}

fn rejects(p: Option<f64>) -> bool {
    p.is_some_and(|p| p < ALPHA)
}

/// Sign-flip p, alternative: the mean is greater.
fn flip_p(sample: &[f64], mean: f64, seed: i64) -> Option<f64> {
    sign_flip(sample, mean, Sides::Greater, DRAWS, seed).map(|test| test.p)
}

fn sizes_under_symmetry(simulations: u64) {
    println!("| scores, n = 16 | t | sign-flip | median (exact binomial) |\n|---|---|---|---|");
    for scores in &SYMMETRIC {
        let sizes = shares(scores, 16, simulations, |sample, seed| {
            let above = sample.iter().filter(|x| **x > scores.mean).count();
            let differ = sample.iter().filter(|x| **x != scores.mean).count();
            [
                rejects(t_test(sample, scores.mean).p_greater),
                rejects(flip_p(sample, scores.mean, seed)),
                rejects(binomial_test_p(above as f64, differ as f64)),
            ]
        });
        println!("| {} | {} |", scores.name, sizes.map(percent).join(" | "));
    }
    // The discrete test can't have any level: the largest one below alpha.
    let attainable = (0..=16).filter_map(|k| binomial_test_p(f64::from(k), 16.0)).find(|p| *p < ALPHA);
    println!("| attainable | 5.0 % | 5.0 % | {} |", attainable.map_or(String::new(), percent));
}

fn sizes_under_skew(simulations: u64) {
    println!(
        "| scores | n | t: \"unstable\" | t: \"stable\" | sign-flip: \"unstable\" | sign-flip: \"stable\" \
         | t interval covers | BCa interval covers |\n|---|---|---|---|---|---|---|---|"
    );
    for scores in skewed() {
        for n in [16, 32, 96] {
            let found = shares(&scores, n, simulations, |sample, seed| {
                let greater = t_test(sample, scores.mean).p_greater;
                let mirrored: Vec<f64> = sample.iter().rev().map(|x| -x).collect();
                let covers = |interval: Option<(f64, f64)>| {
                    interval.is_some_and(|(low, high)| low <= scores.mean && scores.mean <= high)
                };
                [
                    rejects(greater),
                    rejects(greater.map(|p| 1.0 - p)),
                    rejects(flip_p(sample, scores.mean, seed)),
                    rejects(flip_p(&mirrored, -scores.mean, seed)),
                    covers(t_interval(sample, 1.0 - ALPHA)),
                    covers(bca_interval(sample, &[n], 1.0 - ALPHA, DRAWS, seed).ok()),
                ]
            });
            println!("| {} | {n} | {} |", scores.name, found.map(percent).join(" | "));
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn main() -> anyhow::Result<()> {
    let simulations = match std::env::args().nth(1) {
        Some(number) => number.parse().context("SIMULATIONS is no number")?,
        None => 20_000u64,
    };
    anyhow::ensure!(simulations > 0, "no simulations, no table");
    let error = |share: f64| 100.0 * (share * (1.0 - share) / simulations as f64).sqrt();
    println!(
        "{simulations} samples a row; Monte Carlo standard error {:.2} points at 5 % or 95 %, {:.2} at 20 %.\n",
        error(0.05),
        error(0.2)
    );
    sizes_under_symmetry(simulations);
    println!();
    sizes_under_skew(simulations);
    Ok(())
}
