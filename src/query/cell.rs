//! Cells: one value of a result as text.
//!
//! In: an array and a row. Out: text for people ([`short`]) or for programs ([`exact`]); None for NULL.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// Elements of a list that a person is shown.
const SHOWN: usize = 6;

/// A value as a person reads it: six significant digits, long lists cut.
pub(super) fn short(array: &dyn Array, row: usize) -> Result<Option<String>, ArrowError> {
    text(array, row, false)
}

/// A value as a program reads it back: every digit, every element.
pub(super) fn exact(array: &dyn Array, row: usize) -> Result<Option<String>, ArrowError> {
    text(array, row, true)
}

fn text(array: &dyn Array, row: usize, exact: bool) -> Result<Option<String>, ArrowError> {
    if array.is_null(row) {
        return Ok(None);
    }
    if let Some(numbers) = array.as_primitive_opt::<Float64Type>() {
        let number = numbers.value(row);
        return Ok(Some(if exact { format!("{number:?}") } else { six_digits(number) }));
    }
    if let Some(numbers) = array.as_primitive_opt::<Float32Type>() {
        let number = numbers.value(row);
        return Ok(Some(if exact { format!("{number:?}") } else { six_digits(number.into()) }));
    }
    if let Some(elements) = list(array, row) {
        return list_text(&elements, exact).map(Some);
    }
    let formatter = ArrayFormatter::try_new(array, &FormatOptions::default())?;
    Ok(Some(formatter.value(row).try_to_string()?))
}

fn list(array: &dyn Array, row: usize) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::List(_) => array.as_list_opt::<i32>().map(|lists| lists.value(row)),
        DataType::LargeList(_) => array.as_list_opt::<i64>().map(|lists| lists.value(row)),
        _ => None,
    }
}

/// A list as JSON writes it, texts in quotes.
fn list_text(elements: &ArrayRef, exact: bool) -> Result<String, ArrowError> {
    let shown = if exact { elements.len() } else { elements.len().min(SHOWN) };
    let quoted = matches!(elements.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let mut parts = Vec::with_capacity(shown + 1);
    for i in 0..shown {
        let part = text(elements, i, exact)?;
        parts.push(match part {
            Some(part) if quoted => serde_json::Value::String(part).to_string(),
            Some(part) => part,
            None => "null".to_string(),
        });
    }
    if shown < elements.len() {
        parts.push(format!("… {} in all", elements.len()));
    }
    Ok(format!("[{}]", parts.join(", ")))
}

/// Six significant digits, without trailing zeros; powers of ten outside 1e-4..1e9.
pub(super) fn six_digits(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() {
        return if number == 0.0 { "0".to_string() } else { number.to_string() };
    }
    if !(1e-4..1e9).contains(&size) {
        let text = format!("{number:.5e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let before_point = size.log10().floor() as i32 + 1;
    let digits = usize::try_from(6 - before_point).unwrap_or(0);
    trimmed(&format!("{number:.digits$}")).to_string()
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Float32Array, Int64Array, ListArray, StringArray};
    use datafusion::arrow::datatypes::Int32Type;

    #[test]
    fn digits_that_a_person_can_use() {
        let shown = [
            0.0,
            1.0,
            0.466_860_123,
            -0.000_145_9,
            123_456.789,
            0.1 + 0.2,
            1e-7,
            2.5e-12,
            3e15,
            f64::NAN,
            f64::INFINITY,
        ];
        let text: Vec<String> = shown.iter().map(|x| six_digits(*x)).collect();
        assert_eq!(text, ["0", "1", "0.46686", "-0.0001459", "123457", "0.3", "1e-7", "2.5e-12", "3e15", "NaN", "inf"]);
    }

    #[test]
    fn programs_get_every_digit() {
        let floats = Float32Array::from(vec![0.1f32]);
        assert_eq!(exact(&floats, 0).unwrap().unwrap(), "0.1");
        let texts = StringArray::from(vec![Some("a"), None]);
        assert_eq!(exact(&texts, 0).unwrap().unwrap(), "a");
        assert_eq!(exact(&texts, 1).unwrap(), None);
        assert_eq!(short(&Int64Array::from(vec![-3]), 0).unwrap().unwrap(), "-3");
    }

    #[test]
    fn long_lists_are_cut_for_people_only() {
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some((0..9).map(Some).collect::<Vec<_>>())]);
        assert_eq!(short(&list, 0).unwrap().unwrap(), "[0, 1, 2, 3, 4, 5, … 9 in all]");
        assert_eq!(exact(&list, 0).unwrap().unwrap(), "[0, 1, 2, 3, 4, 5, 6, 7, 8]");
    }
}
