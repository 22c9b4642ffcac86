import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, VITISTACK_GROUP } from "../groups.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { integer, list, object, oneOf, required, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { foreignConditions, identifier, text, texts, time, whole } from "./companion-fields.ts";

const ipAllocation = object(
  {
    dhcp: object(
      { requireClientClasses: texts("Client classes that leases are for.", "A client class.") },
      { description: "Settings of type dhcp." },
    ),
    provider: string({
      description: "Who hands out addresses, for example kea or static-ip-operator.",
      pattern: "^[A-Za-z0-9_-]+$",
      maxLength: 32,
    }),
    static: object(
      {
        dns: texts("Resolvers.", "Address of a resolver."),
        ipv4CIDR: required(
          string({ description: "Network, for example 10.0.0.0/24.", pattern: "^([0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{1,2}$" }),
        ),
        ipv4Gateway: required(text("Default gateway.")),
        ipv4RangeEnd: text("Last address that is handed out."),
        ipv4RangeStart: text("First address that is handed out."),
        ttlSeconds: integer({ description: "Seconds an address is kept for.", default: 3600, minimum: 60 }),
        vlanId: integer({ description: "VLAN.", minimum: 0, maximum: 4094 }),
      },
      { description: "Settings of type static." },
    ),
    type: required(oneOf(["dhcp", "static"], { description: "How machines get addresses." })),
  },
  { description: "How addresses are handed out. Absent: DHCP." },
);

const spec = object(
  {
    datacenterIdentifier: required(identifier("Data centre.")),
    ipAllocation,
    supervisorIdentifier: required(identifier("Installation that manages the network.")),
  },
  { description: "The network that is asked for." },
);

const status = object(
  {
    associatedKubernetesClusterIds: texts("Clusters that use it.", "A clusterId."),
    conditions: foreignConditions,
    created: time("When it was made."),
    datacenterIdentifier: text("Data centre."),
    ipAllocationStatus: object(
      {
        allocatedCount: whole("Addresses handed out."),
        allocatedIPs: list(
          object(
            { ip: required(text("The address.")), networkConfiguration: required(text("NetworkConfiguration that has it.")) },
            { description: "One address." },
          ),
          { description: "Addresses handed out." },
        ),
        availableCount: whole("Addresses left."),
        provider: text("Who hands them out."),
        totalCount: whole("Addresses in all."),
        type: oneOf(["dhcp", "static"], { description: "How they are handed out." }),
      },
      { description: "Addresses in use." },
    ),
    ipv4EgressIp: text("IPv4 address that traffic leaves from."),
    ipv4Prefix: text("IPv4 network."),
    ipv6EgressIp: text("IPv6 address that traffic leaves from."),
    ipv6Prefix: text("IPv6 network."),
    message: text("What goes on."),
    namespaceId: text("Identity at the network's operator."),
    observedGeneration: whole("Generation that the status speaks of."),
    phase: text("Phase."),
    retryCount: whole("Tries so far."),
    status: text("Status."),
    supervisorIdentifier: text("Installation that manages the network."),
    vlanId: whole("VLAN."),
  },
  { description: "What its own operator observed." },
);

/** A network that machines are put into. Read, never written. */
export interface NetworkNamespace {
  readonly apiVersion: "vitistack.io/v1alpha1";
  readonly kind: "NetworkNamespace";
  readonly metadata: ObjectMeta;
  readonly spec?: Infer<typeof spec>;
  readonly status?: Infer<typeof status>;
}

export const networkNamespaceResource = {
  group: VITISTACK_GROUP,
  version: API_VERSION,
  kind: "NetworkNamespace",
  plural: "networknamespaces",
  singular: "networknamespace",
  listKind: "NetworkNamespaceList",
  namespaced: true,
  shortNames: ["nn"],
} as const satisfies Resource;

export const networkNamespaceKind: KindDefinition = {
  resource: networkNamespaceResource,
  description: "NetworkNamespace is a network that machines are put into.",
  spec,
  status,
  printerColumns: [
    { name: "Name", type: "string", jsonPath: ".spec.clusterIdentifier" },
    { name: "DatacenterIdentifier", type: "string", jsonPath: ".spec.datacenterIdentifier" },
    { name: "VLANID", type: "integer", jsonPath: ".status.vlanId", priority: 10 },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "Created", type: "string", jsonPath: ".status.created" },
  ],
};
