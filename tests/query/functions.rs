//! The functions of SQL: every example of the reference, what they refuse, and that order changes no bit.

use arrow::util::display::{ArrayFormatter, FormatOptions};
use sago::query::functions::reference;
use sago::query::{Session, functions};

use crate::run::{create, scratch};

/// The cells of a result, row by row.
fn cells(session: &Session, sql: &str) -> Vec<Vec<String>> {
    let batches = session.query(sql).unwrap_or_else(|e| panic!("{e}: {sql}"));
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in &batches {
        let columns: Vec<_> =
            batch.columns().iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options).unwrap()).collect();
        rows.extend((0..batch.num_rows()).map(|row| columns.iter().map(|c| c.value(row).to_string()).collect()));
    }
    rows
}

#[test]
fn every_example_gives_what_it_says() {
    let session = scratch();
    for doc in reference() {
        let rows = cells(&session, doc.example);
        assert_eq!(rows.len(), 1, "{}: one row", doc.name);
        assert_eq!(rows[0].join(" | "), doc.result, "{}", doc.name);
        assert!(doc.example.contains(&format!("{}(", doc.name)), "{} is not in its example", doc.name);
        assert!(!doc.what.is_empty() && !doc.source.is_empty() && !doc.returns.is_empty(), "{}", doc.name);
        assert!(doc.arguments.iter().all(|a| !a.what.is_empty()), "{}", doc.name);
    }
}

#[test]
fn show_functions_knows_each_of_them() {
    let session = scratch();
    for doc in reference() {
        let sql = format!(
            "select distinct syntax_example from information_schema.routines where routine_name = '{}'",
            doc.name
        );
        assert_eq!(cells(&session, &sql), [[doc.signature()]], "{}", doc.name);
    }
}

/// Aggregates over `x`, `y` and a text `g`, with some 30 rows a group.
const AGGREGATES: [&str; 12] = [
    "t_test_statistic(x, 0.6)",
    "t_test_p(x, 0.6)",
    "t_test_p_two_sided(x, 0.6)",
    "t_interval(x, 0.95)",
    "sign_flip(x, 0.6, 999, 4)",
    "sign_flip_two_sided(x, 0.6, 999, 4)",
    "bca_interval(x, g, 0.95, 499, 4)",
    "bca_interval(x, '', 0.9, 499, 4)",
    "resampled_study(x, 20, 0.6, 0.05, 499, 4)",
    "kendall_tau_b(x, y)",
    "spearman(x, y)",
    "blocked_spearman(x, y, g, 0.95, 199, 4)",
];

/// Fault of another tool: sums that vary with partitioning (<https://github.com/apache/datafusion/issues/11264>).
#[test]
fn order_and_partitions_change_no_bit() {
    let rows = "select i % 5 as k, 'g' || (i % 3) as g, abs(sin(i * 7.1)) as x, cos(i) as y from
        (select value as i from range(0, 150))";
    let list = AGGREGATES.join(", ");
    let found = |threads: usize, order: &str| {
        let session = Session::new(Some(threads)).unwrap();
        // Batches of one table are spread over the partitions.
        let all = session.query(&format!("{rows} order by {order}")).unwrap();
        let whole = arrow::compute::concat_batches(&all[0].schema(), &all).unwrap();
        let parts: Vec<_> = (0..10).map(|part| whole.slice(part * 15, 15)).collect();
        session.register_batches("t", whole.schema(), parts).unwrap();
        let grouped = cells(&session, &format!("select k, {list} from t group by k order by k"));
        let single = cells(&session, &format!("select {list} from t"));
        (grouped, single)
    };
    let expected = found(1, "i");
    assert_eq!(expected.0.len(), 5);
    for threads in [2, 7] {
        for order in ["i", "i desc", "sin(i)"] {
            assert_eq!(found(threads, order), expected, "{threads} threads, by {order}");
        }
    }
}

#[test]
fn null_rows_are_skipped_and_nan_makes_the_result_null() {
    let session = scratch();
    create(
        &session,
        "t",
        "select i, abs(sin(i)) as x, cast(null as double) as nothing, case when i = 3 then 'nan'::double else 1.0 * i end as bad,
             case when i % 2 = 0 then abs(sin(i)) end as half, cos(i) as y, 'g' as g
         from (select value as i from range(0, 60))",
    )
    .unwrap();
    for aggregate in AGGREGATES {
        if aggregate.contains("0.6") {
            let call = aggregate.replace("0.6", "'nan'::double");
            let shown = cells(&session, &format!("select {call} as r from t"))[0][0].clone();
            assert!(!shown.chars().any(|c| c.is_ascii_digit()), "{call}: {shown}");
        }
        let of = |x: &str, rows: &str| {
            let call = aggregate.replacen("(x", &format!("({x}"), 1);
            cells(&session, &format!("select {call} as r from t where {rows}"))[0][0].clone()
        };
        assert_eq!(of("half", "true"), of("x", "i % 2 = 0"), "{aggregate}");
        assert_ne!(of("half", "true"), of("x", "true"), "{aggregate}");
        // A struct shows what it has of numbers: neither of the two has any.
        for column in ["nothing", "bad"] {
            let shown = of(column, "true").replace("fewer than 5", "");
            assert!(!shown.chars().any(|c| c.is_ascii_digit()) || shown.contains("n: 0"), "{aggregate}: {shown}");
        }
    }
}

#[test]
fn what_can_not_be_computed_says_what_was_expected() {
    let session = scratch();
    let refused = |call: &str, expected: &str| {
        let sql = format!("select {call} from (values (1.0, 'a', 1), (2.0, 'b', 2)) as t (x, g, n)");
        let error = session.query(&sql).unwrap_err().to_string();
        assert!(error.contains(expected), "{call}: {error}");
    };
    refused("t_test_p(g, 0)", "t_test_p(x, popmean) expects a number for x, found Utf8");
    refused("t_test_p(x)", "t_test_p(x, popmean) takes 2 arguments, found 1");
    refused("t_test_p(x, n)", "t_test_p(x, popmean) needs one popmean a group, found 1 and 2: group by it");
    refused("t_test_p(distinct x, 0)", "t_test_p does not take distinct");
    refused("t_interval(x, 95)", "t_interval expects a confidence between 0 and 1, found 95");
    refused("sign_flip(x, 0, 99.5, 0)", "expects a whole number (bigint) for draws, found Float64");
    refused("sign_flip(x, 0, 0, 0)", "sign_flip expects 1 to 10000000 draws, found 0");
    refused("sign_flip(x, 0, 99, n)", "needs one seed a group, found 1 and 2: group by it");
    refused("bca_interval(x, n, 0.95, 99, 0)", "expects a text for stratum, found Int64");
    refused("bca_interval(x, g, 1.0, 99, 0)", "bca_interval expects a confidence between 0 and 1, found 1");
    refused(
        "binomial_test_p(x, 3)",
        "binomial_test_p(successes, trials) expects a whole number (bigint) for successes",
    );
    refused("student_t_quantile(g, 3)", "student_t_quantile(p, df) expects a number for p, found Utf8");
}

#[test]
fn draws_in_sql_are_those_in_rust() {
    use functions::sign_flip::{Sides, sign_flip};
    let scores: Vec<f64> = (0..24).map(f64::from).collect();
    let rust = sign_flip(&scores, 10.0, Sides::Greater, 999, 5).unwrap();
    let sql = "select sign_flip(x, 10, 999, 5)['p'] from (select cast(value as double) as x from range(0, 24))";
    assert_eq!(cells(&scratch(), sql), [[rust.p.to_string()]]);
}
