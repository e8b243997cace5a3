//! Runs the reads on the sample data, and checks their answers.

use tabla::Result;
use tabla::entity::{EntityKey, Id, IntoQuery, UtcTime};
use tabla_kit::Answer;

use super::data::*;
use crate::catalogues::*;
use crate::contracts::*;
use crate::operations::RkPai;
use crate::patterns;
use crate::users::*;

/// Block that the patterns read.
const BLOCK: Block = Block(0);

/// Number of the user that the patterns read.
const USER: u32 = 1;

/// Answer of a query, whose page must be right.
async fn page<Q: IntoQuery>(
    app: &RkPai,
    query: Q,
    expected: &str,
    is_right: impl FnOnce(&[Q::View]) -> bool,
) -> Result<Option<Answer>> {
    let found = app.db.page(query).await?.items;
    let is_right = is_right(&found);
    Answer::new(found.len(), expected).expect(is_right, expected).map(Some)
}

/// Answer of a read by key, whose entity must exist.
async fn get<K: EntityKey>(
    app: &RkPai,
    key: K,
    shown: impl FnOnce(&K::Entity) -> String,
) -> Result<Option<Answer>> {
    let found = app.db.get(&key).await?;
    let text = found.as_ref().map_or_else(String::new, shown);
    Answer::new(found.iter().len(), text).expect(found.is_some(), "the entity").map(Some)
}

/// Users with this remainder of their number.
fn users(by: u32, rest: u32) -> Result<Vec<Id>> {
    (1..=USERS).filter(|number| number % by == rest).map(|number| BLOCK.usuario(number)).collect()
}

/// Patterns of the document and of its indexes.
pub(super) async fn documented(app: &RkPai, pattern: &str) -> Result<Option<Answer>> {
    let (origen, contract) = (BLOCK.origen()?, BLOCK.id_contrato(2)?);
    let user = BLOCK.usuario(USER)?;
    let element = BLOCK.elemento(1)?;
    match pattern {
        "usuario_por_email" => {
            let found = app.usuario_por_email(&BLOCK.email(USER)?).await?;
            let is_right = found.as_ref().is_some_and(|found| found.id_usuario == user);
            Answer::new(found.iter().len(), format!("{user}"))
                .expect(is_right, "the user with the email")
                .map(Some)
        }
        "usuarios_de_contrato" => {
            let expected = users(CONTRACTS, 1)?;
            let query = patterns::usuarios_de_contrato(&origen, &contract);
            page(app, query, "every sixth user", |found| {
                found.iter().map(|user| &user.id_usuario).eq(&expected)
            })
            .await
        }
        "ciclos_de_contrato" => {
            let query = patterns::ciclos_de_contrato(&origen, &contract);
            page(app, query, "four quarters, in order", |found| {
                found.len() == CYCLES as usize && found.is_sorted_by_key(|cycle| cycle.inicio)
            })
            .await
        }
        "contratos_por_origen" => {
            let query = patterns::contratos_por_origen(&origen);
            page(app, query, "six links, in order of their ids", |found| {
                let ids = found.iter().map(|link| link.id_contrato.clone());
                (1..=CONTRACTS).map(|number| BLOCK.id_contrato(number).ok()).eq(ids.map(Some))
            })
            .await
        }
        "contratos_completos_por_origen" => {
            let found = app.contratos_completos_por_origen(&origen, None).await?.items;
            let expected: Vec<Contrato> =
                (1..=CONTRACTS).map(|number| contrato(BLOCK, number)).collect::<Result<_>>()?;
            Answer::new(found.len(), "six contracts of two companies")
                .expect(found == expected, "first and further contracts, in order of their ids")
                .map(Some)
        }
        "usuarios_por_dispositivo" => {
            let query = patterns::usuarios_por_dispositivo(&BLOCK.dispositivo(2)?);
            page(app, query, "two users share it", |found| found.len() == 2).await
        }
        "usuarios_por_perfil" => {
            let expected = users(PROFILES, 1)?;
            let query = patterns::usuarios_por_perfil(&BLOCK.perfil(2)?);
            page(app, query, "every third user", |found| {
                found.iter().map(|user| &user.id_usuario).eq(&expected)
            })
            .await
        }
        "configuraciones_por_contrato" => {
            let group = BLOCK.grupo(2)?;
            let query = patterns::configuraciones_por_contrato(&origen, &contract);
            page(app, query, "the second group's", |found| {
                matches!(found, [one] if one.id_grupo == group && one.parametros.len() == 2)
            })
            .await
        }
        "contrato_por_origen_e_id" => {
            let expected = contrato(BLOCK, 2)?;
            let query = patterns::contrato_por_origen_e_id(&origen, &contract);
            page(app, query, "a further contract", |found| found == [expected]).await
        }
        "perfiles_por_modulo" => {
            let expected = [BLOCK.perfil(2)?, BLOCK.perfil(3)?];
            let query = patterns::perfiles_por_modulo(&BLOCK.modulo(3)?);
            page(app, query, "the second and the third profile", |found| {
                found.iter().map(|entry| &entry.id_perfil).eq(&expected)
            })
            .await
        }
        "perfiles_por_servicio" => {
            let expected = [BLOCK.perfil(3)?];
            let query = patterns::perfiles_por_servicio(&BLOCK.servicio(3)?);
            page(app, query, "the third profile", |found| {
                found.iter().map(|entry| &entry.id_perfil).eq(&expected)
            })
            .await
        }
        "grupos_por_usuario" => {
            let query = patterns::grupos_por_usuario(&user);
            page(app, query, "both groups", |found| found.len() == GROUPS as usize).await
        }
        "dash_params_por_parametro" => {
            let query = patterns::dash_params_por_parametro(&BLOCK.parametro(1)?);
            page(app, query, "two dashboards have it", |found| {
                found.iter().map(|entry| entry.valor.as_str()).eq(["10", "20"])
            })
            .await
        }
        "bitacora_por_elemento" => {
            let query = patterns::bitacora_por_elemento(&element);
            page(app, query, "last first, without what has expired", |found| {
                found.len() as u32 == USERS / ELEMENTS * ENTRIES && is_last_first(found)
            })
            .await
        }
        "bitacora_por_elemento_entre" => {
            let query =
                patterns::bitacora_por_elemento_entre(&element, UtcTime::default(), now(app));
            page(app, query, "the same, up to now", |found| {
                found.len() as u32 == USERS / ELEMENTS * ENTRIES && is_last_first(found)
            })
            .await
        }
        _ => Ok(None),
    }
}

fn now(app: &RkPai) -> UtcTime {
    app.db.now().second()
}

fn is_last_first(found: &[Bitacora]) -> bool {
    found.iter().rev().is_sorted_by_key(|entry| entry.timestamp)
}

/// Patterns of the list of entities.
pub(super) async fn of_entities(app: &RkPai, pattern: &str) -> Result<Option<Answer>> {
    let user = BLOCK.usuario(USER)?;
    let (profile, group, company) = (BLOCK.perfil(2)?, BLOCK.grupo(1)?, BLOCK.empresa(1)?);
    match pattern {
        "usuario" => get(app, Usuario::key(user), |found| found.email.to_string()).await,
        "origen" => get(app, Origen::key(BLOCK.origen()?), |found| found.nombre.clone()).await,
        "grupo" => get(app, Grupo::key(group), |found| found.nombre.clone()).await,
        "primer_contrato" => {
            get(app, PrimerContrato::key(company), |found| found.nombre.clone()).await
        }
        "ciclo" => {
            get(app, Ciclo::key(BLOCK.ciclo(1, 1)?), |found| {
                format!("{} to {}", found.inicio, found.fin)
            })
            .await
        }
        "perfil" => get(app, Perfil::key(profile), |found| found.nombre.clone()).await,
        "modulo" => get(app, Modulo::key(BLOCK.modulo(1)?), |found| found.nombre.clone()).await,
        "servicio" => {
            get(app, Servicio::key(BLOCK.servicio(1)?), |found| found.nombre.clone()).await
        }
        "conf_grupo_contrato" => {
            get(app, ConfGrupoContrato::key(group), |found| format!("{:?}", found.parametros)).await
        }
        "dash_conf_params" => {
            get(app, DashConfParams::key(BLOCK.dashparam(1)?), |found| found.valor.clone()).await
        }
        "usuario_completo" => {
            let all = app.usuario_completo(&user).await?;
            let is_right = all.usuario.is_some()
                && (all.perfiles.len(), all.contratos.len(), all.dispositivos.len()) == (1, 1, 1)
                && all.bitacora.len() as u32 >= ENTRIES
                && all.estados_de_cuenta.len() as u32 == MONTHS
                && all.retiros.len() == 2
                && all.unknown.is_empty();
            let items = 4 + all.bitacora.len() + all.estados_de_cuenta.len() + all.retiros.len();
            Answer::new(items, "seven kinds of entities")
                .expect(is_right, "all that was written of the user")
                .map(Some)
        }
        "perfiles_de_usuario" => {
            let query = patterns::perfiles_de_usuario(&user);
            page(app, query, "the second profile", |found| {
                found.iter().map(|one| &one.id_perfil).eq([&profile])
            })
            .await
        }
        "contratos_de_usuario" => {
            let query = patterns::contratos_de_usuario(&user);
            page(app, query, "one contract", |found| found.len() == 1).await
        }
        "dispositivos_de_usuario" => {
            let query = patterns::dispositivos_de_usuario(&user);
            page(app, query, "one device", |found| found.len() == 1).await
        }
        "bitacora_de_usuario" => {
            let query = patterns::bitacora_de_usuario(&user, UtcTime::default(), now(app));
            page(app, query, "five entries, last first, none expired", |found| {
                found.len() as u32 == ENTRIES && is_last_first(found)
            })
            .await
        }
        "estados_de_cuenta" => {
            let query = patterns::estados_de_cuenta(&user, month(2)?, month(4)?);
            let saldos = [money(250_100)?, money(375_150)?, money(500_200)?];
            page(app, query, "February to April", |found| {
                found.iter().map(|account| &account.saldo).eq(&saldos)
            })
            .await
        }
        "retiros" => {
            let monto = money(50_000)?;
            let query = patterns::retiros(&user, noon(2, 15)?, noon(5, 14)?);
            page(app, query, "the one of February", |found| {
                found.iter().map(|one| &one.monto).eq([&monto])
            })
            .await
        }
        "contratos_de_empresa" => {
            // `CONTRATO#` sorts before `METADATA`, so that the first contract is the last item.
            let expected = [contrato(BLOCK, 2)?, contrato(BLOCK, 3)?, contrato(BLOCK, 1)?];
            let query = patterns::contratos_de_empresa(&company);
            page(app, query, "two further ones and the first", |found| found == expected).await
        }
        "modulos_de_perfil" => {
            let query = patterns::modulos_de_perfil(&profile);
            page(app, query, "three modules", |found| found.len() == 3).await
        }
        "servicios_de_perfil" => {
            let query = patterns::servicios_de_perfil(&profile);
            page(app, query, "two services", |found| found.len() == 2).await
        }
        "miembros_de_grupo" => {
            let query = patterns::miembros_de_grupo(&group);
            page(app, query, "half of the users, and the first", |found| {
                found.len() as u32 == USERS / GROUPS + 1
            })
            .await
        }
        _ => Ok(None),
    }
}
