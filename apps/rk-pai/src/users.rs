//! Item collection of a user: the user, relations, log, statements and withdrawals.

#![allow(missing_docs)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tabla::Number;
use tabla::entity::{Entity, Id, Month, UtcMillis, UtcTime};

use crate::email::Email;
use crate::table::RK_PAI;

/// Status of a user. A blocked user cannot log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EstadoUsuario {
    Activo,
    Bloqueado,
}

/// A user, with a unique email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "METADATA",
    index("GSI1-IndiceEmail", query = con_email, pk = "EMAIL#{email}", sk = "{@pk}"),
    unique(email, pk = "EMAIL#{email}", sk = "UNIQUE"),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Usuario {
    #[entity(key_only)]
    pub id_usuario: Id,
    pub email: Email,
    #[serde(default)]
    pub nombre: String,
    pub estado: EstadoUsuario,
    #[entity(immutable)]
    #[serde(default, rename = "createdAt")]
    pub created_at: UtcTime,
    #[serde(default, rename = "updatedAt")]
    pub updated_at: UtcTime,
}

/// Relation of a user to a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "PERFIL#{id_perfil}",
    index("GSI3-IndicePerfilUsuario", query = por_perfil, pk = "PERFIL#{id_perfil}", sk = "{@pk}"),
    created_at = asignado_en
)]
pub struct PerfilUsuario {
    #[entity(key_only)]
    pub id_usuario: Id,
    #[entity(key_only)]
    pub id_perfil: Id,
    #[serde(default)]
    pub asignado_en: UtcTime,
}

/// Participation of a user in a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "CONTRATO_USUARIO#{id_origen}#{id_contrato}",
    index(
        "GSI5-IndiceContratoUsuario", query = por_contrato,
        pk = "CONTRATO_USUARIO#{id_origen}#{id_contrato}", sk = "{@pk}"
    ),
    created_at = alta
)]
pub struct ContratoUsuario {
    #[entity(key_only)]
    pub id_usuario: Id,
    #[entity(key_only)]
    pub id_origen: Id,
    #[entity(key_only)]
    pub id_contrato: Id,
    #[serde(default)]
    pub alta: UtcTime,
}

/// A device of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "DISP#{id_disp}",
    index("GSI2-IndiceDispositivo", query = por_dispositivo, pk = "DISP#{id_disp}", sk = "{@pk}")
)]
pub struct Dispositivo {
    #[entity(key_only)]
    pub id_usuario: Id,
    #[entity(key_only)]
    pub id_disp: Id,
    #[serde(default)]
    pub plataforma: String,
    pub ultimo_acceso: UtcTime,
}

/// Entry of a user's log, sorted by time, until it expires. An entry about an element is in
/// GSI14, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "LOG#{timestamp}#{id_bitacora}",
    index(
        "GSI14-IndiceBitacoraPorElemento", query = por_elemento,
        pk = "ELEMENTO#{id_elemento}", sk = "{@sk}"
    ),
    ttl = ttl
)]
pub struct Bitacora {
    #[entity(key_only)]
    pub id_usuario: Id,
    #[entity(key_only)]
    pub timestamp: UtcTime,
    /// Distinguishes entries of one second.
    #[entity(key_only)]
    pub id_bitacora: Id,
    pub id_elemento: Option<Id>,
    #[serde(default)]
    pub accion: String,
    pub detalle: Option<BTreeMap<String, String>>,
    /// Expiry, in seconds since 1970.
    pub ttl: Option<u64>,
}

/// Statement of a participant's account for a month. The token of a participant is a user's id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{token_participante}",
    sk = "ESTADOCUENTA#{periodo}",
    created_at = created_at
)]
pub struct EstadoCuenta {
    #[entity(key_only)]
    #[serde(rename = "TokenParticipante")]
    pub token_participante: Id,
    #[entity(key_only)]
    #[serde(rename = "Periodo")]
    pub periodo: Month,
    /// Balance at the end of the month.
    pub saldo: Number,
    /// Contributions of the month.
    pub aportes: Number,
    #[entity(immutable)]
    #[serde(default, rename = "createdAt")]
    pub created_at: UtcTime,
}

/// Status of a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EstadoRetiro {
    Solicitado,
    Pagado,
    Rechazado,
}

/// A withdrawal of a participant. Its key is the millisecond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{token_participante}",
    sk = "RETIRO#{fecha_retiro}"
)]
pub struct Retiro {
    #[entity(key_only)]
    #[serde(rename = "TokenParticipante")]
    pub token_participante: Id,
    #[entity(key_only)]
    #[serde(rename = "FechaRetiroISO")]
    pub fecha_retiro: UtcMillis,
    pub monto: Number,
    pub estado: EstadoRetiro,
}

tabla::collection! {
    /// Item collection of a user.
    pub struct UsuarioCompleto {
        pub usuario: Option<Usuario>,
        pub perfiles: Vec<PerfilUsuario>,
        pub contratos: Vec<ContratoUsuario>,
        pub dispositivos: Vec<Dispositivo>,
        /// Entries of the log, expired or not.
        pub bitacora: Vec<Bitacora>,
        pub estados_de_cuenta: Vec<EstadoCuenta>,
        pub retiros: Vec<Retiro>,
    }
}
