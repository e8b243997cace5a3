//! What a user's partition has: the user, their relations, their log and their accounts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tabla::Number;
use tabla::entity::{Entity, Id, Month, UtcMillis, UtcTime};

use crate::email::Email;
use crate::table::RK_PAI;

/// Whether a user may log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EstadoUsuario {
    /// They may.
    Activo,
    /// They may not.
    Bloqueado,
}

/// A user, whose email is theirs alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "METADATA",
    index("GSI1-IndiceEmail", pk = "EMAIL#{email}", sk = "{@pk}"),
    unique(email, pk = "EMAIL#{email}", sk = "UNIQUE"),
    created_at = created_at,
    updated_at = updated_at
)]
pub struct Usuario {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// Where to write to them, and what they log in with.
    pub email: Email,
    /// What they are called.
    pub nombre: String,
    /// Whether they may log in.
    pub estado: EstadoUsuario,
    /// Since when they are known.
    #[entity(immutable)]
    #[serde(rename = "createdAt")]
    pub created_at: UtcTime,
    /// When they last changed.
    #[serde(rename = "updatedAt")]
    pub updated_at: UtcTime,
}

/// That a user has a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "PERFIL#{id_perfil}",
    index("GSI3-IndicePerfilUsuario", pk = "PERFIL#{id_perfil}", sk = "{@pk}"),
    created_at = asignado_en
)]
pub struct PerfilUsuario {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// What.
    #[entity(key_only)]
    pub id_perfil: Id,
    /// Since when.
    pub asignado_en: UtcTime,
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
    ),
    created_at = alta
)]
pub struct ContratoUsuario {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// Whose contract.
    #[entity(key_only)]
    pub id_origen: Id,
    /// Which.
    #[entity(key_only)]
    pub id_contrato: Id,
    /// Since when.
    pub alta: UtcTime,
}

/// A device of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "DISP#{id_disp}",
    index("GSI2-IndiceDispositivo", pk = "DISP#{id_disp}", sk = "{@pk}")
)]
pub struct Dispositivo {
    /// Whose.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// Which.
    #[entity(key_only)]
    pub id_disp: Id,
    /// What it runs on.
    pub plataforma: String,
    /// When it was last seen.
    pub ultimo_acceso: UtcTime,
}

/// What a user did, by time, until it expires; under the element that it was done to while there is
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{id_usuario}",
    sk = "LOG#{timestamp}#{id_bitacora}",
    index("GSI14-IndiceBitacoraPorElemento", pk = "ELEMENTO#{id_elemento}", sk = "{@sk}"),
    ttl = ttl
)]
pub struct Bitacora {
    /// Who.
    #[entity(key_only)]
    pub id_usuario: Id,
    /// When.
    #[entity(key_only)]
    pub timestamp: UtcTime,
    /// Which of that second.
    #[entity(key_only)]
    pub id_bitacora: Id,
    /// To what.
    pub id_elemento: Option<Id>,
    /// What was done.
    pub accion: String,
    /// More of it.
    pub detalle: Option<BTreeMap<String, String>>,
    /// When it goes, in seconds.
    pub ttl: Option<u64>,
}

/// What a participant had in a month. Participants are users: their token is the user's id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{token_participante}",
    sk = "ESTADOCUENTA#{periodo}",
    created_at = created_at
)]
pub struct EstadoCuenta {
    /// Who.
    #[entity(key_only)]
    #[serde(rename = "TokenParticipante")]
    pub token_participante: Id,
    /// The month.
    #[entity(key_only)]
    #[serde(rename = "Periodo")]
    pub periodo: Month,
    /// What they had at its end.
    pub saldo: Number,
    /// What came in.
    pub aportes: Number,
    /// When it was made.
    #[entity(immutable)]
    #[serde(rename = "createdAt")]
    pub created_at: UtcTime,
}

/// What became of a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EstadoRetiro {
    /// It is asked for.
    Solicitado,
    /// It was paid.
    Pagado,
    /// It was not.
    Rechazado,
}

/// A withdrawal of a participant, to the millisecond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "USUARIO#{token_participante}",
    sk = "RETIRO#{fecha_retiro}"
)]
pub struct Retiro {
    /// Who.
    #[entity(key_only)]
    #[serde(rename = "TokenParticipante")]
    pub token_participante: Id,
    /// When.
    #[entity(key_only)]
    #[serde(rename = "FechaRetiroISO")]
    pub fecha_retiro: UtcMillis,
    /// How much.
    pub monto: Number,
    /// What became of it.
    pub estado: EstadoRetiro,
}

tabla::collection! {
    /// All that a user's partition has.
    pub struct UsuarioCompleto {
        /// Who it is.
        pub usuario: Option<Usuario>,
        /// What they may do.
        pub perfiles: Vec<PerfilUsuario>,
        /// What they take part in.
        pub contratos: Vec<ContratoUsuario>,
        /// What they use.
        pub dispositivos: Vec<Dispositivo>,
        /// What they did, expired or not.
        pub bitacora: Vec<Bitacora>,
        /// What they had.
        pub estados_de_cuenta: Vec<EstadoCuenta>,
        /// What they took out.
        pub retiros: Vec<Retiro>,
    }
}
