import { annotations, clusterRecordResource, talosControlPlaneResource, type ClusterRecord } from "@talos-operator/api";
import { chooseScenario } from "../scenario.ts";
import { ofCluster } from "../troubles/input.ts";
import { wordFor } from "../words.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { createPeriod, hasWantedMembers, isNode, isSettled, sparesOf, wantedMachines } from "./machines.ts";

const MINUTE = 60_000;

/** How often a person looks whether a record is there again. */
const LOOKS_EVERY_MS = 5_000;

/** A person lets a machine go that nobody can reach, once there is a record that says how it is called. */
async function abandon(world: EditableWorld, address: string): Promise<void> {
  const record = (await world.client.resource(clusterRecordResource).tryGet(ofCluster)) as ClusterRecord | undefined;
  if (record === undefined) {
    world.timers.schedule(LOOKS_EVERY_MS, () => void abandon(world, address));
    return;
  }
  world.stage.abandoned.add(address);
  const value = { metadata: { annotations: { [annotations.abandonMachine]: wordFor(record, address) } } };
  await world.client.resource(talosControlPlaneResource).patch(ofCluster, { type: "merge", value });
}

/** A control plane dies for good; another machine takes its place. */
export const replaceDead: Workload = {
  name: "replace-dead",
  about: "one of 3 control planes dies; a spare machine takes its place, and a person lets the dead one go",
  choose: (random) => chooseScenario(random, { controlPlanes: [3], workers: [0, 1], spares: 1 }),
  steps: (_scenario, random) => {
    const index = Math.floor(random.fraction() * 3);
    const minutes = Math.floor(random.fraction() * 5);
    let dead = "";
    const missed = createPeriod();
    return [
      {
        what: `a control plane dies and is missed for ${minutes} minutes`,
        async make(world) {
          dead = world.stage.desired?.controlPlanes[index] ?? "";
          world.datacenter.machine(dead).powerOff();
          missed.begin(world, minutes * MINUTE);
        },
        isReached: missed.isOver,
      },
      {
        what: "replace it",
        async make(world) {
          const [spare = ""] = sparesOf(world);
          const { controlPlanes = [] } = world.stage.desired ?? {};
          await world.edit({ controlPlanes: [...controlPlanes.filter((address) => address !== dead), spare] });
        },
        isReached: (world) => hasWantedMembers(world) && wantedMachines(world).every(isNode),
      },
      {
        what: "let the dead machine go",
        make: (world) => abandon(world, dead),
        isReached: isSettled,
      },
    ];
  },
};
