import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { runApiserver } from "../commands/run-apiserver.ts";
import { runDemo } from "../commands/run-demo.ts";
import { runStandalone } from "../commands/run-standalone.ts";
import { readListen } from "./listen.ts";

const root = mkdtempSync(join(tmpdir(), "talos-operator-listen-"));
after(() => rmSync(root, { recursive: true, force: true }));
const manifest = join(root, "manifest.yaml");
writeFileSync(manifest, "kind: no manifest\n");

function stderr(): { readonly said: string[]; readonly stream: NodeJS.WriteStream } {
  const said: string[] = [];
  return { said, stream: { write: (text: string) => said.push(text) > 0 } as unknown as NodeJS.WriteStream };
}

describe("--listen", () => {
  for (const listen of ["127.0.0.1:7443", "127.9.9.9:0", "[::1]:7443", "[0:0:0:0:0:0:0:1]:1", "localhost:7443"]) {
    it(`${listen} is this machine's alone, and nothing is said`, () => {
      const { said, stream } = stderr();
      readListen({ listen }, { stderr: stream });
      assert.deepEqual(said, []);
    });
  }

  for (const listen of ["0.0.0.0:7443", "[::]:7443", "192.0.2.7:7443", "[2001:db8::7]:7443", "api.example.com:7443"]) {
    it(`${listen} is warned of: what is open, to whom, and what to do`, () => {
      const { said, stream } = stderr();
      readListen({ listen }, { stderr: stream });
      assert.equal(said.length, 1);
      assert.ok(said[0]?.startsWith(`warning: --listen ${listen} opens the Kubernetes API to everybody who reaches this address`));
      assert.match(said.join(""), /kubeconfig .* firewall .* SSH tunnel\.\n$/);
    });
  }

  for (const run of [runApiserver, runStandalone, runDemo]) {
    it(`beyond loopback is warned of by ${run.name}, before anything listens`, async () => {
      const { said, stream } = stderr();
      // Ended by what is read next, so that nothing is opened.
      const flags = {
        listen: "0.0.0.0:0",
        "data-dir": join(root, "data"),
        "first-address": "127.1.0.1",
        durability: "process-crash",
        manifest,
        "log-level": "none such",
      };
      const context = { signal: AbortSignal.abort(), stdout: process.stdout, stderr: stream };
      await assert.rejects(run({ ...flags, ...(run === runStandalone ? { "log-level": "silent" } : {}) }, context), { name: "CliError" });
      assert.match(said.join(""), /^warning: --listen 0\.0\.0\.0:0 opens/);
    });
  }
});
