//! The apps on real stores: every app as it is, and the reservations of funds on stores that fail,
//! by processes that are killed; consumers of streams in such processes.

mod apps;
mod consumers;
mod faults;
mod kills;
mod places;
