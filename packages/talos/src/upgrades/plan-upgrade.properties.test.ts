import assert from "node:assert/strict";
import { test } from "node:test";
import {
  array,
  assert as check,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  property,
  record,
  string,
  tuple,
  uniqueArray,
} from "fast-check";
import type { Arbitrary } from "fast-check";
import { planUpgrade } from "./plan-upgrade.ts";
import { isLegalKubernetesHop, isLegalTalosHop, slowSearch } from "./testing/slow-search.ts";
import type { SlowState, SlowWish } from "./testing/slow-search.ts";
import type { Hop, UpgradePlan, UpgradeWish } from "./upgrade.ts";

const patch = constantFrom(0, 3, 5);
const talos = tuple(integer({ min: 8, max: 14 }), patch).map(([minor, number]) => `v1.${minor}.${number}`);
/** Mostly up, as people ask. */
const talosFrom = (runs: string): Arbitrary<string> =>
  oneof(
    { weight: 1, arbitrary: talos },
    {
      weight: 3,
      arbitrary: tuple(nat({ max: 3 }), patch).map(([up, number]) => `v1.${Math.min(14, Number(runs.split(".")[1]) + up)}.${number}`),
    },
  );
const kubernetes = tuple(integer({ min: 30, max: 36 }), constantFrom(0, 2)).map(([minor, number]) => `v1.${minor}.${number}`);

/** `null` in most cases. */
const rarely = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | null> =>
  oneof({ weight: 3, arbitrary: constant(null) }, { weight: 1, arbitrary });

/** Most machines of a cluster run the same and ask for the same, which is where sequences are long. */
const wishes: Arbitrary<SlowWish> = talos
  .chain((runs) =>
    record({
      runs: constant(runs),
      asked: talosFrom(runs),
      others: array(record({ isControlPlane: boolean(), runs: rarely(talosFrom(runs)), asked: rarely(talosFrom(runs)) }), {
        minLength: 1,
        maxLength: 3,
      }),
      kubernetes: record({ runs: kubernetes, asked: option(kubernetes, { freq: 2 }) }),
      allows: option(nat({ max: 2 })),
    }),
  )
  .map(({ runs, asked, others, kubernetes: versions, allows }) => {
    const machines = others.map((one, index) => ({
      name: `m${index}`,
      isControlPlane: index === 0 || one.isControlPlane,
      runs: one.runs ?? runs,
      asked: one.asked ?? asked,
    }));
    return {
      machines,
      kubernetes: { runs: versions.runs, asked: versions.asked ?? versions.runs },
      allowDowngrade: allows === null ? "" : (machines[allows]?.asked ?? versions.asked ?? ""),
    };
  });

function planOf({ machines, kubernetes: versions, allowDowngrade }: SlowWish): UpgradePlan {
  const wish: UpgradeWish = {
    machines: machines.map(({ name, isControlPlane, runs, asked }) => ({
      name,
      role: isControlPlane ? "controlplane" : "worker",
      runs: { version: runs },
      asked: { version: asked },
    })),
    kubernetes: versions,
    allowDowngrade,
    upgradesKubernetes: true,
  };
  return planUpgrade(wish);
}

const hopsOf = (plan: UpgradePlan): readonly Hop[] => (plan.kind === "hops" ? plan.hops : []);

function after(wish: SlowWish, state: SlowState, hop: Hop): SlowState {
  if (hop.kind === "kubernetes") return { ...state, kubernetes: hop.version };
  const moved = new Set(hop.machines.map(({ name }) => name));
  return { ...state, machines: state.machines.map((runs, index) => (moved.has(wish.machines[index]?.name ?? "") ? hop.version : runs)) };
}

const startOf = (wish: SlowWish): SlowState => ({ machines: wish.machines.map(({ runs }) => runs), kubernetes: wish.kubernetes.runs });
const from = (wish: SlowWish, state: SlowState): SlowWish => ({
  ...wish,
  machines: wish.machines.map((machine, index) => ({ ...machine, runs: state.machines[index] ?? "" })),
  kubernetes: { ...wish.kubernetes, runs: state.kubernetes },
});

test("a plan is there exactly where a search over the matrix finds a way, and no shorter one is", () => {
  const found = { settled: 0, hops: 0, none: 0, longest: 0, withKubernetes: 0, back: 0 };
  check(
    property(wishes, (wish) => {
      const plan = planOf(wish);
      assert.equal(plan.kind === "none" ? undefined : hopsOf(plan).length, slowSearch(wish));
      found[plan.kind] += 1;
      found.longest = Math.max(found.longest, hopsOf(plan).length);
      if (hopsOf(plan).some(({ kind }) => kind === "kubernetes")) found.withKubernetes += 1;
      if (hopsOf(plan).some((hop) => hop.kind === "talos" && hop.isDowngrade)) found.back += 1;
    }),
    { numRuns: 1_500 },
  );
  assert.ok(
    found.hops > 300 && found.none > 100 && found.longest > 4 && found.withKubernetes > 20 && found.back > 10,
    JSON.stringify(found),
  );
});

test("every hop is legal, the last one leads to what is asked for, and a plan from any hop, or from the middle of one, is the rest", () => {
  check(
    property(wishes, nat(), (wish, chance) => {
      const hops = hopsOf(planOf(wish));
      let state = startOf(wish);
      for (const [index, hop] of hops.entries()) {
        const next = after(wish, state, hop);
        const chosen = next.machines.flatMap((runs, at) => (runs === state.machines[at] ? [] : [at]));
        const isLegal =
          hop.kind === "kubernetes"
            ? isLegalKubernetesHop(wish, state, next)
            : chosen.length === hop.machines.length && isLegalTalosHop(wish, state, next, { chosen, isBack: hop.isDowngrade });
        assert.ok(isLegal, `${JSON.stringify(hop)} after ${JSON.stringify(state)}`);
        if (hop.kind === "talos") {
          const done = chance % hop.machines.length;
          const half = after(wish, state, { ...hop, machines: hop.machines.slice(0, done) });
          assert.deepEqual(hopsOf(planOf(from(wish, half))), [{ ...hop, machines: hop.machines.slice(done) }, ...hops.slice(index + 1)]);
        }
        state = next;
        assert.deepEqual(hopsOf(planOf(from(wish, state))), hops.slice(index + 1));
      }
      if (hops.length > 0)
        assert.deepEqual(state, { machines: wish.machines.map(({ asked }) => asked), kubernetes: wish.kubernetes.asked });
    }),
    { numRuns: 1_500 },
  );
});

test("the order of machines changes nothing, and no text breaks a plan", () => {
  const text = oneof(talos, kubernetes, string(), constantFrom("", "v1.13", "v1.13.6-rc.0; rm -rf", "v99.0.0", "v1.999999.0"));
  const machine = record({
    name: string({ maxLength: 3 }),
    role: constantFrom("controlplane" as const, "worker" as const),
    runs: record({ version: text }),
    asked: record({ version: text }),
  });
  check(
    property(
      uniqueArray(machine, { selector: ({ name }) => name, maxLength: 5 }),
      record({ runs: text, asked: text }),
      text,
      text,
      (machines, versions, allowDowngrade, etcdStorage) => {
        const wish = { machines, kubernetes: versions, allowDowngrade, etcdStorage };
        assert.deepEqual(planUpgrade({ ...wish, machines: machines.toReversed() }), planUpgrade(wish));
      },
    ),
  );
});
