//! Fields that the patterns read through an index which does not carry all in production. A view
//! reads the same in every environment, and the lint reports an index that does not carry its fields.

#![allow(missing_docs)]

use std::collections::BTreeMap;

use serde::Deserialize;
use tabla::entity::{Id, View};

use crate::catalogues::{MiembroGrupo, ModuloPerfil, ServicioPerfil};
use crate::contracts::ConfGrupoContrato;
use crate::email::Email;
use crate::users::{ContratoUsuario, Dispositivo, EstadoUsuario, PerfilUsuario, Usuario};

/// Fields of a user that the login needs.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = Usuario)]
pub struct UsuarioPorEmail {
    pub id_usuario: Id,
    pub email: Email,
    #[serde(default)]
    pub nombre: String,
    pub estado: EstadoUsuario,
}

/// A user of a device.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = Dispositivo)]
pub struct UsuarioDeDispositivo {
    pub id_usuario: Id,
    pub id_disp: Id,
}

/// A user with a profile.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = PerfilUsuario)]
pub struct UsuarioDePerfil {
    pub id_usuario: Id,
    pub id_perfil: Id,
}

/// A user of a contract.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = ContratoUsuario)]
pub struct UsuarioDeContrato {
    pub id_usuario: Id,
    pub id_origen: Id,
    pub id_contrato: Id,
}

/// Configuration of a contract by a group.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = ConfGrupoContrato)]
pub struct ConfiguracionDeContrato {
    pub id_grupo: Id,
    pub id_origen: Id,
    pub id_contrato: Id,
    #[serde(default)]
    pub parametros: BTreeMap<String, String>,
}

/// A profile with a module.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = ModuloPerfil)]
pub struct PerfilDeModulo {
    pub id_perfil: Id,
    pub id_modulo: Id,
}

/// A profile with a service.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = ServicioPerfil)]
pub struct PerfilDeServicio {
    pub id_perfil: Id,
    pub id_servicio: Id,
}

/// A group of a user.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = MiembroGrupo)]
pub struct GrupoDeUsuario {
    pub id_grupo: Id,
    pub id_usuario: Id,
}
