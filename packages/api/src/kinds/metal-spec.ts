import { list, object, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { hostField, objectReferenceField, versionField } from "./fields.ts";
import { additionalConfigField, configPatchesField, machineSpecField, pxeClientSpecField } from "./machine-spec.ts";
import { described } from "../schema/field.ts";

/** Most machines that a pool may list: as many of a role as a ClusterRecord holds. Servers estimate by it what the rules of an entry may cost. */
const MAX_POOL_MACHINES = 2_000;

const machine = object(
  {
    address: hostField("IP address the machine answers on, or its DNS name. Exactly one of address and machineRef."),
    machineRef: described(
      objectReferenceField,
      "Object that knows the address; fieldPath is the JSONPath to it. Exactly one of address and machineRef.",
    ),
    version: versionField("v1.13.9", { description: "Talos version of this machine alone. Default: spec.version." }),
    image: string({ description: "Installer image of this machine alone. Default: machineSpec.image." }),
    pxeClientSpec: pxeClientSpecField,
    configPatches: configPatchesField,
    additionalConfig: additionalConfigField,
  },
  {
    description: "One machine.",
    rules: [{ rule: "has(self.address) != has(self.machineRef)", message: "address and machineRef are mutually exclusive" }],
  },
);

/** One machine of a control plane or worker pool. */
export interface Machine extends Infer<typeof machine> {}

const metalSpec = object(
  {
    machines: list<Machine>(machine, {
      description:
        "The machines. An entry added later joins, an entry removed leaves; order has no meaning. A TalosWorker whose list is emptied keeps its machines until the annotation talos-operator.dev/confirm-reset holds its name.",
      listType: "atomic",
      maxItems: MAX_POOL_MACHINES,
    }),
    machineSpec: machineSpecField,
  },
  { description: "The machines and their settings; for mode metal." },
);

/** Machines and the settings they share. */
export interface MetalSpec extends Infer<typeof metalSpec> {}
export const metalSpecField: Field<MetalSpec, false> = metalSpec;
