import type { ObjectMeta } from "../meta/object-meta.ts";
import type { Resource } from "../meta/resource.ts";
import { API_VERSION, VITISTACK_GROUP } from "../groups.ts";
import type { KindDefinition } from "../schema/crd.ts";
import { boolean, object, quantity, required, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { text, texts, whole } from "./companion-fields.ts";

const spec = object(
  {
    category: required(string({ description: "Category for people.", default: "Standard" })),
    cpu: required(
      object(
        { cores: required(whole("Cores.")), sockets: whole("Sockets."), threads: whole("Threads of a core.") },
        { description: "Processors." },
      ),
    ),
    default: required(boolean({ description: "True on the class for machines that name none.", default: false })),
    description: text("What it is for."),
    displayName: text("Name for people."),
    enabled: required(boolean({ description: "False keeps new machines from using it.", default: true })),
    gpu: object({ cores: required(whole("Cores.")), manufacturer: text("Manufacturer.") }, { description: "Graphics processors." }),
    machineProviders: required(texts("Machine providers that know the class.", "Name of a provider.")),
    memory: required(
      object(
        {
          maxQuantity: quantity({ description: "Most memory." }),
          minQuantity: quantity({ description: "Least memory." }),
          quantity: required(quantity({ description: "Memory, for example 8Gi." })),
        },
        { description: "Memory." },
      ),
    ),
  },
  { description: "How big machines of the class are." },
);

const status = object(
  {
    created: text("When it was first seen."),
    message: text("What goes on."),
    name: text("Name for people."),
    phase: text("Phase."),
    status: text("Status."),
  },
  { description: "What its own operator observed." },
);

/** A size of machines, defined by whoever runs the machine providers. Read, never written. */
export interface MachineClass {
  readonly apiVersion: "vitistack.io/v1alpha1";
  readonly kind: "MachineClass";
  readonly metadata: ObjectMeta;
  readonly spec?: Infer<typeof spec>;
  readonly status?: Infer<typeof status>;
}

export const machineClassResource = {
  group: VITISTACK_GROUP,
  version: API_VERSION,
  kind: "MachineClass",
  plural: "machineclasses",
  singular: "machineclass",
  listKind: "MachineClassList",
  namespaced: false,
  shortNames: ["mc"],
} as const satisfies Resource;

export const machineClassKind: KindDefinition = {
  resource: machineClassResource,
  description: "MachineClass is a size of machines that machine providers know.",
  spec,
  status,
  printerColumns: [
    { name: "Display Name", type: "string", jsonPath: ".spec.displayName" },
    { name: "Category", type: "string", jsonPath: ".spec.category" },
    { name: "Default", type: "string", jsonPath: ".spec.default" },
    { name: "Cpu Cores", type: "string", jsonPath: ".spec.cpu.cores" },
    { name: "Cpu Sockets", type: "string", jsonPath: ".spec.cpu.sockets" },
    { name: "Cpu Threads", type: "string", jsonPath: ".spec.cpu.threads" },
    { name: "Gpu Cores", type: "string", jsonPath: ".spec.gpu.cores" },
    { name: "Memory", type: "string", jsonPath: ".spec.memory.quantity" },
    { name: "Enabled", type: "string", jsonPath: ".spec.enabled" },
    { name: "Created", type: "string", jsonPath: ".status.created" },
  ],
};
