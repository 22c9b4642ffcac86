import { engine, type Mutant } from "./mutant.ts";

const noSpace = `${engine}/procedures/care/no-space.ts`;
const fragmentation = `${engine}/procedures/care/fragmentation.ts`;
const intents = `${engine}/procedures/care/care-intents.ts`;
const files = `${engine}/procedures/care/files.ts`;
const noSpaceTests = [`${engine}/procedures/care/no-space.test.ts`] as const;
const fragmentationTests = [`${engine}/procedures/care/fragmentation.test.ts`] as const;
const intentTests = [`${engine}/procedures/care/care-intents.test.ts`] as const;

/** Faults in what frees the space of etcd. */
export const etcdCare: readonly Mutant[] = [
  {
    name: "leader-defragmented-first",
    about: "stops the leader while followers could go before it (T13)",
    tests: noSpaceTests,
    edits: [{ file: files, find: "Number(a.leads) - Number(b.leads)", replace: "Number(b.leads) - Number(a.leads)" }],
  },
  {
    name: "disarmed-below-no-quota",
    about: "takes the alarm back while a file is full",
    tests: noSpaceTests,
    edits: [{ file: noSpace, find: "bytes < ROOM * quotaBytes", replace: "bytes <= 2 * quotaBytes" }],
  },
  {
    name: "defragmented-for-nothing",
    about: "stops members although what is in use fills the quota",
    tests: noSpaceTests,
    edits: [
      {
        file: noSpace,
        find: "full.find(({ inUseBytes, quotaBytes }) => !hasRoom(inUseBytes, quotaBytes))",
        replace: "full.find(() => false)",
      },
    ],
  },
  {
    name: "defragmented-beside-one-that-hangs",
    about: "stops a member while another one does not answer (S18)",
    tests: noSpaceTests,
    edits: [{ file: noSpace, find: "if (stuck !== undefined)", replace: "if (stuck === '')" }],
  },
  {
    name: "defragmented-all-day",
    about: "defragments a member as often as its file has free pages",
    tests: fragmentationTests,
    edits: [{ file: fragmentation, find: "elapsedMs(last, seen.now) >= EVERY_MS", replace: "elapsedMs(last, seen.now) >= 0" }],
  },
  {
    name: "small-files-defragmented",
    about: "stops members for files that are small",
    tests: fragmentationTests,
    edits: [{ file: fragmentation, find: "sizeBytes > LARGE_BYTES", replace: "sizeBytes > 0" }],
  },
  {
    name: "defragmentation-taken-for-done",
    about: "goes on to the next member although the file is as large as before",
    tests: intentTests,
    edits: [{ file: intents, find: "size < dbSizeBytes", replace: "size <= dbSizeBytes" }],
  },
  {
    name: "defragmentation-asked-twice",
    about: "asks a member again that is in the middle of it",
    tests: intentTests,
    edits: [{ file: intents, find: 'last !== undefined && last.outcome !== "refused"', replace: "last === undefined" }],
  },
  {
    name: "careless-with-data-that-differ",
    about: "lets a pass defragment or disarm while data differ (S18)",
    tests: [`${engine}/invariants/broken.test.ts`],
    edits: [
      {
        file: `${engine}/invariants/of-etcd.ts`,
        find: 'kind !== "no-space" && !(kind === "corrupt" && isOver(member))',
        replace: 'kind === "unknown"',
      },
    ],
  },
];
