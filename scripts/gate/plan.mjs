// Chooses what the gate runs of everything that there is, and prints it as JSON. The night runs the rest.
// The choice depends on the commit, on recorded costs and on where the gate passed before, and on nothing that is measured or that a file system orders.
import { existsSync, globSync, readFileSync } from "node:fs";
import { allTests, changedSince, git, testsThatReach } from "../reach.mjs";
import { partsOfAll } from "../parts.mjs";
import { rotated as rotatedBy, within as withinCosts } from "./choose.mjs";
import { diffBase } from "./passed.mjs";
import { SMOKE } from "./smoke.mjs";
import { allWorkloads } from "../workloads.mjs";

/** Processor seconds of the stories that one run plays; two thirds for what the diff reaches. */
const STORIES_CPU_S = 480;
const REACHED_CPU_S = 320;
/** A file that nobody recorded yet costs as much as the dearer ones. */
const UNKNOWN_S = 12;
/** Real test files beside the smoke, and seconds that they may take together. */
const MOST_REAL = 4;
const REAL_S = 240;
/** Workloads whose crash plans are played, two beside one another. */
const WORKLOADS = 4;
/** Files whose planted faults are played. */
const MOST_FAULTED = 30;

const costs = JSON.parse(readFileSync(new URL("costs.json", import.meta.url), "utf8"));
const costOf = (file) => costs[file] ?? UNKNOWN_S;

const commit = git("rev-parse", "HEAD")[0];
const turn = Number.parseInt(commit.slice(0, 8), 16);
const rotated = (list) => rotatedBy(list, turn);
const within = (limit, files) => withinCosts(limit, files, costOf);

const base = diffBase();
const changed = changedSince(base);
const reached = await testsThatReach(allTests(), changed);

const stories = allTests().filter((file) => file.startsWith("packages/testkit/src/stories/"));
const distanceOf = new Map(reached.map(({ file, distance }) => [file, distance]));
const nearest = rotated(stories)
  .filter((file) => distanceOf.has(file))
  .toSorted((a, b) => distanceOf.get(a) - distanceOf.get(b));
const first = within(REACHED_CPU_S, nearest);
const rest = within(
  STORIES_CPU_S - first.spent,
  rotated(stories).filter((file) => !first.taken.includes(file)),
);

const packages = new Set([...changed].flatMap((file) => /^packages\/[^/]+\//.exec(file)?.[0] ?? []));
const realFiles = rotated(globSync("{test,packages/*/src}/**/*.real-test.ts").toSorted()).filter((file) => !SMOKE.includes(file));
const real = within(REAL_S, [
  ...realFiles.filter((file) => changed.has(file)),
  ...realFiles.filter((file) => !changed.has(file) && [...packages].some((folder) => file.startsWith(folder))),
]).taken.slice(0, MOST_REAL);

const isSource = (file) => /^packages\/[^/]+\/src\/.*(?<!test)\.ts$/.test(file);
const faulted = rotated([...changed].filter((file) => isSource(file) && existsSync(file))).slice(0, MOST_FAULTED);

process.stdout.write(
  `${JSON.stringify({
    base,
    turn,
    changed: changed.size,
    stories: [...first.taken, ...rest.taken],
    storiesLeft: stories.length - first.taken.length - rest.taken.length,
    workloads: rotated(allWorkloads()).slice(0, WORKLOADS),
    real,
    realLeft: realFiles.length - real.length,
    parts: partsOfAll(real),
    faulted,
  })}\n`,
);
