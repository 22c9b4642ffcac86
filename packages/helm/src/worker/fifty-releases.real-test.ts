// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startGenuineWorkers } from "../testing/adapters/genuine-worker.ts";
import type { GenuineWorkers } from "../testing/adapters/genuine-worker.ts";

const MANY = 50;
/** As many workers as the operator has at once. */
const AT_ONCE = 2;

describe("fifty releases in one cluster", () => {
  let workers: GenuineWorkers;
  before(async () => {
    workers = await startGenuineWorkers();
    await workers.charts.publish("web", "1.0.0");
  });
  after(() => workers.close());

  const inTurns = async (work: (name: string, owner: string) => Promise<void>): Promise<void> => {
    const left = Array.from({ length: MANY }, (_, index) => index);
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        await work(`many-${next}`, `0a7b3c1d-1111-4222-8333-${String(next).padStart(12, "0")}`);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  const names = async (): Promise<number> =>
    (await workers.byHand("list", "--namespace=many", "--short", "--max=0")).trim().split("\n").filter(Boolean).length;

  test("stand in one namespace, each with its own values; an edit and a removal of some leave the others as they are", async () => {
    const place = (name: string) => ({ release: { name, namespace: "many" } });
    await inTurns(async (name, owner) => {
      const made = await workers.give(workers.applyOf(name, "web", { ...place(name), owner }), { values: [`text: of ${name}`] });
      assert.equal(made.kind, "applied", JSON.stringify(made));
    });
    assert.equal(await names(), MANY);
    const isEven = (name: string): boolean => Number(name.split("-")[1]) % 2 === 0;
    await inTurns(async (name, owner) => {
      const task = { ...workers.applyOf(name, "web", { ...place(name), owner }), endedRuns: [] };
      if (isEven(name)) {
        const { release, timeoutMs, options, run } = task;
        const gone = await workers.give({ kind: "uninstall", release, owner, timeoutMs, options, run, endedRuns: [] });
        assert.deepEqual([gone.kind, gone.kind === "uninstalled" && gone.wasThere], ["uninstalled", true]);
      } else {
        const next = await workers.give({ ...task, inputs: "00000000000000bb" }, { values: [`text: again ${name}`] });
        assert.ok(next.kind === "applied" && next.revision.number === 2, JSON.stringify(next));
      }
    });
    assert.equal(await names(), MANY / 2);
    const texts = await workers.server.kubectl(
      "get",
      "configmap",
      "-n",
      "many",
      "-o",
      'jsonpath={range .items[?(@.data.text)]}{.metadata.name}={.data.text}{"\\n"}{end}',
    );
    const wanted = Array.from({ length: MANY }, (_, index) => `many-${index}`).filter((name) => !isEven(name));
    assert.deepEqual(texts.trim().split("\n").toSorted(), wanted.map((name) => `${name}-page=again ${name}`).toSorted());
  });
});
