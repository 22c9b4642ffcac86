import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadAll } from "js-yaml";
import { validateControlPlaneSpec, validateWorkerSpec } from "./index.ts";
import type { TalosCluster, TalosControlPlane, TalosWorker } from "./index.ts";

const folder = join(import.meta.dirname, "../../../examples");
/** Whole documents: a patch describes what it changes alone. */
const files = globSync("*/*.yaml", { cwd: folder })
  .filter((file) => !file.endsWith("patch.yaml"))
  .toSorted();

describe("the examples", () => {
  it("are there", () => assert.ok(files.length >= 3));

  for (const file of files)
    it(`${file} describes a cluster that can be made`, () => {
      const objects = loadAll(readFileSync(join(folder, file), "utf8")) as readonly (TalosCluster | TalosControlPlane | TalosWorker)[];
      const options = { allowLoopback: !file.startsWith("real-hardware") };
      const parts = objects.flatMap(
        (object): { name: string; controlPlane?: TalosControlPlane["spec"]; worker?: TalosWorker["spec"] }[] => {
          const { name } = object.metadata;
          if (object.kind === "TalosControlPlane") return [{ name, controlPlane: object.spec }];
          if (object.kind === "TalosWorker") return [{ name, worker: object.spec }];
          const worker = object.spec?.worker && { ...object.spec.worker, controlPlaneRef: { name } };
          return [{ name, controlPlane: object.spec?.controlPlane, worker }];
        },
      );
      const controlPlane = parts.find((part) => part.controlPlane);
      const spec = controlPlane?.controlPlane;
      assert.ok(controlPlane && spec);
      assert.deepEqual(validateControlPlaneSpec(spec, options), []);
      for (const { worker } of parts) {
        if (worker === undefined) continue;
        assert.deepEqual(validateWorkerSpec(worker, { ...options, controlPlane: { name: controlPlane.name, spec } }), []);
      }
    });
});
