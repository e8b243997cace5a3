//! Groups, profiles, modules and services, who has which, and the parameters of dashboards.

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id};

use crate::table::RK_PAI;

/// A group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_GRUPO#{id_grupo}", sk = "METADATA")]
pub struct Grupo {
    /// Which.
    #[entity(key_only)]
    pub id_grupo: Id,
    /// What it is called.
    pub nombre: String,
}

/// That a user is in a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "GRUPO#{id_grupo}",
    sk = "USUARIO#{id_usuario}",
    index("GSI11-IndiceUsuarioGrupos", pk = "USUARIO#{id_usuario}", sk = "{@pk}")
)]
pub struct MiembroGrupo {
    /// The group.
    #[entity(key_only)]
    pub id_grupo: Id,
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// As what.
    pub rol: String,
}

/// A profile: what those who have it may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_PERFIL#{id_perfil}", sk = "METADATA")]
pub struct Perfil {
    /// Which.
    #[entity(key_only)]
    pub id_perfil: Id,
    /// What it is called.
    pub nombre: String,
}

/// A module of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_MODULO#{id_modulo}", sk = "METADATA")]
pub struct Modulo {
    /// Which.
    #[entity(key_only)]
    pub id_modulo: Id,
    /// What it is called.
    pub nombre: String,
}

/// A service of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_SERVICIO#{id_servicio}", sk = "METADATA")]
pub struct Servicio {
    /// Which.
    #[entity(key_only)]
    pub id_servicio: Id,
    /// What it is called.
    pub nombre: String,
}

/// What a profile may do in a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_PERFIL#{id_perfil}",
    sk = "CAT_MODULO#{id_modulo}",
    index("GSI9-IndiceModuloPerfil", pk = "CAT_MODULO#{id_modulo}", sk = "{@pk}")
)]
pub struct ModuloPerfil {
    /// The profile.
    #[entity(key_only)]
    pub id_perfil: Id,
    /// The module.
    #[entity(key_only)]
    pub id_modulo: Id,
    /// What is allowed.
    pub permisos: Vec<String>,
}

/// What a profile may do with a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_PERFIL#{id_perfil}",
    sk = "CAT_SERVICIO#{id_servicio}",
    index("GSI10-IndiceServicioPerfil", pk = "CAT_SERVICIO#{id_servicio}", sk = "{@pk}")
)]
pub struct ServicioPerfil {
    /// The profile.
    #[entity(key_only)]
    pub id_perfil: Id,
    /// The service.
    #[entity(key_only)]
    pub id_servicio: Id,
    /// What is allowed.
    pub permisos: Vec<String>,
}

/// What a dashboard has for a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "DASHB_CONF_PARAMS#{id_dashparam}",
    sk = "METADATA",
    index("GSI13-IndiceDashConfParamsPorParametro", pk = "PARAMETRO#{id_parametro}", sk = "{@pk}")
)]
pub struct DashConfParams {
    /// Which.
    #[entity(key_only)]
    pub id_dashparam: Id,
    /// The parameter.
    pub id_parametro: Id,
    /// What it has.
    pub valor: String,
}
