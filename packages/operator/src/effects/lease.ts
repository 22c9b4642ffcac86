import { EffectError } from "../errors.ts";
import type { Check } from "./define.ts";

/** This process still leads; for what writes objects that are not taken back. */
export const lease: Check = async ({ effects: { leading } }) => {
  if (!(await leading.confirm())) throw new EffectError("NOT_LEADING", "another process holds the lease");
};
