import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubernetesCluster, ObjectMeta } from "@talos-operator/api";
import type { Leading } from "../../leading.ts";
import { liveCluster } from "./live-cluster.ts";

const cached = { metadata: { namespace: "default", name: "demo", uid: "1" } } as KubernetesCluster;

const cases: readonly {
  readonly name: string;
  readonly live: Partial<ObjectMeta> | undefined;
  readonly leftMs?: number;
  readonly want: boolean;
}[] = [
  { name: "it is as the cache shows it", live: {}, want: true },
  { name: "it is gone", live: undefined, want: false },
  { name: "another one has its name", live: { uid: "2" }, want: false },
  { name: "it is being deleted", live: { deletionTimestamp: "2026-01-01T00:00:00Z" }, want: false },
  { name: "it is paused", live: { annotations: { "talos.alperen.cloud/reconcile-mode": "disable" } }, want: false },
  { name: "the lease has ended since it was asked", live: {}, leftMs: 0, want: false },
];

for (const { name, live, leftMs = 1, want } of cases)
  test(`something is made for a KubernetesCluster: ${want ? "" : "not "}when ${name}`, async () => {
    let reads = 0;
    const latest = async (): Promise<KubernetesCluster | undefined> => {
      reads += 1;
      return live === undefined ? undefined : { ...cached, metadata: { ...cached.metadata, ...live } };
    };
    const question = liveCluster(cached, latest, { remainingMs: () => leftMs } as Leading);
    assert.deepEqual([await question.isOwnerThere(), await question.isOwnerThere()], [want, want]);
    assert.equal(reads, 1, "what one pass makes asks once");
    assert.equal(await liveCluster(cached, latest, { remainingMs: () => leftMs } as Leading).isOwnerThere(), want);
    assert.equal(reads, 2, "the next pass asks again");
  });
