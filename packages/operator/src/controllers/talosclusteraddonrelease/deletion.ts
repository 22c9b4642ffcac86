import { findCondition, rfc3339 } from "@talos-operator/api";
import { failureOf } from "./failures.ts";
import { waitsForTurn } from "./turns.ts";
import { failureOfManifests, keptWords } from "./manifests.ts";
import { begin, startOf } from "./begin.ts";
import { clientFailed, endOfTry } from "./end-of-run.ts";
import { hasOurFinalizer, isElsewhere } from "./phase.ts";
import { acting, busy, conditionsOf, ended, untried, waiting } from "./saying.ts";
import { HOPELESS_RETRY_MS, LOOK_MS, WAIT_MS } from "./times.ts";
import type { AddonRun, TalosClusterAddonRelease, TalosClusterAddonReleaseStatus } from "@talos-operator/api";
import type { AddonRunState } from "../../addons/runner.ts";
import type { Failure } from "./failures.ts";
import type { ReleaseDecision, ReleaseNews, ReleaseSeen } from "./model.ts";

/** How long a deletion tries to uninstall. Milliseconds. */
const REMOVAL_MS = 10 * 60_000;

export function decideDeletion(seen: ReleaseSeen): ReleaseDecision {
  const { release, cluster, now } = seen;
  const status: TalosClusterAddonReleaseStatus = release.status ?? {};
  if (!hasOurFinalizer(release)) return acting(seen, { kind: "none" });
  const { releaseName, releaseNamespace, run } = status;
  // Nothing was ever begun.
  if (releaseName === undefined || releaseNamespace === undefined) return acting(seen, { kind: "remove-finalizer" });
  const name = `${releaseNamespace}/${releaseName}`;
  const letGo = (reason: ReleaseNews["reason"], note: string): ReleaseDecision =>
    acting(seen, { kind: "remove-finalizer" }, [{ reason, note }]);
  const told = run?.task === "uninstall" && seen.run?.kind === "ended" ? seen.run.result : undefined;
  if (told?.kind === "uninstalled") return letGo("AddonUninstalled", `${name} is uninstalled.`);
  if (told?.kind === "manifests-removed")
    return letGo("AddonUninstalled", `${told.deleted} objects of ${name} are deleted${keptWords(told.kept)}.`);
  // Who asks another cluster would find nothing there.
  if (isElsewhere(seen))
    return letGo("AddonLeft", `${name} is left as it is in the cluster ${status.cluster ?? ""}: spec.clusterRef names another one.`);
  // When the cluster goes, nothing is uninstalled: its machines are wiped.
  if (cluster.kind === "absent" || cluster.kind === "going")
    return letGo("AddonLeft", `${name} is left as it is: the cluster is gone, or going.`);
  // A person holds it up, and may let it go on at any time.
  if (cluster.kind === "paused" && run?.task !== "uninstall")
    return waiting(seen, "Deleting", cluster.message, WAIT_MS, { uninstallStartTime: undefined });
  const since = Date.parse(status.uninstallStartTime ?? "");
  // A clock that was set back must not make it wait for longer than it would have.
  if (Number.isNaN(since) || since > now) return waiting(seen, "Deleting", "It is uninstalled.", 0, { uninstallStartTime: rfc3339(now) });
  if (now - since >= REMOVAL_MS)
    return letGo("AddonLeft", `${name} is left as it is: it could not be uninstalled in ten minutes. ${lastWords(release)}`.trim());
  // What was begun is not waited for: its lock is released by the run that uninstalls.
  if (run !== undefined && run.task !== "uninstall")
    return waiting(seen, "Deleting", "What was being installed is ended first.", 0, { ...ended(release, run), ...untried });
  if (run !== undefined) return afterUninstall(seen, run);
  // Tries to install count no longer.
  if (status.failedInputs !== undefined) return waiting(seen, "Deleting", "It is uninstalled.", 0, untried);
  const nextAt = Date.parse(status.nextAttemptTime ?? "");
  if (now < nextAt && nextAt - now <= HOPELESS_RETRY_MS)
    return waiting(seen, "Deleting", lastWords(release), Math.min(nextAt - now, since + REMOVAL_MS - now));
  if (cluster.kind === "waiting") return waiting(seen, "Deleting", cluster.message);
  if (seen.withoutHelm !== undefined) return waiting(seen, "Deleting", seen.withoutHelm);
  // It ends soon, or is given up.
  const turn = waitsForTurn(seen, REMOVAL_MS);
  if (turn !== undefined) return waiting(seen, "Deleting", turn, LOOK_MS);
  return begin(seen, { task: "uninstall" }, { name: releaseName, namespace: releaseNamespace }, status.attempts ?? 0);
}

function afterUninstall(seen: ReleaseSeen, run: AddonRun): ReleaseDecision {
  const state: AddonRunState = seen.run ?? { kind: "absent" };
  if (state.kind === "ended") {
    const { result } = state;
    const failure: Failure =
      result?.kind === "failed"
        ? failureOf(result)
        : result?.kind === "manifests-failed"
          ? failureOfManifests(result)
          : clientFailed(run, "ended without a result");
    const decision = endOfTry(seen, run, { ...failure, mayRepeat: true });
    return { ...decision, conditions: conditionsOf(seen, "Deleting", failure.message) };
  }
  const waits = state.kind === "waiting" ? ` It waits: ${state.why}.` : "";
  return busy(seen, "Deleting", `Uninstalling, by the run ${run.name}.${waits}`, startOf(seen, run, state));
}

function lastWords({ status }: TalosClusterAddonRelease): string {
  return findCondition(status?.conditions, "Ready")?.message ?? "";
}
