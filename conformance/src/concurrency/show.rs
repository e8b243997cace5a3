//! Display of operations and outcomes in violations.

use std::fmt;

use super::history::Entry;
use super::model::{
    Action, Condition, ModelOperation, Outcome, Returns, Row, State, Verdict, Write,
};

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, called, answered, operation, outcome } = self;
        write!(f, "[{called:>5}, {answered:>5}] task {task}: {operation} => {outcome}")
    }
}

impl fmt::Display for ModelOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Get(key) => write!(f, "get k{key}"),
            Self::Write(write) => write.fmt(f),
            Self::TransactGet(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| format!("k{key}")).collect();
                write!(f, "transact get {}", keys.join(", "))
            }
            Self::TransactWrite(writes) => {
                let writes: Vec<String> = writes.iter().map(Write::to_string).collect();
                write!(f, "transact write ({})", writes.join("; "))
            }
        }
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key;
        match self.action {
            Action::Put(row) => write!(f, "put k{key} = {row}")?,
            Action::Update { tag, add } => {
                write!(f, "update k{key}")?;
                if let Some(tag) = tag {
                    write!(f, " set v={tag}")?;
                }
                if let Some(add) = add {
                    write!(f, " add {add} to n")?;
                }
            }
            Action::Delete => write!(f, "delete k{key}")?,
            Action::Check => write!(f, "check k{key}")?,
        }
        match self.condition {
            Some(Condition::Absent) => f.write_str(" if absent")?,
            Some(Condition::Present) => f.write_str(" if present")?,
            Some(Condition::Tag(tag)) => write!(f, " if v={tag}")?,
            Some(Condition::CountAtLeast(count)) => write!(f, " if n>={count}")?,
            None => {}
        }
        f.write_str(match self.returns {
            Returns::Nothing => "",
            Returns::Old => ", returning old",
            Returns::New => ", returning new",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(rows) => {
                let rows: Vec<String> = rows.iter().map(|row| shown(*row)).collect();
                f.write_str(&rows.join(", "))
            }
            Self::Written(None) => f.write_str("done"),
            Self::Written(Some(row)) => write!(f, "done, {row}"),
            Self::Refused(verdicts) => {
                let verdicts: Vec<String> = verdicts.iter().map(Verdict::to_string).collect();
                write!(f, "refused: {}", verdicts.join("; "))
            }
            Self::NoEffect(code) => write!(f, "not executed, {code}"),
            Self::Unknown(code) => write!(f, "unknown, {code}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held => f.write_str("held"),
            Self::Failed(None) => f.write_str("failed"),
            Self::Failed(Some(row)) => write!(f, "failed on {row}"),
            Self::NotReported => f.write_str("not reported"),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tag, self.count) {
            (Some(tag), Some(count)) => write!(f, "{{v={tag} n={count}}}"),
            (Some(tag), None) => write!(f, "{{v={tag}}}"),
            (None, Some(count)) => write!(f, "{{n={count}}}"),
            (None, None) => f.write_str("{}"),
        }
    }
}

/// Lists the items that exist, by number.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<String> = (0..self.keys())
            .filter_map(|key| self.row(key).map(|row| format!("k{key}={row}")))
            .collect();
        if rows.is_empty() { f.write_str("no item") } else { f.write_str(&rows.join(" ")) }
    }
}

fn shown(row: Option<Row>) -> String {
    row.map_or_else(|| "none".to_owned(), |row| row.to_string())
}
