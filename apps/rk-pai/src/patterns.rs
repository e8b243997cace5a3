//! What can be found: a function for each access pattern that reads by a key.
//!
//! Each index has entities of one kind, so that a pattern of an index asks for a whole partition,
//! with no condition on the sort key, as the document does.

use tabla::entity::{Entity, Find, Id, Month, UtcMillis, UtcTime};

use crate::catalogues::*;
use crate::contracts::*;
use crate::email::Email;
use crate::table::indexes;
use crate::users::*;
use crate::views::*;

/// Pattern 1: the user with this email, who is the only one.
pub fn usuario_por_email(email: &Email) -> Find<UsuarioPorEmail> {
    UsuarioPorEmail::find_by(indexes::EMAIL)
        .with(UsuarioPorEmail::EMAIL, email)
        .whole_partition()
        .limit(1)
}

/// Pattern 2: the users of a contract.
pub fn usuarios_de_contrato(id_origen: &Id, id_contrato: &Id) -> Find<UsuarioDeContrato> {
    UsuarioDeContrato::find_by(indexes::CONTRATO_USUARIO)
        .with(UsuarioDeContrato::ID_ORIGEN, id_origen)
        .with(UsuarioDeContrato::ID_CONTRATO, id_contrato)
        .whole_partition()
}

/// Pattern 3: the cycles of a contract.
pub fn ciclos_de_contrato(id_origen: &Id, id_contrato: &Id) -> Find<Ciclo> {
    Ciclo::find_by(indexes::CICLO)
        .with(Ciclo::ID_ORIGEN, id_origen)
        .with(Ciclo::ID_CONTRATO, id_contrato)
        .whole_partition()
}

/// Pattern 4: the contracts of an origin, by their links.
pub fn contratos_por_origen(id_origen: &Id) -> Find<ContratoDeOrigen> {
    ContratoDeOrigen::find().with(ContratoDeOrigen::ID_ORIGEN, id_origen)
}

/// The users of a device.
pub fn usuarios_por_dispositivo(id_disp: &Id) -> Find<UsuarioDeDispositivo> {
    UsuarioDeDispositivo::find_by(indexes::DISPOSITIVO)
        .with(UsuarioDeDispositivo::ID_DISP, id_disp)
        .whole_partition()
}

/// The users with a profile.
pub fn usuarios_por_perfil(id_perfil: &Id) -> Find<UsuarioDePerfil> {
    UsuarioDePerfil::find_by(indexes::PERFIL_USUARIO)
        .with(UsuarioDePerfil::ID_PERFIL, id_perfil)
        .whole_partition()
}

/// What groups have set for a contract.
pub fn configuraciones_por_contrato(
    id_origen: &Id,
    id_contrato: &Id,
) -> Find<ConfiguracionDeContrato> {
    ConfiguracionDeContrato::find_by(indexes::CONFIG)
        .with(ConfiguracionDeContrato::ID_ORIGEN, id_origen)
        .with(ConfiguracionDeContrato::ID_CONTRATO, id_contrato)
        .whole_partition()
}

/// A contract by its origin and its id.
pub fn contrato_por_origen_e_id(id_origen: &Id, id_contrato: &Id) -> Find<Contrato> {
    Contrato::find_by(indexes::CONTRATO)
        .with(Contrato::ID_ORIGEN, id_origen)
        .with(Contrato::ID_CONTRATO, id_contrato)
        .whole_partition()
}

/// The profiles that have a module.
pub fn perfiles_por_modulo(id_modulo: &Id) -> Find<PerfilDeModulo> {
    PerfilDeModulo::find_by(indexes::MODULO_PERFIL)
        .with(PerfilDeModulo::ID_MODULO, id_modulo)
        .whole_partition()
}

/// The profiles that have a service.
pub fn perfiles_por_servicio(id_servicio: &Id) -> Find<PerfilDeServicio> {
    PerfilDeServicio::find_by(indexes::SERVICIO_PERFIL)
        .with(PerfilDeServicio::ID_SERVICIO, id_servicio)
        .whole_partition()
}

/// The groups of a user.
pub fn grupos_por_usuario(id_usuario: &Id) -> Find<GrupoDeUsuario> {
    GrupoDeUsuario::find_by(indexes::USUARIO_GRUPOS)
        .with(GrupoDeUsuario::ID_USUARIO, id_usuario)
        .whole_partition()
}

/// What dashboards have for a parameter.
pub fn dash_params_por_parametro(id_parametro: &Id) -> Find<DashConfParams> {
    DashConfParams::find_by(indexes::DASH_PARAMS)
        .with(DashConfParams::ID_PARAMETRO, id_parametro)
        .whole_partition()
}

/// What was done to an element, the last first.
pub fn bitacora_por_elemento(id_elemento: &Id) -> Find<Bitacora> {
    of_element(id_elemento).whole_partition()
}

/// What was done to an element between two moments, which belong to it, the last first.
pub fn bitacora_por_elemento_entre(id_elemento: &Id, from: UtcTime, to: UtcTime) -> Find<Bitacora> {
    of_element(id_elemento).between(Bitacora::TIMESTAMP, from, to)
}

fn of_element(id_elemento: &Id) -> Find<Bitacora> {
    Bitacora::find_by(indexes::BITACORA)
        .with(Bitacora::ID_ELEMENTO, id_elemento)
        .unexpired()
        .descending()
}

/// Everything about a user, for [`UsuarioCompleto`].
pub fn usuario_completo(id_usuario: &Id) -> Find<Usuario> {
    Usuario::find().with(Usuario::ID_USUARIO, id_usuario).whole_partition()
}

/// The profiles of a user.
pub fn perfiles_de_usuario(id_usuario: &Id) -> Find<PerfilUsuario> {
    PerfilUsuario::find().with(PerfilUsuario::ID_USUARIO, id_usuario)
}

/// The contracts that a user takes part in.
pub fn contratos_de_usuario(id_usuario: &Id) -> Find<ContratoUsuario> {
    ContratoUsuario::find().with(ContratoUsuario::ID_USUARIO, id_usuario)
}

/// The devices of a user.
pub fn dispositivos_de_usuario(id_usuario: &Id) -> Find<Dispositivo> {
    Dispositivo::find().with(Dispositivo::ID_USUARIO, id_usuario)
}

/// What a user did between two moments, which belong to it, the last first.
pub fn bitacora_de_usuario(id_usuario: &Id, from: UtcTime, to: UtcTime) -> Find<Bitacora> {
    Bitacora::find()
        .with(Bitacora::ID_USUARIO, id_usuario)
        .between(Bitacora::TIMESTAMP, from, to)
        .unexpired()
        .descending()
}

/// The accounts of a participant from one month to another, which belong to it.
pub fn estados_de_cuenta(token: &Id, from: Month, to: Month) -> Find<EstadoCuenta> {
    EstadoCuenta::find().with(EstadoCuenta::TOKEN_PARTICIPANTE, token).between(
        EstadoCuenta::PERIODO,
        from,
        to,
    )
}

/// The withdrawals of a participant between two moments, which belong to it.
pub fn retiros(token: &Id, from: UtcMillis, to: UtcMillis) -> Find<Retiro> {
    Retiro::find().with(Retiro::TOKEN_PARTICIPANTE, token).between(Retiro::FECHA_RETIRO, from, to)
}

/// The contracts of a company: further ones by their ids, then the first one. Sees every write
/// answered before.
pub fn contratos_de_empresa(id_empresa: &Id) -> Find<Contrato> {
    Contrato::find().with(Contrato::ID_EMPRESA, id_empresa).whole_partition().consistent()
}

/// The modules of a profile.
pub fn modulos_de_perfil(id_perfil: &Id) -> Find<ModuloPerfil> {
    ModuloPerfil::find().with(ModuloPerfil::ID_PERFIL, id_perfil)
}

/// The services of a profile.
pub fn servicios_de_perfil(id_perfil: &Id) -> Find<ServicioPerfil> {
    ServicioPerfil::find().with(ServicioPerfil::ID_PERFIL, id_perfil)
}

/// The members of a group.
pub fn miembros_de_grupo(id_grupo: &Id) -> Find<MiembroGrupo> {
    MiembroGrupo::find().with(MiembroGrupo::ID_GRUPO, id_grupo)
}
