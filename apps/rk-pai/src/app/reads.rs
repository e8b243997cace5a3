//! Runs the patterns that read, and checks their answers.

use tabla::Result;
use tabla::entity::{Entity, EntityKey, Find, UtcTime};
use tabla_kit::Answer;

use super::data::*;
use crate::catalogues::*;
use crate::contracts::*;
use crate::operations::RkPai;
use crate::patterns;
use crate::users::*;

/// The block whose data is asked for.
const BLOCK: Block = Block(0);

/// The user who is asked for.
const USER: u32 = 1;

/// A page of what is found, as answer.
async fn page<E: Entity>(
    app: &RkPai,
    find: Find<E>,
    expected: &str,
    is_right: impl FnOnce(&[E]) -> bool,
) -> Result<Option<Answer>> {
    let found = app.db.page(find).await?.items;
    let is_right = is_right(&found);
    Answer::new(found.len(), expected).expect(is_right, expected).map(Some)
}

/// An entity that has to be there.
async fn get<K: EntityKey>(
    app: &RkPai,
    key: K,
    shown: impl FnOnce(&K::Entity) -> String,
) -> Result<Option<Answer>> {
    let found = app.db.get(&key).await?;
    let text = found.as_ref().map_or_else(String::new, shown);
    Answer::new(found.iter().len(), text).expect(found.is_some(), "the entity").map(Some)
}

/// The users whose number leaves this when it is divided.
fn users(by: u32, rest: u32) -> Result<Vec<tabla::entity::Id>> {
    (1..=USERS).filter(|number| number % by == rest).map(|number| BLOCK.usuario(number)).collect()
}

/// The document's patterns, and those of its indexes.
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
            let find = patterns::usuarios_de_contrato(&origen, &contract);
            page(app, find, "every sixth user", |found| {
                found.iter().map(|user| &user.id_usuario).eq(&expected)
            })
            .await
        }
        "ciclos_de_contrato" => {
            let find = patterns::ciclos_de_contrato(&origen, &contract);
            page(app, find, "four quarters, in order", |found| {
                found.len() == CYCLES as usize && found.is_sorted_by_key(|cycle| cycle.inicio)
            })
            .await
        }
        "contratos_por_origen" => {
            let find = patterns::contratos_por_origen(&origen);
            page(app, find, "six links, in order of their ids", |found| {
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
            let find = patterns::usuarios_por_dispositivo(&BLOCK.dispositivo(2)?);
            page(app, find, "two users share it", |found| found.len() == 2).await
        }
        "usuarios_por_perfil" => {
            let expected = users(PROFILES, 1)?;
            let find = patterns::usuarios_por_perfil(&BLOCK.perfil(2)?);
            page(app, find, "every third user", |found| {
                found.iter().map(|user| &user.id_usuario).eq(&expected)
            })
            .await
        }
        "configuraciones_por_contrato" => {
            let group = BLOCK.grupo(2)?;
            let find = patterns::configuraciones_por_contrato(&origen, &contract);
            page(app, find, "the second group's", |found| {
                matches!(found, [one] if one.id_grupo == group && one.parametros.len() == 2)
            })
            .await
        }
        "contrato_por_origen_e_id" => {
            let expected = contrato(BLOCK, 2)?;
            let find = patterns::contrato_por_origen_e_id(&origen, &contract);
            page(app, find, "a further contract", |found| found == [expected]).await
        }
        "perfiles_por_modulo" => {
            let expected = [BLOCK.perfil(2)?, BLOCK.perfil(3)?];
            let find = patterns::perfiles_por_modulo(&BLOCK.modulo(3)?);
            page(app, find, "the second and the third profile", |found| {
                found.iter().map(|entry| &entry.id_perfil).eq(&expected)
            })
            .await
        }
        "perfiles_por_servicio" => {
            let expected = [BLOCK.perfil(3)?];
            let find = patterns::perfiles_por_servicio(&BLOCK.servicio(3)?);
            page(app, find, "the third profile", |found| {
                found.iter().map(|entry| &entry.id_perfil).eq(&expected)
            })
            .await
        }
        "grupos_por_usuario" => {
            let find = patterns::grupos_por_usuario(&user);
            page(app, find, "both groups", |found| found.len() == GROUPS as usize).await
        }
        "dash_params_por_parametro" => {
            let find = patterns::dash_params_por_parametro(&BLOCK.parametro(1)?);
            page(app, find, "two dashboards have it", |found| {
                found.iter().map(|entry| entry.valor.as_str()).eq(["10", "20"])
            })
            .await
        }
        "bitacora_por_elemento" => {
            let find = patterns::bitacora_por_elemento(&element);
            page(app, find, "last first, without what has expired", |found| {
                found.len() as u32 == USERS / ELEMENTS * ENTRIES && is_last_first(found)
            })
            .await
        }
        "bitacora_por_elemento_entre" => {
            let find =
                patterns::bitacora_por_elemento_entre(&element, UtcTime::default(), now(app));
            page(app, find, "the same, up to now", |found| {
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

/// The entities by their keys, and what their partitions have.
pub(super) async fn of_entities(app: &RkPai, pattern: &str) -> Result<Option<Answer>> {
    let user = BLOCK.usuario(USER)?;
    let (profile, group, company) = (BLOCK.perfil(2)?, BLOCK.grupo(1)?, BLOCK.empresa(1)?);
    match pattern {
        "usuario" => {
            get(app, UsuarioKey { id_usuario: user }, |found| found.email.to_string()).await
        }
        "origen" => {
            let key = OrigenKey { id_origen: BLOCK.origen()? };
            get(app, key, |found| found.nombre.clone()).await
        }
        "grupo" => get(app, GrupoKey { id_grupo: group }, |found| found.nombre.clone()).await,
        "primer_contrato" => {
            let key = PrimerContratoKey { id_empresa: company };
            get(app, key, |found| found.nombre.clone()).await
        }
        "ciclo" => {
            let key = CicloKey { id_ciclo: BLOCK.ciclo(1, 1)? };
            get(app, key, |found| format!("{} to {}", found.inicio, found.fin)).await
        }
        "perfil" => get(app, PerfilKey { id_perfil: profile }, |found| found.nombre.clone()).await,
        "modulo" => {
            let key = ModuloKey { id_modulo: BLOCK.modulo(1)? };
            get(app, key, |found| found.nombre.clone()).await
        }
        "servicio" => {
            let key = ServicioKey { id_servicio: BLOCK.servicio(1)? };
            get(app, key, |found| found.nombre.clone()).await
        }
        "conf_grupo_contrato" => {
            let key = ConfGrupoContratoKey { id_grupo: group };
            get(app, key, |found| format!("{:?}", found.parametros)).await
        }
        "dash_conf_params" => {
            let key = DashConfParamsKey { id_dashparam: BLOCK.dashparam(1)? };
            get(app, key, |found| found.valor.clone()).await
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
            let find = patterns::perfiles_de_usuario(&user);
            page(app, find, "the second profile", |found| {
                found.iter().map(|one| &one.id_perfil).eq([&profile])
            })
            .await
        }
        "contratos_de_usuario" => {
            let find = patterns::contratos_de_usuario(&user);
            page(app, find, "one contract", |found| found.len() == 1).await
        }
        "dispositivos_de_usuario" => {
            let find = patterns::dispositivos_de_usuario(&user);
            page(app, find, "one device", |found| found.len() == 1).await
        }
        "bitacora_de_usuario" => {
            let find = patterns::bitacora_de_usuario(&user, UtcTime::default(), now(app));
            page(app, find, "five entries, last first, none expired", |found| {
                found.len() as u32 == ENTRIES && is_last_first(found)
            })
            .await
        }
        "estados_de_cuenta" => {
            let find = patterns::estados_de_cuenta(&user, month(2)?, month(4)?);
            let saldos = [money(250_100)?, money(375_150)?, money(500_200)?];
            page(app, find, "February to April", |found| {
                found.iter().map(|account| &account.saldo).eq(&saldos)
            })
            .await
        }
        "retiros" => {
            let monto = money(50_000)?;
            let find = patterns::retiros(&user, noon(2, 15)?, noon(5, 14)?);
            page(app, find, "the one of February", |found| {
                found.iter().map(|one| &one.monto).eq([&monto])
            })
            .await
        }
        "contratos_de_empresa" => {
            // "CONTRATO#" sorts before "METADATA": the first contract comes last.
            let expected = [contrato(BLOCK, 2)?, contrato(BLOCK, 3)?, contrato(BLOCK, 1)?];
            let find = patterns::contratos_de_empresa(&company);
            page(app, find, "two further ones and the first", |found| found == expected).await
        }
        "modulos_de_perfil" => {
            let find = patterns::modulos_de_perfil(&profile);
            page(app, find, "three modules", |found| found.len() == 3).await
        }
        "servicios_de_perfil" => {
            let find = patterns::servicios_de_perfil(&profile);
            page(app, find, "two services", |found| found.len() == 2).await
        }
        "miembros_de_grupo" => {
            let find = patterns::miembros_de_grupo(&group);
            page(app, find, "half of the users, and the first", |found| {
                found.len() as u32 == USERS / GROUPS + 1
            })
            .await
        }
        _ => Ok(None),
    }
}
