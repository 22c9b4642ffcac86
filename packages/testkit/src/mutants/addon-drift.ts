import type { Mutant } from "./mutant.ts";

const compared = ["helm/src/worker/compare-object.test.ts"];
const compare = "helm/src/worker/compare-object.ts";

/** Faults of who tells what others changed of a release. */
export const addonDriftFaults: readonly Mutant[] = [
  {
    name: "addon-drift-reverts-what-it-reports",
    about: "puts drift right where it is only to be reported",
    tests: ["testkit/src/stories/addon-releases.test.ts"],
    edits: [
      {
        file: "operator/src/controllers/talosclusteraddonrelease/drift.ts",
        find: 'return mode === "off" ? undefined : { mode,',
        replace: 'return mode === "off" ? undefined : { mode: "revert",',
      },
    ],
  },
  {
    name: "addon-drift-sees-what-is-injected",
    about: "takes what the server or others add to an object for drift",
    tests: compared,
    edits: [
      {
        file: compare,
        find: "const values = isMap(live) ? live : {};",
        replace:
          "const values = isMap(live) ? live : {};\n    for (const key of Object.keys(values)) if (!(key in wanted)) paths.push(path);",
      },
    ],
  },
  {
    name: "addon-drift-sees-what-others-own",
    about: "takes a field that another manager sets alike for drift",
    tests: compared,
    edits: [{ file: compare, find: "else if (owned === undefined && !isAlike(wanted, live))", replace: "else if (owned === undefined)" }],
  },
  {
    name: "addon-drift-tells-values",
    about: "tells the value of what differs, of Secrets, too",
    tests: compared,
    edits: [
      {
        file: compare,
        find: "!isAlike(wanted, live)) paths.push(path);",
        replace: "!isAlike(wanted, live)) paths.push(`${path}=${String(wanted)}`);",
      },
    ],
  },
];
