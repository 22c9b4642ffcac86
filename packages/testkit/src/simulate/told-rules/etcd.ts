import type { ToldRule } from "./rule.ts";
import { MESSAGES_MS, WRITTEN_MS } from "./rule.ts";
import { conditionOf, runs, type Told, type ToldObject } from "./told.ts";

/** Members tell of a change at the next look. */
const LOOKED_AT_MS = 40_000;

/** Members of a settled cluster are asked for the list so often: a machine of the cluster would show that it came or went. */
const LISTED_MS = 180_000 + 60_000;

/** Objects that tell of etcd. */
function telling({ pools, clusters }: Told): readonly ToldObject[] {
  return [...pools.filter(({ plural }) => plural === "taloscontrolplanes").map(({ object }) => object), ...clusters];
}

/** W11 a number of members that is said is the number of the member list, where a stranger is a member and where none is. */
const memberCounts = (hasStranger: boolean): ToldRule => ({
  id: "W11",
  toleranceMs: (hasStranger ? LISTED_MS : LOOKED_AT_MS) + MESSAGES_MS,
  judge(told, broken) {
    const clusterId = told.record?.spec.clusterId;
    const etcd = told.datacenter.etcdClusters().filter((one) => one.clusterId === clusterId);
    // A founding by hand beside is somebody's mistake, and said elsewhere.
    if (etcd.length !== 1) return;
    const members = etcd[0]?.members ?? [];
    const own = new Set([...told.machines.values()].map(({ truth }) => truth?.etcd.data?.memberId));
    if (members.some(({ id }) => !own.has(id)) !== hasStranger) return;
    const count = members.length;
    for (const object of telling(told))
      for (const type of ["Bootstrapped", "EtcdHealthy"]) {
        const { status, message = "" } = conditionOf(object, type) ?? {};
        if (status !== "True") continue;
        const said = /(\d+)( [a-z]+)? member(\(s\)|s)?\b/.exec(message)?.[1];
        if (said !== undefined && Number(said) !== count)
          broken(
            `${object.kind} ${type}`,
            () => `${object.kind} ${object.metadata?.name}: ${type} speaks of ${said} member(s), and there are ${count}`,
          );
      }
  },
});

/** W12 etcd is said to be founded where it was, and only there. */
const bootstrapped: ToldRule = {
  id: "W12",
  toleranceMs: LOOKED_AT_MS + WRITTEN_MS,
  judge(told, broken) {
    const clusterId = told.record?.spec.clusterId;
    const isDone = told.record?.spec.bootstrap?.done !== undefined;
    for (const object of telling(told)) {
      const condition = conditionOf(object, "Bootstrapped");
      if (condition === undefined || object.metadata?.deletionTimestamp !== undefined) continue;
      if (
        condition.status === "True" &&
        clusterId !== undefined &&
        !told.datacenter.etcdClusters().some((one) => one.clusterId === clusterId)
      )
        broken(`${object.kind} founded`, () => `${object.kind} says that etcd was founded, and it never was`);
      if (condition.status === "False" && isDone)
        broken(`${object.kind} done`, () => `${object.kind}: Bootstrapped ${condition.reason}, and the record has it done`);
      const member = [...told.machines.values()].find(
        ({ truth, isListed, isControlPlane, isKnown }) =>
          isListed &&
          isControlPlane &&
          isKnown &&
          truth?.etcd.data !== undefined &&
          runs(truth) &&
          truth.services["etcd"]?.state === "Running",
      );
      if (condition.reason === "WaitingForControlPlanes" && member !== undefined)
        broken(`${object.kind} waits`, () => `${object.kind} waits for etcd to be founded, and ${member.name} is a member`);
    }
  },
};

export const etcdRules: readonly ToldRule[] = [memberCounts(false), memberCounts(true), bootstrapped];
