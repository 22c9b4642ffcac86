import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createHelmPresence } from "./helm-presence.ts";

describe("whether there is a Helm", () => {
  let folder = "";
  let now = 0;
  const clock = { now: () => now };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "talos-operator-presence-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** A program that tells this version, and notes that it was asked and by which environment. */
  const place = (name: string, version: string, mode = 0o755): string => {
    const bin = join(folder, name);
    mkdirSync(bin, { recursive: true });
    const file = join(bin, "helm");
    writeFileSync(file, `#!/bin/sh\necho "$* $HELM_PLUGINS" >> ${bin}/asked\necho '${version}'\n`);
    chmodSync(file, mode);
    return bin;
  };
  const asked = (bin: string): number => readFileSync(join(bin, "asked"), "utf8").trim().split("\n").length;

  it("is the first program of that name on the PATH, and tells its version", async () => {
    const path = [join(folder, "nowhere"), place("no-program", "v9.9.9", 0o644), place("four", "v4.2.4"), place("three", "v3.18.0")];
    const bin = join(folder, "four");
    assert.deepEqual(await createHelmPresence({ path: path.join(delimiter), clock })(), { found: true, version: "v4.2.4" });
    assert.match(readFileSync(join(bin, "asked"), "utf8"), /^version --template \{\{\.Version\}\} \/nonexistent$/m);
    const binary = join(folder, "three", "helm");
    assert.deepEqual(await createHelmPresence({ binary, path: bin, clock })(), { found: true, version: "v3.18.0" });
  });

  for (const [name, version] of [
    ["older than what is needed", "v3.13.2"],
    ["of Helm 2", "v2.17.0"],
    ["something else", "usage: helm"],
  ] as const)
    it(`is not one that is ${name}`, async () => {
      const answer = await createHelmPresence({ path: place(name.replaceAll(" ", "-"), version), clock })();
      assert.ok(!answer.found);
      assert.match(answer.message, /Install Helm 4 or 3/);
    });

  it("is not one that is named and is no program, whatever is on the PATH", async () => {
    const answer = await createHelmPresence({ binary: join(folder, "absent"), path: place("good", "v4.0.0"), clock })();
    assert.ok(!answer.found);
    assert.match(answer.message, /--helm/);
  });

  it("is believed for a minute, by all who ask, and looked for again then", async () => {
    const bin = join(folder, "later");
    const presence = createHelmPresence({ path: bin, clock });
    assert.equal((await presence()).found, false);
    place("later", "v4.2.4");
    now += 59_000;
    assert.equal((await presence()).found, false);
    now += 1_000;
    assert.deepEqual(
      (await Promise.all([presence(), presence()])).map(({ found }) => found),
      [true, true],
    );
    assert.equal(asked(bin), 1);
  });
});
