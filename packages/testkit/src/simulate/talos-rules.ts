import type { ClusterRecord, OpenIntent } from "@talos-operator/api";
import type { Datacenter, SimulatedMachine } from "@talos-operator/simulator";
import { compareVersions, isSameSchematic, noSchematic } from "@talos-operator/talos";
import type { EffectId } from "./effects.ts";
import type { Report } from "./violation.ts";
import { livingEtcd } from "./living-etcd.ts";
import type { Stage } from "./stage.ts";

/** A node that is not ready for longer is known not to be. */
const KNOWN_MS = 90_000;

/** Watches where another Talos goes, and judges it by what the machines run. */
export interface TalosRules {
  /** Before an effect leaves the operator. @param open intents of the record @param detail path of the call, then the address */
  beforeSend(effect: EffectId, address: string, open: readonly OpenIntent[], detail: string): void;
  look(): void;
}

/**
 * S21 another Talos goes to no machine that runs it, none goes back by an installation, and no control plane gets or boots one while another one is not back. The last
 * is for control planes: workers are S24's, as many at once as their pool allows. Who goes back to the Talos of before does so whatever the others are.
 */
export function createTalosRules(datacenter: Datacenter, stage: Stage, now: () => number, report: Report): TalosRules {
  const notReadySince = new Map<SimulatedMachine["address"], number>();
  const machineAt = (address: string): SimulatedMachine => datacenter.machine(stage.routes.get(address) ?? address);

  /** Control planes that are wanted and vote, and are no ready nodes. */
  function away(): readonly string[] {
    const members = new Set(livingEtcd(datacenter).flatMap((etcd) => etcd.members.map(({ id }) => id)));
    return (stage.desired?.controlPlanes ?? []).filter((address) => {
      const { etcd, kubernetes, power, isConnected } = machineAt(address).state;
      const isMember = etcd.data !== undefined && members.has(etcd.data.memberId);
      return isMember && !(kubernetes.isNodeReady && power === "on" && isConnected);
    });
  }

  function look(): void {
    const gone = away();
    for (const address of notReadySince.keys()) if (!gone.includes(address)) notReadySince.delete(address);
    for (const address of gone) if (!notReadySince.has(address)) notReadySince.set(address, now());
  }

  return {
    look,
    beforeSend(effect, address, open, detail) {
      if ((effect !== "T10" && effect !== "T11") || detail.includes("/Rollback ")) return;
      const intent = open.find(({ machine, talosVersion }) => machine.address === address && talosVersion !== undefined);
      if (intent?.talosVersion === undefined) return;
      const { talosVersion: asked, talosSchematic } = intent;
      const { hardware, schematic } = machineAt(address).state;
      const order = compareVersions(asked, hardware.talosVersion);
      if (order < 0) report("S21", `Talos ${asked} goes to ${address}, which runs the newer ${hardware.talosVersion}`);
      if (order === 0 && isSameSchematic(schematic ?? noSchematic, talosSchematic))
        report("S21", `Talos ${asked} goes to ${address}, which runs it`);
      if (!stage.everControlPlanes.has(address)) return;
      for (const [other, since] of notReadySince)
        if (other !== address && now() - since > KNOWN_MS) report("S21", `Talos ${asked} goes to ${address} while ${other} is not back`);
    },
  };
}

/** What a record holds as begun. */
export function intentsOf(record: ClusterRecord | undefined): readonly OpenIntent[] {
  const { openControlPlaneIntent, openWorkerIntents = [] } = record?.spec ?? {};
  return [...(openControlPlaneIntent === undefined ? [] : [openControlPlaneIntent]), ...openWorkerIntents];
}
