//! Contracts and their links: written, moved and deleted together.

use tabla::entity::{Change, Check, Entity, Id, Lost, Outcome, Transacted};
use tabla::{Error, Result};

use crate::contracts::*;
use crate::operations::RkPai;

/// What became of a new contract.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum ContratoCreated {
    /// It is its company's first.
    First,
    /// Its company had one already: it stands under its own id.
    Further,
    /// Its origin has a contract of this id, and nothing was written. Here is the link.
    Taken(ContratoDeOrigen),
    /// Its company has a further contract of the same id from another origin, and nothing was
    /// written: the documented key has room for one.
    Collides(Contrato),
}

/// What became of moving a contract to another origin.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum ContratoMoved {
    /// It is there.
    Done(Contrato),
    /// The other origin has a contract of this id, and nothing has changed. Here is the link.
    Taken(ContratoDeOrigen),
    /// The contract is not where it was believed to be, and nothing has changed. Here is the
    /// company's contract of this id, if there is one.
    Lost(Option<Contrato>),
}

impl RkPai {
    /// Writes a contract and its link. The company's first one takes the documented place.
    pub async fn create_contrato(&self, contrato: &Contrato) -> Result<ContratoCreated> {
        match self.create_as(contrato, PrimerContrato::from(contrato.clone())).await? {
            Written::Done => return Ok(ContratoCreated::First),
            Written::Linked(link) => return Ok(ContratoCreated::Taken(link)),
            // The company has a first one.
            Written::Occupied(_) => {}
        }
        Ok(match self.create_as(contrato, ContratoAdicional::from(contrato.clone())).await? {
            Written::Done => ContratoCreated::Further,
            Written::Linked(link) => ContratoCreated::Taken(link),
            Written::Occupied(present) => ContratoCreated::Collides(present),
        })
    }

    async fn create_as<E>(&self, contrato: &Contrato, form: E) -> Result<Written>
    where
        E: Entity + Into<Contrato>,
    {
        let transaction =
            self.db.transaction().create("contrato", form)?.create("enlace", contrato.link())?;
        match transaction.run().await? {
            Transacted::Done => Ok(Written::Done),
            Transacted::Lost(lost) => match lost.current("enlace")? {
                Some(link) => Ok(Written::Linked(link)),
                None => match lost.current::<E>("contrato")? {
                    Some(present) => Ok(Written::Occupied(present.into())),
                    None => Err(not_told()),
                },
            },
        }
    }

    /// Moves a contract that was read to another origin: the contract, its keys in the index and
    /// its link.
    pub async fn move_contrato(
        &self,
        contrato: &Contrato,
        id_origen: &Id,
    ) -> Result<ContratoMoved> {
        if contrato.id_origen == *id_origen {
            return Err(Error::validation(format!(
                "the contract {} is of the origin {id_origen} already",
                contrato.id_contrato
            )));
        }
        let moved = Contrato { id_origen: id_origen.clone(), ..contrato.clone() };
        let transaction = self.db.transaction();
        let first = self.first_of_id(contrato).await?;
        let transaction = match is_at(first.as_ref(), &contrato.id_origen) {
            true => {
                let change = Change::of(&PrimerContrato::from(contrato.clone()))
                    .set(PrimerContrato::ID_ORIGEN, id_origen)
                    .when(is_first_one(contrato));
                transaction.update("contrato", change)?
            }
            false => {
                let change = Change::of(&ContratoAdicional::from(contrato.clone()))
                    .set(ContratoAdicional::ID_ORIGEN, id_origen)
                    .when(ContratoAdicional::ID_ORIGEN.eq(&contrato.id_origen));
                transaction.update("contrato", change)?
            }
        };
        let transaction = transaction
            .delete("enlace", &contrato.link().key(), Some(is_of_company(contrato)))?
            .create("nuevo", moved.link())?;
        match transaction.run().await? {
            Transacted::Done => Ok(ContratoMoved::Done(moved)),
            // Whoever has lost the contract has lost, whatever else is taken.
            Transacted::Lost(lost) if lost.is_lost("contrato") => {
                Ok(ContratoMoved::Lost(current(&lost, contrato, first)?))
            }
            Transacted::Lost(lost) if lost.is_lost("enlace") => Err(not_linked(contrato)),
            Transacted::Lost(lost) => {
                lost.current("nuevo")?.map(ContratoMoved::Taken).ok_or_else(not_told)
            }
        }
    }

    /// Deletes a contract that was read, and its link. Who loses sees the company's contract of this
    /// id, if there is one.
    pub async fn delete_contrato(&self, contrato: &Contrato) -> Result<Outcome<Contrato>> {
        let transaction = self.db.transaction();
        let first = self.first_of_id(contrato).await?;
        let transaction = match is_at(first.as_ref(), &contrato.id_origen) {
            true => {
                let key = PrimerContratoKey { id_empresa: contrato.id_empresa.clone() };
                transaction.delete("contrato", &key, Some(is_first_one(contrato)))?
            }
            false => {
                let key = further_key(contrato);
                let is_it = ContratoAdicional::ID_ORIGEN.eq(&contrato.id_origen);
                transaction.delete("contrato", &key, Some(is_it))?
            }
        };
        let link = contrato.link().key();
        let transaction = transaction.delete("enlace", &link, Some(is_of_company(contrato)))?;
        match transaction.run().await? {
            Transacted::Done => Ok(Outcome::Done(contrato.clone())),
            Transacted::Lost(lost) if lost.is_lost("contrato") => {
                Ok(Outcome::Lost(current(&lost, contrato, first)?))
            }
            Transacted::Lost(_) => Err(not_linked(contrato)),
        }
    }

    /// The first contract of a company, if it has the id of this one. It may be of another origin,
    /// and then it is another contract.
    async fn first_of_id(&self, contrato: &Contrato) -> Result<Option<Contrato>> {
        let key = PrimerContratoKey { id_empresa: contrato.id_empresa.clone() };
        let first = self.db.get(&key).await?.map(Contrato::from);
        Ok(first.filter(|first| first.id_contrato == contrato.id_contrato))
    }
}

fn is_at(contrato: Option<&Contrato>, id_origen: &Id) -> bool {
    contrato.is_some_and(|contrato| contrato.id_origen == *id_origen)
}

/// The contract of the same company and id as one that is not where it was believed to be: in its
/// place, or else the company's first.
fn current(lost: &Lost, believed: &Contrato, first: Option<Contrato>) -> Result<Option<Contrato>> {
    let present = lost.current::<Contrato>("contrato")?;
    let present = present.filter(|present| present.id_contrato == believed.id_contrato);
    // If the first one was believed to be this, it has lost, and is not what it was.
    Ok(present.or(first.filter(|first| first.id_origen != believed.id_origen)))
}

/// What became of writing a contract in one of its places.
enum Written {
    Done,
    /// The origin has one of this id.
    Linked(ContratoDeOrigen),
    /// The place is another's.
    Occupied(Contrato),
}

fn further_key(contrato: &Contrato) -> <ContratoAdicional as Entity>::Key {
    ContratoAdicionalKey {
        id_empresa: contrato.id_empresa.clone(),
        id_contrato: contrato.id_contrato.clone(),
    }
}

/// Holds if the first contract is this one.
fn is_first_one(contrato: &Contrato) -> Check<PrimerContrato> {
    PrimerContrato::ID_ORIGEN
        .eq(&contrato.id_origen)
        .and(PrimerContrato::ID_CONTRATO.eq(&contrato.id_contrato))
}

/// Holds if a link is to the company of this contract.
fn is_of_company(contrato: &Contrato) -> Check<ContratoDeOrigen> {
    ContratoDeOrigen::ID_EMPRESA.eq(&contrato.id_empresa)
}

/// A contract and its link are written, moved and deleted together.
fn not_linked(contrato: &Contrato) -> Error {
    Error::corrupt(format!(
        "the contract {} of the company {} is not linked to its origin",
        contrato.id_contrato, contrato.id_empresa
    ))
}

fn not_told() -> Error {
    Error::new(
        tabla::ErrorKind::Unexpected,
        "a condition did not hold, and the store does not say what stands there",
    )
}
