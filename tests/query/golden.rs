//! Values of reference libraries, through SQL: scipy's t-test, statsmodels' corrections, mpmath's tails,
//! torchmetrics' SQuAD.

use crate::run::{Run, Value, close, create, scratch, values};

fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Null, Value::Null) => true,
        (Value::Number(found), Value::Number(expected)) => close(*found, *expected),
        _ => false,
    }
}

#[test]
fn t_tests_are_scipys() {
    let sql = "
        with cases as (
            select row_number() over () as id, sample, popmean, t, p
            from 'tests/golden/ttest.jsonl'
        ),
        scores as (select id, popmean, t, p, unnest(sample) as x from cases)
        select t_test_statistic(x, popmean), t, t_test_p(x, popmean), p
        from scores
        group by id, popmean, t, p";
    let rows = values(&scratch().query(sql).unwrap());
    assert_eq!(rows.len(), 60);
    for row in rows {
        assert!(same(&row[0], &row[1]) && same(&row[2], &row[3]), "{row:?}");
    }
}

#[test]
fn tails_of_t_are_right_to_nine_digits() {
    let sql = "select student_t_sf(t, df) as found, sf from 'tests/golden/student_t.jsonl'";
    let rows = values(&scratch().query(sql).unwrap());
    assert!(rows.len() > 100);
    for row in rows {
        let (Value::Number(found), Value::Number(expected)) = (&row[0], &row[1]) else { panic!("{row:?}") };
        // Relative also where the tail is as small as 1e-200.
        assert!((found - expected).abs() <= 1e-9 * expected, "{row:?}");
    }
}

#[test]
fn right_answers_are_squads() {
    let sql = "select answer_exact(response, answers), exact = 1.0, answer_f1(response, answers), f1, response
               from 'tests/golden/answers.jsonl'";
    let rows = values(&scratch().query(sql).unwrap());
    assert_eq!(rows.len(), 204);
    for row in rows {
        assert!(row[0] == row[1] && same(&row[2], &row[3]), "{row:?}");
    }
}

#[test]
fn corrections_are_statsmodels() {
    let session = scratch();
    create(
        &session,
        "cases",
        "with numbered as (
                 select cast(row_number() over () as double) as number, p, holm, bh from 'tests/golden/adjust.jsonl'
             )
             select
                 number as id, unnest(range(0, cardinality(p))) as i,
                 unnest(p) as p, unnest(holm) as holm, unnest(bh) as bh
             from numbered",
    )
    .unwrap();
    let run = Run::new();
    // A family a case: the cases differ by epsilon. Two tests without a p must change nothing.
    run.table(
        &session,
        "t_tests",
        "select 'dataset' as level, 'm' as model, cast(i as varchar) as dataset, 'bleu' as axis,
             'fixed' as normalization, 't' as test, id as epsilon, 1.0 as statistic, p, 16 as n
         from cases
         union all
         select 'dataset', 'm', 'none', axis, 'fixed', 't', 1.0, null, null, 1 from (values ('cos'), ('ent')) as t (axis)",
    );
    run.analyze();
    let found = run.session();
    let expected = session.query("select * from cases").unwrap();
    found.register_batches("cases", expected[0].schema(), expected).unwrap();
    let rows = values(
        &found
            .query(
                "select s.p_holm, c.holm, s.p_bh, c.bh
                 from significance_dataset as s
                 inner join cases as c on c.id = s.epsilon and cast(c.i as varchar) = s.dataset",
            )
            .unwrap(),
    );
    assert_eq!(rows.len(), 1 + 2 + 5 + 12 + 66);
    for row in rows {
        assert!(same(&row[0], &row[1]) && same(&row[2], &row[3]), "{row:?}");
    }
    let without_p = "select p_holm, p_bh, mark from significance_dataset where p is null";
    assert_eq!(values(&found.query(without_p).unwrap()), vec![vec![Value::Null, Value::Null, Value::Null]; 2]);
}

#[test]
fn bleu_through_sql_is_sacrebleus() {
    // The file's values are on 0..100.
    let sql = "select * from (
            select bleu(reference, candidate) as found, bleu / 100 as expected from 'tests/golden/bleu.jsonl'
            union all
            select bleu_effective_order(reference, candidate), bleu_effective_order / 100 from 'tests/golden/bleu.jsonl'
            union all
            select chrf(reference, candidate), chrf / 100 from 'tests/golden/bleu.jsonl'
        )";
    let rows = values(&scratch().query(sql).unwrap());
    assert_eq!(rows.len(), 3 * 120);
    for row in rows {
        assert!(same(&row[0], &row[1]), "{row:?}");
    }
}

#[test]
fn intervals_are_scipys() {
    let sql = "
        with cases as (
            select row_number() over () as id, * from 'tests/golden/ci.jsonl'
        ),
        scores as (select id, level, unnest(sample) as x from cases),
        found as (
            select
                id, count(*) as n, t_interval(x, level) as t, bca_interval(x, '', level, 99999, 1) as bca
            from scores
            group by id, level
        )
        select
            f.t['low'], c.t_low, f.t['high'], c.t_high, f.bca['low'], c.bca_low, f.bca['high'], c.bca_high,
            c.bca_abs_tolerance, f.n, f.bca['reason']
        from found as f inner join cases as c on f.id = c.id";
    let rows = values(&scratch().query(sql).unwrap());
    assert!(rows.len() > 8);
    let number = |value: &Value| if let Value::Number(x) = value { *x } else { panic!("{value:?}") };
    let mut with_bootstrap = 0;
    for row in &rows {
        assert!(same(&row[0], &row[1]) && same(&row[2], &row[3]), "{row:?}");
        if number(&row[9]) < 5.0 {
            // scipy gives bounds here too: those of a handful of different resamples.
            assert_eq!((&row[4], &row[10]), (&Value::Null, &Value::Text("fewer than 5".to_string())));
            continue;
        }
        let tolerance = number(&row[8]);
        for (found, expected) in [(&row[4], &row[5]), (&row[6], &row[7])] {
            assert!((number(found) - number(expected)).abs() <= tolerance, "{row:?}");
        }
        with_bootstrap += 1;
    }
    assert!(with_bootstrap > 6);
}

#[test]
fn rank_correlations_are_scipys() {
    let sql = "
        with cases as (select row_number() over () as id, * from 'tests/golden/ranks.jsonl'),
        pairs as (select id, unnest(a) as a, unnest(b) as b from cases),
        found as (select id, kendall_tau_b(a, b) as tau, spearman(a, b) as rho, corr(a, b) as r from pairs group by id)
        select f.tau, c.kendall_tau_b, f.rho, c.spearman_rho, f.r, c.pearson_r
        from found as f inner join cases as c on f.id = c.id";
    let rows = values(&scratch().query(sql).unwrap());
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert!(same(&row[0], &row[1]) && same(&row[2], &row[3]) && same(&row[4], &row[5]), "{row:?}");
    }
}

#[test]
fn sign_flips_are_scipys_permutation_tests() {
    let sql = "
        with cases as (select row_number() over () as id, * from 'tests/golden/sign_flip.jsonl'),
        scores as (select id, popmean, unnest(sample) as x from cases),
        found as (
            select
                id, sign_flip(x, popmean, 1, 0) as greater, sign_flip_two_sided(x, popmean, 1, 0) as two_sided
            from scores
            group by id, popmean
        )
        select f.greater['p'], c.p, f.two_sided['p'], c.p_two_sided
        from found as f inner join cases as c on f.id = c.id";
    let rows = values(&scratch().query(sql).unwrap());
    assert_eq!(rows.len(), 24);
    for row in rows {
        assert!(same(&row[0], &row[1]) && same(&row[2], &row[3]), "{row:?}");
    }
}

#[test]
fn distributions_are_right_to_nine_digits() {
    let cases = [
        ("binomial_test_p(successes, trials)", "p", "binomial", 60),
        ("noncentral_t_sf(t, df, delta)", "sf", "noncentral_t", 190),
        (
            "case when df is null then normal_quantile(p) else student_t_quantile(p, df) end",
            "quantile",
            "quantiles",
            100,
        ),
        ("t_test_power(n, effect, alpha)", "power", "power", 36),
        ("hedges_correction(df)", "correction", "hedges", 9),
    ];
    for (call, expected, file, least) in cases {
        let sql = format!("select {call} as found, {expected} as expected, * from 'tests/golden/{file}.jsonl'");
        let rows = values(&scratch().query(&sql).unwrap());
        assert!(rows.len() >= least, "{file}: {}", rows.len());
        for row in rows {
            let (Value::Number(found), Value::Number(expected)) = (&row[0], &row[1]) else { panic!("{file} {row:?}") };
            assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{file} {row:?}");
        }
    }
}

#[test]
fn sample_sizes_are_statsmodels() {
    // TTestPower().solve_power(effect, power=power, alpha=alpha, alternative="larger"): 26.1375, 155.9257, 23.1390.
    let sql = "select t_test_sample_size(0.5, 0.8, 0.05), t_test_sample_size(0.2, 0.8, 0.05),
        t_test_sample_size(0.8, 0.9, 0.01)";
    let row = &values(&scratch().query(sql).unwrap())[0];
    assert_eq!(row, &[27, 156, 24].map(|n| Value::Number(f64::from(n))));
}
