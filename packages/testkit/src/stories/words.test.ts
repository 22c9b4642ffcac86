import { test } from "node:test";
import { realisticTimings } from "@talos-operator/simulator";
import { tell } from "./story.ts";
import { playWords } from "./words.ts";

test("no object says a false word while a cluster is created, grows, is edited, breaks, shrinks and goes", () =>
  tell({ timings: realisticTimings }, async (world) => {
    const { time } = world;
    const eachSecond = (act: () => void): void => {
      time.timers.schedule(1_000, () => {
        act();
        eachSecond(act);
      });
    };
    await playWords({ ...world, now: () => time.now(), eachSecond, pass: (ms) => time.advance(ms) });
  }));
