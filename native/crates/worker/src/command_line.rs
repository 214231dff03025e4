//! Axes on a command line: an option for each axis, which takes the name of one of its values.

use std::collections::BTreeMap;

use clap::Command;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::describe::{Axis, Value};

/// A value with its name and its description in one line. An option whose values have no descriptions is not an axis.
pub type Named<T> = (T, &'static str, &'static str);

/// Returns the value that is called `name`.
#[must_use]
pub fn value_of<T: Copy>(values: &[Named<T>], name: &str) -> Option<T> {
    let (value, ..) = values.iter().find(|(_, known, _)| *known == name)?;
    Some(*value)
}

/// Returns the name of a value.
#[must_use]
pub fn name_of<T: PartialEq>(values: &[Named<T>], value: &T) -> Option<&'static str> {
    let (_, name, _) = values.iter().find(|(known, ..)| known == value)?;
    Some(name)
}

/// Takes the name of one of `values`.
pub fn named<T>(values: &'static [Named<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync,
{
    one_of(values, |(_, name, about)| (name, about)).map(|(value, ..)| value)
}

/// Takes the name of one of `values`; `listed` returns name and description of a value.
pub fn one_of<T>(
    values: &'static [T],
    listed: fn(T) -> (&'static str, &'static str),
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync,
{
    let shown = values.iter().map(move |&value| {
        let (name, about) = listed(value);
        PossibleValue::new(name).help((!about.is_empty()).then_some(about))
    });
    PossibleValuesParser::new(shown).try_map(move |chosen| {
        let mut values = values.iter().copied();
        values
            .find(|&value| listed(value).0 == chosen)
            .ok_or("no such value")
    })
}

/// The axes of `command`: the options of which every value has a description. An axis has the help of its option.
#[must_use]
pub fn axes(command: &Command) -> BTreeMap<String, Axis> {
    let axis = |option: &clap::Arg| {
        let values: Option<Vec<_>> = option
            .get_possible_values()
            .iter()
            .map(|value| {
                let about = value.get_help()?.to_string();
                Some(Value::available(value.get_name(), &about))
            })
            .collect();
        let mut about = option.get_help()?.to_string();
        about[..1].make_ascii_lowercase();
        let values = values.filter(|values| !values.is_empty())?;
        Some((option.get_long()?.to_owned(), Axis { about, values }))
    };
    command.get_arguments().filter_map(axis).collect()
}
