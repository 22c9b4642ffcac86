import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, VITISTACK_GROUP } from "../groups.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { object, oneOf, required, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { foreignConditions, identifier, text, texts, time, whole } from "./companion-fields.ts";

const poolMembers = texts("Addresses of the control planes.", "An address.");

const spec = object(
  {
    clusterIdentifier: required(text("clusterId of the cluster.")),
    datacenterIdentifier: required(text("Data centre.")),
    environment: required(string({ description: "Environment.", pattern: "^[A-Za-z0-9._-]+$", minLength: 1, maxLength: 128 })),
    method: oneOf(["round-robin", "least-session", "first-alive"], {
      description: "Which control plane a connection goes to.",
      default: "first-alive",
    }),
    networkNamespaceIdentifier: required(identifier("NetworkNamespace that the address comes from.", 3)),
    poolMembers,
    provider: required(text("Who asks: talos.")),
    supervisorIdentifier: required(text("Installation that manages the network.")),
  },
  { description: "The address that is asked for." },
);

const status = object(
  {
    clusterIdentifier: text("As in the spec."),
    conditions: foreignConditions,
    created: time("When it was made."),
    datacenterIdentifier: text("As in the spec."),
    environment: text("As in the spec."),
    loadBalancerIps: texts("Addresses; the first is the endpoint of the cluster.", "An address."),
    message: text("What goes on."),
    method: text("As in the spec."),
    networkNamespaceIdentifier: text("As in the spec."),
    observedGeneration: whole("Generation that the status speaks of."),
    phase: text("Phase."),
    poolMembers,
    retryCount: whole("Tries so far."),
    status: text("Status."),
    supervisorIdentifier: text("As in the spec."),
  },
  { description: "What its own operator observed." },
);

/** An address of the network that the control planes of one cluster share. The operator writes its spec, the network's operator its status. */
export interface ControlPlaneVirtualSharedIP {
  readonly apiVersion: "vitistack.io/v1alpha1";
  readonly kind: "ControlPlaneVirtualSharedIP";
  readonly metadata: ObjectMeta;
  readonly spec?: Infer<typeof spec>;
  readonly status?: Infer<typeof status>;
}

export const controlPlaneVirtualSharedIPResource = {
  group: VITISTACK_GROUP,
  version: API_VERSION,
  kind: "ControlPlaneVirtualSharedIP",
  plural: "controlplanevirtualsharedips",
  singular: "controlplanevirtualsharedip",
  listKind: "ControlPlaneVirtualSharedIPList",
  namespaced: true,
  shortNames: ["lb"],
} as const satisfies Resource;

export const controlPlaneVirtualSharedIPKind: KindDefinition = {
  resource: controlPlaneVirtualSharedIPResource,
  description: "ControlPlaneVirtualSharedIP is an address of the network that the control planes of one cluster share.",
  spec,
  status,
  printerColumns: [
    { name: "DatacenterIdentifier", type: "string", jsonPath: ".spec.datacenterIdentifier" },
    { name: "ClusterIdentifier", type: "string", jsonPath: ".spec.clusterIdentifier" },
    { name: "Provider", type: "string", jsonPath: ".spec.provider" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "Created", type: "string", jsonPath: ".status.created" },
  ],
};
