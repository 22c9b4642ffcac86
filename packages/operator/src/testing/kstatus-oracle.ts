/**
 * The generic rules of kstatus, which Flux, `kubectl` plugins and Argo CD's users read objects by: written down from `sigs.k8s.io/cli-utils`
 * `pkg/kstatus/status/{core,generic,status}.go` (v0.37), apart from what the operator makes its conditions with.
 */
export type Kstatus = "Terminating" | "InProgress" | "Failed" | "Current";

/** An object as any tool reads it. */
export interface ReadObject {
  readonly metadata?: { readonly generation?: number | undefined; readonly deletionTimestamp?: string | undefined } | undefined;
  readonly status?:
    | {
        readonly observedGeneration?: number;
        readonly conditions?: readonly { readonly type: string; readonly status: string }[];
      }
    | undefined;
}

/** What kstatus says of an object of a kind that it does not know. */
export function kstatus({ metadata, status }: ReadObject): Kstatus {
  if (metadata?.deletionTimestamp !== undefined && metadata.deletionTimestamp !== "") return "Terminating";
  const { generation } = metadata ?? {};
  if (generation !== undefined && status?.observedGeneration !== undefined && status.observedGeneration !== generation) return "InProgress";
  for (const { type, status: said } of status?.conditions ?? []) {
    if (type === "Reconciling" && said === "True") return "InProgress";
    if (type === "Stalled" && said === "True") return "Failed";
  }
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined) return "Current";
  return ready.status === "True" ? "Current" : "InProgress";
}
