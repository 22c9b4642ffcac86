import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, controlPlane, facts, founded, inMaintenance, NOW, observed } from "../../testing/builders.ts";
import { joinHindrance } from "./joins.ts";

const HOUR = 3_600_000;

for (const { title, since, holds } of [
  { title: "a minute ago", since: NOW - 60_000, holds: true },
  { title: "before the clock was set back", since: NOW + 6 * HOUR, holds: true },
  { title: "an hour ago", since: NOW - HOUR, holds: false },
])
  test(`a control plane that took its configuration and went silent ${title} ${holds ? "holds the next one up" : "holds up nobody"}`, () => {
    const known = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1")] });
    const seen = observed({
      controlPlane: controlPlane(2),
      looks: {
        "10.0.0.1": { kind: "silent", at: NOW, since, detail: "unreachable" },
        "10.0.0.2": inMaintenance("10.0.0.2"),
      },
      facts: known,
    });
    const next = seen.machines.find(({ declared }) => declared.address === "10.0.0.2");
    assert.ok(next !== undefined);
    const hindrance = joinHindrance(seen, known, next) ?? "";
    assert.equal(/joins after demo-10\.0\.0\.1/.test(hindrance), holds, hindrance);
  });
