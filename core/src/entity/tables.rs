//! The tables of a design where it runs.

use std::time::Duration;

use super::Db;
use super::design::TableDesign;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::{
    DescribeTable, DescribeTimeToLive, TableStatus, TimeToLiveStatus, UpdateTimeToLive,
};

/// How long a table may take until it can be used.
const LIMIT: Duration = Duration::from_secs(300);

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_secs(1);

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
        let is_new = self.create_and_wait(design, &name).await?;
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

    /// Whether the table was not there before.
    async fn create_and_wait(&self, design: &TableDesign, name: &str) -> Result<bool> {
        let clock = &self.env().clock;
        let end = clock.now() + LIMIT;
        let mut is_new = false;
        loop {
            let mut status = match self.store().create_table(design.create(name)).await {
                Ok(description) => {
                    is_new = true;
                    Some(description.status)
                }
                Err(error) if matches!(error.kind(), ErrorKind::InUse) => self.status(name).await?,
                Err(error) => return Err(error),
            };
            // One that is gone was being deleted, and is created again.
            while let Some(present) = status {
                if matches!(present, TableStatus::Active | TableStatus::Updating) {
                    return Ok(is_new);
                }
                if clock.now() >= end {
                    return Err(Error::new(
                        ErrorKind::Unavailable,
                        format!("table {name} is {} for too long", present.as_str()),
                    ));
                }
                clock.sleep(PAUSE).await;
                status = self.status(name).await?;
            }
            if clock.now() >= end {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    format!("table {name} is in use and not there for too long"),
                ));
            }
            clock.sleep(PAUSE).await;
        }
    }

    /// How a table stands, if it is there.
    async fn status(&self, name: &str) -> Result<Option<TableStatus>> {
        match self.store().describe_table(DescribeTable::new(name)).await {
            Ok(description) => Ok(Some(description.status)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
