//! Projection expressions (22).

use super::prelude::*;

cases! {
    Projections;
}
