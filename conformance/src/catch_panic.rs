//! Running an assertion-based future and keeping what it panicked with.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;
use std::task::Poll;

thread_local! {
    /// Whether this thread is polling a case, whose panics are answers and not accidents.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// Where the last caught panic happened.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a future and turns a panic into its text and place. Nothing is printed.
pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, String> {
    install_hook();
    let mut future = Box::pin(future);
    poll_fn(|context| {
        let before = CATCHING.replace(true);
        let polled = panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        CATCHING.set(before);
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(payload) => Poll::Ready(Err(describe(&*payload))),
        }
    })
    .await
}

fn describe(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a text");
    match PLACE.take() {
        Some(place) => format!("{text}\n  at {place}"),
        None => text.to_owned(),
    }
}

/// Keeps the place of panics inside cases, and leaves all others to the hook that was there.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if CATCHING.get() {
                PLACE.set(info.location().map(ToString::to_string));
            } else {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_its_text_and_place() {
        let text =
            catch_panic(async { panic!("lost {} items", 3) }).await.map(|(): ()| ()).unwrap_err();
        assert!(text.starts_with("lost 3 items\n  at "), "{text}");
        assert!(text.contains("caught.rs:"), "{text}");
    }

    #[tokio::test]
    async fn a_value_passes_through_across_waits() {
        let value = catch_panic(async {
            tokio::task::yield_now().await;
            7
        });
        assert_eq!(value.await, Ok(7));
    }
}
