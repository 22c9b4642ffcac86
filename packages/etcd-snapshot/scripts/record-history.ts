// node packages/etcd-snapshot/scripts/record-history.ts <folder of the genuine tools>   records testdata/etcd-history.{db.zst,json}
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";

import { seeded } from "../src/testing/random.ts";
import { genuineStatus, RealEtcd } from "../src/testing/real-etcd.ts";

process.env["TALOS_OPERATOR_TOOLS"] = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "etcd-history-"));
const random = seeded(20);
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64");
const etcd = await RealEtcd.start(join(folder, "data"));
let revision = 1;
for (let round = 0; round < 400; round += 1) {
  if (round === 150) await etcd.call("maintenance/defragment", {});
  if (round === 250) await etcd.call("kv/compaction", { revision: revision - 20 });
  const key = base64(`/registry/things/ns-${random(3)}/name-${random(60)}`);
  const size = round % 100 === 60 ? 150_000 : round % 25 === 10 ? 9000 : random(700);
  const { header } = (await (random(5) === 0
    ? etcd.call("kv/deleterange", { key })
    : etcd.call("kv/put", { key, value: base64(Buffer.alloc(size, round % 256)) }))) as { header: { revision: string } };
  revision = Number(header.revision);
}
const path = join(folder, "snapshot.db");
await etcd.save(path);
const keys = [...(await etcd.get())].map(([key, { value, ...rest }]) => ({
  key: Buffer.from(key, "base64").toString(),
  ...rest,
  sha256: createHash("sha256").update(Buffer.from(value, "base64")).digest("hex"),
}));
await etcd.stop();
const testdata = join(import.meta.dirname, "../testdata");
const { hash: _, ...status } = await genuineStatus(path);
writeFileSync(join(testdata, "etcd-history.json"), `${JSON.stringify({ status, keys }, undefined, 1)}\n`);
writeFileSync(
  join(testdata, "etcd-history.db.zst"),
  zstdCompressSync(readFileSync(path), { params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
);
rmSync(folder, { recursive: true });
