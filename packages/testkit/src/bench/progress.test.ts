import assert from "node:assert/strict";
import { test } from "node:test";
import { createProgress } from "./progress.ts";

function shownOn(isTTY: boolean): readonly string[] {
  const written: string[] = [];
  let now = 0;
  const progress = createProgress({ isTTY, write: (text: string) => written.push(text) }, () => now);
  for (let step = 0; step <= 120; step += 1, now += 100) progress.show(`${step}/120`);
  progress.end();
  return written;
}

test("a log gets a line of progress every five seconds and the last state, and no carriage return", () => {
  assert.deepEqual(shownOn(false), ["50/120\n", "100/120\n", "120/120\n"]);
});

test("a terminal gets every state in one line", () => {
  const written = shownOn(true);
  assert.equal(written.length, 122);
  assert.ok(written.slice(0, -1).every((text) => text.startsWith("\r")));
  assert.equal(written.at(-1), "\n");
});
