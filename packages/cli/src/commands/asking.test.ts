import assert from "node:assert/strict";
import { once } from "node:events";
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

const namespaceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false } as const;
const controlPlane = {
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosControlPlane",
  spec: { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal", metalSpec: { machines: [{ address: "10.0.0.1" }] } },
};

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
    .create({ ...controlPlane, metadata: { namespace: "default", name: "demo" } });
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

describe("status", () => {
  const status = (...words: readonly string[]): ReturnType<typeof run> => run("status", ...words, "--kubeconfig", api.kubeconfigPath);

  for (const words of [[], ["tcp/demo"], ["-A"], ["TalosControlPlane/demo", "--all"]])
    it(`shows the tree for ${JSON.stringify(words)}`, async () => {
      const { out, error } = await status(...words);
      assert.equal(error, undefined);
      assert.match(
        out,
        /^OBJECT[^\n]*\nTalosControlPlane.*demo +Unknown +Pending[^\n]*\n +! The operator has not written a status yet\.\n$/,
      );
    });

  it("gives the same as data", async () => {
    const { out } = await status("-o", "json");
    const [tree] = JSON.parse(out) as readonly { readonly kind: string; readonly ready: string; readonly machines: object }[];
    assert.deepEqual([tree?.kind, tree?.ready, tree?.machines], ["TalosControlPlane", "Unknown", { ready: 0, wanted: 1 }]);
  });

  it("says that there is no cluster", async () => {
    assert.match((await status("-n", "other")).out, /There is no cluster in namespace other\./);
  });

  it("goes on with --watch until it is stopped, and tells what changes", async () => {
    const stdout = new PassThrough();
    const stop = new AbortController();
    const stream = stdout as unknown as NodeJS.WriteStream;
    const client = createKubeClient(api.transport).resource(talosControlPlaneResource);
    const watching = createProgram(commands, "0", { signal: stop.signal, stdout: stream, stderr: stream }, commandGroups).parseAsync(
      ["status", "--watch", "-n", "watched", "--kubeconfig", api.kubeconfigPath],
      { from: "user" },
    );
    await once(stdout, "readable");
    assert.match(String(stdout.read()), /There is no cluster\./);
    await createKubeClient(api.transport)
      .resource(namespaceType)
      .create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "watched" } });
    await client.create({ ...controlPlane, metadata: { namespace: "watched", name: "second" } });
    let out = "";
    while (!out.includes("second")) {
      await once(stdout, "readable");
      out += String(stdout.read() ?? "");
    }
    stop.abort();
    await watching;
    assert.match(out, /^\d\d:\d\d:\d\d {2}TalosControlPlane watched\/second {2}Pending/);
  });

  const refused: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["an object that does not exist", ["tcp/nobody"], /no TalosControlPlane nobody in namespace default/],
    ["an object of all namespaces", ["tcp/demo", "-A"], /in one namespace/],
    ["data that goes on", ["--watch", "-o", "json"], /--watch shows text only/],
    ["a kind that it does not know", ["pod/x"], /"pod" is no kind/],
  ];
  for (const [what, words, message] of refused)
    it(`refuses ${what}`, async () => {
      const { error } = await status(...words);
      assert.ok(error instanceof CliError, String(error));
      assert.match(error.message, message);
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

  it("tells the steps in order, and last that the machine's state is not known", async () => {
    const { out, error } = await plan(edited);
    assert.equal(error, undefined);
    assert.match(
      out,
      /^default\/demo \(new\)\nPlan: \d+ steps\. Nothing is done yet\.\n1\. [^]*\nNot reported: the state of demo-10\.0\.0\.7\.\n$/,
    );
    assert.match(out, /\[installs\] [^\n]*demo-10\.0\.0\.7 \(10\.0\.0\.7, a disk it does not report yet, Talos v1\.13\.9\)/);
    const client = createKubeClient(api.transport);
    assert.deepEqual((await client.resource(talosMachineResource).list()).items, []);
  });

  it("takes the defaults of what an edit leaves out", async () => {
    const { out, error } = await plan(edited.replace("kubeVersion: v1.36.3, ", ""));
    assert.equal(error, undefined);
    assert.match(out, /\[installs\] [^\n]*demo-10\.0\.0\.7/);
  });

  it("refuses what the API server would refuse, and says so", async () => {
    const { out, error } = await plan(edited.replace("v1.13.9", "$(id)"));
    assert.equal(out, "");
    assert.ok(error instanceof CliError);
    assert.equal(error.exitCode, 1);
    assert.match(error.message, /^the API server would refuse TalosControlPlane demo: spec\.version: /);
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
