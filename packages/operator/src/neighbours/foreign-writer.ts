/** One entry of `metadata.managedFields`, as far as it is read. */
interface ManagedFields {
  readonly manager?: unknown;
  readonly time?: unknown;
  readonly subresource?: unknown;
  readonly fieldsV1?: unknown;
}

/** A writer that is at work. */
export interface ForeignWriter {
  readonly manager: string;
  readonly what: "status" | "finalizers";
  /** RFC 3339. */
  readonly at: string;
}

/** Somebody who wrote within this time may still be at work. Milliseconds. */
export const RECENT_MS = 10 * 60_000;

/** People's tools, and parts of Kubernetes itself: no operators. A client without a name is one inside our own process. */
const HARMLESS = /^(kubectl|kube-controller-manager|kube-apiserver)(\b|$)|^(unknown)?$/;

/** Manager of every field that no controller writes under its own name: finalizers, for example. */
export const OPERATOR_MANAGER = "talos-operator";

/** Names under which this operator writes: `talos-operator/<controller>` for what it applies, the plain name for the rest. */
const OURS = { status: /^talos-operator\//, finalizers: /^talos-operator(\/|$)/ } as const;

/** Who else wrote status or finalizers of an object within ten minutes; `undefined` = nobody. A time that cannot be read counts as now. */
export function foreignWriter(managedFields: readonly unknown[] | undefined, now: number): ForeignWriter | undefined {
  for (const entry of (managedFields ?? []) as readonly ManagedFields[]) {
    const manager = typeof entry.manager === "string" ? entry.manager : "";
    if (HARMLESS.test(manager)) continue;
    const at = typeof entry.time === "string" ? entry.time : "";
    if (now - Date.parse(at) >= RECENT_MS) continue;
    const fields = entry.fieldsV1;
    const what =
      entry.subresource === "status" || has(fields, "f:status")
        ? "status"
        : has(child(fields, "f:metadata"), "f:finalizers")
          ? "finalizers"
          : undefined;
    if (what !== undefined && !OURS[what].test(manager)) return { manager: manager.slice(0, 128), what, at };
  }
  return undefined;
}

function has(value: unknown, key: string): boolean {
  return typeof value === "object" && value !== null && key in value;
}

function child(value: unknown, key: string): unknown {
  return has(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
