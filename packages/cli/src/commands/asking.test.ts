import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, it } from "node:test";
import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { talosControlPlaneResource, talosMachineResource } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { CliError } from "../cli-error.ts";
import { openDataFolder } from "../process/data-folder.ts";
import { startEmbeddedApi } from "../process/embedded-api.ts";
import type { EmbeddedApi } from "../process/embedded-api.ts";
import { createProgram } from "../program.ts";
import { commandGroups, commands } from "./index.ts";

let folder = "";
let api: EmbeddedApi;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "talos-operator-asking-"));
  api = await startEmbeddedApi({
    folder: openDataFolder(folder),
    persist: false,
    durability: "process-crash",
    listen: { address: "127.0.0.1", port: 0 },
    keys: createX509Keys(),
    log: createLogger({ level: "silent" }),
  });
  await createKubeClient(api.transport)
    .resource(talosControlPlaneResource)
    .create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosControlPlane",
      metadata: { namespace: "default", name: "demo" },
      spec: { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal", metalSpec: { machines: [{ address: "10.0.0.1" }] } },
    } as object);
});
after(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...words: readonly string[]): Promise<{ readonly out: string; readonly error: Error | undefined }> {
  const stdout = new PassThrough();
  const stream = stdout as unknown as NodeJS.WriteStream;
  const context = { signal: new AbortController().signal, stdout: stream, stderr: stream };
  let error: Error | undefined;
  try {
    await createProgram(commands, "0", context, commandGroups).parseAsync([...words], { from: "user" });
  } catch (thrown) {
    error = thrown as Error;
  }
  return { out: String(stdout.read() ?? ""), error };
}

const why = (...words: readonly string[]): ReturnType<typeof run> => run("why", ...words, "--kubeconfig", api.kubeconfigPath);

describe("why", () => {
  for (const word of ["tcp", "TalosControlPlane", "taloscontrolplanes", "taloscontrolplane.talos.alperen.cloud"])
    it(`answers for ${word}/demo`, async () => {
      const { out, error } = await why(`${word}/demo`);
      assert.equal(error, undefined);
      assert.match(out, /^TalosControlPlane\/demo in namespace default/);
      assert.match(out, /has not written a status yet/);
      assert.doesNotMatch(out, /Next look/);
    });

  it("gives the same as data", async () => {
    const { out } = await why("tcp/demo", "-o", "json", "-n", "default");
    const told = JSON.parse(out) as { readonly object: string; readonly waitingFor: readonly { readonly reason: string }[] };
    assert.equal(told.object, "TalosControlPlane/demo");
    assert.deepEqual(
      told.waitingFor.map(({ reason }) => reason),
      ["Unobserved"],
    );
  });

  const refused: readonly (readonly [string, readonly string[], RegExp, RegExp, number])[] = [
    [
      "an object that does not exist",
      ["tcp/nobody"],
      /no TalosControlPlane nobody in namespace default/,
      /kubectl get taloscontrolplanes -A/,
      1,
    ],
    ["an object of another namespace", ["tcp/demo", "-n", "other"], /in namespace other/, /-n names the namespace/, 1],
    ["a kind that it does not know", ["pod/x"], /"pod" is no kind/, /TalosMachine \(tm\)/, 2],
    ["a word without a name", ["tcp"], /names no object/, /<kind>\/<name>/, 2],
    ["a form of output that there is not", ["tcp/demo", "-o", "xml"], /"xml" is no form/, /text or json/, 2],
  ];
  for (const [what, words, message, remedy, code] of refused)
    it(`refuses ${what} and says what to do`, async () => {
      const { out, error } = await why(...words);
      assert.ok(error instanceof CliError, String(error));
      assert.match(error.message, message);
      assert.match(error.remedy, remedy);
      assert.equal(error.exitCode, code);
      assert.equal(out, "");
    });
});

describe("plan", () => {
  const file = (text: string): string => {
    const path = join(folder, "edited.yaml");
    writeFileSync(path, text);
    return path;
  };
  const plan = (text: string, ...words: readonly string[]): ReturnType<typeof run> =>
    run("plan", "-f", file(text), ...words, "--kubeconfig", api.kubeconfigPath);
  const edited = `apiVersion: talos.alperen.cloud/v1alpha1
kind: TalosControlPlane
metadata: {name: demo}
spec: {version: v1.13.9, kubeVersion: v1.36.3, mode: metal, metalSpec: {machines: [{address: 10.0.0.7}]}}
`;

  it("tells the steps in order, and that the machine's state is not known", async () => {
    const { out, error } = await plan(edited);
    assert.equal(error, undefined);
    assert.match(
      out,
      /^default\/demo \(new\)\nState unknown: demo-10\.0\.0\.7\.\nPlan [0-9a-f]{10}, \d+ step\(s\); nothing of it is done\.\n1\. /,
    );
    assert.match(out, /\[installs\] [^\n]*demo-10\.0\.0\.7/);
    const client = createKubeClient(api.transport);
    assert.deepEqual((await client.resource(talosMachineResource).list()).items, []);
  });

  it("gives the same as data", async () => {
    const { out } = await plan(edited, "-o", "json");
    const [told] = JSON.parse(out) as readonly {
      readonly cluster: string;
      readonly plan: { readonly steps: readonly { readonly effect: string }[] };
    }[];
    assert.equal(told?.cluster, "default/demo");
    assert.ok(told.plan.steps.some(({ effect }) => effect === "bootstraps etcd"));
  });

  it("refuses a file without an object of ours, and one that is not there", async () => {
    const { error } = await plan("apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n");
    assert.match(error?.message ?? "", /holds no TalosCluster, TalosControlPlane or TalosWorker/);
    const missing = await run("plan", "-f", join(folder, "absent.yaml"), "--kubeconfig", api.kubeconfigPath);
    assert.match(missing.error?.message ?? "", /cannot read the manifest/);
  });
});
