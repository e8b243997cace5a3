//! Phrases that describe a thing instead of naming it, each with the remedy.

/// Phrase in lower case, and what to write.
pub(super) const PHRASES: &[(&str, &str)] = &[
    ("all the same", "say what stays as it is"),
    ("anew", "say again, or restart"),
    ("answers what it has taken", "write shutdown, drain, in-flight request"),
    ("based on the one before", "write delta record, base record, chain"),
    ("carried out", "write executed, applied or committed"),
    ("carries out", "write executes, applies or commits"),
    ("carry it out", "write execute, apply or commit"),
    ("carry out", "write execute, apply or commit"),
    ("carry them out", "write execute, apply or commit"),
    ("carrying out", "write executing, applying or committing"),
    ("expired items go", "write that the sweeper deletes expired items"),
    ("for good", "write permanently, or until when"),
    ("goes along with", "write piggyback, or part of the write group"),
    ("had better", "write must or should"),
    ("in its place", "name what replaces it"),
    ("is told", "write that it is reported or returned, and to whom"),
    ("judge", "write evaluate, check or validate"),
    ("judged", "write evaluated, checked or validated"),
    ("judges", "write evaluates, checks or validates"),
    ("move the log", "write checkpoint"),
    ("moves the log", "write checkpoint"),
    ("not synced", "write relaxed"),
    ("numbers and names", "write sequence number, event id"),
    ("so many", "give the number"),
    ("take along", "write group commit or piggyback"),
    ("takes along", "write group commit or piggyback"),
    ("takes a sweep along", "write piggyback"),
    ("too much to do", "write throttle, back-pressure or limit"),
    ("was ahead", "name winner and loser"),
    ("what becomes of", "name the outcome"),
    ("what it has", "name it: the item collection, the rows, the fields"),
    ("what stands for", "write guard item, or name the value"),
    ("what was told", "write that it is reported or returned, and to whom"),
    ("who has it", "name the lease holder"),
    ("whoever", "name the caller, the writer, the client"),
];

/// Texts that stay as they are: messages of DynamoDB and quotations of other programs.
pub(super) const VERBATIM: &[&str] = &[
    // A name of before the first release, in the table of new names in CHANGELOG.md.
    "Tries::judge",
];

/// Folders whose prose does not follow the list yet.
pub(super) const EXEMPT_FOLDERS: &[&str] = &["apps/", "entity/"];
