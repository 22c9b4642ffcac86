import assert from "node:assert/strict";
import test from "node:test";
import { array, assert as check, constantFrom, nat, property, record } from "fast-check";
import { addLearner, elect, foundCluster, hasQuorum, moveLeader, promoteLearner, removeMember, startMember, votersOf } from "./model.ts";
import type { EtcdCluster } from "./model.ts";

const founded = (): EtcdCluster => foundCluster({ key: "k-1", clusterId: "c", secretFingerprint: "s", name: "n1", address: "10.0.0.1" });
const idsOf = (cluster: EtcdCluster): string[] => cluster.members.map((member) => member.id);

/** A cluster of `size` voters, all alive while it grew. */
function grown(size: number): EtcdCluster {
  let cluster = founded();
  for (let n = 2; n <= size; n += 1) cluster = joined(cluster, n);
  return cluster;
}

function joined(cluster: EtcdCluster, n: number): EtcdCluster {
  const added = addLearner(cluster, `10.0.0.${n}`, new Set(idsOf(cluster)));
  assert.ok(added.ok && added.member !== undefined);
  const started = startMember(added.cluster, added.member.id, `n${n}`);
  const promoted = promoteLearner(started, added.member.id, new Set(idsOf(started)));
  assert.ok(promoted.ok);
  return promoted.cluster;
}

const quorumCases = [
  { name: "one of one", size: 1, live: 1, want: true },
  { name: "none of one", size: 1, live: 0, want: false },
  { name: "one of two", size: 2, live: 1, want: false },
  { name: "two of three", size: 3, live: 2, want: true },
  { name: "one of three", size: 3, live: 1, want: false },
  { name: "three of five", size: 5, live: 3, want: true },
  { name: "two of four", size: 4, live: 2, want: false },
];
for (const { name, size, live, want } of quorumCases) {
  test(`${name} ${want ? "is" : "is not"} a quorum`, () => {
    const cluster = grown(size);
    assert.equal(hasQuorum(cluster, new Set(idsOf(cluster).slice(0, live))), want);
  });
}

test("a learner does not vote", () => {
  const cluster = founded();
  const added = addLearner(cluster, "10.0.0.2", new Set(idsOf(cluster)));
  assert.ok(added.ok && added.member !== undefined);
  assert.equal(hasQuorum(added.cluster, new Set(idsOf(cluster))), true);
  assert.equal(hasQuorum(added.cluster, new Set([added.member.id])), false);
});

const refusals: readonly { name: string; act: () => { ok: boolean; refusal?: string }; want: string }[] = [
  {
    name: "a second learner",
    act: () => {
      const first = addLearner(founded(), "10.0.0.2", new Set(idsOf(founded())));
      assert.ok(first.ok);
      return addLearner(first.cluster, "10.0.0.3", new Set(idsOf(founded())));
    },
    want: "etcdserver: too many learner members in cluster",
  },
  {
    name: "a learner while a voter is down",
    act: () => addLearner(grown(3), "10.0.0.9", new Set(idsOf(grown(3)).slice(0, 2))),
    want: "etcdserver: unhealthy cluster",
  },
  { name: "anything without a quorum", act: () => addLearner(grown(3), "10.0.0.9", new Set()), want: "etcdserver: no leader" },
  {
    name: "the removal of the last voter",
    act: () => removeMember(founded(), idsOf(founded())[0] ?? "", new Set(idsOf(founded()))),
    want: "etcdserver: re-configuration failed due to not enough started members",
  },
  {
    name: "the removal of a live voter when the rest would lose its majority",
    act: () => removeMember(grown(3), idsOf(grown(3))[0] ?? "", new Set(idsOf(grown(3)).slice(0, 2))),
    want: "etcdserver: unhealthy cluster",
  },
  {
    name: "the removal of a stranger",
    act: () => removeMember(grown(3), "0123456789abcdef", new Set(idsOf(grown(3)))),
    want: "etcdserver: member not found",
  },
  {
    name: "the promotion of a learner that never started",
    act: () => {
      const added = addLearner(founded(), "10.0.0.2", new Set(idsOf(founded())));
      assert.ok(added.ok && added.member !== undefined);
      return promoteLearner(added.cluster, added.member.id, new Set(idsOf(founded())));
    },
    want: "etcdserver: can only promote a learner member which is in sync with leader",
  },
];
for (const { name, act, want } of refusals) {
  test(`refuses ${name}`, () => {
    const result = act();
    assert.equal(result.ok, false);
    assert.equal(result.refusal, want);
  });
}

test("a dead voter may be removed while the live ones keep a majority", () => {
  const cluster = grown(3);
  const [dead = "", ...alive] = idsOf(cluster);
  const removed = removeMember(cluster, dead, new Set(alive));
  assert.ok(removed.ok);
  assert.deepEqual(idsOf(removed.cluster), alive);
  assert.deepEqual(removed.cluster.removedIds, [dead]);
});

test("leadership moves to a live voter, and to nobody when there is none", () => {
  const cluster = grown(3);
  const [first = "", second = ""] = idsOf(cluster);
  assert.equal(moveLeader({ ...cluster, leader: first }, new Set([first, second]))?.leader, second);
  assert.equal(moveLeader({ ...cluster, leader: first }, new Set([first])), undefined);
});

test("whatever happens, a leader is a live voter of a majority and a member id never comes back", () => {
  const act = record({ kind: constantFrom("add", "remove", "promote", "kill", "revive"), index: nat(6) });
  check(
    property(array(act, { maxLength: 40 }), (acts) => {
      let cluster = founded();
      const dead = new Set<string>();
      const live = (): Set<string> => new Set(idsOf(cluster).filter((id) => !dead.has(id)));
      for (const { kind, index } of acts) {
        const id = idsOf(cluster)[index % cluster.members.length] ?? "";
        if (kind === "kill") dead.add(id);
        if (kind === "revive") dead.delete(id);
        const before = votersOf(cluster).length;
        const result =
          kind === "add"
            ? addLearner(cluster, `10.0.0.${index + 2}`, live())
            : kind === "remove"
              ? removeMember(cluster, id, live())
              : kind === "promote"
                ? promoteLearner(startMember(cluster, id, id), id, live())
                : undefined;
        if (result?.ok === true) cluster = result.cluster;
        cluster = elect(cluster, live());
        assert.ok(Math.abs(votersOf(cluster).length - before) <= 1, "one voter at a time");
        assert.equal(cluster.leader !== undefined, hasQuorum(cluster, live()));
        if (cluster.leader !== undefined)
          assert.ok(live().has(cluster.leader) && votersOf(cluster).some((member) => member.id === cluster.leader));
        assert.ok(!cluster.removedIds.some((removed) => idsOf(cluster).includes(removed)));
      }
    }),
  );
});
