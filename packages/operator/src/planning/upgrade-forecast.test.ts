import assert from "node:assert/strict";
import { test } from "node:test";
import { ASSUMED_SECONDS, forecastUpgrade, sayForecast } from "./upgrade-forecast.ts";
import type { ForecastInput, ForecastMachine, UpgradeForecast } from "./upgrade-forecast.ts";
import type { DecisionFact } from "../model/record.ts";

const machine = (name: string, pool = "", leads = false): ForecastMachine => ({ name, pool, leads });
const cps = { role: "controlplane", machines: [machine("a", "", true), machine("b"), machine("c")] } as const;
const pool = (count: number, name = "w"): readonly ForecastMachine[] =>
  Array.from({ length: count }, (_, index) => machine(`${name}${index}`, name));
const decision = (name: string, action: string, reason: string, seconds: number): DecisionFact => ({
  at: seconds * 1000,
  action,
  reason,
  machine: name,
  message: "",
});
const three = { healthy: 3, needed: 2 };

const cases: readonly {
  readonly name: string;
  readonly given: Partial<ForecastInput>;
  readonly want: Partial<UpgradeForecast> | undefined;
}[] = [
  { name: "nothing is to be done", given: {}, want: undefined },
  {
    name: "control planes one by one, the leader last",
    given: { hops: [cps], etcd: three },
    want: { order: ["b", "c", "a"], turns: 3, seconds: 3 * ASSUMED_SECONDS, isFromHistory: false, margin: 0 },
  },
  { name: "two hops are two turns each", given: { hops: [cps, cps] }, want: { order: ["b", "c", "a", "b", "c", "a"], turns: 6 } },
  {
    name: "a single voter leaves none",
    given: { hops: [{ role: "controlplane", machines: [machine("a", "", true)] }], etcd: { healthy: 1, needed: 1 } },
    want: { turns: 1, margin: -1 },
  },
  {
    name: "workers alone cost no vote, and go one by one where nobody allows more",
    given: { hops: [{ role: "worker", machines: pool(3) }], etcd: three },
    want: { turns: 3, margin: undefined },
  },
  {
    name: "the first worker goes alone, the others as many together as may be down",
    given: { hops: [{ role: "worker", machines: pool(6) }], limits: new Map([["w", 2]]) },
    want: { turns: 1 + 3 },
  },
  {
    name: "pools go on beside each other",
    given: { hops: [{ role: "worker", machines: [...pool(4, "v"), ...pool(3, "w")] }] },
    want: { turns: 1 + 3 },
  },
  {
    name: "what machines of the cluster took counts, the median of it",
    given: {
      hops: [cps],
      decisions: [
        decision("b", "InstallTalos", "VersionAsked", 0),
        decision("b", "Reboot", "VersionAsked", 50),
        decision("b", "Reboot", "Upgraded", 100),
        decision("c", "UpgradeTalos", "VersionAsked", 100),
        decision("c", "UpgradeTalos", "Upgraded", 180),
        decision("d", "InstallTalos", "VersionAsked", 200),
        decision("d", "Reboot", "Upgraded", 900),
        decision("e", "InstallTalos", "VersionAsked", 1_000),
        decision("f", "Reboot", "Upgraded", 1_001),
      ],
    },
    want: { secondsEach: 100, seconds: 300, isFromHistory: true },
  },
  {
    name: "what a machine took begins when the one before it was done: its pull counts, and up to Talos 1.12 its drain",
    given: {
      hops: [cps],
      decisions: [
        decision("b", "InstallTalos", "VersionAsked", 0),
        decision("b", "Reboot", "Upgraded", 100),
        decision("c", "UpgradeTalos", "VersionAsked", 160),
        decision("c", "UpgradeTalos", "Upgraded", 240),
        decision("d", "InstallTalos", "VersionAsked", 300),
        decision("d", "Reboot", "VersionAsked", 350),
        decision("d", "Reboot", "Upgraded", 380),
      ],
    },
    want: { secondsEach: 140 },
  },
  {
    name: "what is between two runs counts for no machine, nor does a clock that was set back",
    given: {
      hops: [cps],
      decisions: [
        decision("b", "InstallTalos", "VersionAsked", 50_000),
        decision("b", "Reboot", "Upgraded", 50_100),
        decision("c", "InstallTalos", "VersionAsked", 90_000),
        decision("c", "Reboot", "Upgraded", 90_090),
        decision("d", "InstallTalos", "VersionAsked", 10_000),
        decision("d", "Reboot", "Upgraded", 10_080),
      ],
    },
    want: { secondsEach: 90 },
  },
];

for (const { name, given, want } of cases)
  test(`forecast: ${name}`, () => {
    const found = forecastUpgrade({ hops: [], limits: new Map(), etcd: undefined, decisions: [], ...given });
    if (want === undefined) assert.equal(found, undefined);
    else assert.deepEqual({ ...found, ...want }, found);
  });

test("a forecast is told in sentences", () => {
  const say = (given: Partial<ForecastInput>): string => {
    const found = forecastUpgrade({ hops: [], limits: new Map(), etcd: undefined, decisions: [], ...given });
    return found === undefined ? "" : sayForecast(found);
  };
  assert.equal(
    say({ hops: [cps], etcd: three }),
    "3 boots in 3 turns, about 9 minutes (3 minutes each, assumed: none was upgraded yet): b, c, a. While a control plane boots etcd may lose no other voter.",
  );
  assert.match(say({ hops: [cps], etcd: { healthy: 5, needed: 3 } }), / etcd may lose 1 more\.$/);
  assert.match(say({ hops: [cps], etcd: { healthy: 1, needed: 1 } }), /does not answer while a control plane boots/);
  assert.match(say({ hops: [{ role: "worker", machines: pool(30) }] }), /, w\d+ and 27 more\.$/);
});
