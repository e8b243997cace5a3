//! Sample data: independent blocks, each with an origin, companies, contracts, users and groups.

use tabla::entity::{Day, Id, Month, UtcMillis, UtcTime};
use tabla::{Error, Number, Result};

use crate::catalogues::*;
use crate::contracts::*;
use crate::email::Email;
use crate::users::*;

/// Number of blocks at scale 1.
pub(super) const BLOCKS: u32 = 3;
/// Companies of a block, and the contracts of each.
pub(super) const COMPANIES: u32 = 2;
pub(super) const CONTRACTS_EACH: u32 = 3;
/// Contracts of a block.
pub(super) const CONTRACTS: u32 = COMPANIES * CONTRACTS_EACH;
/// Cycles of a contract: quarters.
pub(super) const CYCLES: u32 = 4;
/// Profiles of a block. Profile p has the modules up to p + 1 and the services up to p.
pub(super) const PROFILES: u32 = 3;
/// Groups of a block; the user of number n is in group 1 or 2, the first user in both.
pub(super) const GROUPS: u32 = 2;
/// Users of a block. Two of them share a device.
pub(super) const USERS: u32 = 20;
/// Months of accounts.
pub(super) const MONTHS: u32 = 6;
/// Entries in the log of a user, each about one of four elements.
pub(super) const ENTRIES: u32 = 5;
pub(super) const ELEMENTS: u32 = 4;

/// Number of a block, in all its ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block(pub(super) u32);

impl Block {
    fn id(self, kind: &str, number: u32) -> Result<Id> {
        Id::new(format!("{kind}-{:03}-{number:02}", self.0))
    }

    pub(super) fn origen(self) -> Result<Id> {
        Id::new(format!("origen-{:03}", self.0))
    }

    pub(super) fn empresa(self, number: u32) -> Result<Id> {
        self.id("empresa", number)
    }

    /// Id of a contract, which is the same in each origin.
    pub(super) fn id_contrato(self, number: u32) -> Result<Id> {
        Id::new(format!("contrato-{number:02}"))
    }

    pub(super) fn usuario(self, number: u32) -> Result<Id> {
        self.id("usuario", number)
    }

    pub(super) fn email(self, number: u32) -> Result<Email> {
        Email::new(format!("usuario.{}.{number}@example.com", self.0))
    }

    pub(super) fn perfil(self, number: u32) -> Result<Id> {
        self.id("perfil", number)
    }

    pub(super) fn modulo(self, number: u32) -> Result<Id> {
        self.id("modulo", number)
    }

    pub(super) fn servicio(self, number: u32) -> Result<Id> {
        self.id("servicio", number)
    }

    pub(super) fn grupo(self, number: u32) -> Result<Id> {
        self.id("grupo", number)
    }

    pub(super) fn parametro(self, number: u32) -> Result<Id> {
        self.id("parametro", number)
    }

    pub(super) fn dashparam(self, number: u32) -> Result<Id> {
        self.id("dashparam", number)
    }

    pub(super) fn elemento(self, number: u32) -> Result<Id> {
        self.id("elemento", number)
    }

    pub(super) fn dispositivo(self, user: u32) -> Result<Id> {
        self.id("disp", user / 2)
    }

    pub(super) fn ciclo(self, contract: u32, number: u32) -> Result<Id> {
        Id::new(format!("ciclo-{:03}-{contract:02}-{number}", self.0))
    }
}

/// A contract. The lowest number of a company is its first contract.
pub(super) fn contrato(block: Block, number: u32) -> Result<Contrato> {
    Ok(Contrato {
        id_empresa: block.empresa(1 + (number - 1) / CONTRACTS_EACH)?,
        id_origen: block.origen()?,
        id_contrato: block.id_contrato(number)?,
        nombre: format!("Plan de ahorro {number}"),
        vigente_desde: quarter(1)?.0,
    })
}

/// A cycle of a contract.
pub(super) fn ciclo(block: Block, contract: u32, number: u32) -> Result<Ciclo> {
    let (inicio, fin) = quarter(number)?;
    Ok(Ciclo {
        id_ciclo: block.ciclo(contract, number)?,
        id_origen: block.origen()?,
        id_contrato: block.id_contrato(contract)?,
        inicio,
        fin,
    })
}

/// Configuration of the contract with the group's number.
pub(super) fn configuracion(block: Block, group: u32) -> Result<ConfGrupoContrato> {
    let parametros = [("moneda", "MXN"), ("corte", "mensual")];
    Ok(ConfGrupoContrato {
        id_grupo: block.grupo(group)?,
        id_origen: block.origen()?,
        id_contrato: block.id_contrato(group)?,
        parametros: parametros.map(|(name, value)| (name.into(), value.into())).into(),
        updated_at: UtcTime::default(),
    })
}

/// An active user.
pub(super) fn usuario(id_usuario: Id, email: Email) -> Usuario {
    Usuario {
        nombre: format!("Usuario {id_usuario}"),
        id_usuario,
        email,
        estado: EstadoUsuario::Activo,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}

/// Permissions of a profile in a module.
pub(super) fn modulo_perfil(id_perfil: Id, id_modulo: Id) -> ModuloPerfil {
    ModuloPerfil { id_perfil, id_modulo, permisos: vec!["leer".to_owned(), "editar".to_owned()] }
}

/// Permission of a profile for a service.
pub(super) fn servicio_perfil(id_perfil: Id, id_servicio: Id) -> ServicioPerfil {
    ServicioPerfil { id_perfil, id_servicio, permisos: vec!["usar".to_owned()] }
}

/// A device with its last access now.
pub(super) fn dispositivo(id_usuario: Id, id_disp: Id, now: UtcTime) -> Dispositivo {
    Dispositivo { id_usuario, id_disp, plataforma: "android".to_owned(), ultimo_acceso: now }
}

/// Statement of a month of 2025.
pub(super) fn estado_cuenta(token: Id, month: u32) -> Result<EstadoCuenta> {
    Ok(EstadoCuenta {
        token_participante: token,
        periodo: self::month(month)?,
        saldo: money(u64::from(month) * 125_050)?,
        aportes: money(125_050)?,
        created_at: UtcTime::default(),
    })
}

/// A withdrawal, with its amount in cents.
pub(super) fn retiro(token: Id, fecha_retiro: UtcMillis, cents: u64) -> Result<Retiro> {
    let monto = money(cents)?;
    let estado = EstadoRetiro::Solicitado;
    Ok(Retiro { token_participante: token, fecha_retiro, monto, estado })
}

/// The middle of a day of 2025.
pub(super) fn noon(month: u32, day: u32) -> Result<UtcMillis> {
    let day: Day = format!("2025-{month:02}-{day:02}").parse()?;
    Ok(UtcMillis::from_millis((day.start().as_secs() + 12 * 60 * 60) * 1000))
}

/// A month of 2025.
pub(super) fn month(number: u32) -> Result<Month> {
    format!("2025-{number:02}").parse()
}

/// First and last day of a quarter of 2025.
fn quarter(number: u32) -> Result<(Day, Day)> {
    let first = month(number * 3 - 2)?;
    let last = month(number * 3)?;
    Ok((first.start().day(), last.end().day()))
}

/// Amount of a number of cents.
pub(super) fn money(cents: u64) -> Result<Number> {
    let text = format!("{}.{:02}", cents / 100, cents % 100);
    Number::parse(&text).map_err(|error| Error::validation(format!("{text}: {error}")))
}
