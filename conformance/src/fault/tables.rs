//! Faults of operations on tables.

use tabla_core::ops::{DeleteTable, ListTables, ListTablesOutput, TableDescription, UpdateTable};
use tabla_core::{Result, Store};

use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    pub(super) async fn faulty_update_table(
        &self,
        request: UpdateTable,
    ) -> Result<TableDescription> {
        let answer = self.store.update_table(request.clone()).await?;
        self.remember_hidden(&request).await;
        Ok(answer)
    }

    pub(super) async fn faulty_delete_table(
        &self,
        request: DeleteTable,
    ) -> Result<TableDescription> {
        if self.has(Fault::ProtectionIgnored) {
            let unprotect = UpdateTable::new(&request.table).deletion_protection(Some(false));
            self.store.update_table(unprotect).await?;
        }
        self.store.delete_table(request).await
    }

    pub(super) async fn faulty_list_tables(&self, request: ListTables) -> Result<ListTablesOutput> {
        let mut answer = self.store.list_tables(request).await?;
        if self.has(Fault::TablesReversed) {
            answer.table_names.reverse();
        }
        Ok(answer)
    }
}
