import { elapsedMs } from "../elapsed.ts";
import type { UpgradeCounters } from "../metrics/upgrade-figures.ts";
import type { UpgradeProgress } from "../report/upgrade-progress.ts";

/** Where machines stood when they were last seen, and since when: for figures alone. A new process begins with none. */
export class UpgradeStages {
  readonly #since = new Map<string, { readonly stage: UpgradeProgress["stage"]; readonly at: number }>();

  /** Tells stages that have ended, and machines that are through or failed. */
  saw(rows: ReadonlyMap<string, UpgradeProgress>, now: number, counters: UpgradeCounters | undefined): void {
    for (const name of new Set([...this.#since.keys(), ...rows.keys()])) {
      const before = this.#since.get(name);
      const stage = rows.get(name)?.stage;
      if (before?.stage === stage) continue;
      if (before !== undefined && before.stage !== "Failed") counters?.upgradeStageEnded(before.stage, elapsedMs(before.at, now) / 1000);
      const hasFailed = stage === "Failed" || stage === "RollingBack";
      if (before !== undefined && before.stage !== "RollingBack" && hasFailed) counters?.upgradeEnded("failed");
      if (before?.stage === "BakeTime" && stage !== "Booting" && !hasFailed) counters?.upgradeEnded("upgraded");
      if (stage === undefined) this.#since.delete(name);
      else this.#since.set(name, { stage, at: now });
    }
  }
}
