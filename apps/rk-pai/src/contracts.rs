//! Origins, contracts, their cycles and their configurations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tabla::entity::{Day, Entity, Id, UtcTime};

use crate::table::RK_PAI;

/// Where contracts come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_ORIGEN#{id_origen}", sk = "METADATA")]
pub struct Origen {
    /// Which.
    #[entity(key_only)]
    pub id_origen: Id,
    /// What it is called.
    pub nombre: String,
}

/// That an origin has a contract: written, moved and deleted with the contract. It answers what
/// the document asks of a prefix of a partition key, which no store can; and no two contracts of an
/// origin have the same id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = RK_PAI, pk = "CAT_ORIGEN#{id_origen}", sk = "CONTRATO#{id_contrato}")]
pub struct ContratoDeOrigen {
    /// Whose.
    #[entity(key_only)]
    pub id_origen: Id,
    /// Which.
    #[entity(key_only)]
    pub id_contrato: Id,
    /// The company whose partition has it.
    pub id_empresa: Id,
}

/// A contract, wherever in its company's partition it stands: the first one under `METADATA`, as
/// the document has it, further ones under their own ids. To be read; what is written is
/// [`PrimerContrato`] or [`ContratoAdicional`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_CONTRATO#{id_empresa}",
    index(
        "GSI7-IndiceCatContratoPorOrigenIdContrato",
        pk = "ORIGEN#{id_origen}#ID_CONTRATO#{id_contrato}",
        sk = "{@pk}"
    )
)]
pub struct Contrato {
    /// The company.
    #[entity(key_only)]
    pub id_empresa: Id,
    /// Where it comes from.
    pub id_origen: Id,
    /// Its id there.
    pub id_contrato: Id,
    /// What it is called.
    pub nombre: String,
    /// Since when it holds.
    pub vigente_desde: Day,
}

/// A company's first contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_CONTRATO#{id_empresa}",
    sk = "METADATA",
    index(
        "GSI7-IndiceCatContratoPorOrigenIdContrato",
        pk = "ORIGEN#{id_origen}#ID_CONTRATO#{id_contrato}",
        sk = "{@pk}"
    )
)]
pub struct PrimerContrato {
    /// As in [`Contrato`].
    #[entity(key_only)]
    pub id_empresa: Id,
    /// As in [`Contrato`].
    pub id_origen: Id,
    /// As in [`Contrato`].
    pub id_contrato: Id,
    /// As in [`Contrato`].
    pub nombre: String,
    /// As in [`Contrato`].
    pub vigente_desde: Day,
}

/// A further contract of a company, with the same attributes and the same keys in the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CAT_CONTRATO#{id_empresa}",
    sk = "CONTRATO#{id_contrato}",
    index(
        "GSI7-IndiceCatContratoPorOrigenIdContrato",
        pk = "ORIGEN#{id_origen}#ID_CONTRATO#{id_contrato}",
        sk = "{@pk}"
    )
)]
pub struct ContratoAdicional {
    /// As in [`Contrato`].
    #[entity(key_only)]
    pub id_empresa: Id,
    /// As in [`Contrato`].
    pub id_origen: Id,
    /// As in [`Contrato`].
    pub id_contrato: Id,
    /// As in [`Contrato`].
    pub nombre: String,
    /// As in [`Contrato`].
    pub vigente_desde: Day,
}

/// Both forms have the same fields.
macro_rules! forms {
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

forms! { PrimerContrato ContratoAdicional }

impl Contrato {
    /// Its link to its origin.
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
        "GSI8-IndiceCatCicloPorOrigenContrato",
        pk = "ORIGEN#{id_origen}#ID_CONTRATO#{id_contrato}",
        sk = "{@pk}"
    )
)]
pub struct Ciclo {
    /// Which.
    #[entity(key_only)]
    pub id_ciclo: Id,
    /// Where the contract comes from.
    pub id_origen: Id,
    /// The contract.
    pub id_contrato: Id,
    /// Its first day.
    pub inicio: Day,
    /// Its last day.
    pub fin: Day,
}

/// How a group works on a contract. The documented key has one for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = RK_PAI,
    pk = "CONF_GRUPO_CONTRATO#{id_grupo}",
    sk = "METADATA",
    index(
        "GSI6-IndiceConfigPorOrigenContrato",
        pk = "ORIGEN#{id_origen}#CONTRATO#{id_contrato}",
        sk = "{@pk}"
    ),
    updated_at = updated_at
)]
pub struct ConfGrupoContrato {
    /// The group.
    #[entity(key_only)]
    pub id_grupo: Id,
    /// Where the contract comes from.
    pub id_origen: Id,
    /// The contract.
    pub id_contrato: Id,
    /// What is set.
    pub parametros: BTreeMap<String, String>,
    /// When it last changed.
    #[serde(rename = "updatedAt")]
    pub updated_at: UtcTime,
}
