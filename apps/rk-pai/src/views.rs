//! What is read through the indexes that carry less than the entity in production: entities of the
//! same keys with fewer fields. They read the same in every environment, and the checks of the
//! design see whether an index carries what they have. They are not to be written.

use serde::{Deserialize, Serialize};
use tabla::entity::{Entity, Id};

use crate::email::Email;
use crate::table::RK_PAI;
use crate::users::EstadoUsuario;

/// What logging in needs to know of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "METADATA",
    index("GSI1-IndiceEmail", pk = "EMAIL#{email}", sk = "{@pk}")
)]
pub struct UsuarioPorEmail {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// What they log in with.
    pub email: Email,
    /// What they are called.
    pub nombre: String,
    /// Whether they may log in.
    pub estado: EstadoUsuario,
}

/// That a user has a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "DISP#{id_disp}",
    index("GSI2-IndiceDispositivo", pk = "DISP#{id_disp}", sk = "{@pk}")
)]
pub struct UsuarioDeDispositivo {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// Which device.
    #[entity(key_only)]
    pub id_disp: Id,
}

/// That a user has a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "PERFIL#{id_perfil}",
    index("GSI3-IndicePerfilUsuario", pk = "PERFIL#{id_perfil}", sk = "{@pk}")
)]
pub struct UsuarioDePerfil {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// Which profile.
    #[entity(key_only)]
    pub id_perfil: Id,
}

/// That a user takes part in a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "CONTRATO_USUARIO#{id_origen}#{id_contrato}",
    index(
        "GSI5-IndiceContratoUsuario",
        pk = "CONTRATO_USUARIO#{id_origen}#{id_contrato}",
        sk = "{@pk}"
    )
)]
pub struct UsuarioDeContrato {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// Whose contract.
    #[entity(key_only)]
    pub id_origen: Id,
    /// Which.
    #[entity(key_only)]
    pub id_contrato: Id,
}

/// What a group has set for a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CONF_GRUPO_CONTRATO#{id_grupo}",
    sk = "METADATA",
    index(
        "GSI6-IndiceConfigPorOrigenContrato",
        pk = "ORIGEN#{id_origen}#CONTRATO#{id_contrato}",
        sk = "{@pk}"
    )
)]
pub struct ConfiguracionDeContrato {
    /// The group.
    #[entity(key_only)]
    pub id_grupo: Id,
    /// Where the contract comes from.
    pub id_origen: Id,
    /// The contract.
    pub id_contrato: Id,
    /// What is set.
    pub parametros: std::collections::BTreeMap<String, String>,
}

/// That a profile has something to do with a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_PERFIL#{id_perfil}",
    sk = "CAT_MODULO#{id_modulo}",
    index("GSI9-IndiceModuloPerfil", pk = "CAT_MODULO#{id_modulo}", sk = "{@pk}")
)]
pub struct PerfilDeModulo {
    /// The profile.
    #[entity(key_only)]
    pub id_perfil: Id,
    /// The module.
    #[entity(key_only)]
    pub id_modulo: Id,
}

/// That a profile has something to do with a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_PERFIL#{id_perfil}",
    sk = "CAT_SERVICIO#{id_servicio}",
    index("GSI10-IndiceServicioPerfil", pk = "CAT_SERVICIO#{id_servicio}", sk = "{@pk}")
)]
pub struct PerfilDeServicio {
    /// The profile.
    #[entity(key_only)]
    pub id_perfil: Id,
    /// The service.
    #[entity(key_only)]
    pub id_servicio: Id,
}

/// That a user is in a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "GRUPO#{id_grupo}",
    sk = "USUARIO#{id_usuario}",
    index("GSI11-IndiceUsuarioGrupos", pk = "USUARIO#{id_usuario}", sk = "{@pk}")
)]
pub struct GrupoDeUsuario {
    /// The group.
    #[entity(key_only)]
    pub id_grupo: Id,
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
}
