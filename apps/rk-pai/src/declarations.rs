//! Declarations of the access patterns.
//!
//! Numbers 1 to 4 are those of the document. A pattern in the section of an index has the number of
//! the index.

use tabla::entity::{Id, KeyPart, Pattern, UtcMillis, UtcTime};
use tabla_kit::{AtLine, Documented};

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

/// All patterns.
pub(crate) fn patterns() -> Vec<Documented> {
    let mut all = documented();
    all.extend(of_entities());
    all.extend(writes());
    all
}

/// The four patterns of the document, and one for each section of an index.
fn documented() -> Vec<Documented> {
    vec![
        Pattern::new("usuario_por_email", "log in: the user with an email")
            .number("1")
            .find(|| usuario_por_email(&Email::example("email")).describe())
            .at_line(97),
        Pattern::new("usuarios_de_contrato", "users of a contract")
            .number("2")
            .find(|| usuarios_de_contrato(&origen(), &contrato()).describe())
            .at_line(109),
        Pattern::new("ciclos_de_contrato", "cycles of a contract")
            .number("3")
            .find(|| ciclos_de_contrato(&origen(), &contrato()).describe())
            .at_line(121),
        Pattern::new("contratos_por_origen", "contracts of an origin, by their links")
            .number("4")
            .find(|| contratos_por_origen(&origen()).describe())
            .at_line(133),
        Pattern::new("contratos_completos_por_origen", "contracts of an origin, whole")
            .number("4b")
            .find(|| contratos_por_origen(&origen()).describe())
            .batch_get::<PrimerContrato>()
            .batch_get::<ContratoAdicional>()
            .at_line(133),
        Pattern::new("usuarios_por_dispositivo", "users of a device")
            .number("GSI2")
            .find(|| usuarios_por_dispositivo(&id("id_disp")).describe())
            .at_line(18),
        Pattern::new("usuarios_por_perfil", "users with a profile")
            .number("GSI3")
            .find(|| usuarios_por_perfil(&id("id_perfil")).describe())
            .at_line(25),
        Pattern::new("configuraciones_por_contrato", "what groups have set for a contract")
            .number("GSI6")
            .find(|| configuraciones_por_contrato(&origen(), &contrato()).describe())
            .at_line(39),
        Pattern::new("contrato_por_origen_e_id", "a contract by origin and id")
            .number("GSI7")
            .find(|| contrato_por_origen_e_id(&origen(), &contrato()).describe())
            .at_line(46),
        Pattern::new("perfiles_por_modulo", "profiles that have a module")
            .number("GSI9")
            .find(|| perfiles_por_modulo(&id("id_modulo")).describe())
            .at_line(60),
        Pattern::new("perfiles_por_servicio", "profiles that have a service")
            .number("GSI10")
            .find(|| perfiles_por_servicio(&id("id_servicio")).describe())
            .at_line(67),
        Pattern::new("grupos_por_usuario", "groups of a user")
            .number("GSI11")
            .find(|| grupos_por_usuario(&usuario()).describe())
            .at_line(74),
        Pattern::new("dash_params_por_parametro", "what dashboards have for a parameter")
            .number("GSI13")
            .find(|| dash_params_por_parametro(&id("id_parametro")).describe())
            .at_line(81),
        Pattern::new("bitacora_por_elemento", "what was done to an element, last first")
            .number("GSI14")
            .find(|| bitacora_por_elemento(&id("id_elemento")).describe())
            .at_line(88),
        Pattern::new("bitacora_por_elemento_entre", "the same, between two moments")
            .number("GSI14")
            .find(|| bitacora_por_elemento_entre(&id("id_elemento"), from(), to()).describe())
            .at_line(88),
    ]
}

/// Patterns of the list of entities: each entity by its key, and each kind in a partition.
fn of_entities() -> Vec<Documented> {
    vec![
        Pattern::new("usuario", "a user by id").get::<Usuario>().at_line(149),
        Pattern::new("origen", "an origin by id").get::<Origen>().at_line(154),
        Pattern::new("grupo", "a group by id").get::<Grupo>().at_line(155),
        Pattern::new("primer_contrato", "a company's first contract")
            .get::<PrimerContrato>()
            .at_line(156),
        Pattern::new("ciclo", "a cycle by id").get::<Ciclo>().at_line(157),
        Pattern::new("perfil", "a profile by id").get::<Perfil>().at_line(158),
        Pattern::new("modulo", "a module by id").get::<Modulo>().at_line(159),
        Pattern::new("servicio", "a service by id").get::<Servicio>().at_line(160),
        Pattern::new("conf_grupo_contrato", "what a group has set")
            .get::<ConfGrupoContrato>()
            .at_line(163),
        Pattern::new("dash_conf_params", "a parameter of a dashboard")
            .get::<DashConfParams>()
            .at_line(84),
        Pattern::new("usuario_completo", "everything about a user")
            .find(|| usuario_completo(&usuario()).describe())
            .at_line(148),
        Pattern::new("perfiles_de_usuario", "profiles of a user")
            .find(|| perfiles_de_usuario(&usuario()).describe())
            .at_line(150),
        Pattern::new("contratos_de_usuario", "contracts of a user")
            .find(|| contratos_de_usuario(&usuario()).describe())
            .at_line(151),
        Pattern::new("dispositivos_de_usuario", "devices of a user")
            .find(|| dispositivos_de_usuario(&usuario()).describe())
            .at_line(21),
        Pattern::new("bitacora_de_usuario", "what a user did, last first")
            .find(|| bitacora_de_usuario(&usuario(), from(), to()).describe())
            .at_line(168),
        Pattern::new("estados_de_cuenta", "accounts of a participant, some months")
            .find(|| {
                let token = id("TokenParticipante");
                estados_de_cuenta(&token, from().month(), to().month()).describe()
            })
            .at_line(171),
        Pattern::new("retiros", "withdrawals of a participant, some time")
            .find(|| {
                let millis = |time: UtcTime| UtcMillis::from_millis(time.as_secs() * 1000);
                retiros(&id("TokenParticipante"), millis(from()), millis(to())).describe()
            })
            .at_line(172),
        Pattern::new("contratos_de_empresa", "contracts of a company")
            .find(|| contratos_de_empresa(&id("id_empresa")).describe())
            .at_line(156),
        Pattern::new("modulos_de_perfil", "modules of a profile")
            .find(|| modulos_de_perfil(&id("id_perfil")).describe())
            .at_line(164),
        Pattern::new("servicios_de_perfil", "services of a profile")
            .find(|| servicios_de_perfil(&id("id_perfil")).describe())
            .at_line(165),
        Pattern::new("miembros_de_grupo", "members of a group")
            .find(|| miembros_de_grupo(&id("id_grupo")).describe())
            .at_line(77),
    ]
}

/// Conditional writes.
fn writes() -> Vec<Documented> {
    vec![
        Pattern::new("create_usuario", "a user whose email nobody has")
            .transaction(|writes| writes.create::<Usuario>())
            .at_line(148),
        Pattern::new("change_email", "another email, if nobody has it")
            .transaction(|writes| writes.update::<Usuario>().changing(Usuario::EMAIL))
            .get::<Usuario>()
            .at_line(13),
        Pattern::new("delete_usuario", "a user goes, and their email is free")
            .get::<Usuario>()
            .transaction(|writes| writes.delete::<Usuario>())
            .at_line(148),
        Pattern::new("create_contrato", "a company's first contract, with its link")
            .transaction(|writes| writes.create::<PrimerContrato>().create::<ContratoDeOrigen>())
            .at_line(156),
        Pattern::new("create_contrato_adicional", "a further one: the first place is taken")
            .transaction(|writes| writes.create::<ContratoAdicional>().create::<ContratoDeOrigen>())
            .at_line(156),
        Pattern::new("move_contrato", "a contract to another origin, with its link")
            .get::<PrimerContrato>()
            .transaction(|writes| {
                writes
                    .update::<ContratoAdicional>()
                    .changing(ContratoAdicional::ID_ORIGEN)
                    .delete::<ContratoDeOrigen>()
                    .create::<ContratoDeOrigen>()
            })
            .at_line(48),
        Pattern::new("delete_contrato", "a contract goes, with its link")
            .get::<PrimerContrato>()
            .transaction(|writes| writes.delete::<PrimerContrato>().delete::<ContratoDeOrigen>())
            .at_line(156),
        Pattern::new("add_catalogo", "an entry of a catalogue, once")
            .write(|write| write.create::<Origen>())
            .at_line(154),
        Pattern::new("add_configuracion", "what a group has set, once")
            .write(|write| write.create::<ConfGrupoContrato>())
            .at_line(163),
        Pattern::new("add_perfil", "a profile for a user, once")
            .write(|write| write.create::<PerfilUsuario>())
            .at_line(150),
        Pattern::new("add_contrato", "a contract for a user, once")
            .write(|write| write.create::<ContratoUsuario>())
            .at_line(151),
        Pattern::new("add_dispositivo", "a device for a user, once")
            .write(|write| write.create::<Dispositivo>())
            .at_line(21),
        Pattern::new("add_miembro", "a user for a group, once")
            .write(|write| write.create::<MiembroGrupo>())
            .at_line(77),
        Pattern::new("add_modulo", "a module for a profile, once")
            .write(|write| write.create::<ModuloPerfil>())
            .at_line(164),
        Pattern::new("add_servicio", "a service for a profile, once")
            .write(|write| write.create::<ServicioPerfil>())
            .at_line(165),
        Pattern::new("add_estado_cuenta", "an account of a month, once")
            .write(|write| write.create::<EstadoCuenta>())
            .at_line(171),
        Pattern::new("add_retiro", "a withdrawal, once")
            .write(|write| write.create::<Retiro>())
            .at_line(172),
        Pattern::new("annotate", "an entry of the log, until it expires")
            .write(|write| write.create::<Bitacora>())
            .at_line(168),
    ]
}
