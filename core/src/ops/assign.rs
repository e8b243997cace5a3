//! The macro [`assign!`](crate::assign): struct update syntax for `#[non_exhaustive]` structs.

/// Sets fields of a value and returns the value.
///
/// This is struct update syntax for structs that are `#[non_exhaustive]`, as requests, outputs and
/// configurations are.
///
/// `assign!(base, { field: value, … })` reads as `Type { field: value, ..base }`. The base is
/// evaluated first, then the fields from first to last.
///
/// ```
/// use tabla::assign;
/// use tabla::ops::ListTables;
///
/// let limit = Some(10);
/// let first = assign!(ListTables::default(), { limit });
/// let next = assign!(first.clone(), { exclusive_start_table_name: Some("orders".to_owned()) });
/// assert_eq!(next.limit, first.limit);
/// ```
#[macro_export]
macro_rules! assign {
    (@field $base:ident, $field:ident) => {
        $base.$field = $field
    };
    (@field $base:ident, $field:ident, $value:expr) => {
        $base.$field = $value
    };
    ($base:expr, { $($field:ident $(: $value:expr)?),* $(,)? }) => {{
        let mut base = $base;
        $( $crate::assign!(@field base, $field $(, $value)?); )*
        base
    }};
}
