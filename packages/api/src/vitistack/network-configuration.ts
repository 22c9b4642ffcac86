import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, VITISTACK_GROUP } from "../groups.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { boolean, list, object, oneOf, required, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { foreignConditions, identifier, text, texts, time } from "./companion-fields.ts";

const networkInterface = object(
  {
    allocationExpiry: time("Until when the address is kept."),
    allocationMethod: oneOf(["dhcp", "static"], { description: "How the address was given." }),
    dhcpReserved: boolean({ description: "True when the lease is reserved." }),
    dns: texts("Resolvers.", "Address of a resolver."),
    ipAllocated: boolean({ description: "True once the addresses can be used." }),
    ipv4Addresses: texts("IPv4 addresses.", "An address."),
    ipv4Gateway: text("IPv4 gateway."),
    ipv4Subnet: text("IPv4 network, for example 10.0.0.0/24."),
    ipv6Addresses: texts("IPv6 addresses.", "An address."),
    ipv6Gateway: text("IPv6 gateway."),
    ipv6Subnet: text("IPv6 network."),
    macAddress: text("Hardware address."),
    name: text("Name of the interface."),
    vlan: text("VLAN."),
  },
  { description: "One interface." },
);

const networkInterfaces = list(networkInterface, { description: "Interfaces." });

const spec = object(
  {
    clusterIdentifier: identifier("Cluster it belongs to."),
    datacenterIdentifier: identifier("Data centre."),
    description: string({ description: "What it is for.", maxLength: 256 }),
    name: required(identifier("Name, as metadata.name.")),
    networkInterfaces,
    networkNamespaceName: text("NetworkNamespace that addresses come from."),
    provider: identifier("Who hands out addresses.", 1),
    supervisorIdentifier: identifier("Installation that manages the network."),
  },
  { description: "The addresses that are asked for." },
);

const status = object(
  {
    conditions: foreignConditions,
    created: time("When it was made."),
    message: text("What goes on."),
    networkInterfaces,
    phase: text("Phase; Error ends the attempt."),
    status: text("Status; Failed ends the attempt."),
  },
  { description: "What its own operator observed." },
);

/** Addresses of one machine, or one that machines share. */
export interface NetworkConfiguration {
  readonly apiVersion: "vitistack.io/v1alpha1";
  readonly kind: "NetworkConfiguration";
  readonly metadata: ObjectMeta;
  readonly spec?: Infer<typeof spec>;
  readonly status?: Infer<typeof status>;
}

export const networkConfigurationResource = {
  group: VITISTACK_GROUP,
  version: API_VERSION,
  kind: "NetworkConfiguration",
  plural: "networkconfigurations",
  singular: "networkconfiguration",
  listKind: "NetworkConfigurationList",
  namespaced: true,
  shortNames: ["nc"],
} as const satisfies Resource;

export const networkConfigurationKind: KindDefinition = {
  resource: networkConfigurationResource,
  description: "NetworkConfiguration is the addresses of one machine, or an address that machines share.",
  spec,
  status,
  printerColumns: [
    { name: "Name", type: "string", jsonPath: ".spec.name" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "Created", type: "string", jsonPath: ".status.created" },
    { name: "Interfaces", type: "string", jsonPath: ".status.networkInterfaces.count()" },
  ],
};
