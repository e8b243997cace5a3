//! Contracts and their links, which one transaction writes, moves and deletes.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Cancellation, Check, Entity, Id, Outcome, Step};
use tabla::{Error, ErrorKind, Result};

use crate::contracts::*;
use crate::operations::RkPai;

/// Outcome of creating a contract.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum ContratoCreated {
    /// The contract is its company's first.
    First,
    /// The company has a first contract. This one is under its own id.
    Further,
    /// The origin has a contract of this id; here is its link. Nothing was written.
    Taken(ContratoDeOrigen),
    /// The company has a further contract of this id from another origin, and the documented key
    /// has room for one. Nothing was written.
    Collides(Contrato),
}

/// Outcome of moving a contract to another origin.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum ContratoMoved {
    /// The contract as it is now.
    Done(Contrato),
    /// The other origin has a contract of this id; here is its link. Nothing was written.
    Taken(ContratoDeOrigen),
    /// The contract has changed since it was read; here is the company's contract of this id, if
    /// there is one. Nothing was written.
    Lost(Option<Contrato>),
}

impl RkPai {
    /// Creates a contract and its link. A company's first contract gets the documented key.
    pub async fn create_contrato(&self, contrato: &Contrato) -> Result<ContratoCreated> {
        let mut tx = self.db.transaction();
        tx.create(PrimerContrato::from(contrato.clone()));
        let link = tx.create(contrato.link());
        match tx.commit().await? {
            Committed => return Ok(ContratoCreated::First),
            Canceled(c) if c.failed(&link) => {
                return Ok(ContratoCreated::Taken(present(&c, &link)?));
            }
            // The company has a first contract.
            Canceled(_) => {}
        }
        let mut tx = self.db.transaction();
        let further = tx.create(ContratoAdicional::from(contrato.clone()));
        let link = tx.create(contrato.link());
        match tx.commit().await? {
            Committed => Ok(ContratoCreated::Further),
            Canceled(c) if c.failed(&link) => Ok(ContratoCreated::Taken(present(&c, &link)?)),
            Canceled(c) => Ok(ContratoCreated::Collides(present(&c, &further)?.into())),
        }
    }

    /// Moves a contract that was read to another origin: contract, index keys and link.
    pub async fn move_contrato(
        &self,
        contrato: &Contrato,
        id_origen: &Id,
    ) -> Result<ContratoMoved> {
        let Contrato { id_contrato, id_origen: old, .. } = contrato;
        if old == id_origen {
            return Err(Error::validation(format!(
                "cannot move contract {id_contrato}: {id_origen} is its origin already"
            )));
        }
        let moved = Contrato { id_origen: id_origen.clone(), ..contrato.clone() };
        let (is_first, other) = self.place(contrato).await?;
        let mut tx = self.db.transaction();
        let step = if is_first {
            let change = PrimerContrato::from(contrato.clone()).change();
            let change = change.set(PrimerContrato::ID_ORIGEN, id_origen);
            Place::First(tx.update(change.when(is_first_one(contrato))))
        } else {
            let change = ContratoAdicional::from(contrato.clone()).change();
            let change = change.set(ContratoAdicional::ID_ORIGEN, id_origen);
            Place::Further(tx.update(change.when(ContratoAdicional::ID_ORIGEN.eq(old))))
        };
        let old_link = tx.delete_if(&contrato.link().to_key(), is_of_company(contrato));
        let new_link = tx.create(moved.link());
        match tx.commit().await? {
            Committed => Ok(ContratoMoved::Done(moved)),
            // A changed contract is reported before a taken id.
            Canceled(c) if step.failed(&c) => {
                Ok(ContratoMoved::Lost(step.current(&c, id_contrato)?.or(other)))
            }
            Canceled(c) if c.failed(&old_link) => Err(not_linked(contrato)),
            Canceled(c) => Ok(ContratoMoved::Taken(present(&c, &new_link)?)),
        }
    }

    /// Deletes a contract that was read, and its link. [`Outcome::Lost`] has the company's contract
    /// of this id, if there is one.
    pub async fn delete_contrato(&self, contrato: &Contrato) -> Result<Outcome<Contrato>> {
        let Contrato { id_empresa, id_origen, id_contrato, .. } = contrato;
        let (is_first, other) = self.place(contrato).await?;
        let mut tx = self.db.transaction();
        let step = if is_first {
            Place::First(tx.delete_if(&PrimerContrato::key(id_empresa), is_first_one(contrato)))
        } else {
            let key = ContratoAdicional::key(id_empresa, id_contrato);
            Place::Further(tx.delete_if(&key, ContratoAdicional::ID_ORIGEN.eq(id_origen)))
        };
        tx.delete_if(&contrato.link().to_key(), is_of_company(contrato));
        match tx.commit().await? {
            Committed => Ok(Outcome::Done(contrato.clone())),
            Canceled(c) if step.failed(&c) => {
                Ok(Outcome::Lost(step.current(&c, id_contrato)?.or(other)))
            }
            Canceled(_) => Err(not_linked(contrato)),
        }
    }

    /// Whether a contract is its company's first; and the first contract, if it has the same id and
    /// another origin.
    async fn place(&self, contrato: &Contrato) -> Result<(bool, Option<Contrato>)> {
        let first = self.db.get(&PrimerContrato::key(&contrato.id_empresa)).await?;
        let first = first.map(Contrato::from);
        match first.filter(|first| first.id_contrato == contrato.id_contrato) {
            Some(first) if first.id_origen == contrato.id_origen => Ok((true, None)),
            other => Ok((false, other)),
        }
    }
}

/// The step that writes a contract, under one of its two keys.
enum Place {
    First(Step<PrimerContrato>),
    Further(Step<ContratoAdicional>),
}

impl Place {
    fn failed(&self, c: &Cancellation) -> bool {
        match self {
            Self::First(step) => c.failed(step),
            Self::Further(step) => c.failed(step),
        }
    }

    /// Contract that made the condition fail, if it has this id.
    fn current(&self, c: &Cancellation, id_contrato: &Id) -> Result<Option<Contrato>> {
        let current = match self {
            Self::First(step) => c.current(step)?.map(Contrato::from),
            Self::Further(step) => c.current(step)?.map(Contrato::from),
        };
        Ok(current.filter(|current| current.id_contrato == *id_contrato))
    }
}

/// Entity that a step could not create, because it exists.
fn present<E: Entity>(c: &Cancellation, step: &Step<E>) -> Result<E> {
    c.current(step)?.ok_or_else(|| {
        Error::new(
            ErrorKind::Unexpected,
            "the store does not return the item of a failed condition",
        )
    })
}

/// Holds if the company's first contract is this one.
fn is_first_one(contrato: &Contrato) -> Check<PrimerContrato> {
    PrimerContrato::ID_ORIGEN
        .eq(&contrato.id_origen)
        .and(PrimerContrato::ID_CONTRATO.eq(&contrato.id_contrato))
}

/// Holds if a link leads to the company of this contract.
fn is_of_company(contrato: &Contrato) -> Check<ContratoDeOrigen> {
    ContratoDeOrigen::ID_EMPRESA.eq(&contrato.id_empresa)
}

fn not_linked(contrato: &Contrato) -> Error {
    Error::corrupt(format!(
        "contract {} of company {} has no link from its origin",
        contrato.id_contrato, contrato.id_empresa
    ))
}
