//! Writes the sample data.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::try_join_all;
use tabla::entity::UtcTime;
use tabla::{Error, Result};
use tabla_kit::Progress;

use super::check;
use super::data::*;
use crate::catalogues::*;
use crate::contract_operations::ContratoCreated;
use crate::contracts::*;
use crate::operations::{Registrable, RkPai};
use crate::users::*;

/// Age of an expired entry of the log.
const LONG_AGO: Duration = Duration::from_secs(400 * 24 * 60 * 60);

pub(super) async fn seed(app: &RkPai, scale: u32, progress: Progress<'_>) -> Result<()> {
    let blocks = BLOCKS * scale;
    let total = u64::from(blocks * USERS);
    let done = AtomicU64::new(0);
    for number in 0..blocks {
        let block = Block(number);
        contracts(app, block).await?;
        catalogues(app, block).await?;
        // The users of a block are independent, and are written concurrently.
        let users = (1..=USERS).map(async |number| {
            self::user(app, block, number).await?;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok::<_, Error>(())
        });
        try_join_all(users).await?;
    }
    Ok(())
}

/// Creates an entity. An existing one is kept, so that the seed can run again.
async fn add<E: Registrable>(app: &RkPai, entity: E) -> Result<()> {
    let _ = app.add(entity).await?;
    Ok(())
}

async fn contracts(app: &RkPai, block: Block) -> Result<()> {
    add(app, Origen { id_origen: block.origen()?, nombre: format!("Origen {}", block.0) }).await?;
    for number in 1..=CONTRACTS {
        let created = app.create_contrato(&contrato(block, number)?).await?;
        let collides = matches!(created, ContratoCreated::Collides(_));
        check(!collides, "two contracts have the same key")?;
        let cycles =
            (1..=CYCLES).map(|cycle| async move { add(app, ciclo(block, number, cycle)?).await });
        try_join_all(cycles).await?;
    }
    Ok(())
}

async fn catalogues(app: &RkPai, block: Block) -> Result<()> {
    let called = |what: &str, number: u32| format!("{what} {number}");
    for number in 1..=PROFILES {
        let (id_perfil, id_servicio) = (block.perfil(number)?, block.servicio(number)?);
        add(app, Perfil { id_perfil: id_perfil.clone(), nombre: called("Perfil", number) }).await?;
        add(app, Servicio { id_servicio, nombre: called("Servicio", number) }).await?;
        for module in 1..=number + 1 {
            add(app, modulo_perfil(id_perfil.clone(), block.modulo(module)?)).await?;
        }
        for service in 1..=number {
            add(app, servicio_perfil(id_perfil.clone(), block.servicio(service)?)).await?;
        }
    }
    for number in 1..=PROFILES + 1 {
        let id_modulo = block.modulo(number)?;
        add(app, Modulo { id_modulo, nombre: called("Módulo", number) }).await?;
    }
    for number in 1..=GROUPS {
        let id_grupo = block.grupo(number)?;
        add(app, Grupo { id_grupo, nombre: called("Grupo", number) }).await?;
        add(app, configuracion(block, number)?).await?;
    }
    // Two dashboards have the first parameter, one the second.
    for number in 1..=3 {
        add(
            app,
            DashConfParams {
                id_dashparam: block.dashparam(number)?,
                id_parametro: block.parametro(1 + number / 3)?,
                valor: format!("{}", number * 10),
            },
        )
        .await?;
    }
    Ok(())
}

async fn user(app: &RkPai, block: Block, number: u32) -> Result<()> {
    let id = block.usuario(number)?;
    let now = app.db.now().second();
    add(app, usuario(id.clone(), block.email(number)?)).await?;
    add(
        app,
        PerfilUsuario {
            id_usuario: id.clone(),
            id_perfil: block.perfil(1 + number % PROFILES)?,
            asignado_en: UtcTime::default(),
        },
    )
    .await?;
    add(
        app,
        ContratoUsuario {
            id_usuario: id.clone(),
            id_origen: block.origen()?,
            id_contrato: block.id_contrato(1 + number % CONTRACTS)?,
            alta: UtcTime::default(),
        },
    )
    .await?;
    add(app, dispositivo(id.clone(), block.dispositivo(number)?, now)).await?;
    let groups = (1..=GROUPS).filter(|group| number == 1 || 1 + number % GROUPS == *group);
    for group in groups {
        let rol = if number == 1 { "coordinador" } else { "miembro" }.to_owned();
        let id_grupo = block.grupo(group)?;
        add(app, MiembroGrupo { id_grupo, id_usuario: id.clone(), rol }).await?;
    }
    let accounts = (1..=MONTHS).map(|month| {
        let id = id.clone();
        async move { add(app, estado_cuenta(id, month)?).await }
    });
    try_join_all(accounts).await?;
    for (month, cents) in [(2, 50_000), (5, 75_025)] {
        add(app, retiro(id.clone(), noon(month, 15)?, cents)?).await?;
    }
    for entry in 0..ENTRIES {
        let earlier = Duration::from_secs(u64::from((number * ENTRIES + entry) * 60));
        let elemento = block.elemento(number % ELEMENTS)?;
        let entry = app.entry(&id, now.minus(earlier), "consulta", Some(&elemento), None)?;
        add(app, entry).await?;
    }
    if number == 1 {
        // An expired entry that is still stored.
        let elemento = block.elemento(1)?;
        let entry = app.entry(&id, now.minus(LONG_AGO), "consulta", Some(&elemento), None)?;
        add(app, entry).await?;
    }
    Ok(())
}
