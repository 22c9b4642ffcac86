import { celType, type CelType } from "./cel-type.ts";
import { functionTable, optionalFunctions, standardFunctions, type FunctionTable } from "./functions.ts";

/** What Talos binds to the names in an expression. */
export type ExpressionScope = "disk" | "volume" | "link" | "triggerExpression" | "cgroupRankingExpression";

/** The names and functions that an expression may use. */
export interface Scope {
  readonly names: ReadonlyMap<string, CelType>;
  readonly functions: readonly FunctionTable[];
  readonly hasOptionals: boolean;
}

const disk = "talos.resource.definitions.block.DiskSpec";
const volume = "talos.resource.definitions.block.DiscoveredVolumeSpec";
const network = "talos.resource.definitions.network.";
const link = `${network}LinkStatusSpec`;

/** `uint: a b` for each type of field. */
function fields(...lines: readonly string[]): ReadonlyMap<string, CelType> {
  return new Map(
    lines.flatMap((line) => {
      const [type = "", names = ""] = line.split(": ");
      return names.split(" ").map((name): [string, CelType] => [name, celType(type)]);
    }),
  );
}

/**
 * The fields of every message that an expression can reach. Enumerations are numbers in the language.
 *
 * @see siderolabs/talos `api/resource/definitions`
 */
export const messageFields: ReadonlyMap<string, ReadonlyMap<string, CelType>> = new Map([
  [
    disk,
    fields(
      "uint: size io_size sector_size",
      "bool: readonly rotational cdrom",
      "string: model serial modalias wwid bus_path sub_system transport dev_path pretty_size uuid firmware_version",
      "list(string): secondary_disks symlinks",
    ),
  ],
  [
    volume,
    fields(
      "uint: size sector_size io_size block_size filesystem_block_size probed_size partition_index offset",
      "string: name uuid label partition_uuid partition_type partition_label type device_path parent dev_path parent_dev_path pretty_size",
    ),
  ],
  [
    link,
    fields(
      "uint: index link_index flags mtu master_index",
      "int: type operational_state port duplex speed_megabits",
      "bytes: hardware_addr broadcast_addr permanent_addr",
      "string: queue_disc kind slave_kind bus_path pciid driver driver_version firmware_version product_id vendor_id product vendor alias",
      "bool: link_state",
      "list(string): alt_names",
      `${network}VLANSpec: vlan`,
      `${network}BridgeMasterSpec: bridge_master`,
      `${network}BondMasterSpec: bond_master`,
      `${network}WireguardSpec: wireguard`,
      `${network}VRFMasterSpec: vrf_master`,
    ),
  ],
  [`${network}VLANSpec`, fields("uint: vid", "int: protocol")],
  [`${network}VRFMasterSpec`, fields("int: table")],
  [`${network}BridgeMasterSpec`, fields(`${network}STPSpec: stp`, `${network}BridgeVLANSpec: vlan`)],
  [`${network}STPSpec`, fields("bool: enabled")],
  [`${network}BridgeVLANSpec`, fields("bool: filtering_enabled")],
  [
    `${network}BondMasterSpec`,
    fields(
      "int: mode hash_policy lacp_rate arp_validate arp_all_targets primary_reselect fail_over_mac ad_select adlacp_active",
      "uint: primary_index mii_mon up_delay down_delay arp_interval resend_igmp min_links lp_interval packets_per_slave num_peer_notif",
      "uint: tlb_dynamic_lb all_slaves_active ad_actor_sys_prio ad_user_port_key peer_notify_delay missed_max",
      "bool: use_carrier",
      "list(common.NetIP): arpip_targets nsip6_targets",
    ),
  ],
  [
    `${network}WireguardSpec`,
    fields("string: private_key public_key", "int: listen_port firewall_mark", `list(${network}WireguardPeer): peers`),
  ],
  [
    `${network}WireguardPeer`,
    fields("string: public_key preshared_key endpoint", "duration: persistent_keepalive_interval", "list(common.NetIPPrefix): allowed_ips"),
  ],
  ["common.NetIP", fields("bytes: ip")],
  ["common.NetIPPrefix", fields("bytes: ip", "int: prefix_length")],
]);

const typeNames = fields(
  ...["bool", "bytes", "double", "int", "string", "uint"].map((name) => `type(${name}): ${name}`),
  "type(list(dyn)): list",
  "type(map(dyn, dyn)): map",
  "type(null): null_type",
  "type(dyn): type",
);
const units = "uint: KiB MiB GiB TiB PiB EiB kB MB GB TB PB EB";
const classes = "int: Besteffort Burstable Guaranteed Podruntime System";
const glob = "glob(string, string): bool";
const pressures = ["some", "full"].flatMap((share) => ["avg10", "avg60", "avg300", "total"].map((span) => `memory_${share}_${span}`));
const ofEachClass = [...pressures, "memory_current", "memory_peak", "memory_max"];

function scope(names: ReadonlyMap<string, CelType>, functions: readonly string[], hasOptionals = false): Scope {
  return {
    names: new Map([...typeNames, ...names]),
    functions: [standardFunctions, functionTable(functions), ...(hasOptionals ? [optionalFunctions] : [])],
    hasOptionals,
  };
}

/** @see siderolabs/talos `pkg/machinery/cel/celenv` */
export const scopes: Readonly<Record<ExpressionScope, Scope>> = {
  disk: scope(fields(`${disk}: disk`, "bool: system_disk", units), [glob]),
  volume: scope(fields(`${volume}: volume`, `${disk}: disk`, units), []),
  link: scope(fields(`${link}: link`), [glob, "mac(bytes): string"]),
  triggerExpression: scope(
    fields(
      `double: ${pressures.flatMap((name) => [name, `d_${name}`]).join(" ")}`,
      `map(int, double): ${ofEachClass.flatMap((name) => [`qos_${name}`, `d_qos_${name}`]).join(" ")}`,
      "duration: time_since_trigger",
      units,
      classes,
    ),
    ["multiply_qos_vectors(map(dyn, double), map(dyn, double)): double"],
    true,
  ),
  cgroupRankingExpression: scope(
    fields("optional_type(uint): memory_max memory_current memory_peak", "string: path", "int: class", units, classes),
    [],
    true,
  ),
};
