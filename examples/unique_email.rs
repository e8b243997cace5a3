//! Unique e-mail addresses: only keys are unique in DynamoDB, so a guard item enforces the address.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::entity::{Db, Entity, Id, Outcome, TableDesign};

static USERS: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("users").key("PK", "SK"));

// `unique` writes a guard item for the address, in the same transaction as the user. Its condition
// fails if another user has the address. `checked` refuses an address that contains `#`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = USERS,
    pk = "USER#{id}",
    sk = "PROFILE",
    unique(email, pk = "EMAIL#{email:checked}", sk = "OWNER")
)]
struct User {
    id: Id,
    email: String,
}

fn user(id: &str, email: &str) -> tabla::Result<User> {
    Ok(User { id: Id::new(id)?, email: email.to_owned() })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("users.db");
    let db = Db::new(tabla::open(&format!("sqlite:{}", path.display())).await?);
    db.create_table(&USERS).await?;

    // Two sign up with the same address at the same time. Exactly one of them gets it.
    let (one, two) = tokio::join!(
        db.create(user("ana", "hello@example.com")?),
        db.create(user("bo", "hello@example.com")?),
    );
    let (mut created, mut refused) = (Vec::new(), 0);
    for outcome in [one?, two?] {
        match outcome {
            Outcome::Done(user) => created.push(user),
            Outcome::Taken { field } => {
                assert_eq!(field, "email");
                refused += 1;
            }
            Outcome::Lost(_) => panic!("the two have different ids"),
        }
    }
    assert_eq!((created.len(), refused), (1, 1));
    println!("1 user created, 1 refused: the email is taken");

    // A change of the address moves the guard item, and the old address is free again.
    let change = created[0].change().set(User::EMAIL, "new@example.com");
    assert!(db.update(change).await?.is_done());
    let next = db.create(user("cleo", "hello@example.com")?).await?;
    let cleo = next.done().expect("the address is free");
    println!("{} has {} now", cleo.id, cleo.email);

    // Deletion of the user frees the address.
    assert!(db.delete(&cleo.to_key()).await?.is_done());
    assert!(db.create(user("dora", "hello@example.com")?).await?.is_done());
    println!("dora has it after cleo is deleted");
    Ok(())
}
