import { list, object, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import { HOST_PATTERN, VERSION_PATTERN, objectReferenceField } from "./fields.ts";
import { additionalConfigField, configPatchesField, machineSpecField, pxeClientSpecField } from "./machine-spec.ts";
import { described } from "../schema/field.ts";

const machine = object(
  {
    address: string({
      description: "IP address the machine answers on, or its DNS name. Exactly one of address and machineRef.",
      pattern: HOST_PATTERN,
    }),
    machineRef: described(
      objectReferenceField,
      "Object that knows the address; fieldPath is the JSONPath to it. Exactly one of address and machineRef.",
    ),
    version: string({ description: "Talos version of this machine alone. Default: spec.version.", pattern: VERSION_PATTERN }),
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
      description: "The machines. An entry added later joins, an entry removed leaves; order has no meaning.",
      listType: "atomic",
    }),
    machineSpec: machineSpecField,
  },
  { description: "The machines and their settings; for mode metal." },
);

/** Machines and the settings they share. */
export interface MetalSpec extends Infer<typeof metalSpec> {}
export const metalSpecField: Field<MetalSpec, false> = metalSpec;
