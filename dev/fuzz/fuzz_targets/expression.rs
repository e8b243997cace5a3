//! Texts of expressions: parsing never panics, a parsed expression is valid, and parsing reverses
//! rendering.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tabla_core::backend::{Placeholders, Renderer};
use tabla_core::expr::{ExpressionKind, Names, Values};
use tabla_core::{Item, Value, item};

const CONDITIONS: [ExpressionKind; 3] =
    [ExpressionKind::Condition, ExpressionKind::Filter, ExpressionKind::KeyCondition];

fuzz_target!(|data: &[u8]| {
    let Some((kind, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let names = Names::from([("#n".to_owned(), "n".to_owned())]);
    let values = Values::from([
        (":n".to_owned(), Value::from(1)),
        (":s".to_owned(), Value::from("S")),
        (":l".to_owned(), Value::L(vec![Value::Null])),
    ]);
    let mut placeholders = Placeholders::new(&names, &values).expect("well-formed placeholders");
    match kind % 5 {
        kind @ 0..=2 => {
            let kind = CONDITIONS[usize::from(kind)];
            let Ok(condition) = placeholders.parse_condition(kind, text) else { return };
            condition.validate(kind).expect("a parsed expression is valid");
            condition.evaluate(&sample());
            round_trip(
                |renderer| condition.render(renderer),
                |placeholders, text| {
                    let parsed = placeholders.parse_condition(kind, text);
                    assert_eq!(parsed.expect("rendered text parses"), condition);
                },
            );
        }
        3 => {
            let Ok(update) = placeholders.parse_update(text) else { return };
            update.validate().expect("a parsed expression is valid");
            if let Ok(updated) = update.apply(&sample()) {
                update.touched_parts(&updated);
            }
            round_trip(
                |renderer| update.render(renderer),
                |placeholders, text| {
                    let parsed = placeholders.parse_update(text);
                    assert_eq!(parsed.expect("rendered text parses"), update);
                },
            );
        }
        _ => {
            let Ok(projection) = placeholders.parse_projection(text) else { return };
            projection.validate().expect("a parsed expression is valid");
            projection.project(&sample());
            round_trip(
                |renderer| projection.render(renderer),
                |placeholders, text| {
                    let parsed = placeholders.parse_projection(text);
                    assert_eq!(parsed.expect("rendered text parses"), projection);
                },
            );
        }
    }
});

/// Renders and parses, unless the placeholders make the text longer than the limit.
fn round_trip(
    render: impl FnOnce(&mut Renderer) -> String,
    parse: impl FnOnce(&mut Placeholders<'_>, &str),
) {
    let mut renderer = Renderer::new();
    let text = render(&mut renderer);
    if text.len() > tabla_core::backend::limits::EXPRESSION_BYTES {
        return;
    }
    let mut placeholders = Placeholders::new(renderer.names(), renderer.values())
        .expect("placeholders of a renderer are well-formed");
    parse(&mut placeholders, &text);
    placeholders.finish().expect("a renderer collects only placeholders that it uses");
}

fn sample() -> Item {
    let inner = item! { "a" => 1, "n" => "x" }.into_map();
    item! {
        "a" => 1,
        "n" => "abc",
        "l" => Value::L(vec![Value::from(1), Value::M(inner.clone())]),
        "m" => inner,
    }
    .into_encoded()
}
