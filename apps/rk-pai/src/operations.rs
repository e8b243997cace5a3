//! Operations on users and catalogues.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tabla::entity::{Db, Entity, Id, Outcome, Page, UtcTime};
use tabla::{Cursor, Result};

use crate::catalogues::*;
use crate::contracts::*;
use crate::email::Email;
use crate::patterns;
use crate::users::*;
use crate::views::UsuarioPorEmail;

/// Default time from an entry of the log to its expiry.
const RETENTION: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Operations on the users, contracts and catalogues of a database.
#[derive(Clone, Debug)]
pub struct RkPai {
    pub(crate) db: Db,
    retention: Duration,
}

/// Entity that [`RkPai::add`] creates. Contracts are not, because a link is created with each.
pub trait Registrable: Entity {}

macro_rules! registrable {
    ($($entity:ident)*) => { $(impl Registrable for $entity {})* };
}

registrable! {
    Usuario PerfilUsuario ContratoUsuario Dispositivo Bitacora EstadoCuenta Retiro
    Origen Grupo Ciclo Perfil Modulo Servicio
    MiembroGrupo ModuloPerfil ServicioPerfil ConfGrupoContrato DashConfParams
}

impl RkPai {
    /// Operations whose log keeps entries for 365 days.
    pub fn new(db: Db) -> Self {
        Self { db, retention: RETENTION }
    }

    /// Sets the time from an entry of the log to its expiry.
    #[must_use]
    pub fn with_retention(self, retention: Duration) -> Self {
        Self { retention, ..self }
    }

    /// Pattern 1: the user with an email.
    pub async fn usuario_por_email(&self, email: &Email) -> Result<Option<UsuarioPorEmail>> {
        Ok(self.db.page(patterns::usuario_por_email(email)).await?.whole()?.items.pop())
    }

    /// Pattern 4b: page of the contracts of an origin. One query reads the links, and two batches the
    /// contracts: the first ones of companies, and the further ones. A contract that is deleted in
    /// between is left out.
    pub async fn contratos_completos_por_origen(
        &self,
        id_origen: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Contrato>> {
        let links = self.db.page(patterns::contratos_por_origen(id_origen).after(after)).await?;
        // A link does not tell which of the two keys its contract has.
        let first = links.items.iter().map(|link| PrimerContrato::key(&link.id_empresa));
        let first = self.db.get_each(&first.collect::<Vec<_>>()).await?.into_iter();
        let first = first.map(|read| Ok(read?.map(Contrato::from)));
        let further = links.items.iter();
        let further =
            further.map(|link| ContratoAdicional::key(&link.id_empresa, &link.id_contrato));
        let further = self.db.get_each(&further.collect::<Vec<_>>()).await?.into_iter();
        let further = further.map(|read| Ok(read?.map(Contrato::from)));
        let (mut found, mut unreadable) = (HashMap::new(), links.unreadable);
        for read in first.chain(further) {
            match read {
                Ok(Some(contrato)) if contrato.id_origen == *id_origen => {
                    found.insert(contrato.id_contrato.clone(), contrato);
                }
                Ok(_) => {}
                Err(item) => unreadable.push(item),
            }
        }
        let items = links.items.iter().filter_map(|link| found.remove(&link.id_contrato)).collect();
        Ok(Page::new(items, links.next).with_unreadable(unreadable))
    }

    /// Item collection of a user, over all its pages.
    pub async fn usuario_completo(&self, id_usuario: &Id) -> Result<UsuarioCompleto> {
        self.db.collect(patterns::usuario_completo(id_usuario)).await
    }

    /// Creates an entity. [`Outcome::Lost`] has the existing one; [`Outcome::Taken`]: another user has
    /// the email.
    pub async fn add<E: Registrable>(&self, entity: E) -> Result<Outcome<E>> {
        self.db.create(entity).await
    }

    /// Changes the email of a user who was read, and releases the old email. It fails if the user has
    /// another email than the one that was read.
    pub async fn change_email(&self, usuario: &Usuario, email: Email) -> Result<Outcome<Usuario>> {
        self.db.update(usuario.change().set(Usuario::EMAIL, email)).await
    }

    /// Deletes a user and releases the email. Other items of the partition stay.
    pub async fn delete_usuario(&self, id_usuario: &Id) -> Result<Outcome<Usuario>> {
        self.db.delete(&Usuario::key(id_usuario)).await
    }

    /// Adds an entry to the log of a user, at the current time.
    pub async fn annotate(
        &self,
        id_usuario: &Id,
        accion: &str,
        id_elemento: Option<&Id>,
        detalle: Option<BTreeMap<String, String>>,
    ) -> Result<Outcome<Bitacora>> {
        let entry = self.entry(id_usuario, self.db.now().second(), accion, id_elemento, detalle)?;
        self.add(entry).await
    }

    /// Entry of a log, with a new id and an expiry.
    pub(crate) fn entry(
        &self,
        id_usuario: &Id,
        timestamp: UtcTime,
        accion: &str,
        id_elemento: Option<&Id>,
        detalle: Option<BTreeMap<String, String>>,
    ) -> Result<Bitacora> {
        Ok(Bitacora {
            id_usuario: id_usuario.clone(),
            timestamp,
            id_bitacora: self.ordered_id()?,
            id_elemento: id_elemento.cloned(),
            accion: accion.to_owned(),
            detalle,
            ttl: Some(timestamp.plus(self.retention).as_secs()),
        })
    }

    /// A unique id. Ids sort by the millisecond of their creation.
    fn ordered_id(&self) -> Result<Id> {
        let millis = self.db.now().as_millis();
        Id::new(format!("{millis:012x}{:016x}", self.db.env().random.next_u64()))
    }
}
