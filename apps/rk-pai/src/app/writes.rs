//! Runs the writes, and checks their answers. They use other blocks than the reads.

use tabla::Result;
use tabla::entity::{Id, Outcome, UtcTime};
use tabla_kit::Answer;

use super::data::*;
use crate::catalogues::*;
use crate::contract_operations::{ContratoCreated, ContratoMoved};
use crate::contracts::*;
use crate::email::Email;
use crate::operations::{Registrable, RkPai};
use crate::users::*;

/// Block that the seed does not write.
const FRESH: Block = Block(900);
/// Block whose origin a contract is moved to.
const OTHER: Block = Block(901);

fn user() -> Result<Id> {
    FRESH.usuario(1)
}

fn new_email() -> Result<Email> {
    Email::new("otro.correo@example.com")
}

/// Answer of creating an entity, which must be new.
async fn add<E: Registrable>(app: &RkPai, entity: E, shown: &str) -> Result<Option<Answer>> {
    let added = app.add(entity).await?;
    Answer::new(1, shown).expect(added.is_done(), "a new one").map(Some)
}

pub(super) async fn run(app: &RkPai, pattern: &str) -> Result<Option<Answer>> {
    match pattern {
        "create_usuario" => {
            let user = usuario(user()?, FRESH.email(1)?);
            add(app, user, "a user and the guard of the email").await
        }
        "change_email" => {
            let read = usuario(user()?, FRESH.email(1)?);
            let changed = app.change_email(&read, new_email()?).await?.done();
            let email = changed.map(|user| user.email);
            Answer::new(1, "the old one is free")
                .expect(email == Some(new_email()?), "the new email")
                .map(Some)
        }
        "delete_usuario" => {
            let deleted = app.delete_usuario(&user()?).await?;
            Answer::new(1, "gone, with the guard").expect(deleted.is_done(), "one user").map(Some)
        }
        "create_contrato" => {
            let created = app.create_contrato(&contrato(FRESH, 1)?).await?;
            Answer::new(2, "a contract and its link")
                .expect(created == ContratoCreated::First, "the company's first")
                .map(Some)
        }
        "create_contrato_adicional" => {
            let created = app.create_contrato(&contrato(FRESH, 2)?).await?;
            Answer::new(2, "a contract and its link")
                .expect(created == ContratoCreated::Further, "a further one")
                .map(Some)
        }
        "move_contrato" => {
            let moved = app.move_contrato(&contrato(FRESH, 2)?, &OTHER.origen()?).await?;
            Answer::new(3, "a contract and two links")
                .expect(matches!(moved, ContratoMoved::Done(_)), "it is at the other origin")
                .map(Some)
        }
        "delete_contrato" => {
            let deleted = app.delete_contrato(&contrato(FRESH, 1)?).await?;
            Answer::new(2, "gone, with its link")
                .expect(matches!(deleted, Outcome::Done(_)), "one contract")
                .map(Some)
        }
        "add_catalogo" => {
            let id_origen = FRESH.origen()?;
            add(app, Origen { id_origen, nombre: "Origen nuevo".to_owned() }, "an origin").await
        }
        "add_configuracion" => add(app, configuracion(FRESH, 1)?, "a configuration").await,
        "add_perfil" => {
            let asignado_en = UtcTime::default();
            let (id_usuario, id_perfil) = (user()?, FRESH.perfil(1)?);
            add(app, PerfilUsuario { id_usuario, id_perfil, asignado_en }, "a profile").await
        }
        "add_contrato" => {
            let (id_usuario, id_origen) = (user()?, FRESH.origen()?);
            let (id_contrato, alta) = (FRESH.id_contrato(1)?, UtcTime::default());
            let entity = ContratoUsuario { id_usuario, id_origen, id_contrato, alta };
            add(app, entity, "a contract").await
        }
        "add_dispositivo" => {
            let now = app.db.now().second();
            add(app, dispositivo(user()?, FRESH.dispositivo(1)?, now), "a device").await
        }
        "add_miembro" => {
            let (id_grupo, id_usuario) = (FRESH.grupo(1)?, user()?);
            let rol = "miembro".to_owned();
            add(app, MiembroGrupo { id_grupo, id_usuario, rol }, "a member").await
        }
        "add_modulo" => {
            add(app, modulo_perfil(FRESH.perfil(1)?, FRESH.modulo(1)?), "two permissions").await
        }
        "add_servicio" => {
            add(app, servicio_perfil(FRESH.perfil(1)?, FRESH.servicio(1)?), "a permission").await
        }
        "add_estado_cuenta" => add(app, estado_cuenta(user()?, 1)?, "an account").await,
        "add_retiro" => add(app, retiro(user()?, noon(1, 2)?, 12_345)?, "123.45").await,
        "annotate" => {
            let element = FRESH.elemento(1)?;
            let detalle = [("ip".to_owned(), "203.0.113.7".to_owned())].into();
            let noted = app.annotate(&user()?, "acceso", Some(&element), Some(detalle)).await?;
            let goes =
                noted.done().is_some_and(|entry| entry.ttl > Some(app.db.now().second().as_secs()));
            Answer::new(1, "goes in a year").expect(goes, "an entry that goes").map(Some)
        }
        _ => Ok(None),
    }
}
