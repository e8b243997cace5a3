//! Parts of request shapes that concern replicas of a table in other regions.

use super::Shape::{self, Choice, List};
use super::common::{ANY, INDEX_NAME, TEXT};
use super::tables::{TABLE_CLASS, UNITS, UNITS_OR_NONE};
use super::{Member, Structure, optional, required};

pub(super) static SETTINGS_REPLICATION: Shape =
    Choice(&["ENABLED", "DISABLED", "ENABLED_WITH_OVERRIDES"]);

pub(super) static REPLICA_UPDATES: Shape =
    List { of: &Shape::Structure(&REPLICA_UPDATE), min: 1, max: ANY };

static REPLICA_UPDATE: Structure = Structure {
    class: "ReplicationGroupUpdate",
    members: &[
        optional("Create", &Shape::Structure(&CREATE_REPLICA)),
        optional("Update", &Shape::Structure(&UPDATE_REPLICA)),
        optional("Delete", &Shape::Structure(&DELETE_REPLICA)),
        optional("Disassociate", &Shape::Structure(&DISASSOCIATE_REPLICA)),
    ],
};

static CREATE_REPLICA: Structure =
    Structure { class: "CreateReplicationGroupMemberAction", members: &REPLICA_MEMBERS };

static UPDATE_REPLICA: Structure =
    Structure { class: "UpdateReplicationGroupMemberAction", members: &REPLICA_MEMBERS };

static REPLICA_MEMBERS: [Member; 6] = [
    optional("KMSMasterKeyId", &TEXT),
    optional("OnDemandThroughputOverride", &Shape::Structure(&ON_DEMAND_OVERRIDE)),
    optional("GlobalSecondaryIndexes", &REPLICA_INDEXES),
    optional("ProvisionedThroughputOverride", &Shape::Structure(&PROVISIONED_OVERRIDE)),
    required("RegionName", &TEXT),
    optional("TableClassOverride", &TABLE_CLASS),
];

static DELETE_REPLICA: Structure = Structure {
    class: "DeleteReplicationGroupMemberAction",
    members: &[required("RegionName", &TEXT)],
};

static DISASSOCIATE_REPLICA: Structure = Structure {
    class: "DisassociateReplicationGroupMemberAction",
    members: &[
        required("RegionName", &TEXT),
        required("DisassociationMode", &Choice(&["WAIT_FOR_REPLICATION"])),
    ],
};

static REPLICA_INDEXES: Shape = List { of: &Shape::Structure(&REPLICA_INDEX), min: 1, max: ANY };

static REPLICA_INDEX: Structure = Structure {
    class: "ReplicaGlobalSecondaryIndex",
    members: &[
        optional("OnDemandThroughputOverride", &Shape::Structure(&ON_DEMAND_OVERRIDE)),
        optional("ProvisionedThroughputOverride", &Shape::Structure(&PROVISIONED_OVERRIDE)),
        required("IndexName", &INDEX_NAME),
    ],
};

static PROVISIONED_OVERRIDE: Structure = Structure {
    class: "ProvisionedThroughputOverride",
    members: &[optional("ReadCapacityUnits", &UNITS)],
};

static ON_DEMAND_OVERRIDE: Structure = Structure {
    class: "OnDemandThroughputOverride",
    members: &[optional("MaxReadRequestUnits", &UNITS_OR_NONE)],
};

pub(super) static WITNESS_UPDATES: Shape =
    List { of: &Shape::Structure(&WITNESS_UPDATE), min: 1, max: 1 };

static WITNESS_UPDATE: Structure = Structure {
    class: "GlobalTableWitnessGroupUpdate",
    members: &[
        optional("Create", &Shape::Structure(&CREATE_WITNESS)),
        optional("Delete", &Shape::Structure(&DELETE_WITNESS)),
    ],
};

static CREATE_WITNESS: Structure = Structure {
    class: "CreateGlobalTableWitnessGroupMemberAction",
    members: &[required("RegionName", &TEXT)],
};

static DELETE_WITNESS: Structure = Structure {
    class: "DeleteGlobalTableWitnessGroupMemberAction",
    members: &[required("RegionName", &TEXT)],
};
