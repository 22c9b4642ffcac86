import type { Run } from "./run.ts";

/**
 * The etcd of a member that was removed: it ends as soon as it hears that from the others, and machined starts it again for ever. While it runs it answers nobody.
 *
 * ```
 *   Waiting ──5 s──► Running ──1 s──► Waiting …
 * ```
 * Seen on genuine nodes in container mode: every six seconds.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/system/runner/restart/restart.go` Forever
 */
const AGAIN_MS = 5_000;
const ENDS_MS = 1_000;

/** The process has ended. */
export function endRemoved(run: Run): void {
  if (run.machine.services["etcd"]?.state !== "Running") return;
  run.service("etcd", "Waiting", 'Error running Containerd(etcd), going to restart forever: task "etcd" failed: exit code 0');
  run.after("etcd-again", AGAIN_MS);
}

/** It is started again with the data that it has. */
export function startRemoved(run: Run): void {
  run.service("etcd", "Running", "Started task etcd for container etcd");
  run.health("etcd", false, "service not running");
  run.after("etcd-ends", ENDS_MS);
}
