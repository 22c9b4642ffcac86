import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createMemoryFiles } from "../testing/memory-files.ts";
import { createTimedFiles } from "./timed-files.ts";

function world() {
  const time = createVirtualTime();
  const files = createMemoryFiles();
  return { time, files, tree: createTimedFiles({ tree: files, timers: time.timers, timeoutMs: 5_000 }) };
}

const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (thrown: unknown) => (thrown as { code?: unknown }).code,
  );

describe("a file system that hangs", () => {
  test("holds its caller for the deadline, everybody else not at all, and one thread whatever is asked", async () => {
    const { time, files, tree } = world();
    files.hang(true);
    const answers: unknown[] = [];
    for (const name of ["a", "b", "c"]) void codeOf(tree.write(name, "x.yaml", "")).then((code) => answers.push(`${name} ${String(code)}`));
    await time.advance(4_999);
    assert.deepEqual([answers, files.hanging()], [[], 1]);
    await time.advance(1);
    assert.deepEqual(answers, ["a NO_ANSWER", "b NO_ANSWER", "c NO_ANSWER"]);
    for (let passes = 0; passes < 100; passes++) {
      assert.equal(await codeOf(tree.read("a", "x.yaml")), "NO_ANSWER");
      await time.advance(30_000);
    }
    assert.equal(files.hanging(), 1);
  });

  test("is used again when it answers after all", async () => {
    const { time, files, tree } = world();
    files.hang(true);
    const late = codeOf(tree.write("a", "x.yaml", "late"));
    await time.advance(5_000);
    assert.equal(await late, "NO_ANSWER");
    files.hang(false);
    await time.settle();
    assert.equal(await codeOf(tree.write("a", "x.yaml", "new")), "done");
    assert.equal(files.texts.get("a/x.yaml"), "new");
    assert.equal(time.pending(), 0);
  });

  test("that only refuses is asked by one after the other", async () => {
    const { files, tree } = world();
    files.failWith("EROFS");
    assert.deepEqual(await Promise.all(["a", "b"].map(async (name) => codeOf(tree.write(name, "x.yaml", "")))), ["EROFS", "EROFS"]);
    files.failWith(undefined);
    await Promise.all(["a", "b"].map(async (name) => tree.write(name, "x.yaml", name)));
    assert.deepEqual(files.log, ["write a/x.yaml", "write b/x.yaml"]);
  });
});
