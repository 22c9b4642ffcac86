import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeWatchEvent } from "@talos-operator/ports";
import { createEventParser } from "./event-parser.ts";
import { watchEvents } from "./watch-events.ts";

/** The events of an answer that came in these chunks, and whether it was closed. */
function open(...chunks: readonly string[]) {
  const seen = { isDestroyed: false, ends: 0 };
  async function* body(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const events = watchEvents(
    Object.assign(body(), {
      destroy: () => {
        seen.isDestroyed = true;
      },
    }),
    {
      parse: createEventParser({ leavesManagedFieldsOut: true }),
      failureOf: (thrown) => thrown as Error,
      onEnd: () => {
        seen.ends += 1;
      },
    },
  );
  return { events, seen };
}

const line = (object: number): string => `{"type":"ADDED","object":${object}}\n`;
const ready = (events: { nextReady?(): KubeWatchEvent | undefined }): unknown => events.nextReady?.()?.object;

describe("the events of an open watch", () => {
  it("can be read without waiting as far as they came together, each once", async () => {
    const { events, seen } = open(line(1) + line(2) + line(3), line(4) + line(5));
    assert.equal(ready(events), undefined, "nothing has come yet");
    const read: unknown[] = [];
    for await (const first of events) {
      read.push("waited", first.object);
      for (let next = ready(events); next !== undefined; next = ready(events)) read.push(next);
    }
    assert.deepEqual(read, ["waited", 1, 2, 3, "waited", 4, 5]);
    assert.deepEqual(seen, { isDestroyed: true, ends: 1 });
  });

  it("throw in the loop, behind those before, what is wrong with one that has come already", async () => {
    const { events, seen } = open(`${line(1)}${line(2)}{"type":}\n${line(3)}`);
    const read: unknown[] = [];
    await assert.rejects(
      async () => {
        for await (const first of events) {
          read.push(first.object);
          for (let next = ready(events); next !== undefined; next = ready(events)) read.push(next);
        }
      },
      { code: "NOT_JSON" },
    );
    assert.deepEqual(read, [1, 2]);
    assert.equal(ready(events), undefined);
    assert.deepEqual(seen, { isDestroyed: true, ends: 1 });
  });

  it("are over for both ways of reading when the loop is left", async () => {
    const { events, seen } = open(line(1) + line(2));
    for await (const first of events) {
      assert.equal(first.object, 1);
      break;
    }
    assert.equal(ready(events), undefined);
    assert.deepEqual(seen, { isDestroyed: true, ends: 1 });
  });
});
