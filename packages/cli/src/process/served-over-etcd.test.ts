import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { systemClock, systemRandom, systemTimers, threadWorkedMs } from "@talos-operator/adapters";
import type { EtcdDatabase } from "@talos-operator/simulator";
import { servedOverEtcd } from "./served-over-etcd.ts";

const user = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const maps = "/api/v1/namespaces/default/configmaps";

/** Answers of an API whose etcd has no room: deletes go on. */
async function answersOf(isWatched: boolean): Promise<readonly (readonly [string, number])[]> {
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    workedMs: threadWorkedMs,
  });
  const full = { isWatched, put: () => "etcdserver: mvcc: database space exceeded", erase: () => undefined } as unknown as EtcdDatabase;
  const served = servedOverEtcd(server, () => full);
  const ask = (api: typeof server, method: string, path: string, body?: object): readonly [string, number] => {
    const answer = api.handle({ method, path, query: {}, headers: { "content-type": "application/json" }, body, user });
    assert.ok(answer.kind === "answer");
    return [method, answer.status];
  };
  const map = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
  assert.equal(ask(server, "POST", maps, map("there"))[1], 201);
  const answers = [
    ask(served, "GET", `${maps}/there`),
    ask(served, "POST", maps, map("more")),
    ask(served, "DELETE", `${maps}/there`),
    ask(served, "GET", `${maps}/there`),
  ];
  server.close();
  return answers;
}

describe("the API of a simulated cluster whose etcd has no room", () => {
  test("refuses what would be written, and goes on reading and deleting", async () =>
    assert.deepEqual(await answersOf(true), [
      ["GET", 200],
      ["POST", 500],
      ["DELETE", 200],
      ["GET", 404],
    ]));
  test("takes everything while nobody fills it", async () =>
    assert.deepEqual(
      (await answersOf(false)).map(([, status]) => status),
      [200, 201, 200, 404],
    ));
});
