//! Columns: the rows of a query as compact JSON.
//!
//! In: record batches. Out: `{"rows": n, "columns": {name: column}}`, a column being a list, or for texts
//! `{"values": [...], "codes": [...]}` with each text once and -1 for NULL. Numbers keep 6 significant digits.

use std::collections::HashMap;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use serde_json::{Map, Number, Value, json};

use crate::{Error, Result};

/// The rows of `batches`; where `kept` is given, only those that it marks, counted over all batches.
///
/// # Errors
/// [`Error::Query`] for a column whose type has no place in the page.
pub fn table(batches: &[RecordBatch], kept: Option<&BooleanArray>) -> Result<Value> {
    let mut rows = 0;
    let mut columns: Vec<(String, Column)> = Vec::new();
    let mut seen = 0;
    for batch in batches {
        let mask = kept.map(|kept| kept.slice(seen, batch.num_rows()));
        seen += batch.num_rows();
        let batch = match mask {
            Some(mask) => datafusion::arrow::compute::filter_record_batch(batch, &mask).map_err(unusable)?,
            None => batch.clone(),
        };
        rows += batch.num_rows();
        for (at, (field, array)) in batch.schema().fields().iter().zip(batch.columns()).enumerate() {
            if columns.len() <= at {
                columns.push((field.name().clone(), Column::of(field.data_type())));
            }
            if let Some((_, column)) = columns.get_mut(at) {
                column.extend(array)?;
            }
        }
    }
    let columns: Map<String, Value> = columns.into_iter().map(|(name, column)| (name, column.finish())).collect();
    Ok(json!({ "rows": rows, "columns": columns }))
}

/// A number with 6 significant digits: whole ones without a point, NULL for what is no number.
pub fn rounded(number: f64) -> Value {
    let short: f64 = format!("{number:.5e}").parse().unwrap_or(number);
    if short.fract() == 0.0 && short.abs() < 1e15 {
        return Value::from(short as i64);
    }
    Number::from_f64(short).map_or(Value::Null, Value::Number)
}

/// One column as it grows.
enum Column {
    Texts { values: Vec<String>, known: HashMap<String, i64>, codes: Vec<i64> },
    Plain(Vec<Value>),
}

impl Column {
    fn of(kind: &DataType) -> Column {
        match kind {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Column::Texts { values: Vec::new(), known: HashMap::new(), codes: Vec::new() }
            }
            _ => Column::Plain(Vec::new()),
        }
    }

    fn extend(&mut self, array: &ArrayRef) -> Result<()> {
        match self {
            Column::Texts { values, known, codes } => {
                let array = cast(array, &DataType::Utf8).map_err(unusable)?;
                for text in array.as_string::<i32>() {
                    codes.push(text.map_or(-1, |text| code(text, values, known)));
                }
            }
            Column::Plain(list) => list.extend(plain(array)?),
        }
        Ok(())
    }

    fn finish(self) -> Value {
        match self {
            Column::Texts { values, codes, .. } => json!({ "values": values, "codes": codes }),
            Column::Plain(list) => Value::Array(list),
        }
    }
}

/// The number of a text; the next free one where it is new.
fn code(text: &str, values: &mut Vec<String>, known: &mut HashMap<String, i64>) -> i64 {
    if let Some(&code) = known.get(text) {
        return code;
    }
    let code = values.len() as i64;
    values.push(text.to_string());
    known.insert(text.to_string(), code);
    code
}

fn plain(array: &ArrayRef) -> Result<Vec<Value>> {
    let kind = array.data_type();
    if *kind == DataType::Boolean {
        return Ok(array.as_boolean().iter().map(|flag| flag.map_or(Value::Null, Value::Bool)).collect());
    }
    if *kind == DataType::Null {
        return Ok(vec![Value::Null; array.len()]);
    }
    if kind.is_integer() {
        let array = cast(array, &DataType::Int64).map_err(unusable)?;
        return Ok(array.as_primitive::<Int64Type>().iter().map(Value::from).collect());
    }
    if kind.is_floating() {
        let array = cast(array, &DataType::Float64).map_err(unusable)?;
        return Ok(array.as_primitive::<Float64Type>().iter().map(|x| x.map_or(Value::Null, rounded)).collect());
    }
    if let Some(lists) = array.as_list_opt::<i32>() {
        let items = |list: Option<ArrayRef>| match list {
            None => Ok(Value::Null),
            Some(list) if matches!(list.data_type(), DataType::Utf8) => {
                Ok(Value::from(list.as_string::<i32>().iter().map(Option::unwrap_or_default).collect::<Vec<_>>()))
            }
            Some(list) => plain(&list).map(Value::Array),
        };
        return lists.iter().map(items).collect();
    }
    Err(Error::Query(format!("a report has no place for a column of type {kind}")))
}

fn unusable(error: datafusion::arrow::error::ArrowError) -> Error {
    Error::Query(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Session;

    #[test]
    fn texts_stand_once_numbers_are_short_and_null_stays_null() {
        let session = Session::new(Some(1)).unwrap();
        let sql = "select * from (values ('b', 0.123456789, 1, true, [1.5]), ('a', 2.0, null, null, null), (null, null, 3, \
                   false, [0.25, 3.0]), ('b', 1e-9, 4, true, [])) as t (text, x, n, flag, list)";
        let table = table(&session.query(sql).unwrap(), None).unwrap();
        assert_eq!(
            table.to_string(),
            r#"{"rows":4,"columns":{"text":{"values":["b","a"],"codes":[0,1,-1,0]},"x":[0.123457,2,null,1e-9],"n":[1,null,3,4],"flag":[true,null,false,true],"list":[[1.5],null,[0.25,3],[]]}}"#
        );
    }

    #[test]
    fn only_marked_rows_are_kept() {
        let session = Session::new(Some(1)).unwrap();
        let batches = session.query("select * from (values ('a'), ('b'), ('c')) as t (x)").unwrap();
        let kept = BooleanArray::from(vec![false, true, true]);
        assert_eq!(table(&batches, Some(&kept)).unwrap()["columns"]["x"]["values"], json!(["b", "c"]));
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(rounded(f64::NAN), Value::Null);
        assert_eq!(rounded(f64::INFINITY), Value::Null);
        assert_eq!(rounded(-0.0), Value::from(0));
        assert_eq!(rounded(123_456_789.0), Value::from(123_457_000));
    }
}
