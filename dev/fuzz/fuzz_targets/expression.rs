//! Expression texts: nothing panics, what parses is valid, and parsing undoes rendering.
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
    let mut placeholders = Placeholders::new(&names, &values).expect("they are well formed");
    match kind % 5 {
        kind @ 0..=2 => {
            let kind = CONDITIONS[usize::from(kind)];
            let Ok(condition) = placeholders.parse_condition(kind, text) else { return };
            condition.validate(kind).expect("what parses is valid");
            condition.evaluate(&sample());
            again(
                |renderer| condition.render(renderer),
                |placeholders, text| {
                    let parsed = placeholders.parse_condition(kind, text);
                    assert_eq!(parsed.expect("what is rendered parses"), condition);
                },
            );
        }
        3 => {
            let Ok(update) = placeholders.parse_update(text) else { return };
            update.validate().expect("what parses is valid");
            if let Ok(updated) = update.apply(&sample()) {
                update.touched_parts(&updated);
            }
            again(
                |renderer| update.render(renderer),
                |placeholders, text| {
                    let parsed = placeholders.parse_update(text);
                    assert_eq!(parsed.expect("what is rendered parses"), update);
                },
            );
        }
        _ => {
            let Ok(projection) = placeholders.parse_projection(text) else { return };
            projection.validate().expect("what parses is valid");
            projection.project(&sample());
            again(
                |renderer| projection.render(renderer),
                |placeholders, text| {
                    let parsed = placeholders.parse_projection(text);
                    assert_eq!(parsed.expect("what is rendered parses"), projection);
                },
            );
        }
    }
});

/// Renders and parses, unless the placeholders have made the text too long.
fn again(
    render: impl FnOnce(&mut Renderer) -> String,
    parse: impl FnOnce(&mut Placeholders<'_>, &str),
) {
    let mut renderer = Renderer::new();
    let text = render(&mut renderer);
    if text.len() > tabla_core::backend::limits::EXPRESSION_BYTES {
        return;
    }
    let mut placeholders = Placeholders::new(renderer.names(), renderer.values())
        .expect("what a renderer collects is well formed");
    parse(&mut placeholders, &text);
    placeholders.finish().expect("a renderer collects what it uses");
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
