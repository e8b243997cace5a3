//! Queries of the access patterns.
//!
//! An index holds entities of one kind. Its patterns read a whole partition without a condition on
//! the sort key, as those of the document do.

use tabla::entity::{EntityQuery, Id, Month, UtcMillis, UtcTime};

use crate::catalogues::*;
use crate::contracts::*;
use crate::email::Email;
use crate::users::*;
use crate::views::*;

/// Pattern 1: the user with an email.
pub fn usuario_por_email(email: &Email) -> EntityQuery<Usuario, UsuarioPorEmail> {
    Usuario::con_email(email).whole_partition().limit(1).view()
}

/// Pattern 2: users of a contract.
pub fn usuarios_de_contrato(
    id_origen: &Id,
    id_contrato: &Id,
) -> EntityQuery<ContratoUsuario, UsuarioDeContrato> {
    ContratoUsuario::por_contrato(id_origen, id_contrato).whole_partition().view()
}

/// Pattern 3: cycles of a contract.
pub fn ciclos_de_contrato(id_origen: &Id, id_contrato: &Id) -> EntityQuery<Ciclo> {
    Ciclo::por_contrato(id_origen, id_contrato).whole_partition()
}

/// Pattern 4: links of an origin to its contracts.
pub fn contratos_por_origen(id_origen: &Id) -> EntityQuery<ContratoDeOrigen> {
    ContratoDeOrigen::of(id_origen).into_query()
}

/// Users of a device.
pub fn usuarios_por_dispositivo(id_disp: &Id) -> EntityQuery<Dispositivo, UsuarioDeDispositivo> {
    Dispositivo::por_dispositivo(id_disp).whole_partition().view()
}

/// Users with a profile.
pub fn usuarios_por_perfil(id_perfil: &Id) -> EntityQuery<PerfilUsuario, UsuarioDePerfil> {
    PerfilUsuario::por_perfil(id_perfil).whole_partition().view()
}

/// Configurations of a contract, of all groups.
pub fn configuraciones_por_contrato(
    id_origen: &Id,
    id_contrato: &Id,
) -> EntityQuery<ConfGrupoContrato, ConfiguracionDeContrato> {
    ConfGrupoContrato::por_contrato(id_origen, id_contrato).whole_partition().view()
}

/// The contract with an origin and an id.
pub fn contrato_por_origen_e_id(id_origen: &Id, id_contrato: &Id) -> EntityQuery<Contrato> {
    Contrato::por_origen_e_id(id_origen, id_contrato).whole_partition()
}

/// Profiles with a module.
pub fn perfiles_por_modulo(id_modulo: &Id) -> EntityQuery<ModuloPerfil, PerfilDeModulo> {
    ModuloPerfil::por_modulo(id_modulo).whole_partition().view()
}

/// Profiles with a service.
pub fn perfiles_por_servicio(id_servicio: &Id) -> EntityQuery<ServicioPerfil, PerfilDeServicio> {
    ServicioPerfil::por_servicio(id_servicio).whole_partition().view()
}

/// Groups of a user.
pub fn grupos_por_usuario(id_usuario: &Id) -> EntityQuery<MiembroGrupo, GrupoDeUsuario> {
    MiembroGrupo::por_usuario(id_usuario).whole_partition().view()
}

/// Values of a parameter on all dashboards.
pub fn dash_params_por_parametro(id_parametro: &Id) -> EntityQuery<DashConfParams> {
    DashConfParams::por_parametro(id_parametro).whole_partition()
}

/// Log of an element, newest first.
pub fn bitacora_por_elemento(id_elemento: &Id) -> EntityQuery<Bitacora> {
    Bitacora::por_elemento(id_elemento).whole_partition().unexpired().newest_first()
}

/// Log of an element from one moment to another, both included, newest first.
pub fn bitacora_por_elemento_entre(
    id_elemento: &Id,
    from: UtcTime,
    to: UtcTime,
) -> EntityQuery<Bitacora> {
    Bitacora::por_elemento(id_elemento).timestamp(from..=to).unexpired().newest_first()
}

/// Item collection of a user, to be read into a [`UsuarioCompleto`].
pub fn usuario_completo(id_usuario: &Id) -> EntityQuery<Usuario> {
    Usuario::of(id_usuario).whole_partition()
}

/// Profiles of a user.
pub fn perfiles_de_usuario(id_usuario: &Id) -> EntityQuery<PerfilUsuario> {
    PerfilUsuario::of(id_usuario).into_query()
}

/// Contracts in which a user participates.
pub fn contratos_de_usuario(id_usuario: &Id) -> EntityQuery<ContratoUsuario> {
    ContratoUsuario::of(id_usuario).into_query()
}

/// Devices of a user.
pub fn dispositivos_de_usuario(id_usuario: &Id) -> EntityQuery<Dispositivo> {
    Dispositivo::of(id_usuario).into_query()
}

/// Log of a user from one moment to another, both included, newest first.
pub fn bitacora_de_usuario(id_usuario: &Id, from: UtcTime, to: UtcTime) -> EntityQuery<Bitacora> {
    Bitacora::of(id_usuario).timestamp(from..=to).unexpired().newest_first()
}

/// Statements of a participant from one month to another, both included.
pub fn estados_de_cuenta(token: &Id, from: Month, to: Month) -> EntityQuery<EstadoCuenta> {
    EstadoCuenta::of(token).periodo(from..=to)
}

/// Withdrawals of a participant from one moment to another, both included.
pub fn retiros(token: &Id, from: UtcMillis, to: UtcMillis) -> EntityQuery<Retiro> {
    Retiro::of(token).fecha_retiro(from..=to)
}

/// Contracts of a company: the further ones by id, then the first.
pub fn contratos_de_empresa(id_empresa: &Id) -> EntityQuery<Contrato> {
    Contrato::of(id_empresa).whole_partition()
}

/// Modules of a profile.
pub fn modulos_de_perfil(id_perfil: &Id) -> EntityQuery<ModuloPerfil> {
    ModuloPerfil::of(id_perfil).into_query()
}

/// Services of a profile.
pub fn servicios_de_perfil(id_perfil: &Id) -> EntityQuery<ServicioPerfil> {
    ServicioPerfil::of(id_perfil).into_query()
}

/// Members of a group.
pub fn miembros_de_grupo(id_grupo: &Id) -> EntityQuery<MiembroGrupo> {
    MiembroGrupo::of(id_grupo).into_query()
}
