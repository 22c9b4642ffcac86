import type { Look } from "../../model/look.ts";
import type { MachineFact } from "../../model/record.ts";

/** The platform of a machine, `metal` or `container` for example: as it tells it now, otherwise as it was written down. `undefined` = never told. */
export function platformOf(look: Look, fact: MachineFact | undefined): string | undefined {
  const told = look.kind === "running" || look.kind === "maintenance" ? look.platform : undefined;
  return told ?? fact?.platform;
}
