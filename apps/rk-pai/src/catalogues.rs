//! Groups, profiles, modules, services, their relations, and the parameters of dashboards.

#![allow(missing_docs)]

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id};

use crate::table::RK_PAI;

/// A group of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_GRUPO#{id_grupo}", sk = "METADATA")]
pub struct Grupo {
    #[entity(key_only)]
    pub id_grupo: Id,
    #[serde(default)]
    pub nombre: String,
}

/// Membership of a user in a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "GRUPO#{id_grupo}",
    sk = "USUARIO#{id_usuario}",
    index(
        "GSI11-IndiceUsuarioGrupos", query = por_usuario,
        pk = "USUARIO#{id_usuario}", sk = "{@pk}"
    )
)]
pub struct MiembroGrupo {
    #[entity(key_only)]
    pub id_grupo: Id,
    #[entity(key_only)]
    pub id_usuario: Id,
    #[serde(default)]
    pub rol: String,
}

/// A profile: a set of permissions that users have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_PERFIL#{id_perfil}", sk = "METADATA")]
pub struct Perfil {
    #[entity(key_only)]
    pub id_perfil: Id,
    #[serde(default)]
    pub nombre: String,
}

/// A module of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_MODULO#{id_modulo}", sk = "METADATA")]
pub struct Modulo {
    #[entity(key_only)]
    pub id_modulo: Id,
    #[serde(default)]
    pub nombre: String,
}

/// A service of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_SERVICIO#{id_servicio}", sk = "METADATA")]
pub struct Servicio {
    #[entity(key_only)]
    pub id_servicio: Id,
    #[serde(default)]
    pub nombre: String,
}

/// Permissions of a profile in a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_PERFIL#{id_perfil}",
    sk = "CAT_MODULO#{id_modulo}",
    index(
        "GSI9-IndiceModuloPerfil", query = por_modulo,
        pk = "CAT_MODULO#{id_modulo}", sk = "{@pk}"
    )
)]
pub struct ModuloPerfil {
    #[entity(key_only)]
    pub id_perfil: Id,
    #[entity(key_only)]
    pub id_modulo: Id,
    #[serde(default)]
    pub permisos: Vec<String>,
}

/// Permissions of a profile for a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_PERFIL#{id_perfil}",
    sk = "CAT_SERVICIO#{id_servicio}",
    index(
        "GSI10-IndiceServicioPerfil", query = por_servicio,
        pk = "CAT_SERVICIO#{id_servicio}", sk = "{@pk}"
    )
)]
pub struct ServicioPerfil {
    #[entity(key_only)]
    pub id_perfil: Id,
    #[entity(key_only)]
    pub id_servicio: Id,
    #[serde(default)]
    pub permisos: Vec<String>,
}

/// Value of a parameter on a dashboard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "DASHB_CONF_PARAMS#{id_dashparam}",
    sk = "METADATA",
    index(
        "GSI13-IndiceDashConfParamsPorParametro", query = por_parametro,
        pk = "PARAMETRO#{id_parametro}", sk = "{@pk}"
    )
)]
pub struct DashConfParams {
    #[entity(key_only)]
    pub id_dashparam: Id,
    pub id_parametro: Id,
    pub valor: String,
}
