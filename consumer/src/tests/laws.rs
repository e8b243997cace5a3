//! Property tests: no record is lost, and the changes of an item are handled in order.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use tabla_core::RetryPolicy;

/// Step of a random history.
#[derive(Clone, Debug)]
enum Step {
    /// Writes the next change of an item to the item's present shard.
    Write { item: u8 },
    /// Closes the shard of an item, whose later changes go to a new shard.
    Split { item: u8 },
    /// Disables the stream, and enables it again.
    Enable,
    /// Starts another worker.
    Start,
    /// Stops a worker.
    Stop { worker: u8 },
    /// Kills a worker.
    Kill { worker: u8 },
    /// Advances the clock.
    Pass { seconds: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0_u8..6).prop_map(|item| Step::Write { item }),
        1 => (0_u8..6).prop_map(|item| Step::Split { item }),
        1 => Just(Step::Enable),
        2 => Just(Step::Start),
        1 => any::<u8>().prop_map(|worker| Step::Stop { worker }),
        2 => any::<u8>().prop_map(|worker| Step::Kill { worker }),
        3 => (1_u64..40).prop_map(|seconds| Step::Pass { seconds }),
    ]
}

/// Shards as the steps have created them: items are divided among two lineages by their number.
struct Lineages {
    made: u32,
    current: [String; 2],
}

impl Lineages {
    fn new(fake: &Fake) -> Self {
        let mut lineages = Self { made: 0, current: Default::default() };
        lineages.enable(fake);
        lineages
    }

    fn next(&mut self, fake: &Fake, parent: Option<&str>) -> String {
        self.made += 1;
        let shard = format!("shard-{:03}", self.made);
        fake.add_shard(&shard, parent);
        shard
    }

    fn split(&mut self, fake: &Fake, which: usize) {
        let parent = self.current[which].clone();
        self.current[which] = self.next(fake, Some(&parent));
        fake.close(&parent);
    }

    fn enable(&mut self, fake: &Fake) {
        self.current.iter().filter(|shard| !shard.is_empty()).for_each(|shard| fake.close(shard));
        self.made += 1;
        fake.add_stream(&format!("{:03}", self.made));
        self.current = [self.next(fake, None), self.next(fake, None)];
    }
}

async fn holds(steps: Vec<Step>, seed: u64, per_mille: u64) {
    let fake = Fake::new().await;
    fake.forget_stream("1");
    let mut lineages = Lineages::new(&fake);
    let notes = Notes::new();
    let mut written: BTreeMap<u8, u64> = BTreeMap::new();
    let mut workers = Vec::new();
    let mut seeds = seed..;
    let mut worker = || {
        let env = Env::test(fake.clock.clone(), seeds.next().expect("endless"));
        // Short pauses and many attempts, because every injected failure is transient.
        let policy = RetryPolicy::default()
            .with_attempts(1000)
            .with_cap(Duration::from_millis(100))
            .with_env(env);
        Consumer::new(fake.clone(), "mailer", TABLE).batch_size(3).retry_policy(policy)
    };
    fake.trouble(seed, per_mille);
    for step in steps {
        match step {
            Step::Write { item } => {
                let n = written.entry(item).or_default();
                *n += 1;
                fake.write(&lineages.current[usize::from(item) % 2], &format!("item-{item}"), *n);
            }
            Step::Split { item } => lineages.split(&fake, usize::from(item) % 2),
            Step::Enable => lineages.enable(&fake),
            Step::Start if workers.len() < 4 => workers.push(Worker::start(worker(), &notes)),
            Step::Kill { worker } if !workers.is_empty() => {
                workers.remove(usize::from(worker) % workers.len()).kill().await;
            }
            Step::Stop { worker } if !workers.is_empty() => {
                let stopped = workers.remove(usize::from(worker) % workers.len());
                stopped.stop.send_replace(true);
                while !stopped.task.is_finished() {
                    pass(&fake, Duration::from_secs(1)).await;
                }
                stopped.end().await.expect("failures are transient");
            }
            Step::Start | Step::Kill { .. } | Step::Stop { .. } => {}
            Step::Pass { seconds } => pass(&fake, Duration::from_secs(seconds)).await,
        }
    }
    for worker in workers {
        worker.kill().await;
    }
    worker().drain(&*notes).await.expect("failures are transient");

    // Effects that are idempotent by event id.
    let mut events = BTreeSet::new();
    let mut effects: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (event, (pk, n)) in notes.events.lock().unwrap().iter().zip(notes.handled()) {
        if events.insert(event.clone()) {
            effects.entry(pk).or_default().push(n);
        }
    }
    let expected: BTreeMap<String, Vec<u64>> =
        written.into_iter().map(|(item, n)| (format!("item-{item}"), (1..=n).collect())).collect();
    assert_eq!(effects, expected);
}

/// With this seed, the response to the creation of the checkpoint table is lost.
#[tokio::test]
async fn lost_response_to_table_creation_is_retried() {
    holds(vec![Step::Write { item: 0 }], 3_762_645_768, 33).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_record_is_lost_and_changes_of_an_item_stay_in_order(
        steps in prop::collection::vec(step(), 1..60),
        seed in any::<u32>(),
        per_mille in prop_oneof![Just(0_u64), 1_u64..150],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(holds(steps, u64::from(seed), per_mille));
    }
}
