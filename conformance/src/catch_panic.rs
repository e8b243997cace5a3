//! Catches the panic of a future, with its text and location.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;
use std::task::Poll;

thread_local! {
    /// Whether this thread is polling a case, whose panics are results and are not printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// Location of the last caught panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a future and turns a panic into its text and location. Prints nothing.
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
        .unwrap_or("panic without text");
    match PLACE.take() {
        Some(place) => format!("{text}\n  at {place}"),
        None => text.to_owned(),
    }
}

/// Installs a hook that records the location of caught panics and passes others to the
/// previous hook.
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
    async fn panic_becomes_text_and_location() {
        let text =
            catch_panic(async { panic!("lost {} items", 3) }).await.map(|(): ()| ()).unwrap_err();
        assert!(text.starts_with("lost 3 items\n  at "), "{text}");
        assert!(text.contains("catch_panic.rs:"), "{text}");
    }

    #[tokio::test]
    async fn value_is_returned_across_await_points() {
        let value = catch_panic(async {
            tokio::task::yield_now().await;
            7
        });
        assert_eq!(value.await, Ok(7));
    }
}
