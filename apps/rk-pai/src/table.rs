//! The table, its twelve indexes, and their projections in each environment.

use std::sync::LazyLock;

use tabla::entity::{Db, TableDesign};
use tabla::ops::{IndexProjection, StreamViewType};

/// Names of the indexes. The document has no numbers 4 and 12.
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

/// Name, partition key and sort key of each index, and the attributes that its patterns read. An
/// empty list is a projection of keys only: the ids of an entry are read from its keys.
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
    // The TTL is carried, so that a query can filter expired entries.
    (indexes::BITACORA, "GSI14PK", "GSI14SK", &["id_elemento", "accion", "detalle", "ttl"]),
];

/// Table `RK_PAI_SINGLE_TABLE_DEV`, whose indexes carry all attributes.
pub static RK_PAI: LazyLock<TableDesign> = LazyLock::new(|| design(|_| IndexProjection::all()));

/// The table in production, whose indexes carry the attributes that the patterns read.
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

/// Environment of the table. Entities and keys are the same in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entorno {
    /// Development, where indexes carry all attributes.
    #[default]
    Dev,
    /// Production, where indexes carry what the patterns read.
    Prod,
}

impl Entorno {
    /// Name of the table.
    pub fn table_name(self) -> &'static str {
        match self {
            Self::Dev => "RK_PAI_SINGLE_TABLE_DEV",
            Self::Prod => "RK_PAI_SINGLE_TABLE_PROD",
        }
    }

    /// Design of the table. Its name is that of development: [`Entorno::db`] renames it.
    pub fn table(self) -> &'static TableDesign {
        match self {
            Self::Dev => &RK_PAI,
            Self::Prod => &PRODUCTION,
        }
    }

    /// The database, with the table's name of this environment.
    #[must_use]
    pub fn db(self, db: Db) -> Db {
        db.rename(self.table(), self.table_name())
    }
}
