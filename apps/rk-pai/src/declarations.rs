//! The access patterns of the document as data: what each asks of the store.
//!
//! Numbers 1 to 4 are the document's; a pattern that stands in the section of an index has the
//! number of the index.

use tabla::entity::{Id, KeyPart, Pattern, UtcMillis, UtcTime};

use crate::catalogues::*;
use crate::contracts::*;
use crate::email::Email;
use crate::patterns::*;
use crate::users::*;

fn id(name: &str) -> Id {
    Id::example(name)
}

fn origen() -> Id {
    id("id_origen")
}

fn contrato() -> Id {
    id("id_contrato")
}

fn usuario() -> Id {
    id("id_usuario")
}

fn from() -> UtcTime {
    UtcTime::from_secs(1_735_689_600)
}

fn to() -> UtcTime {
    UtcTime::from_secs(1_738_367_999)
}

/// All of them.
pub(crate) fn patterns() -> Vec<Pattern> {
    let mut all = documented();
    all.extend(of_entities());
    all.extend(writes());
    all
}

/// The four of the document, and one for each section of an index.
fn documented() -> Vec<Pattern> {
    vec![
        Pattern::new("usuario_por_email", "log in: the user with an email")
            .number("1")
            .line(97)
            .find(|| usuario_por_email(&Email::example("email")).describe()),
        Pattern::new("usuarios_de_contrato", "users of a contract")
            .number("2")
            .line(109)
            .find(|| usuarios_de_contrato(&origen(), &contrato()).describe()),
        Pattern::new("ciclos_de_contrato", "cycles of a contract")
            .number("3")
            .line(121)
            .find(|| ciclos_de_contrato(&origen(), &contrato()).describe()),
        Pattern::new("contratos_por_origen", "contracts of an origin, by their links")
            .number("4")
            .line(133)
            .find(|| contratos_por_origen(&origen()).describe()),
        Pattern::new("contratos_completos_por_origen", "contracts of an origin, whole")
            .number("4b")
            .line(133)
            .find(|| contratos_por_origen(&origen()).describe())
            .batch_get::<PrimerContrato>()
            .batch_get::<ContratoAdicional>(),
        Pattern::new("usuarios_por_dispositivo", "users of a device")
            .number("GSI2")
            .line(18)
            .find(|| usuarios_por_dispositivo(&id("id_disp")).describe()),
        Pattern::new("usuarios_por_perfil", "users with a profile")
            .number("GSI3")
            .line(25)
            .find(|| usuarios_por_perfil(&id("id_perfil")).describe()),
        Pattern::new("configuraciones_por_contrato", "what groups have set for a contract")
            .number("GSI6")
            .line(39)
            .find(|| configuraciones_por_contrato(&origen(), &contrato()).describe()),
        Pattern::new("contrato_por_origen_e_id", "a contract by origin and id")
            .number("GSI7")
            .line(46)
            .find(|| contrato_por_origen_e_id(&origen(), &contrato()).describe()),
        Pattern::new("perfiles_por_modulo", "profiles that have a module")
            .number("GSI9")
            .line(60)
            .find(|| perfiles_por_modulo(&id("id_modulo")).describe()),
        Pattern::new("perfiles_por_servicio", "profiles that have a service")
            .number("GSI10")
            .line(67)
            .find(|| perfiles_por_servicio(&id("id_servicio")).describe()),
        Pattern::new("grupos_por_usuario", "groups of a user")
            .number("GSI11")
            .line(74)
            .find(|| grupos_por_usuario(&usuario()).describe()),
        Pattern::new("dash_params_por_parametro", "what dashboards have for a parameter")
            .number("GSI13")
            .line(81)
            .find(|| dash_params_por_parametro(&id("id_parametro")).describe()),
        Pattern::new("bitacora_por_elemento", "what was done to an element, last first")
            .number("GSI14")
            .line(88)
            .find(|| bitacora_por_elemento(&id("id_elemento")).describe()),
        Pattern::new("bitacora_por_elemento_entre", "the same, between two moments")
            .number("GSI14")
            .line(88)
            .find(|| bitacora_por_elemento_entre(&id("id_elemento"), from(), to()).describe()),
    ]
}

/// What the list of entities asks for: each by its key, and each partition by what it has.
fn of_entities() -> Vec<Pattern> {
    vec![
        Pattern::new("usuario", "a user by id").line(149).get::<Usuario>(),
        Pattern::new("origen", "an origin by id").line(154).get::<Origen>(),
        Pattern::new("grupo", "a group by id").line(155).get::<Grupo>(),
        Pattern::new("primer_contrato", "a company's first contract")
            .line(156)
            .get::<PrimerContrato>(),
        Pattern::new("ciclo", "a cycle by id").line(157).get::<Ciclo>(),
        Pattern::new("perfil", "a profile by id").line(158).get::<Perfil>(),
        Pattern::new("modulo", "a module by id").line(159).get::<Modulo>(),
        Pattern::new("servicio", "a service by id").line(160).get::<Servicio>(),
        Pattern::new("conf_grupo_contrato", "what a group has set")
            .line(163)
            .get::<ConfGrupoContrato>(),
        Pattern::new("dash_conf_params", "a parameter of a dashboard")
            .line(84)
            .get::<DashConfParams>(),
        Pattern::new("usuario_completo", "everything about a user")
            .line(148)
            .find(|| usuario_completo(&usuario()).describe()),
        Pattern::new("perfiles_de_usuario", "profiles of a user")
            .line(150)
            .find(|| perfiles_de_usuario(&usuario()).describe()),
        Pattern::new("contratos_de_usuario", "contracts of a user")
            .line(151)
            .find(|| contratos_de_usuario(&usuario()).describe()),
        Pattern::new("dispositivos_de_usuario", "devices of a user")
            .line(21)
            .find(|| dispositivos_de_usuario(&usuario()).describe()),
        Pattern::new("bitacora_de_usuario", "what a user did, last first")
            .line(168)
            .find(|| bitacora_de_usuario(&usuario(), from(), to()).describe()),
        Pattern::new("estados_de_cuenta", "accounts of a participant, some months").line(171).find(
            || {
                let token = id("TokenParticipante");
                estados_de_cuenta(&token, from().month(), to().month()).describe()
            },
        ),
        Pattern::new("retiros", "withdrawals of a participant, some time").line(172).find(|| {
            let millis = |time: UtcTime| UtcMillis::from_millis(time.as_secs() * 1000);
            retiros(&id("TokenParticipante"), millis(from()), millis(to())).describe()
        }),
        Pattern::new("contratos_de_empresa", "contracts of a company")
            .line(156)
            .find(|| contratos_de_empresa(&id("id_empresa")).describe()),
        Pattern::new("modulos_de_perfil", "modules of a profile")
            .line(164)
            .find(|| modulos_de_perfil(&id("id_perfil")).describe()),
        Pattern::new("servicios_de_perfil", "services of a profile")
            .line(165)
            .find(|| servicios_de_perfil(&id("id_perfil")).describe()),
        Pattern::new("miembros_de_grupo", "members of a group")
            .line(77)
            .find(|| miembros_de_grupo(&id("id_grupo")).describe()),
    ]
}

/// The writes that a caller may lose.
fn writes() -> Vec<Pattern> {
    vec![
        Pattern::new("create_usuario", "a user whose email nobody has")
            .line(148)
            .transaction(|writes| writes.create::<Usuario>()),
        Pattern::new("change_email", "another email, if nobody has it")
            .line(13)
            .transaction(|writes| writes.update::<Usuario>().changing(Usuario::EMAIL))
            .get::<Usuario>(),
        Pattern::new("delete_usuario", "a user goes, and their email is free")
            .line(148)
            .get::<Usuario>()
            .transaction(|writes| writes.delete::<Usuario>()),
        Pattern::new("create_contrato", "a company's first contract, with its link")
            .line(156)
            .transaction(|writes| writes.create::<PrimerContrato>().create::<ContratoDeOrigen>()),
        Pattern::new("create_contrato_adicional", "a further one: the first place is taken")
            .line(156)
            .transaction(|writes| {
                writes.create::<ContratoAdicional>().create::<ContratoDeOrigen>()
            }),
        Pattern::new("move_contrato", "a contract to another origin, with its link")
            .line(48)
            .get::<PrimerContrato>()
            .transaction(|writes| {
                writes
                    .update::<ContratoAdicional>()
                    .changing(ContratoAdicional::ID_ORIGEN)
                    .delete::<ContratoDeOrigen>()
                    .create::<ContratoDeOrigen>()
            }),
        Pattern::new("delete_contrato", "a contract goes, with its link")
            .line(156)
            .get::<PrimerContrato>()
            .transaction(|writes| writes.delete::<PrimerContrato>().delete::<ContratoDeOrigen>()),
        Pattern::new("add_catalogo", "an entry of a catalogue, once")
            .line(154)
            .write(|write| write.create::<Origen>()),
        Pattern::new("add_configuracion", "what a group has set, once")
            .line(163)
            .write(|write| write.create::<ConfGrupoContrato>()),
        Pattern::new("add_perfil", "a profile for a user, once")
            .line(150)
            .write(|write| write.create::<PerfilUsuario>()),
        Pattern::new("add_contrato", "a contract for a user, once")
            .line(151)
            .write(|write| write.create::<ContratoUsuario>()),
        Pattern::new("add_dispositivo", "a device for a user, once")
            .line(21)
            .write(|write| write.create::<Dispositivo>()),
        Pattern::new("add_miembro", "a user for a group, once")
            .line(77)
            .write(|write| write.create::<MiembroGrupo>()),
        Pattern::new("add_modulo", "a module for a profile, once")
            .line(164)
            .write(|write| write.create::<ModuloPerfil>()),
        Pattern::new("add_servicio", "a service for a profile, once")
            .line(165)
            .write(|write| write.create::<ServicioPerfil>()),
        Pattern::new("add_estado_cuenta", "an account of a month, once")
            .line(171)
            .write(|write| write.create::<EstadoCuenta>()),
        Pattern::new("add_retiro", "a withdrawal, once")
            .line(172)
            .write(|write| write.create::<Retiro>()),
        Pattern::new("annotate", "an entry of the log, until it expires")
            .line(168)
            .write(|write| write.create::<Bitacora>()),
    ]
}
