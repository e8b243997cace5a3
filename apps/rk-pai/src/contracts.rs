//! Origins, contracts, their cycles and their configurations.

#![allow(missing_docs)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tabla::entity::{Day, Entity, Id, UtcTime};

use crate::table::RK_PAI;

/// An origin of contracts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_ORIGEN#{id_origen}", sk = "METADATA")]
pub struct Origen {
    #[entity(key_only)]
    pub id_origen: Id,
    #[serde(default)]
    pub nombre: String,
}

/// Link of an origin to a contract, written, moved and deleted with the contract. It makes the
/// contracts of an origin a query, and the id of a contract unique in its origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_ORIGEN#{id_origen}", sk = "CONTRATO#{id_contrato}")]
pub struct ContratoDeOrigen {
    #[entity(key_only)]
    pub id_origen: Id,
    #[entity(key_only)]
    pub id_contrato: Id,
    /// Company whose partition has the contract.
    pub id_empresa: Id,
}

/// The forms of a contract, which have the same attributes and the same keys in GSI7. They differ in
/// the sort key.
macro_rules! contratos {
    ($($(#[$doc:meta])* $name:ident $(, sk = $sk:literal)?;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
        #[entity(
            table = RK_PAI,
            pk = "CAT_CONTRATO#{id_empresa}",
            $(sk = $sk,)?
            index(
                "GSI7-IndiceCatContratoPorOrigenIdContrato", query = por_origen_e_id,
                pk = "ORIGEN#{id_origen}#ID_CONTRATO#{id_contrato}", sk = "{@pk}"
            )
        )]
        pub struct $name {
            #[entity(key_only)]
            pub id_empresa: Id,
            pub id_origen: Id,
            pub id_contrato: Id,
            #[serde(default)]
            pub nombre: String,
            pub vigente_desde: Day,
        }
    )*};
}

contratos! {
    /// A contract under any sort key, to be read. What is written is a [`PrimerContrato`] or a
    /// [`ContratoAdicional`].
    Contrato;
    /// First contract of a company, under the documented key.
    PrimerContrato, sk = "METADATA";
    /// Further contract of a company, under its own id.
    ContratoAdicional, sk = "CONTRATO#{id_contrato}";
}

macro_rules! conversions {
    ($($form:ident)*) => {$(
        impl From<Contrato> for $form {
            fn from(contrato: Contrato) -> Self {
                let Contrato { id_empresa, id_origen, id_contrato, nombre, vigente_desde } = contrato;
                Self { id_empresa, id_origen, id_contrato, nombre, vigente_desde }
            }
        }

        impl From<$form> for Contrato {
            fn from(form: $form) -> Self {
                let $form { id_empresa, id_origen, id_contrato, nombre, vigente_desde } = form;
                Self { id_empresa, id_origen, id_contrato, nombre, vigente_desde }
            }
        }
    )*};
}

conversions! { PrimerContrato ContratoAdicional }

impl Contrato {
    /// Link of the origin to this contract.
    pub(crate) fn link(&self) -> ContratoDeOrigen {
        ContratoDeOrigen {
            id_origen: self.id_origen.clone(),
            id_contrato: self.id_contrato.clone(),
            id_empresa: self.id_empresa.clone(),
        }
    }
}

/// A cycle of a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_CONTRATO_CICLO#{id_ciclo}",
    sk = "METADATA",
    index(
        "GSI8-IndiceCatCicloPorOrigenContrato", query = por_contrato,
        pk = "ORIGEN#{id_origen}#ID_CONTRATO#{id_contrato}", sk = "{@pk}"
    )
)]
pub struct Ciclo {
    #[entity(key_only)]
    pub id_ciclo: Id,
    pub id_origen: Id,
    pub id_contrato: Id,
    pub inicio: Day,
    pub fin: Day,
}

/// Configuration of a contract by a group. The documented key has room for one of each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CONF_GRUPO_CONTRATO#{id_grupo}",
    sk = "METADATA",
    index(
        "GSI6-IndiceConfigPorOrigenContrato", query = por_contrato,
        pk = "ORIGEN#{id_origen}#CONTRATO#{id_contrato}", sk = "{@pk}"
    ),
    updated_at = updated_at
)]
pub struct ConfGrupoContrato {
    #[entity(key_only)]
    pub id_grupo: Id,
    pub id_origen: Id,
    pub id_contrato: Id,
    #[serde(default)]
    pub parametros: BTreeMap<String, String>,
    #[serde(default, rename = "updatedAt")]
    pub updated_at: UtcTime,
}
