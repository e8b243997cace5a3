//! Macros that create items, maps and lists.

/// Creates an [`Item`](crate::Item) from names and values.
///
/// ```
/// use tabla::{Item, item};
///
/// let written = item! { "pk" => "a", "n" => 1 };
/// assert_eq!(written, Item::new().with("pk", "a").with("n", 1));
/// ```
#[macro_export]
macro_rules! item {
    ($($name:expr => $value:expr),* $(,)?) => {
        <$crate::Item as ::std::convert::From<$crate::Map>>::from(
            $crate::map! { $($name => $value),* }
        )
    };
}

/// Creates a [`Map`](crate::Map) from names and values.
///
/// ```
/// let map = tabla::map! { "street" => "Main", "number" => 7 };
/// assert_eq!(map.len(), 2);
/// ```
#[macro_export]
macro_rules! map {
    ($($name:expr => $value:expr),* $(,)?) => {
        <[(::std::string::String, $crate::Value)]>::into_vec(::std::boxed::Box::new([
            $((
                ::std::convert::Into::<::std::string::String>::into($name),
                ::std::convert::Into::<$crate::Value>::into($value),
            )),*
        ]))
        .into_iter()
        .collect::<$crate::Map>()
    };
}

/// Creates a list [`Value`](crate::Value) from values of any types.
///
/// ```
/// use tabla::{Value, list};
///
/// assert_eq!(list!["a", 1], Value::L(vec![Value::from("a"), Value::from(1)]));
/// ```
#[macro_export]
macro_rules! list {
    ($($value:expr),* $(,)?) => {
        $crate::Value::L(::std::vec![$(::std::convert::Into::<$crate::Value>::into($value)),*])
    };
}
