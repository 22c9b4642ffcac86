// Genuine parts: gitops-judge
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { kstatus } from "@talos-operator/operator/testing";
import type { ReadObject } from "@talos-operator/operator/testing";
import { recordedStates, recordedStatesFile, wantedVerdicts } from "./recorded-objects.ts";
import type { RecordedObject } from "./recorded-objects.ts";

/** What tools make of an object. */
interface Verdict {
  readonly kstatus: string;
  readonly argo: { readonly status: string; readonly message: string };
}

const script = join(import.meta.dirname, "../../../../docs/howto/argocd-health.lua");

describe("genuine kstatus, and Argo CD's interpreter with the script of the manual", () => {
  let judge: (objects: readonly unknown[]) => readonly Verdict[];

  before(() => {
    const tools = process.env.TALOS_OPERATOR_TOOLS;
    assert.ok(tools, "TALOS_OPERATOR_TOOLS must name the folder with the genuine binaries: run npm run test:real");
    judge = (objects) => {
      const { status, stdout, stderr } = spawnSync(join(tools, "gitops-judge"), [script], {
        input: JSON.stringify(objects),
        encoding: "utf8",
      });
      assert.equal(status, 0, stderr);
      return JSON.parse(stdout) as readonly Verdict[];
    };
  });

  it("say of every recorded object what they have to", () => {
    const states = recordedStates(readFileSync(recordedStatesFile, "utf8"));
    assert.deepEqual(states.map(({ state }) => state).toSorted(), Object.keys(wantedVerdicts).toSorted());
    for (const { state, objects } of states) {
      const said = judge(objects).map((verdict, index) => [objects[index]?.kind ?? "", [verdict.kstatus, verdict.argo.status]]);
      assert.deepEqual(Object.fromEntries(said), wantedVerdicts[state], state);
    }
  });

  it("take the message of the condition that decides", () => {
    const cluster = recordedStates(readFileSync(recordedStatesFile, "utf8"))
      .find(({ state }) => state === "a worker has no such disk")
      ?.objects.find(({ kind }) => kind === "TalosCluster");
    assert.equal(judge([cluster])[0]?.argo.message, "PersonNeeded.");
  });

  it("agree with the rules that every test without them goes by", () => {
    const objects = everyStatus();
    const said = judge(objects);
    for (const [index, object] of objects.entries())
      assert.equal(said[index]?.kstatus, kstatus(object as ReadObject), JSON.stringify(object));
  });
});

/** Objects with every combination of what the rules read. */
function everyStatus(): readonly RecordedObject[] {
  const values = [undefined, "True", "False", "Unknown"] as const;
  return values.flatMap((ready) =>
    values.flatMap((reconciling) =>
      values.flatMap((stalled) =>
        [undefined, -1, 1, 2].flatMap((observedGeneration) =>
          [undefined, "2026-01-01T00:00:00Z"].map((deletionTimestamp): RecordedObject => {
            const conditions = Object.entries({ Ready: ready, Reconciling: reconciling, Stalled: stalled }).flatMap(([type, status]) =>
              status === undefined ? [] : [{ type, status, reason: "R", message: "m" }],
            );
            return {
              apiVersion: "talos.alperen.cloud/v1alpha1",
              kind: "TalosCluster",
              metadata: { name: "demo", generation: 2, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
              status: { ...(observedGeneration === undefined ? {} : { observedGeneration }), conditions },
            };
          }),
        ),
      ),
    ),
  );
}
