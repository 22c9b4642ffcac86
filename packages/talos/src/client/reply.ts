import type { CallOptions, Caller } from "./call.ts";
import { TalosError } from "./errors.ts";

/** A part of a reply that must be there. @throws TalosError `MALFORMED_REPLY` when it is not */
export function required<T>(
  value: T | undefined,
  what: string,
  caller: Caller,
  method: { readonly path: string },
  options?: CallOptions,
): T {
  if (value !== undefined) return value;
  const node = options?.node ?? caller.channel.target.address;
  throw new TalosError("MALFORMED_REPLY", { node, method: method.path }, `reply has no ${what}`);
}

/** A name of a protocol enum as this package writes it: `ETCD_ALARM` → `etcd-alarm`. A number of a newer Talos becomes `unknown`. */
export function enumWord(values: Readonly<Record<string, number | string>>, value: number): string {
  const name = Object.keys(values).find((key) => values[key] === value);
  return name === undefined ? "unknown" : name.toLowerCase().replaceAll("_", "-");
}
