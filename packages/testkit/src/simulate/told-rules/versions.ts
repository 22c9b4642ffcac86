import type { ToldRule } from "./rule.ts";
import { WRITTEN_MS } from "./rule.ts";
import { answers, conditionOf, runs, type Told, type ToldObject } from "./told.ts";

/** What a machine says about itself is read anew so often at least, plus one look and the writes. */
const READ_ANEW_MS = 130_000;

/** W1 the version shown is the version run. */
const machineVersion: ToldRule = {
  id: "W1",
  toleranceMs: READ_ANEW_MS,
  judge({ machines }, broken) {
    for (const { name, object, truth } of machines.values()) {
      if (object === undefined || truth === undefined || !answers(truth)) continue;
      const { talosVersion } = truth.hardware;
      const shown = object.status?.observedVersion;
      if (shown !== undefined && shown !== talosVersion)
        broken(name, () => `TalosMachine ${name} shows ${shown}, and ${talosVersion} runs`);
    }
  },
};

/** W2 pools and clusters show the versions of their machines, and no other. */
const sumsOfVersions: ToldRule = {
  id: "W2",
  toleranceMs: WRITTEN_MS + 10_000,
  judge(told, broken) {
    const versions = new Set<string>();
    for (const { name, plural, object, machines } of told.pools) {
      const own = new Set(machines.flatMap((machine) => machine.object?.status?.observedVersion ?? []));
      for (const version of own) versions.add(version);
      differs(`${plural} ${name}`, object, own, broken);
    }
    for (const object of told.clusters) differs(`${object.kind} ${object.metadata?.name ?? ""}`, object, versions, broken);
  },
};

function differs(
  what: string,
  object: ToldObject,
  versions: ReadonlySet<string>,
  broken: (key: string, detail: () => string) => void,
): void {
  const shown = object.status?.observedVersion;
  if (shown === undefined) return;
  // What is on its way out shows what it ran last, once the last of its machines is gone.
  if (versions.size === 0 && object.metadata?.deletionTimestamp !== undefined) return;
  const wrong = shown.split(", ").filter((version) => !versions.has(version));
  if (wrong.length > 0) broken(what, () => `${what} shows ${shown}, and its machines show ${[...versions].join(", ") || "nothing"}`);
}

/** W3 where a well machine runs another Talos than its pool asks for, the pool and what it belongs to say so, and name both. */
const upgradeNamed: ToldRule = {
  id: "W3",
  toleranceMs: READ_ANEW_MS,
  judge(told, broken) {
    // Where the record is lost nothing is done to any pool, and the control plane says that.
    if (told.record === undefined) return;
    for (const { name, plural, object, machines } of told.pools) {
      if (conditionOf(object, "Ready")?.status !== "True") continue;
      const other = machines.find(
        ({ truth, asked }) => truth !== undefined && asked !== undefined && runs(truth) && truth.hardware.talosVersion !== asked,
      );
      const { hardware } = other?.truth ?? {};
      const { asked = "" } = other ?? {};
      if (hardware === undefined || hardware.platform === "container") continue;
      for (const one of [object, ...told.clusters]) {
        if (conditionOf(one, "Ready")?.status !== "True") continue;
        const message = conditionOf(one, "UpgradePending")?.message ?? "";
        if (!message.includes(asked) || !message.includes(hardware.talosVersion))
          broken(
            `${plural} ${name} ${one.kind}`,
            () => `${one.kind} does not name ${hardware.talosVersion} and ${asked} of ${other?.name ?? ""}: ${message}`,
          );
      }
    }
  },
};

/** W4 the Kubernetes that a control plane shows is what its kubelets run. */
const kubernetesVersion: ToldRule = {
  id: "W4",
  // A live configuration is read back after that time at the latest.
  toleranceMs: 10 * 60_000,
  judge(told: Told, broken) {
    for (const { name, plural, object, machines } of told.pools) {
      const shown = object.status?.observedKubeVersion;
      if (plural !== "taloscontrolplanes" || shown === undefined) continue;
      const running = machines.flatMap(({ truth }) => (truth !== undefined && runs(truth) ? [kubeletOf(truth.config.active ?? "")] : []));
      if (running.length > 0 && !running.includes(undefined) && !running.includes(shown))
        broken(name, () => `${name} shows Kubernetes ${shown}, and its kubelets are ${running.join(", ")}`);
    }
  },
};

function kubeletOf(config: string): string | undefined {
  return /\/kubelet:(v[\w.-]+)/.exec(config)?.[1];
}

export const versionRules: readonly ToldRule[] = [machineVersion, sumsOfVersions, upgradeNamed, kubernetesVersion];
