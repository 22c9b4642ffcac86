import { list, object, required, string } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

const removal = object(
  {
    machine: required(string({ description: "Name of its TalosMachine.", maxLength: 253 })),
    reason: required(string({ description: "Where it stands: a reason of the condition Removing.", maxLength: 128 })),
  },
  { description: "A machine on its way out." },
);

/** A machine on its way out, and where it stands. */
export interface RemovalStatus extends Infer<typeof removal> {}

/** Machines that leave, each with its own reason; the condition Removing has room for one. */
export const removalsField: Field<readonly RemovalStatus[], false> = list<RemovalStatus>(removal, {
  description: "Machines that are listed no more and are not released yet, those that only a person can help last. Absent: there are none.",
  listType: "atomic",
  maxItems: 2000,
});
