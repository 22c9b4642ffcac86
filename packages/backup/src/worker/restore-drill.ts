import type { Proof } from "../task/result.ts";
import { DrillFailure, type ScratchFile } from "./deps.ts";
import { TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";
import type { PlainSnapshot } from "./plain-check.ts";

type Weaker = NonNullable<Proof["weakerBecause"]>;

/** A file that the drill will want, asked for before the bytes come; or why there will be no drill. */
export async function prepareDrill(
  { deps }: Job,
  wanted: "restore" | "read",
  bytes: number,
): Promise<{ readonly copy?: ScratchFile; readonly weakerBecause?: Weaker }> {
  if (wanted === "read") return {};
  if (deps.drill === undefined) return { weakerBecause: "no-etcd" };
  const copy = await deps.scratch.file(bytes);
  return copy === undefined ? { weakerBecause: "no-room" } : { copy };
}

/**
 * Restores the copy in genuine etcd and compares what that says with what we read.
 *
 * @throws TaskFault `proof-failed` when etcd refuses the snapshot or reads other numbers
 */
export async function runDrill(
  job: Job,
  copy: ScratchFile,
  { statistics }: PlainSnapshot,
): Promise<Pick<Proof, "how" | "restoreMs" | "weakerBecause">> {
  const { drill } = job.deps;
  if (drill === undefined) return { how: "read", weakerBecause: "no-etcd" };
  if (isOlder(drill.version, statistics.storageVersion ?? statistics.clusterVersion)) return { how: "read", weakerBecause: "etcd-too-old" };
  job.report({ phase: "restoring", bytes: 0 });
  try {
    const restored = await drill.restore(copy, { signal: job.signal });
    // A restore writes its members anew, which is no revision.
    if (restored.revision !== statistics.revision || restored.liveKeys !== statistics.liveKeys)
      throw new TaskFault(
        "proof-failed",
        `etcd ${drill.version} restored revision ${restored.revision} with ${restored.liveKeys} keys, and the snapshot has revision ${statistics.revision} with ${statistics.liveKeys} keys. Take a snapshot of another member.`,
      );
    return { how: "restored", restoreMs: restored.restoreMs };
  } catch (error) {
    if (!(error instanceof DrillFailure) || job.signal.aborted) throw error;
    if (error.kind === "refused")
      throw new TaskFault(
        "proof-failed",
        `etcd ${drill.version} does not restore the snapshot: ${error.message}. Take a snapshot of another member.`,
        {
          mayRepeat: true,
        },
      );
    job.deps.log.warn({ etcd: drill.version, cause: error.message }, "snapshot was not restored: etcd could not be run");
    return { how: "read", weakerBecause: error.kind === "no-room" ? "no-room" : "no-etcd" };
  }
}

/** Whether etcd `version` is of an older minor than `needed`; an unknown need is none. */
function isOlder(version: string, needed: string | undefined): boolean {
  const [major = 0, minor = 0] = numbers(version);
  const [neededMajor = 0, neededMinor = 0] = numbers(needed ?? "0.0");
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

function numbers(version: string): readonly number[] {
  return version.replace(/^v/, "").split(".").slice(0, 2).map(Number);
}
