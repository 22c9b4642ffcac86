import assert from "node:assert/strict";
import { test } from "node:test";
import { aboutMachine, sentenceAbout } from "./about.ts";

for (const [name, words, want] of [
  ["a-1", "Unreachable: no answer.", "a-1: Unreachable: no answer."],
  ["a-1", "a-1: what answers is not Talos.", "a-1: what answers is not Talos."],
  ["a-1", "a-1 belongs to no pool.", "a-1 belongs to no pool."],
  ["a-1", "a-10 and a-1 show one UUID.", "a-1: a-10 and a-1 show one UUID."],
  ["a-1", "a-1.b shows its UUID.", "a-1: a-1.b shows its UUID."],
  ["a-1", "aa-1: no answer.", "a-1: aa-1: no answer."],
  ["a-1", "a-1", "a-1: a-1"],
] as const)
  test(`of ${name} is told: ${words}`, () => assert.equal(aboutMachine(name, words), want));

test("what is said of it is said of the machine by its name", () =>
  assert.deepEqual(
    ["it was not healthy.", "Its installer ended with an error."].map((words) => sentenceAbout("a-1", words)),
    ["a-1 was not healthy.", "a-1: Its installer ended with an error."],
  ));
