import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createApiServer, createMemoryStore } from "../index.ts";
import type { Store } from "../store/store.ts";
import { createSqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "full-disk-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
const configMaps = "/api/v1/namespaces/default/configmaps";

async function serve(store: Store) {
  const server = await createApiServer({ store, ...ports });
  // A test that fails must not leave what keeps the process alive. It may be closed twice.
  after(() => server.close());
  const transport = server.transport({ name: "admin", groups: ["system:masters"] });
  return {
    server,
    get: async (path: string, query: Record<string, string> = {}) => transport.send({ method: "GET", path, query }),
    create: async (name: string, bytes: number) =>
      transport.send({ method: "POST", path: configMaps, body: { metadata: { name }, data: { x: "y".repeat(bytes) } } }),
    remove: async (name: string) => transport.send({ method: "DELETE", path: `${configMaps}/${name}` }),
  };
}

describe("an API whose disk is full", () => {
  it("is alive but not ready, reads go on, and it is ready again once there is room", async () => {
    // A page limit stands for a full disk: SQLite answers both with SQLITE_FULL.
    const { server, get, create, remove } = await serve(createSqliteStore(join(folder, "api.db"), { maxPages: 60 }));
    assert.equal((await get("/readyz")).status, 200);
    let stored = 0;
    while ((await create(`c-${stored}`, 20_000)).status === 201) stored++;
    assert.ok(stored > 0);
    assert.deepEqual(await get("/readyz").then(({ status, body }) => [status, body]), [
      500,
      "[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n",
    ]);
    assert.equal((await get("/readyz/store")).status, 500);
    // It stays so while nobody writes; being restarted would help nobody.
    assert.deepEqual(
      await Promise.all(["/readyz", "/livez", "/healthz", configMaps].map(async (path) => (await get(path)).status)),
      [500, 200, 200, 200],
    );
    for (const name of ["c-0", "c-1"]) assert.equal((await remove(name)).status, 200);
    assert.equal((await get("/readyz")).status, 200);
    assert.equal((await create("more", 20_000)).status, 201);
    const revision = server.revision();
    server.close();
    const again = await serve(createSqliteStore(join(folder, "api.db")));
    assert.equal(again.server.revision(), revision);
    assert.deepEqual(
      ((await again.get(configMaps)).body as { items: { metadata: { name: string } }[] }).items
        .map(({ metadata }) => metadata.name)
        .toSorted(),
      ["more", ...Array.from({ length: stored - 2 }, (_, index) => `c-${index + 2}`)].toSorted(),
    );
    again.server.close();
  });

  it("is not ready where its folder has gone or was made read-only, before anybody writes", async (context) => {
    const inside = mkdtempSync(join(folder, "gone-"));
    const { server, get } = await serve(createSqliteStore(join(inside, "api.db")));
    try {
      if (process.geteuid?.() !== 0) {
        chmodSync(inside, 0o500);
        assert.equal((await get("/readyz")).status, 500);
        chmodSync(inside, 0o700);
        assert.equal((await get("/readyz")).status, 200);
      } else context.diagnostic("root may write everywhere: only the folder that is gone was tried");
      rmSync(inside, { recursive: true });
      assert.equal((await get("/readyz")).status, 500);
    } finally {
      server.close();
    }
  });

  it("is ready when its store can tell of no problem", async () => {
    const { server, get } = await serve(createMemoryStore());
    assert.equal((await get("/readyz", { verbose: "" })).body, "[+]ping ok\n[+]store ok\nreadyz check passed\n");
    server.close();
  });

  // A limit of the shell stands for a full disk where nobody may mount a small one: no file may grow by a byte.
  it(
    "starts with all that was acknowledged, whether it was stopped or killed, and takes no write",
    { skip: process.platform === "win32" },
    () => {
      const path = join(folder, "start", "api.db");
      const modules = JSON.stringify(new URL("sqlite-store.ts", import.meta.url).href);
      const run = (limit: string, program: string): string => {
        const text = `import { createSqliteStore } from ${modules};
        const store = createSqliteStore(${JSON.stringify(path)});
        const write = (revision) => store.commit({ resource: "/c", key: "default/" + revision, revision, object: { x: "y".repeat(9000) } });
        const code = (work) => { try { work(); return "stored"; } catch (err) { return err.code; } };
        ${program}`;
        const { stdout, stderr } = spawnSync("sh", ["-c", `${limit} exec "$0" --input-type=module -e "$1"`, process.execPath, text], {
          encoding: "utf8",
        });
        return stdout + stderr;
      };
      const full = `const before = store.load().entries.length;
      console.log(before, code(() => write(9)), store.problem() !== undefined, store.load().entries.length);`;
      assert.equal(run("", "for (const revision of [1, 2, 3]) write(revision); store.close();"), "");
      assert.equal(run("ulimit -f 0;", `${full} store.close();`), "3 STORE_WRITE_FAILED true 3\n");
      assert.equal(run("", 'write(4); write(5); process.kill(process.pid, "SIGKILL");'), "");
      assert.equal(run("ulimit -f 0;", `${full} process.kill(process.pid, "SIGKILL");`), "5 STORE_WRITE_FAILED true 5\n");
      assert.equal(
        run("", "console.log(store.load().entries.length, code(() => write(6)), store.problem()); store.close();"),
        "5 stored undefined\n",
      );
    },
  );
});
