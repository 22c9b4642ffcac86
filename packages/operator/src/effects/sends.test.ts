import assert from "node:assert/strict";
import { test } from "node:test";
import { LeadershipOver } from "@talos-operator/kube-runtime";
import { isEffectError } from "../errors.ts";
import { createSends } from "./sends.ts";

/** A call that hangs until the signal aborts or it is answered. */
function call(signal: AbortSignal): { readonly made: Promise<string>; readonly answer: () => void } {
  const answered = Promise.withResolvers<string>();
  signal.addEventListener("abort", () => answered.resolve("hung up"), { once: true });
  return { made: answered.promise, answer: () => answered.resolve("answered") };
}

test("a process that is told to stop lets the call end that it sent, and gives up only then", async () => {
  const pass = new AbortController();
  const sends = createSends(pass.signal);
  const { made, answer } = call(sends.signal);
  const sent = sends.letEnd(() => made);
  pass.abort(new LeadershipOver("stopped"));
  assert.equal(sends.signal.aborted, false);
  answer();
  assert.equal(await sent, "answered");
  assert.equal(sends.signal.aborted, true);
});

test("a process that is told to stop gives up questions at once, and sends nothing more", async () => {
  const pass = new AbortController();
  const sends = createSends(pass.signal);
  pass.abort(new LeadershipOver("stopped"));
  assert.equal(sends.signal.aborted, true);
  await assert.rejects(
    sends.letEnd(() => Promise.reject(new Error("it was sent"))),
    (error) => isEffectError(error, "NOT_LEADING"),
  );
});

for (const [what, reason] of [
  ["whose lease was not renewed", new LeadershipOver("renewal-failed")],
  ["whose lease another holds", new LeadershipOver("taken")],
  ["whose pass takes too long", new Error("the pass took longer than 120000 ms")],
] as const)
  test(`a process ${what} hangs up`, async () => {
    const pass = new AbortController();
    const sends = createSends(pass.signal);
    const { made } = call(sends.signal);
    const sent = sends.letEnd(() => made);
    pass.abort(reason);
    assert.equal(await sent, "hung up");
  });

test("of two calls the first that ends does not end the other", async () => {
  const pass = new AbortController();
  const sends = createSends(pass.signal);
  const [first, second] = [call(sends.signal), call(sends.signal)];
  const sent = [sends.letEnd(() => first.made), sends.letEnd(() => second.made)] as const;
  pass.abort(new LeadershipOver("stopped"));
  first.answer();
  await sent[0];
  assert.equal(sends.signal.aborted, false);
  second.answer();
  assert.deepEqual(await Promise.all(sent), ["answered", "answered"]);
});
