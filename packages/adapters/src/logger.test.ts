import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Logger } from "@talos-operator/ports";
import { createLogger } from "./logger.ts";

/** An object that hides what it holds, as bundles and key pairs do. */
function hidden(): object {
  return Object.defineProperty({ part: "s3cret", inner: { part: "s3cret" } }, "toJSON", { enumerable: false, value: () => "[hidden]" });
}

function lineOf(log: (logger: Logger) => void): Record<string, unknown> {
  let text = "";
  log(createLogger({ destination: { write: (line) => void (text += line) } }));
  return JSON.parse(text) as Record<string, unknown>;
}

describe("the log", () => {
  it("shows what a value wants to be seen as, however deep it stands", () => {
    const places: readonly object[] = [{ value: hidden() }, { value: { inner: hidden() } }, { value: [hidden()] }];
    for (const fields of places) {
      const line = JSON.stringify(lineOf((logger) => logger.info({ ...fields }, "seen")));
      assert.match(line, /\[hidden\]/);
      assert.doesNotMatch(line, /s3cret/);
    }
    assert.equal(lineOf((logger) => logger.child({ value: hidden() }).info({}, "seen"))["value"], "[hidden]");
  });

  it("hides fields that are called after secrets", () => {
    const line = lineOf((logger) => logger.info({ token: "s3cret", machine: { key: "s3cret", name: "a" } }, "seen"));
    assert.deepEqual([line["token"], line["machine"]], ["[redacted]", { key: "[redacted]", name: "a" }]);
  });

  it("writes errors with their kind and message", () => {
    const line = lineOf((logger) => logger.error({ err: new TypeError("no") }, "failed"));
    assert.deepEqual((({ type, message }) => [type, message])(line["err"] as Record<string, unknown>), ["TypeError", "no"]);
    assert.deepEqual([line["level"], line["message"]], ["error", "failed"]);
  });

  it("has the keys level in lower case, timestamp, controller, cluster, namespace and message, with values of their own types", () => {
    const { timestamp, ...line } = lineOf((logger) =>
      logger.child({ controller: "KubernetesCluster", cluster: "demo", namespace: "default" }).warn({ machines: 3 }, "Machine exists"),
    );
    assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(line, {
      level: "warn",
      controller: "KubernetesCluster",
      cluster: "demo",
      namespace: "default",
      machines: 3,
      message: "Machine exists",
    });
  });

  it("leaves out what is below its level (A068)", () => {
    const levels = ["debug", "info", "warn", "error"] as const;
    for (const [index, level] of levels.entries()) {
      let text = "";
      const log = createLogger({ level, destination: { write: (line) => void (text += line) } });
      for (const one of levels) log[one]({}, "seen");
      const seen = text
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { level: string }).level);
      assert.deepEqual(seen, levels.slice(index));
    }
  });

  it("writes lines for people when it is asked to", () => {
    let text = "";
    createLogger({ format: "text", destination: { write: (line) => void (text += line) } }).info(
      { machine: "cp-1", left: ["a b"], why: "x y" },
      "Sent",
    );
    assert.match(text, /^\S+Z INFO  Sent machine=cp-1 left=\["a b"\] why="x y"\n$/);
  });
});
