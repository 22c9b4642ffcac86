import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { addresses, compareCalls, parseRecorded, threeVoters } from "./control-planes.ts";
import type { RecordedStep } from "./control-planes.ts";

const textOf = (name: string): string => readFileSync(join(import.meta.dirname, `../../testdata/transcripts/${name}.json`), "utf8");

const isGone = "the simulated folder is empty, the genuine one is gone until the next boot";

test("machines leave etcd as genuine ones were recorded: to the end, with a caller that gives up, asked again, and the last one", async () => {
  const differences = new Map([
    ["the folder of n2 after it left", isGone],
    ["n1, the last one, leaves", "the words of a retry around etcd's own are not simulated"],
  ]);
  const act = (): Promise<void> => assert.fail("nothing but calls was recorded");
  assert.deepEqual(await compareCalls(await threeVoters(), parseRecorded(textOf("j-leave-etcd")), differences, act), []);
});

test("a container that left joins anew when it is started again, and one with the data of a removed member never does", async () => {
  const world = await threeVoters();
  const restart = async ({ machine = "n1" }: RecordedStep): Promise<void> => {
    world.datacenter.machine(addresses[machine]).powerOff();
    await world.time.advance(2_000);
    world.datacenter.machine(addresses[machine]).powerOn();
    // A simulated machine boots as slowly as metal.
    await world.time.advance(60_000);
  };
  assert.deepEqual(
    await compareCalls(world, parseRecorded<RecordedStep>(textOf("l-rejoin-etcd")), new Map([["its folder", isGone]]), restart),
    [],
  );
});
