import assert from "node:assert/strict";
import { test } from "node:test";
import { withAssignedSwitches } from "./assigned-switches.ts";
import { commands } from "./commands/index.ts";

test("command lines of talosctl are taken as they are", () => {
  const cases: readonly (readonly [given: string, rewritten: string])[] = [
    ["config generate a https://b --with-docs=false", "config generate a https://b --no-with-docs"],
    ["config generate --with-cluster-discovery=true --with-kubespan=1 a b", "config generate --with-cluster-discovery --with-kubespan a b"],
    ["config generate -t=worker -o=x -f=F", "config generate -tworker -ox --no-force"],
    ["config generate --config-patch --with-docs=false", "config generate --config-patch --with-docs=false"],
    ["config generate -o --with-docs=false --with-docs=false", "config generate -o --with-docs=false --no-with-docs"],
    ["config generate -- --with-docs=false", "config generate -- --with-docs=false"],
    ["config patch --output=a=b", "config patch --output=a=b"],
    ["config generate --with-docs=maybe", "config generate --with-docs=maybe"],
    ["nothing --with-docs=false", "nothing --with-docs=false"],
  ];
  for (const [given, rewritten] of cases) assert.equal(withAssignedSwitches(given.split(" "), commands).join(" "), rewritten);
});
