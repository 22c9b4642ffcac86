import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { callsOf, composition, courses, creation, lostRecord, network, playEdit, rollout, stagingTwice } from "./edited-courses.ts";
import type { Course } from "./edited-courses.ts";
import type { Moment } from "./interruption.ts";

/** A few of the moments; `EDITS=all`, or a part of a course's name, plays every one of them. */
const chosen: readonly (readonly [course: Course, at: Moment, word: string, later?: string])[] = [
  [creation, { call: /^PATCH .*clusterrecords/, side: "after", isKilled: true }, "r2", "r1"],
  [rollout, { call: /^ApplyConfiguration 10\.5\.0\.1/, side: "after" }, "r2", "r1"],
  [stagingTwice, { call: /^Reboot/, side: "before" }, "r2"],
  [network, { call: /^MetaWrite/, side: "before" }, "r2"],
  [lostRecord, { call: /^POST .*clusterrecords/, side: "after" }, "r2"],
  [composition, { call: /^ApplyConfiguration/, side: "before" }, "r2"],
];

const wanted = process.env["EDITS"];

/** As the published operator leaves them. */
const left = readFileSync(new URL("../../testdata/peers/talos-alperen-cloud.yaml", import.meta.url), "utf8");

describe("an edit at any moment is in force in the end", () => {
  if (wanted === undefined)
    for (const [course, at, word, later] of chosen)
      test(`${course.what}, ${at.side} ${String(at.call)}${at.isKilled === true ? ", where the operator is killed" : ""}`, () =>
        playEdit(course, at, word, later));
  else
    for (const course of courses(left).filter(({ what }) => wanted === "all" || what.includes(wanted)))
      test(course.what, async (context) => {
        for (const [call, name] of (await callsOf(course)).entries())
          for (const at of [
            { call, side: "before" },
            { call, side: "after", isKilled: true },
          ] as const)
            for (const later of [undefined, "r1"])
              await context.test(`r2${later === undefined ? "" : `, then ${later}`}, ${at.side} call ${call}: ${name}`, () =>
                playEdit(course, at, "r2", later),
              );
      });
});
