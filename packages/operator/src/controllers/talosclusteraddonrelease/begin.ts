import { findCondition } from "@talos-operator/api";
import { helmOptionsOf } from "../../addons/helm-options.ts";
import { addonRunId, addonRunName } from "../../addons/runner.ts";
import { triedBy } from "./rollback.ts";
import { RUNS_AT_ONCE, waitsForTurn } from "./turns.ts";
import { timesOfRun } from "./time-of-run.ts";
import { MANIFESTS_MS, inventoryOf, isManifestsRelease } from "./manifests.ts";
import { hasOurFinalizer } from "./phase.ts";
import { acting, busy, waiting } from "./saying.ts";
import { HOPELESS_RETRY_MS, LOOK_MS } from "./times.ts";
import type { AddonRun, ReadyReason, TalosClusterAddonRelease, TalosClusterAddonReleaseStatus } from "@talos-operator/api";
import type { AddonRunState } from "../../addons/runner.ts";
import type { ReleaseWish } from "../../addons/wish.ts";
import type { ReleaseAct, ReleaseDecision, ReleaseSeen } from "./model.ts";

/** On top of Helm's own waits: to begin, to fetch a chart, and to go back. Milliseconds. */
const AROUND_HELM_MS = 5 * 60_000;

/** What a run is for. */
type Errand = Pick<AddonRun, "task" | "inputs" | "revision" | "beyond">;

/** Begins a run where nothing is in its way, and its turn has come. */
export function attempt(seen: ReleaseSeen, errand: Errand, helmName: ReleaseWish["release"]): ReleaseDecision {
  const { release, now } = seen;
  const status: TalosClusterAddonReleaseStatus = release.status ?? {};
  const isSame = status.failedInputs === triedBy(errand);
  const nextAt = isSame ? Date.parse(status.nextAttemptTime ?? "") : Number.NaN;
  // A clock that was set back must not make it wait for longer than it would have.
  if (now < nextAt && nextAt - now <= HOPELESS_RETRY_MS) {
    const { reason, message } = findCondition(status.conditions, "Ready") ?? {
      reason: "Installing",
      message: "The next try is waited for.",
    };
    return waiting(seen, reason as ReadyReason, message, nextAt - now);
  }
  if (seen.cluster.kind === "paused") return waiting(seen, "WaitingForCluster", seen.cluster.message);
  if (!hasOurFinalizer(release)) return acting(seen, { kind: "add-finalizer" });
  const turn = waitsForTurn(seen, taskTimeoutMs(release));
  if (turn !== undefined) return waiting(seen, "Installing", turn, LOOK_MS);
  return begin(seen, errand, helmName, isSame ? (status.attempts ?? 0) : 0);
}

export function begin(seen: ReleaseSeen, errand: Errand, { name, namespace }: ReleaseWish["release"], attempts: number): ReleaseDecision {
  const { release, now } = seen;
  const { uid = "", generation = 0 } = release.metadata;
  const status: TalosClusterAddonReleaseStatus = release.status ?? {};
  const tried = triedBy(errand);
  // The last run is part of it: the same inputs may be installed, left and come back.
  const id = addonRunId(uid, errand.task, `${generation}/${tried ?? ""}/${attempts}/${status.endedRuns?.at(-1) ?? ""}`);
  const run: AddonRun = { name: addonRunName(id), id, ...errand, ...timesOfRun(now, taskTimeoutMs(release)) };
  const message = `${doing(errand, release)} ${namespace}/${name}${attempts === 0 ? "" : `, try ${attempts + 1}`}, by the run ${run.name}.`;
  return busy(
    seen,
    "Installing",
    message,
    { kind: "begin", run },
    {
      run,
      nextAttemptTime: undefined,
      releaseName: name,
      releaseNamespace: namespace,
      ...(seen.cluster.kind === "present" ? { cluster: seen.cluster.name } : {}),
      ...(tried === undefined || status.failedInputs === tried ? {} : { failedInputs: undefined, attempts: undefined }),
      ...(isManifestsRelease(release) ? { manifests: { ...status.manifests, inventory: inventoryOf(release) } } : {}),
    },
  );
}

function doing({ task, revision }: Errand, release: TalosClusterAddonRelease): string {
  if (task === "rollback") return `Going back to revision ${revision ?? 0} of`;
  if (task === "uninstall") return "Uninstalling";
  if (isManifestsRelease(release)) return "Applying";
  return release.status?.revision === undefined ? "Installing" : "Upgrading";
}

/** A run that nobody has started begins when there is room. */
export function startOf({ othersRunning }: ReleaseSeen, run: AddonRun, { kind }: AddonRunState): ReleaseAct {
  return kind === "absent" && othersRunning < RUNS_AT_ONCE ? { kind: "start", run } : { kind: "none" };
}

/** How long a worker may work. Milliseconds. */
export function taskTimeoutMs(release: TalosClusterAddonRelease): number {
  const { spec } = release;
  if (isManifestsRelease(release)) return MANIFESTS_MS;
  const step = helmOptionsOf(spec.helmSpec?.options).timeoutMs ?? 0;
  // Hooks before and after, the objects in between, and the way back.
  return 3 * step + AROUND_HELM_MS;
}
