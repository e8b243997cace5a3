//! What can be done with users and catalogues.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tabla::entity::{Change, Db, Entity, Id, Outcome, Page, UtcTime};
use tabla::{Cursor, Result};

use crate::catalogues::*;
use crate::contracts::*;
use crate::email::Email;
use crate::patterns;
use crate::users::*;
use crate::views::UsuarioPorEmail;

/// How long the log keeps an entry, if nobody says.
const RETENTION: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Users, contracts and catalogues on a database.
#[derive(Clone, Debug)]
pub struct RkPai {
    pub(crate) db: Db,
    retention: Duration,
}

/// What is written once, under its own key and alone. Users, whose email is theirs alone, are
/// among them; contracts are not, because their links go with them.
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
    /// Users, contracts and catalogues on this database.
    pub fn new(db: Db) -> Self {
        Self { db, retention: RETENTION }
    }

    /// With a log that keeps its entries this long.
    #[must_use]
    pub fn with_retention(self, retention: Duration) -> Self {
        Self { retention, ..self }
    }

    /// Pattern 1: the user with this email.
    pub async fn usuario_por_email(&self, email: &Email) -> Result<Option<UsuarioPorEmail>> {
        Ok(self.db.page(patterns::usuario_por_email(email)).await?.whole()?.items.pop())
    }

    /// Pattern 4b: a page of the contracts of an origin, whole: their links, then the contracts of
    /// all links, the companies' first ones in one batch and further ones in another. A contract
    /// that goes in between is left out.
    pub async fn contratos_completos_por_origen(
        &self,
        id_origen: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Contrato>> {
        let links = self.db.page(patterns::contratos_por_origen(id_origen).after(after)).await?;
        // A link does not say where in its company's partition the contract stands.
        let (mut first, mut further) = (Vec::new(), Vec::new());
        for ContratoDeOrigen { id_empresa, id_contrato, .. } in &links.items {
            let (id_empresa, id_contrato) = (id_empresa.clone(), id_contrato.clone());
            first.push(PrimerContratoKey { id_empresa: id_empresa.clone() });
            further.push(ContratoAdicionalKey { id_empresa, id_contrato });
        }
        let first = self.db.get_each(&first).await?.into_iter();
        let first = first.map(|read| Ok(read?.map(Contrato::from)));
        let further = self.db.get_each(&further).await?.into_iter();
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

    /// Everything about a user, whatever its size.
    pub async fn usuario_completo(&self, id_usuario: &Id) -> Result<UsuarioCompleto> {
        self.db.collect(patterns::usuario_completo(id_usuario)).await
    }

    /// Writes what must not be there: who loses sees what is, or whose the email is not.
    pub async fn add<E: Registrable>(&self, entity: E) -> Result<Outcome<E>> {
        self.db.create(entity).await
    }

    /// Gives a user that was read another email, if nobody has it and the user still has the one
    /// that was read. The old one is free.
    pub async fn change_email(&self, usuario: &Usuario, email: Email) -> Result<Outcome<Usuario>> {
        self.db.update(Change::of(usuario).set(Usuario::EMAIL, email)).await
    }

    /// Deletes a user; their email is free. What else is in their partition stays.
    pub async fn delete_usuario(&self, id_usuario: &Id) -> Result<Outcome<Usuario>> {
        self.db.delete(&UsuarioKey { id_usuario: id_usuario.clone() }).await
    }

    /// Notes what a user did just now.
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

    /// An entry of the log, with an id of its own and the time at which it goes.
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

    /// An id that nobody else has; later ones sort later, also within a second.
    fn ordered_id(&self) -> Result<Id> {
        let millis = self.db.now().as_millis();
        Id::new(format!("{millis:012x}{:016x}", self.db.env().random.next_u64()))
    }
}
