//! What an app declares, all of it in one place.

use crate::design::{EntityDesign, TableDesign};
use crate::lint::Accepted;
use crate::pattern::Pattern;

/// What an app declares.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AppDesign {
    /// Its name, as the command line has it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// Its tables. A table is known by its documented name: entities say which one they are in, and
    /// what the tables of this design are like may differ from environment to environment.
    pub tables: Vec<&'static TableDesign>,
    /// Its entities.
    pub entities: Vec<&'static EntityDesign>,
    /// Its access patterns.
    pub patterns: Vec<Pattern>,
    /// What the checks warn of and the app takes, with the reason.
    pub accepted: Vec<Accepted>,
}

impl AppDesign {
    /// Design without tables, entities and patterns.
    pub fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            summary,
            tables: Vec::new(),
            entities: Vec::new(),
            patterns: Vec::new(),
            accepted: Vec::new(),
        }
    }

    /// Sets the tables.
    #[must_use]
    pub fn tables(mut self, tables: Vec<&'static TableDesign>) -> Self {
        self.tables = tables;
        self
    }

    /// Sets the entities.
    #[must_use]
    pub fn entities(mut self, entities: Vec<&'static EntityDesign>) -> Self {
        self.entities = entities;
        self
    }

    /// Sets the access patterns.
    #[must_use]
    pub fn patterns(mut self, patterns: Vec<Pattern>) -> Self {
        self.patterns = patterns;
        self
    }

    /// Sets the accepted warnings.
    #[must_use]
    pub fn accepted(mut self, accepted: Vec<Accepted>) -> Self {
        self.accepted = accepted;
        self
    }

    /// The table that an entity is in, as this design has it.
    pub fn table_of(&self, entity: &EntityDesign) -> &'static TableDesign {
        let own = (entity.table)();
        self.tables.iter().copied().find(|table| table.name == own.name).unwrap_or(own)
    }
}
