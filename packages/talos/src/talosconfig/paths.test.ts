import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chooseTalosconfigPath, type TalosconfigPathInput } from "./paths.ts";

const mounted = "/var/run/secrets/talos.dev/config";

describe("the client configuration is looked for", () => {
  const cases: readonly (readonly [name: string, env: TalosconfigPathInput["env"], existing: readonly string[], want: string])[] = [
    ["where TALOSCONFIG says, before all others", { TALOSCONFIG: "/x" }, ["/x", "/home/a/.talos/config", mounted], "/x"],
    [
      "at home when what TALOSCONFIG names is not there",
      { TALOSCONFIG: "/x" },
      ["/home/a/.talos/config", mounted],
      "/home/a/.talos/config",
    ],
    ["where a service account mounts it, last", { TALOSCONFIG: "/x" }, [mounted], mounted],
    ["in TALOS_HOME", { TALOS_HOME: "/y" }, ["/y/config", "/home/a/.talos/config"], "/y/config"],
    ["at home when TALOS_HOME is relative", { TALOS_HOME: "y" }, ["y/config", "/home/a/.talos/config"], "/home/a/.talos/config"],
    ["where TALOSCONFIG says, to be made there", { TALOSCONFIG: "/x" }, [], "/x"],
    ["at home, to be made there", {}, [], "/home/a/.talos/config"],
    ["at home when TALOSCONFIG is empty", { TALOSCONFIG: "" }, [], "/home/a/.talos/config"],
  ];
  for (const [name, env, existing, want] of cases) {
    test(name, () => {
      const chosen = chooseTalosconfigPath({ env, home: "/home/a" }, (path) => existing.includes(path));
      assert.deepEqual(chosen, { path: want, isWritable: want !== mounted });
    });
  }
});
