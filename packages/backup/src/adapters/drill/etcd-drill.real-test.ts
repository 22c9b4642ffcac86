// Genuine parts: etcd, etcdutl
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { DrillFailure, type RestoreDrill, type ScratchFile } from "../../worker/deps.ts";
import { sampleSnapshot } from "../../worker/testing/member.ts";
import { createEtcdDrill } from "./etcd-drill.ts";

const tools = process.env["TALOS_OPERATOR_TOOLS"];
const folder = mkdtempSync(join(tmpdir(), "drill-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function drill(): Promise<RestoreDrill> {
  assert.ok(tools !== undefined, "TALOS_OPERATOR_TOOLS names the folder of the genuine tools: use npm run test:real");
  const made = await createEtcdDrill({ etcdFolder: tools, folder });
  assert.ok(made !== undefined);
  return made;
}

function file(bytes: Uint8Array): ScratchFile {
  const path = join(folder, "snapshot.db");
  writeFileSync(path, bytes);
  return { path, write: () => undefined, close: () => rmSync(path) };
}

test("genuine etcd restores a snapshot, and nothing stays", async () => {
  const etcd = await drill();
  const snapshot = file(sampleSnapshot());
  const restored = await etcd.restore(snapshot, { signal: new AbortController().signal });
  assert.equal(restored.revision, 201);
  assert.equal(restored.liveKeys, 200);
  assert.ok(restored.restoreMs > 0);
  snapshot.close();
  assert.deepEqual(readdirSync(folder), []);
});

test("a snapshot with a changed byte is refused", async () => {
  const etcd = await drill();
  const bytes = sampleSnapshot();
  bytes[5000] = (bytes[5000] ?? 0) ^ 1;
  const snapshot = file(bytes);
  await assert.rejects(
    etcd.restore(snapshot, { signal: new AbortController().signal }),
    (error) => error instanceof DrillFailure && error.kind === "refused",
  );
  snapshot.close();
  assert.deepEqual(readdirSync(folder), []);
});

test("a drill that is given up leaves no process and no file", async () => {
  const etcd = await drill();
  const snapshot = file(sampleSnapshot(2000));
  const stop = new AbortController();
  const restoring = etcd.restore(snapshot, { signal: stop.signal });
  stop.abort();
  await assert.rejects(restoring);
  snapshot.close();
  assert.deepEqual(readdirSync(folder), []);
});

test("without the programs there is no drill", async () => {
  assert.equal(await createEtcdDrill({ etcdFolder: folder, folder }), undefined);
  assert.equal(await createEtcdDrill({ path: "", folder }), undefined);
});
