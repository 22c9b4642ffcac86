import { controllerOf, findCondition } from "@talos-operator/api";
import type { TalosClusterAddon, TalosClusterAddonRelease } from "@talos-operator/api";
import type { AddonRunRequest } from "@talos-operator/operator";
import type { SimulatedHelm, StoredRevision } from "../../world/simulated-helm.ts";
import type { Report } from "../violation.ts";
import type { ObjectView } from "../object-view.ts";
import { CLUSTER_NAME, ENDPOINT } from "../scenario.ts";

export interface AddonRulesInput {
  readonly objects: ObjectView;
  readonly report: Report;
  readonly now: () => number;
  readonly helm: () => SimulatedHelm;
  /** A person paused the cluster so long ago that everybody knows. */
  readonly isPaused: () => boolean;
  /** Releases that a person deleted themselves, by name. */
  readonly deletedByHand: ReadonlySet<string>;
}

/** Watches what is said and done about addons, with eyes of its own. */
export interface AddonRules {
  /** After every change of an object. */
  changed(): void;
  /** A run is about to begin. @param isLate its request was on the way for a while: nobody could count it */
  starts(run: AddonRunRequest, isLate: boolean): void;
  /** A run is about to work on a release of which Helm knows this much. */
  works(run: AddonRunRequest, before: readonly StoredRevision[]): void;
}

/** Workers at once. */
const MOST_RUNS = 2;

/** How long a deletion tries to uninstall. Milliseconds. */
const REMOVAL_MS = 10 * 60_000;

export function createAddonRules({ objects, report, now, helm, isPaused, deletedByHand }: AddonRulesInput): AddonRules {
  /** Releases that were seen to go, by UID. */
  const going = new Set<string>();
  /** Releases as they were last seen, by UID. */
  const seen = new Map<string, TalosClusterAddonRelease>();

  const releases = (): readonly TalosClusterAddonRelease[] =>
    objects.all("talosclusteraddonreleases") as unknown as readonly TalosClusterAddonRelease[];
  const addonOf = (release: TalosClusterAddonRelease): TalosClusterAddon | undefined => {
    const owner = controllerOf(release.metadata);
    const addon = objects.get("talosclusteraddons", owner?.name ?? "") as unknown as TalosClusterAddon | undefined;
    return addon?.metadata.uid === owner?.uid ? addon : undefined;
  };
  const doesClusterStay = (): boolean => {
    const controlPlane = objects.get("taloscontrolplanes", CLUSTER_NAME);
    return controlPlane !== undefined && controlPlane.metadata?.deletionTimestamp === undefined;
  };

  /** W12: a release goes when its addon goes, when its cluster does, or by a person. */
  const judgeRemoval = (release: TalosClusterAddonRelease): void => {
    const { name, uid = "", deletionTimestamp } = release.metadata;
    if (deletionTimestamp === undefined || going.has(uid)) return;
    going.add(uid);
    if (deletedByHand.has(name)) return;
    const addon = addonOf(release);
    if (addon === undefined || addon.metadata.deletionTimestamp !== undefined || addon.spec.onDeselect === "uninstall") return;
    if (doesClusterStay()) report("W12", `the release ${name} is deleted, and neither ${addon.metadata.name} nor the cluster goes`);
  };

  /** What is called installed is what Helm runs, for this object and of these inputs. */
  const judgeWords = ({ metadata, status }: TalosClusterAddonRelease): void => {
    const ready = findCondition(status?.conditions, "Ready");
    if (ready?.reason !== "Installed" || status?.run !== undefined || metadata.deletionTimestamp !== undefined) return;
    const name = `${status?.releaseNamespace ?? ""}/${status?.releaseName ?? ""}`;
    const newest = helm().history(ENDPOINT, name)[0];
    if (newest?.status === "deployed" && newest.owner === metadata.uid && newest.inputs === status?.inputs) return;
    report(
      "AD1",
      `${metadata.name} is called installed as revision ${status?.revision ?? 0}, and the newest of ${name} is ${newest === undefined ? "none" : `${newest.number}, ${newest.status}, of inputs ${newest.inputs ?? "-"} where ${status?.inputs ?? "-"} are recorded`}`,
    );
  };

  /** What a release that is gone had installed is gone as well, unless that was tried for its ten minutes. */
  const judgeEnd = ({ metadata, status }: TalosClusterAddonRelease): void => {
    const name = `${status?.releaseNamespace ?? ""}/${status?.releaseName ?? ""}`;
    const newest = helm().history(ENDPOINT, name)[0];
    if (newest === undefined || newest.owner !== metadata.uid || !doesClusterStay()) return;
    const triedMs = now() - Date.parse(status?.uninstallStartTime ?? "");
    if (!(triedMs >= REMOVAL_MS)) report("AD4", `${metadata.name} is gone, and ${name} is still installed as revision ${newest.number}`);
  };

  /** An edit makes one revision, and nothing else makes any. */
  const judgeRevisions = (name: string, [newest, before]: readonly StoredRevision[]): void => {
    const wasMade = [newest, before].every((one) => one !== undefined && ["deployed", "superseded"].includes(one.status));
    if (!wasMade || newest?.inputs === undefined || newest.inputs !== before?.inputs || newest.owner !== before.owner) return;
    report("AD2", `revision ${newest.number} of ${name} is made of what ${before.number} was made of`);
  };

  return {
    changed() {
      const there = new Set(releases().map(({ metadata }) => metadata.uid));
      for (const [uid, release] of seen) {
        if (there.has(uid)) continue;
        seen.delete(uid);
        judgeEnd(release);
      }
      for (const release of releases()) {
        seen.set(release.metadata.uid ?? "", release);
        judgeRemoval(release);
        judgeWords(release);
      }
    },
    starts(run, isLate) {
      if (isPaused()) report("S31", `${run.name} begins while the cluster is paused`);
      const others = helm()
        .going()
        .filter(({ name }) => name !== run.name);
      if (isLate) return;
      if (others.length >= MOST_RUNS) report("O8", `${run.name} begins beside ${others.map(({ name }) => name).join(", ")}`);
      const { name, namespace } = run.task.release;
      const same = others.find(({ task }) => task.release.name === name && task.release.namespace === namespace);
      if (same !== undefined) report("AD3", `${run.name} begins while ${same.name} works on ${namespace}/${name}`);
    },
    works({ name, task, owner }, before) {
      judgeRevisions(`${task.release.namespace}/${task.release.name}`, before);
      if (task.kind !== "uninstall") return;
      const release = releases().find(({ metadata }) => metadata.uid === owner.uid);
      if (release !== undefined && release.metadata.deletionTimestamp === undefined)
        report("AD4", `${name} uninstalls what ${release.metadata.name} asks for, and nobody deleted that`);
      if (!doesClusterStay()) report("AD4", `${name} uninstalls ${task.release.name} from a cluster that goes`);
    },
  };
}
