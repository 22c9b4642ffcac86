import type { Mutant } from "./mutant.ts";

const tlsTests = ["talos/src/adapters/tls-versions.test.ts"];
const durabilityTests = ["apiserver/src/adapters/durability.test.ts"];
const bodyTests = ["apiserver/src/adapters/refused-by-headers.test.ts"];
const folderTests = ["cli/src/process/data-folder.test.ts"];

/** Doors of the process to the machine it runs on, left open: keys on the disk, old TLS, writes that are acknowledged and lost, file systems that hang. */
export const doors: readonly Mutant[] = [
  {
    name: "old-tls-in-maintenance",
    about: "offers TLS 1.0 and 1.1 to machines in maintenance mode",
    tests: tlsTests,
    edits: [
      {
        file: "talos/src/adapters/tls-credentials.ts",
        find: 'createSecureContext({ minVersion: "TLSv1.2" })',
        replace: 'createSecureContext({ minVersion: "TLSv1" })',
      },
    ],
  },
  {
    name: "old-tls-in-a-cluster",
    about: "offers TLS 1.0 and 1.1 to machines of a cluster",
    tests: tlsTests,
    edits: [
      {
        file: "talos/src/adapters/tls-credentials.ts",
        find: 'createSecureContext({ minVersion: "TLSv1.2", ca',
        replace: 'createSecureContext({ minVersion: "TLSv1", ca',
      },
    ],
  },
  {
    name: "power-loss-not-honoured",
    about: "acknowledges writes that are not on the disk, though --durability power-loss was asked for",
    tests: durabilityTests,
    edits: [
      {
        file: "apiserver/src/adapters/sqlite-file.ts",
        find: 'options.durability === "power-loss" ? "FULL" : "NORMAL"',
        replace: '"NORMAL"',
      },
    ],
  },
  {
    name: "power-loss-lost-in-the-next-file",
    about: "forgets --durability power-loss when the data file is written anew",
    tests: durabilityTests,
    edits: [
      {
        file: "apiserver/src/adapters/sqlite-next.ts",
        find: "return openFile(this.#file, this.#options, (database)",
        replace: "return openFile(this.#file, {}, (database)",
      },
    ],
  },
  {
    name: "durability-flag-without-effect",
    about: "accepts --durability and does not hand it to the store",
    tests: ["cli/src/process/durability.test.ts"],
    edits: [
      {
        file: "cli/src/process/embedded-api.ts",
        find: "{ durability: options.durability }",
        replace: "{}",
      },
    ],
  },
  {
    name: "databases-by-the-umask",
    about: "lets SQLite make its files as the umask says, and leaves those that are open to others",
    tests: folderTests,
    edits: [
      { file: "apiserver/src/adapters/sqlite-file.ts", find: "  keepPrivate(file);\n", replace: "" },
      {
        file: "cli/src/process/close-folder.ts",
        find: "before.isDirectory() ? 0o700 : 0o600",
        replace: "before.isDirectory() ? 0o700 : 0o644",
      },
    ],
  },
  {
    name: "open-folder-with-other-files",
    about: "closes a folder that somebody else may be using, instead of refusing it",
    tests: folderTests,
    edits: [
      { file: "cli/src/process/folder-privacy.ts", find: "if (isOpen(root) && foreign.length > 0)", replace: "if (foreign.length < 0)" },
    ],
  },
  {
    name: "ready-on-a-full-disk",
    about: "says that it is ready while no write can be stored",
    tests: ["apiserver/src/adapters/full-disk.test.ts"],
    edits: [{ file: "apiserver/src/store/state.ts", find: "return this.#store.problem?.();", replace: "return undefined;" }],
  },
  {
    name: "body-before-authorization",
    about: "reads and parses the body of a request before it looks at who may ask",
    tests: bodyTests,
    edits: [
      {
        file: "apiserver/src/adapters/https-server.ts",
        find: "takesBody ? front.apiServer.refuseByHeaders(asked) : undefined",
        replace: "undefined",
      },
    ],
  },
  {
    name: "bodies-without-a-sum",
    about: "bounds what one user's bodies hold, and not what the bodies of many hold together",
    tests: ["apiserver/src/adapters/body-budget.test.ts"],
    edits: [{ file: "apiserver/src/adapters/body-budget.ts", find: "this.#total + more > maxTotalBytes || ", replace: "" }],
  },
  {
    name: "copies-without-a-sum",
    about: "bounds each copy of a JSON patch, and not what all of them copy together",
    tests: ["apiserver/src/patch/patch.test.ts"],
    edits: [{ file: "apiserver/src/patch/json-patch.ts", find: "root.copiedBytes += Buffer", replace: "root.copiedBytes = Buffer" }],
  },
  {
    name: "patterns-that-track-back",
    about: "runs patterns of users on the engine of JavaScript, where a short one takes for ever",
    tests: ["apiserver/src/patterns/re2.test.ts"],
    edits: [
      {
        file: "apiserver/src/patterns/re2.ts",
        find: "const found = compiled.tester.match(text).length > 0;",
        replace: "const found = new RegExp(pattern).test(text);",
      },
    ],
  },
  {
    name: "clock-hides-a-stuck-pass",
    about: "counts by the wall clock how long a pass hangs, so that liveness depends on who sets it",
    tests: ["kube-runtime/src/controller/create-controller.test.ts"],
    edits: [
      {
        file: "kube-runtime/src/controller/create-controller.ts",
        find: "overdueForMs = (state: PassState): number => state.overdueSeconds * 1000;",
        replace: "overdueForMs = (state: PassState): number => Math.max(0, clock.now() - state.startedAt - passTimeoutMs);",
      },
    ],
  },
  {
    name: "every-file-waits-for-itself",
    about: "asks a file system that hangs again and again, each time with another thread of the process",
    tests: ["operator/src/results/timed-files.test.ts"],
    edits: [{ file: "operator/src/results/timed-files.ts", find: "      hangs = true;\n", replace: "" }],
  },
];
