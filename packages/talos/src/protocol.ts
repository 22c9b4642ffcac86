/**
 * The protocol itself: descriptors of the services and messages of the Talos machine API, and their way onto a channel.
 *
 * For those who speak the protocol from the other side (a simulated machine) or need an RPC that the typed client does not wrap.
 * Everything below is generated from `proto/`; names are those of the protocol.
 */
export { methodOf } from "./method-of.ts";

/** One namespace per protobuf package: `machine.MachineService`, `machine.VersionResponseSchema`, type `machine.VersionResponse`. */
export * as machine from "./gen/machine/machine_pb.ts";
export * as common from "./gen/common/common_pb.ts";
export * as storage from "./gen/storage/storage_pb.ts";
export * as cluster from "./gen/cluster/cluster_pb.ts";
export * as inspect from "./gen/inspect/inspect_pb.ts";
export * as time from "./gen/time/time_pb.ts";
export * as securityapi from "./gen/securityapi/securityapi_pb.ts";
export * as rpc from "./gen/google/rpc/status_pb.ts";
/** `cosi.State` is the service, `cosi.Resource` what it serves. */
export * as cosi from "./gen/cosi/resource/resource_pb.ts";
export * as cosiMeta from "./gen/cosi/resource/meta/meta_pb.ts";

/** Messages inside `proto_spec` of COSI resources, one namespace per protobuf package below `talos.resource.definitions`. */
export * as blockDefinitions from "./gen/talos/resource/definitions/block/block_pb.ts";
export * as clusterDefinitions from "./gen/talos/resource/definitions/cluster/cluster_pb.ts";
export * as configDefinitions from "./gen/resource/config/config_pb.ts";
export * as enumDefinitions from "./gen/talos/resource/definitions/enums/enums_pb.ts";
export * as etcdDefinitions from "./gen/talos/resource/definitions/etcd/etcd_pb.ts";
export * as hardwareDefinitions from "./gen/talos/resource/definitions/hardware/hardware_pb.ts";
export * as k8sDefinitions from "./gen/talos/resource/definitions/k8s/k8s_pb.ts";
export * as networkDefinitions from "./gen/talos/resource/definitions/network/network_pb.ts";
export * as runtimeDefinitions from "./gen/talos/resource/definitions/runtime/runtime_pb.ts";
export * as timeDefinitions from "./gen/talos/resource/definitions/time/time_pb.ts";
export * as v1alpha1Definitions from "./gen/talos/resource/definitions/v1alpha1/v1alpha1_pb.ts";

/** COSI resource types by full name: default namespace, fixed ids, sensitivity, message of the spec. */
export { resourceSpecs } from "./gen/resource-specs.ts";
export type { ResourceSpecFacts } from "./gen/resource-specs.ts";

/** Prints a value as Go's YAML library prints it for Talos: the form of `yaml_spec`. */
export { emitYaml } from "./config/yaml/emit.ts";
export type { YamlValue } from "./config/yaml/emit.ts";
