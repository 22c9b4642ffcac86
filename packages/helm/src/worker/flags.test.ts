import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HelmOptions } from "../task/task.ts";
import { flagsFor } from "./flags.ts";
import type { HelmMajor } from "./flags.ts";

describe("flags of Helm", () => {
  for (const [what, command, options, major, flags] of [
    ["makes the namespace and resets values, unless told", "upgrade", {}, 4, "--create-namespace --reset-values"],
    ["makes no namespace", "upgrade", { createNamespace: false }, 4, "--reset-values"],
    ["keeps values where it is told", "upgrade", { reuseValues: true }, 4, "--create-namespace --reuse-values"],
    ["names what Helm 3 names otherwise", "upgrade", { takeOwnership: true, createNamespace: false }, 3, "--take-ownership --reset-values"],
    ["waits for what is all or nothing", "upgrade", { atomic: true, createNamespace: false }, 4, "--wait --reset-values"],
    ["waits on the way back, too", "rollback", { atomic: true }, 3, "--wait"],
    ["waits for nothing when it is removed", "uninstall", { atomic: true }, 4, ""],
    [
      "takes over in spite of conflicts",
      "upgrade",
      { takeOwnership: true, reuseValues: true, createNamespace: false },
      4,
      "--take-ownership --force-conflicts --reuse-values",
    ],
    [
      "replaces without conflicts",
      "upgrade",
      { takeOwnership: true, force: true, reuseValues: true, createNamespace: false },
      4,
      "--take-ownership --force-replace --server-side=false --reuse-values",
    ],
    ["gives a rollback what it knows alone", "rollback", { takeOwnership: true, timeoutMs: 1_500 }, 4, "--timeout=2s"],
    ["keeps the history of what is uninstalled", "uninstall", { keepHistory: true }, 4, "--keep-history"],
  ] as const satisfies readonly (readonly [string, string, HelmOptions, HelmMajor, string])[])
    test(what, () => assert.equal(flagsFor(command, options, major).join(" "), flags));
});
