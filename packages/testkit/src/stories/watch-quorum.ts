import assert from "node:assert/strict";
import type { Story } from "./story.ts";

/** How often is looked, in virtual milliseconds. */
const EVERY_MS = 100;

/** Looks at etcd from the side of the machines, again and again: at every moment a majority of the voters runs. */
export function watchQuorum(world: Story): { end(): void } {
  const losses: string[] = [];
  let isEnded = false;
  const look = (): void => {
    if (isEnded) return;
    const clusters = world.datacenter.etcdClusters();
    if (clusters.length > 1) losses.push(`${clusters.length} etcd clusters`);
    for (const { members, key } of clusters) {
      const voters = members.filter(({ isLearner }) => !isLearner);
      const running = world.datacenter.machines().filter(({ state }) => {
        const { data } = state.etcd;
        const runs = state.power === "on" && state.isConnected && state.services["etcd"]?.state === "Running";
        return runs && data?.cluster === key && voters.some(({ id }) => id === data.memberId);
      });
      if (running.length < Math.floor(voters.length / 2) + 1)
        losses.push(`${running.length} of ${voters.length} voters run: ${running.map(({ address }) => address).join(", ")}`);
    }
    world.time.timers.schedule(EVERY_MS, look);
  };
  look();
  return {
    end() {
      isEnded = true;
      assert.deepEqual([...new Set(losses)], []);
    },
  };
}
