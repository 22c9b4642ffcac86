import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMemoryFiles } from "../testing/memory-files.ts";
import { createResults, RESULTS_HEADER } from "./results.ts";
import type { FileOperation, ResultsOwner } from "./results.ts";

const demo: ResultsOwner = { namespace: "default", name: "demo", uid: "uid-1" };
const twin: ResultsOwner = { namespace: "other", name: "demo", uid: "uid-2" };

function world(): ReturnType<typeof build> {
  return build();
}

function build() {
  const tree = createMemoryFiles();
  const alive = new Set(["uid-1", "uid-2"]);
  let now = 0;
  const operations: string[] = [];
  const results = createResults({
    tree,
    clock: { now: () => now },
    isAlive: (uid) => alive.has(uid),
    freshMs: 30_000,
    onOperation: (operation: FileOperation, isDone: boolean) => operations.push(`${operation} ${isDone ? "success" : "error"}`),
  });
  return { tree, alive, results, operations, pass: (ms: number) => void (now += ms) };
}

const files = (...names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(names.map((name) => [`${name}.yaml`, `name: ${name}\n`]));

describe("the files of a cluster", () => {
  test("are written with their owner first, and only what differs is touched again (A046, A048)", async () => {
    const { tree, results, pass } = world();
    assert.deepEqual(await results.keep(demo, files("a", "b")), { folder: "demo", remark: undefined });
    assert.deepEqual(tree.log, ["write demo/.owner", "write demo/a.yaml", "write demo/b.yaml"]);
    assert.equal(tree.texts.get("demo/.owner"), "uid-1\n");
    assert.equal(tree.texts.get("demo/a.yaml"), `${RESULTS_HEADER}name: a\n`);
    await results.keep(demo, files("a", "b"));
    pass(60_000);
    await results.keep(demo, files("a", "b"));
    assert.equal(tree.log.length, 3);
    await results.keep(demo, files("a", "c"));
    assert.deepEqual(tree.log.slice(3), ["write demo/c.yaml", "remove demo/b.yaml"]);
  });

  test("are put right when somebody changed them, at the next look at the disk", async () => {
    const { tree, results, pass } = world();
    await results.keep(demo, files("a"));
    tree.put("demo/a.yaml", "changed");
    await results.keep(demo, files("a"));
    assert.equal(tree.texts.get("demo/a.yaml"), "changed");
    pass(30_000);
    await results.keep(demo, files("a"));
    assert.equal(tree.texts.get("demo/a.yaml"), `${RESULTS_HEADER}name: a\n`);
  });

  test("go with the cluster, their folder too, and what others put there stays (A049)", async () => {
    const { tree, results } = world();
    await results.keep(demo, files("a", "b"));
    await results.remove(demo);
    assert.deepEqual([[...tree.texts], await tree.list("demo")], [[], undefined]);
    await results.keep(demo, files("a", "b"));
    tree.put("demo/notes.yaml", "mine");
    await results.remove(demo);
    await results.remove(demo);
    assert.deepEqual([...tree.texts.keys()], ["demo/notes.yaml"]);
  });

  test("of a second cluster with the same name lie in a folder with its namespace, and stay there when the first is gone (A044)", async () => {
    const { tree, alive, results, pass } = world();
    await results.keep(demo, files("a"));
    const place = await results.keep(twin, files("a"));
    assert.equal(place.folder, "other.demo");
    assert.match(place.remark ?? "", /another cluster's of that name/);
    await results.remove(twin);
    assert.deepEqual([...tree.texts.keys()].toSorted(), ["demo/.owner", "demo/a.yaml"]);
    await results.keep(twin, files("a"));
    await results.remove(demo);
    alive.delete("uid-1");
    pass(60_000);
    assert.equal((await results.keep(twin, files("a"))).folder, "other.demo", "it stays where it is");
  });

  test("take the place of a cluster that is gone and left its folder behind", async () => {
    const { tree, alive, results } = world();
    await results.keep(demo, files("old"));
    alive.delete("uid-1");
    assert.equal((await results.keep(twin, files("new"))).folder, "demo");
    assert.deepEqual([...tree.texts.keys()].toSorted(), ["demo/.owner", "demo/new.yaml"]);
  });

  test("never go into a folder that somebody else filled", async () => {
    const { tree, results } = world();
    tree.put("demo/precious.yaml", "mine");
    tree.put("default.demo/precious.yaml", "mine");
    await assert.rejects(results.keep(demo, files("precious")), { code: "IN_USE" });
    assert.deepEqual(tree.log, []);
  });

  test("fail with the code of the disk, are counted, and are tried anew", async () => {
    const { tree, results, operations } = world();
    tree.failWith("EROFS");
    await assert.rejects(results.keep(demo, files("a")), { code: "EROFS" });
    tree.failWith(undefined);
    await results.keep(demo, files("a"));
    assert.deepEqual(operations, ["create error", "create success", "create success"]);
  });
});
