//! Races: many callers of an operation that one can win.

use futures::future::try_join_all;
use tabla::Result;
use tabla::entity::{Entity, Id, Outcome, UtcTime};
use tabla_kit::Race;

use super::check;
use super::data::*;
use crate::contract_operations::{ContratoCreated, ContratoMoved};
use crate::contracts::*;
use crate::email::Email;
use crate::operations::{Registrable, RkPai};
use crate::patterns;
use crate::users::*;

/// Callers of each race.
const CALLERS: u32 = 100;
/// Block of the races. Each caller has another block besides.
const RACED: Block = Block(950);

fn caller(number: u32) -> Block {
    Block(1000 + number)
}

pub(super) async fn all(app: &RkPai) -> Result<Vec<Race>> {
    let token = RACED.usuario(1)?;
    let perfil = PerfilUsuario {
        id_usuario: token.clone(),
        id_perfil: RACED.perfil(1)?,
        asignado_en: UtcTime::default(),
    };
    let withdrawals = (0..CALLERS)
        .map(|cents| retiro(token.clone(), noon(3, 3)?, cents.into()))
        .collect::<Result<Vec<_>>>()?;
    let one_id = (0..CALLERS)
        .map(|number| Ok(usuario(RACED.usuario(2)?, caller(number).email(9)?)))
        .collect::<Result<Vec<_>>>()?;
    Ok(vec![
        one_email(app).await?,
        once(app, "an id of a user", one_id).await?,
        other_email(app).await?,
        gone_once(app).await?,
        first_contract(app).await?,
        one_contract(app).await?,
        moved_contract(app).await?,
        deleted_contract(app).await?,
        once(app, "a profile for a user", vec![perfil; CALLERS as usize]).await?,
        once(app, "a withdrawal at one moment", withdrawals).await?,
        log(app).await?,
    ])
}

fn race(name: &'static str, contenders: usize, winners: usize, left: impl Into<String>) -> Race {
    Race { name, contenders, winners, left: left.into() }
}

/// All callers create an entity with the same key. Losers get the winner's.
async fn once<E: Registrable + PartialEq>(
    app: &RkPai,
    name: &'static str,
    entities: Vec<E>,
) -> Result<Race> {
    let attempts = try_join_all(entities.into_iter().map(|entity| app.add(entity))).await?;
    let done: Vec<&E> = attempts
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Done(entity) => Some(entity),
            _ => None,
        })
        .collect();
    check(done.len() == 1, "not exactly 1 caller has created the entity")?;
    let lost = attempts
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Lost(Some(seen)) if seen == done[0]));
    check(lost.count() + 1 == attempts.len(), "a loser does not get the entity that was created")?;
    let present = app.db.get(&done[0].to_key()).await?;
    check(present.as_ref() == Some(done[0]), "the stored entity is not the winner's")?;
    Ok(race(name, attempts.len(), done.len(), "the winner's, which all losers got"))
}

/// Callers create users with the same email.
async fn one_email(app: &RkPai) -> Result<Race> {
    let email = Email::new("unico@example.com")?;
    let ids: Vec<Id> =
        (0..CALLERS).map(|number| caller(number).usuario(1)).collect::<Result<_>>()?;
    let users = ids.iter().map(|id| app.add(usuario(id.clone(), email.clone())));
    let attempts = try_join_all(users).await?;
    let winners = attempts.iter().filter(|outcome| outcome.is_done()).count();
    let taken =
        attempts.iter().filter(|outcome| matches!(outcome, Outcome::Taken { field: "email" }));
    check(
        winners == 1 && taken.count() + 1 == attempts.len(),
        "the email does not have exactly 1 user",
    )?;
    let mut present = 0;
    for id in &ids {
        present += app.db.get(&Usuario::key(id)).await?.iter().len();
    }
    check(present == 1, "a user was written without the email")?;
    Ok(race("an email", attempts.len(), winners, "one user has it, the others do not exist"))
}

/// Callers change the email of one user, whom all have read.
async fn other_email(app: &RkPai) -> Result<Race> {
    let old = RACED.email(3)?;
    let user = usuario(RACED.usuario(3)?, old.clone());
    check(app.add(user.clone()).await?.is_done(), "the user exists already")?;
    let changes = (0..CALLERS).map(|number| {
        let user = &user;
        async move { app.change_email(user, caller(number).email(3)?).await }
    });
    let attempts = try_join_all(changes).await?;
    let winners = attempts.iter().filter(|outcome| outcome.is_done()).count();
    check(winners == 1, "not exactly 1 caller has changed the email")?;
    // The emails of the losers are free, and so is the old one.
    let present = app.db.get(&user.to_key()).await?;
    let Some(email) = present.map(|user| user.email) else {
        return check(false, "the user does not exist").map(|()| race("", 0, 0, ""));
    };
    let mut free = 0;
    for (number, email) in
        (0..CALLERS).map(|number| caller(number).email(3)).chain([Ok(old)]).enumerate()
    {
        let id = RACED.usuario(100 + number as u32)?;
        free += usize::from(app.add(usuario(id, email?)).await?.is_done());
    }
    check(free == CALLERS as usize, "an unused email is not free")?;
    Ok(race("another email", attempts.len(), winners, format!("{email}; all others are free")))
}

/// Callers delete one user.
async fn gone_once(app: &RkPai) -> Result<Race> {
    let user = usuario(RACED.usuario(4)?, RACED.email(4)?);
    check(app.add(user.clone()).await?.is_done(), "the user exists already")?;
    let deletions = (0..CALLERS).map(|_| app.delete_usuario(&user.id_usuario));
    let attempts = try_join_all(deletions).await?;
    let winners = attempts.iter().filter(|outcome| outcome.is_done()).count();
    check(winners == 1, "not exactly 1 caller has deleted the user")?;
    let again = app.add(user).await?;
    check(again.is_done(), "the email is not free")?;
    Ok(race("deleting a user", attempts.len(), winners, "the email is free"))
}

/// Callers create contracts of one company without a first.
async fn first_contract(app: &RkPai) -> Result<Race> {
    let contracts = (1..=CALLERS)
        .map(|number| {
            let id_contrato = RACED.id_contrato(number)?;
            Ok(Contrato { id_empresa: RACED.empresa(1)?, id_contrato, ..contrato(RACED, 1)? })
        })
        .collect::<Result<Vec<_>>>()?;
    let attempts = try_join_all(contracts.iter().map(|one| app.create_contrato(one))).await?;
    let first = attempts.iter().filter(|made| **made == ContratoCreated::First).count();
    let further = attempts.iter().filter(|made| **made == ContratoCreated::Further).count();
    check(first == 1 && first + further == attempts.len(), "not exactly 1 contract is the first")?;
    let of_company = app.db.all(patterns::contratos_de_empresa(&RACED.empresa(1)?)).await?;
    check(of_company.len() == contracts.len(), "a contract of the company is missing")?;
    let links = app.db.all(patterns::contratos_por_origen(&RACED.origen()?)).await?;
    check(links.len() == contracts.len(), "a contract has no link")?;
    Ok(race("a company's first contract", attempts.len(), first, "all there, one of them first"))
}

/// Companies create contracts with one id of an origin.
async fn one_contract(app: &RkPai) -> Result<Race> {
    let wanted = CALLERS + 1;
    let contracts = (0..CALLERS)
        .map(|number| {
            let id_empresa = caller(number).empresa(1)?;
            let id_contrato = RACED.id_contrato(wanted)?;
            Ok(Contrato { id_empresa, id_contrato, ..contrato(RACED, 1)? })
        })
        .collect::<Result<Vec<_>>>()?;
    let attempts = try_join_all(contracts.iter().map(|one| app.create_contrato(one))).await?;
    let winners = attempts.iter().filter(|made| **made == ContratoCreated::First).count();
    check(winners == 1, "not exactly 1 company has the contract")?;
    let key = ContratoDeOrigen::key(RACED.origen()?, RACED.id_contrato(wanted)?);
    let link = app.db.get(&key).await?;
    let lost = attempts
        .iter()
        .filter(|made| matches!(made, ContratoCreated::Taken(seen) if Some(seen) == link.as_ref()));
    check(lost.count() + 1 == attempts.len(), "a loser does not get the winner's link")?;
    let mut written = 0;
    for contract in &contracts {
        written += app.db.all(patterns::contratos_de_empresa(&contract.id_empresa)).await?.len();
    }
    check(written == 1, "a loser has created its contract")?;
    Ok(race("a contract of an origin", attempts.len(), winners, "one company has it"))
}

/// Callers move one contract, each to another origin.
async fn moved_contract(app: &RkPai) -> Result<Race> {
    let contract = contrato(RACED, 1)?;
    let moves = (0..CALLERS).map(|number| {
        let contract = &contract;
        async move { app.move_contrato(contract, &caller(number).origen()?).await }
    });
    let attempts = try_join_all(moves).await?;
    let winners = attempts.iter().filter(|moved| matches!(moved, ContratoMoved::Done(_))).count();
    check(winners == 1, "not exactly 1 caller has moved the contract")?;
    let mut links = Vec::new();
    for number in 0..CALLERS {
        let query = patterns::contratos_por_origen(&caller(number).origen()?);
        links.extend(app.db.all(query).await?);
    }
    let of_company = app.db.all(patterns::contratos_de_empresa(&contract.id_empresa)).await?;
    let is_linked = |link: &ContratoDeOrigen| of_company.iter().any(|one| one.link() == *link);
    check(links.len() == 1 && is_linked(&links[0]), "the contract does not have exactly 1 link")?;
    let gone = app.db.get(&contract.link().to_key()).await?.is_none();
    check(gone, "the old link is not deleted")?;
    Ok(race("moving a contract", attempts.len(), winners, "one link, to where it is"))
}

/// Callers delete one contract.
async fn deleted_contract(app: &RkPai) -> Result<Race> {
    let contract = contrato(RACED, 2)?;
    let attempts = try_join_all((0..CALLERS).map(|_| app.delete_contrato(&contract))).await?;
    let winners = attempts.iter().filter(|outcome| outcome.is_done()).count();
    check(winners == 1, "not exactly 1 caller has deleted the contract")?;
    let link = app.db.get(&contract.link().to_key()).await?;
    check(link.is_none(), "the link of the deleted contract is not deleted")?;
    Ok(race("deleting a contract", attempts.len(), winners, "its link is deleted"))
}

/// Callers add entries to one log in the same second. Each is kept.
async fn log(app: &RkPai) -> Result<Race> {
    let (user, element) = (RACED.usuario(5)?, RACED.elemento(1)?);
    let now = app.db.now().second();
    let entries = (0..CALLERS)
        .map(|_| app.entry(&user, now, "carrera", Some(&element), None))
        .collect::<Result<Vec<_>>>()?;
    let attempts = try_join_all(entries.into_iter().map(|entry| app.add(entry))).await?;
    let winners = attempts.iter().filter(|outcome| outcome.is_done()).count();
    let query = patterns::bitacora_de_usuario(&user, now, now);
    let noted = app.db.all(query).await?.len();
    check(winners == attempts.len() && noted == winners, "an entry of the log is missing")?;
    Ok(race("a second of the log", attempts.len(), winners, "an entry of each"))
}
