import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers, threadWorkedMs } from "@talos-operator/adapters";
import type { KubeTransport } from "@talos-operator/ports";
import { createApiServer, createMemoryStore, type ApiServer } from "../index.ts";
import { differences, differentialCrds, differentialGroups, knownDifferences, objectNameOf, runCase, type Answer } from "./index.ts";

const testdata = join(import.meta.dirname, "../../testdata/differential");
const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("the embedded API answers as kube-apiserver 1.36.3 did", () => {
  let server: ApiServer;
  let transport: KubeTransport;
  before(async () => {
    server = await createApiServer({
      store: createMemoryStore(),
      clock: systemClock,
      timers: systemTimers,
      random: systemRandom,
      workedMs: threadWorkedMs,
    });
    transport = server.transport({ name: "tester", groups: ["system:masters"] });
    for (const crd of differentialCrds) assert.equal((await transport.send({ method: "POST", path: crdPath, body: crd })).status, 201);
  });
  after(() => server.close());

  for (const [group, cases] of Object.entries(differentialGroups)) {
    const golden = JSON.parse(readFileSync(join(testdata, `${group}.json`), "utf8")) as Record<string, Answer[]>;
    describe(group, () => {
      for (const one of cases) {
        const known = knownDifferences[one.name];
        it(known === undefined ? one.name : `${one.name} (differs: ${known})`, async () => {
          const genuine = golden[one.name];
          assert.ok(genuine, "no golden for this case: run npm run test:real with UPDATE_GOLDENS=1");
          const found = differences(genuine, await runCase(transport, one, objectNameOf(one)));
          if (known === undefined)
            assert.deepEqual(
              found.map(({ ours }) => ours),
              found.map((pair) => pair.genuine),
            );
          else assert.notEqual(found.length, 0, "agrees by now: take it off the list of known differences");
        });
      }
      it("has no golden without a case", () => {
        assert.deepEqual(
          Object.keys(golden).filter((name) => !cases.some((one) => one.name === name)),
          [],
        );
      });
    });
  }
});
