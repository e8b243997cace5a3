//! The apps on real stores: every app as it is, and the reservations of funds on stores that fail,
//! by processes that are killed.

mod apps;
mod faults;
mod kills;
mod places;
