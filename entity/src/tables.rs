//! The tables of a design where it runs.

use super::Db;
use super::design::TableDesign;
use tabla_core::ops::{DescribeTimeToLive, TimeToLiveStatus, UpdateTimeToLive};
use tabla_core::{Error, Result, StoreExt};

impl Db {
    /// What a table of the design is called here.
    ///
    /// # Errors
    /// There is one for each period, and no period was given.
    pub fn table_name(&self, design: &TableDesign) -> Result<String> {
        let name = self.names.get(&design.name).unwrap_or(&design.name);
        match (&self.period, design.periods) {
            (Some(period), true) => Ok(format!("{name}-{period}")),
            (None, true) => Err(Error::validation(format!(
                "there is a table {name} for each period: say which with Db::period"
            ))),
            (_, false) => Ok(name.clone()),
        }
    }

    /// Creates a table of the design, unless it is there, and waits until it can be used: also if
    /// somebody else is just creating it.
    ///
    /// A table that is there is taken for the one of the design. What a caller may have left undone
    /// who created it, and was stopped, is done: its items expire if the design says so.
    ///
    /// # Errors
    /// Those of the store; the table cannot be used after five minutes.
    pub async fn create_table(&self, design: &TableDesign) -> Result<()> {
        let name = self.table_name(design)?;
        let clock = &*self.env().clock;
        let is_new = self.store().create_table_if_missing(design.create(&name), clock).await?;
        let Some(attribute) = &design.ttl else { return Ok(()) };
        if !is_new && self.expires(&name).await? {
            return Ok(());
        }
        let request = UpdateTimeToLive::new(&name, attribute, true);
        match self.store().update_time_to_live(request).await {
            Ok(_) => Ok(()),
            // Somebody else may have been ahead, which the service refuses to do again.
            Err(error) => match self.expires(&name).await {
                Ok(true) => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Whether items of a table expire.
    async fn expires(&self, name: &str) -> Result<bool> {
        let request = DescribeTimeToLive::new(name);
        let status = self.store().describe_time_to_live(request).await?.status;
        Ok(matches!(status, TimeToLiveStatus::Enabling | TimeToLiveStatus::Enabled))
    }
}
