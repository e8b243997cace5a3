//! The table, its twelve indexes, and what they carry in each environment.

use std::sync::LazyLock;

use tabla::entity::{Db, TableDesign};
use tabla::ops::{IndexProjection, StreamViewType};

/// The names of the indexes. The document has no numbers 4 and 12.
#[allow(missing_docs)]
pub mod indexes {
    pub const EMAIL: &str = "GSI1-IndiceEmail";
    pub const DISPOSITIVO: &str = "GSI2-IndiceDispositivo";
    pub const PERFIL_USUARIO: &str = "GSI3-IndicePerfilUsuario";
    pub const CONTRATO_USUARIO: &str = "GSI5-IndiceContratoUsuario";
    pub const CONFIG: &str = "GSI6-IndiceConfigPorOrigenContrato";
    pub const CONTRATO: &str = "GSI7-IndiceCatContratoPorOrigenIdContrato";
    pub const CICLO: &str = "GSI8-IndiceCatCicloPorOrigenContrato";
    pub const MODULO_PERFIL: &str = "GSI9-IndiceModuloPerfil";
    pub const SERVICIO_PERFIL: &str = "GSI10-IndiceServicioPerfil";
    pub const USUARIO_GRUPOS: &str = "GSI11-IndiceUsuarioGrupos";
    pub const DASH_PARAMS: &str = "GSI13-IndiceDashConfParamsPorParametro";
    pub const BITACORA: &str = "GSI14-IndiceBitacoraPorElemento";
}

/// The indexes with their keys, and what the patterns read through them: nothing but keys where the
/// list is empty, because the ids of an entry are read from its keys.
const INDEXES: [(&str, &str, &str, &[&str]); 12] = [
    (indexes::EMAIL, "GSI1PK", "GSI1SK", &["email", "nombre", "estado"]),
    (indexes::DISPOSITIVO, "GSI2PK", "GSI2SK", &[]),
    (indexes::PERFIL_USUARIO, "GSI3PK", "GSI3SK", &[]),
    (indexes::CONTRATO_USUARIO, "GSI5PK", "GSI5SK", &[]),
    (indexes::CONFIG, "GSI6PK", "GSI6SK", &["id_origen", "id_contrato", "parametros"]),
    (
        indexes::CONTRATO,
        "GSI7PK",
        "GSI7SK",
        &["id_origen", "id_contrato", "nombre", "vigente_desde"],
    ),
    (indexes::CICLO, "GSI8PK", "GSI8SK", &["id_origen", "id_contrato", "inicio", "fin"]),
    (indexes::MODULO_PERFIL, "GSI9PK", "GSI9SK", &[]),
    (indexes::SERVICIO_PERFIL, "GSI10PK", "GSI10SK", &[]),
    (indexes::USUARIO_GRUPOS, "GSI11PK", "GSI11SK", &[]),
    (indexes::DASH_PARAMS, "GSI13PK", "GSI13SK", &["id_parametro", "valor"]),
    // The TTL goes along, so that a reader can leave out what has expired.
    (indexes::BITACORA, "GSI14PK", "GSI14SK", &["id_elemento", "accion", "detalle", "ttl"]),
];

/// The table `RK_PAI_SINGLE_TABLE_DEV`: every index carries everything.
pub static RK_PAI: LazyLock<TableDesign> = LazyLock::new(|| design(|_| IndexProjection::all()));

/// The same table in production: an index carries what is read through it.
static PRODUCTION: LazyLock<TableDesign> = LazyLock::new(|| {
    design(|read| match read {
        [] => IndexProjection::keys_only(),
        read => IndexProjection::include(read.iter().copied()),
    })
});

fn design(projection: impl Fn(&[&str]) -> IndexProjection) -> TableDesign {
    let table = TableDesign::new(Entorno::Dev.table_name())
        .key("_pk", "_sk")
        .ttl("ttl")
        .stream(StreamViewType::NewAndOldImages)
        .recovery();
    INDEXES.iter().fold(table, |table, (name, partition, sort, read)| {
        table.index_with(name, partition, Some(sort), projection(read))
    })
}

/// Where the table is. The entities and their keys are the same everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entorno {
    /// Development.
    #[default]
    Dev,
    /// Production.
    Prod,
}

impl Entorno {
    /// What the table is called there.
    pub fn table_name(self) -> &'static str {
        match self {
            Self::Dev => "RK_PAI_SINGLE_TABLE_DEV",
            Self::Prod => "RK_PAI_SINGLE_TABLE_PROD",
        }
    }

    /// The table as it is there. A design has one name, that of development: [`Entorno::db`] says
    /// what the table is called.
    pub fn table(self) -> &'static TableDesign {
        match self {
            Self::Dev => &RK_PAI,
            Self::Prod => &PRODUCTION,
        }
    }

    /// The database with the table's name of this environment.
    #[must_use]
    pub fn db(self, db: Db) -> Db {
        db.rename(self.table(), self.table_name())
    }
}
