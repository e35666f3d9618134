//! Cohen's d of a reference library, through the models of an analysis.

use crate::run::{Run, Value, close, scratch, values};

#[test]
fn cohens_d_is_that_of_the_golden_file() {
    let session = scratch();
    let run = Run::new();
    // A sample a model, and the means that it is tested against as tolerances.
    let cases = "
        with cases as (
            select row_number() over () as id, sample, popmean, cohens_d from 'tests/golden/ttest.jsonl'
        )";
    run.table(
        &session,
        "instability",
        &format!(
            "{cases}, scores as (
                 select id, unnest(range(0, cardinality(sample))) as i, unnest(sample) as s from cases
             )
             select
                 cast(id as varchar) as model, 'd' as dataset, cast(i as varchar) as prompt_id, 'bleu' as axis,
                 'fixed' as normalization, s, 1 as n_variants
             from scores"
        ),
    );
    run.table(
        &session,
        "tolerances",
        "select popmean as epsilon, popmean = 0.05 as is_primary
         from (select distinct popmean from 'tests/golden/ttest.jsonl')",
    );
    run.analyze();
    let found = run.session();
    let sql = format!(
        "{cases}
         select e.cohens_d, c.cohens_d, e.hedges_g, e.n
         from cases as c
         inner join effect_sizes as e
             on e.model = cast(c.id as varchar) and e.epsilon = c.popmean and e.level = 'dataset'"
    );
    let rows = values(&found.query(&sql).unwrap());
    assert_eq!(rows.len(), 60);
    let mut known = 0;
    for row in rows {
        match (&row[0], &row[1], &row[2]) {
            (Value::Null, Value::Null, Value::Null) => {}
            (Value::Number(d), Value::Number(expected), g) => {
                assert!(close(*d, *expected), "{row:?}");
                // The correction makes an effect smaller, and does not exist for two scores.
                let pair = matches!(row[3], Value::Number(n) if n == 2.0);
                let smaller = matches!(g, Value::Number(g) if g.abs() < d.abs() || *d == 0.0);
                assert!(smaller || (pair && *g == Value::Null), "{row:?}");
                known += 1;
            }
            _ => panic!("{row:?}"),
        }
    }
    assert!(known > 40);
}
