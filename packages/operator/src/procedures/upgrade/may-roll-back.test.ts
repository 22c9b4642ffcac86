import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../../testing/builders.ts";
import { mayRollBack } from "./may-roll-back.ts";
import type { Look } from "../../model/look.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** Talos 1.10 brings etcd 3.5, and 1.11 and 1.12 bring 3.6. */
const [older, newer, newest] = ["v1.10.9", "v1.11.6", "v1.12.2"];
const intent: UpgradeIntent = {
  what: "Reboot",
  role: "controlplane",
  machine: "demo-10.0.0.1",
  address: "10.0.0.1",
  uuid: "",
  at: NOW,
  deadline: NOW,
  why: "",
  talosBefore: older,
  talosVersion: newer,
};
const other = (index: number, version: string, isHealthy = true): Look => running({ ...member(index, 3), isHealthy }, { version });
const tells = (index: number, version: string, storage: string, isHealthy = true): Look =>
  running({ ...member(index, 3), isHealthy, storage }, { version });
/** Its etcd is started again and again, and ends each time. */
const ends: Look = running({ ...member(0, 3), service: "Waiting", isHealthy: false }, { version: newer });
const unreported: Look = running({ ...member(0, 3), service: undefined, isHealthy: false }, { version: newer });

const cases: readonly (readonly [string, boolean, Partial<UpgradeIntent>, readonly [Look, Look], Look?])[] = [
  ["another member runs the older etcd", true, {}, [other(1, older), other(2, newer)]],
  ["every other member runs the newer etcd", false, {}, [other(1, newer), other(2, newer)]],
  ["the others run a Talos that is newer still", false, {}, [other(1, newest), other(2, newest)]],
  ["the one with the older etcd is not healthy", false, {}, [other(1, older, false), other(2, newer)]],
  ["the one with the older etcd is silent", false, {}, [silent, other(2, newer)]],
  ["both bring the same etcd", true, { talosBefore: newer, talosVersion: newest }, [other(1, newest), other(2, newest)]],
  ["it is a worker", true, { role: "worker" }, [other(1, newer), other(2, newer)]],
  ["its etcd never ran and the others tell the older data", true, {}, [tells(1, newer, "3.5.0"), tells(2, newer, "3.5.0")], ends],
  ["its etcd ends and one of the others tells the newer data", false, {}, [tells(1, newer, "3.5.0"), tells(2, newer, "3.6.0")], ends],
  ["its etcd runs, and the others may raise their data at any moment", false, {}, [tells(1, newer, "3.5.0"), tells(2, newer, "3.5.0")]],
  ["nobody tells whether its etcd runs", false, {}, [tells(1, newer, "3.5.0"), tells(2, newer, "3.5.0")], unreported],
  ["its etcd never ran and nobody tells of what version the data are", false, {}, [other(1, newer), other(2, newer)], ends],
  ["its etcd never ran and only one that is not healthy tells the older data", false, {}, [tells(1, newer, "3.5.0", false), silent], ends],
  ["another member runs the older etcd, and tells the newer data", false, {}, [tells(1, older, "3.6.0"), tells(2, newer, "3.6.0")], ends],
  ["nothing is known of the etcd of a version", false, { talosBefore: "v1.1.0" }, [other(1, older), other(2, older)]],
];
for (const [what, may, over, [second, third], first = running(member(0, 3), { version: newer })] of cases)
  test(`a machine ${may ? "may" : "must not"} go back to the Talos of before where ${what}`, () => {
    const assessed = assess(
      observed({
        controlPlane: controlPlane(3),
        facts: facts({ bootstrapDone: founded, machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`)) }),
        looks: { "10.0.0.1": first, "10.0.0.2": second, "10.0.0.3": third },
      }),
    );
    assert.equal(mayRollBack(assessed.machines, { ...intent, ...over }) === undefined, may);
  });
