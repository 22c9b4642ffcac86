import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { annotations, type ObjectMeta, type TalosControlPlane } from "@talos-operator/api";
import { configured, controlPlane, facts, inMaintenance, NOW, running, silent, worker } from "../../testing/builders.ts";
import { heldMachines } from "./held-machines.ts";
import type { HeldBy } from "./held-machines.ts";
import type { Look } from "../../model/look.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";

type World = Pick<HeldBy, "controlPlane" | "facts">;

const name = "demo-workers-10.0.1.1";
const one = configured("10.0.1.1", "worker", "demo-workers");

/** A control plane and a record of these machines. */
function world(machines: readonly MachineFact[], more: Partial<ClusterFacts> = {}): World {
  return { controlPlane: controlPlane(), facts: facts({ machines, ...more }) };
}

/** A control plane that was bootstrapped and has lost its record. */
function withoutRecord(metadata: Partial<ObjectMeta> = {}): World {
  const founded: TalosControlPlane = { ...controlPlane(1, {}, metadata), status: { state: "Bootstrapped" } };
  return { controlPlane: founded, facts: "absent" };
}

function held(from: World, listed: readonly string[] = [], policy?: "preserve", look?: Look): unknown {
  const pool = worker(1);
  const asked = policy === undefined ? pool : { ...pool, spec: { ...pool.spec, deletionPolicy: policy } };
  return heldMachines(asked as typeof pool, { ...from, listed, look: () => look });
}

describe("machines of a pool that no TalosMachine stands for", () => {
  it("are held while the record says that they may be configured", () => {
    assert.deepEqual(held(world([one]), [name]), [name]);
  });

  it("are held though the pool lists them no more", () => {
    assert.deepEqual(held(world([one])), [name]);
  });

  it("are not when they were released, never configured, of another pool, or control planes", () => {
    const others = [
      { ...one, releasedAt: NOW },
      configured("10.0.1.2", "worker", "demo-workers", { configuredAt: undefined }),
      configured("10.0.1.3", "worker", "demo-more"),
      configured("10.0.0.1"),
    ];
    assert.deepEqual(held(world(others), [name, "demo-workers-10.0.1.2"]), []);
  });

  it("are not when they are to be left running", () => {
    assert.deepEqual(held(world([one]), [name], "preserve"), []);
  });

  it("are not known when a record says nothing that this release understands", () => {
    assert.equal(held({ controlPlane: controlPlane(), facts: "unknown" }, [name]), "unknown");
  });

  it("are not those of a new cluster, which has no record yet", () => {
    assert.deepEqual(held({ controlPlane: controlPlane(), facts: "absent" }, [name]), []);
  });

  it("are held while the record of a bootstrapped cluster is away, until they wait in maintenance mode or are given up", () => {
    assert.deepEqual(held(withoutRecord(), [name]), [name]);
    assert.deepEqual(held(withoutRecord(), [name], undefined, silent), [name]);
    assert.deepEqual(held(withoutRecord(), [name], undefined, inMaintenance("10.0.1.1")), []);
    assert.deepEqual(held(withoutRecord({ annotations: { [annotations.abandonMachine]: name } }), [name]), []);
    // The name of one machine may be the beginning of another's.
    assert.deepEqual(held(withoutRecord({ annotations: { [annotations.abandonMachine]: name } }), [`${name}2`]), [`${name}2`]);
    assert.deepEqual(held(withoutRecord(), [name], "preserve"), []);
  });

  it("are held by a record that was made anew and does not know them, until they had time to show themselves", () => {
    const anew = world([], { bundle: { ...facts().bundle, wasFound: true } });
    assert.deepEqual(held(anew, [name]), [name]);
    assert.deepEqual(held(anew, [name], undefined, running()), [name]);
    assert.deepEqual(held(anew, [name], undefined, silent), [name]);
    assert.deepEqual(held(anew, [name], undefined, { kind: "silent", at: NOW, since: NOW - 11 * 60_000, detail: "off" }), []);
    assert.deepEqual(held(anew, [name], undefined, inMaintenance("10.0.1.1")), []);
    assert.deepEqual(held(world([]), [name], undefined, running()), []);
    const foundLongAgo = world([], { bundle: { ...facts().bundle, wasFound: true, foundAt: NOW - 10 * 60_000 } });
    const silentFor = (ms: number): Look => ({ kind: "silent", at: NOW, since: NOW - ms, detail: "off" });
    assert.deepEqual(held(foundLongAgo, [name], undefined, silentFor(59_000)), [name]);
    assert.deepEqual(held(foundLongAgo, [name], undefined, silentFor(60_000)), []);
    const given = { ...controlPlane(), metadata: { ...controlPlane().metadata, annotations: { [annotations.abandonMachine]: name } } };
    assert.deepEqual(held({ ...anew, controlPlane: given }, [name, `${name}2`], undefined, silent), [`${name}2`]);
  });
});
