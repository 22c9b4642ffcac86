// Genuine parts: etcd, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { PassThrough } from "node:stream";
import { type GenuineApi, KUBECTL_WAITS, startGenuineApi, tool } from "@talos-operator/adapters/testing";
import { talosControlPlaneResource, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KubeTransport } from "@talos-operator/ports";
import { createProgram } from "../program.ts";
import { commandGroups, commands } from "./index.ts";

const root = join(import.meta.dirname, "../../../..");
/** More than one page of a list. */
const MACHINES = 1_200;

describe("status on a genuine kube-apiserver", () => {
  let api: GenuineApi;
  let transport: KubeTransport;
  let client: KubeClient;

  before(async () => {
    api = await startGenuineApi();
    const kubectl = (...args: readonly string[]): void => void execFileSync(tool("kubectl"), ["--kubeconfig", api.kubeconfig, ...args]);
    // KubernetesClusters are not served: the rest is shown all the same.
    const files = readdirSync(join(root, "config/crd")).filter((file) => file.startsWith("talos.alperen.cloud_"));
    const named = files.flatMap((file) => ["-f", join(root, "config/crd", file)]);
    kubectl("apply", "--server-side", ...named);
    kubectl("wait", "--for=condition=Established", KUBECTL_WAITS, ...named);
    transport = createHttpsTransport((await loadKubeconfig({ path: api.kubeconfig })).config);
    client = createKubeClient(transport);
    await fill();
  });
  after(async () => {
    transport.close();
    await api.stop();
  });

  async function fill(): Promise<void> {
    const spec = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" };
    const addressOf = (index: number): string => `10.7.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    const machines = Array.from({ length: MACHINES }, (_, index) => ({ address: addressOf(index) }));
    const metadata = { namespace: "default", name: "demo" };
    await client
      .resource(talosControlPlaneResource)
      .create({ metadata, spec: { ...spec, metalSpec: { machines: [{ address: "10.6.0.1" }] } } } as object);
    await client
      .resource(talosWorkerResource)
      .create({ metadata, spec: { ...spec, controlPlaneRef: { name: "demo" }, metalSpec: { machines } } } as object);
    const resource = client.resource<KubeObject & { readonly status?: object }>(talosMachineResource);
    const make = async (index: number): Promise<void> => {
      const address = addressOf(index);
      const name = `demo-${address}`;
      const object = {
        metadata: { namespace: "default", name },
        spec: { endpoint: address, version: "v1.13.9", workerRef: { name: "demo" } },
      };
      const made = await resource.create(object);
      const time = "2026-01-01T00:00:00Z";
      const ready = { type: "Ready", status: "True", reason: "AllReady", message: "Ready.", lastTransitionTime: time };
      // As the release before wrote it: without what later ones add.
      await resource.updateStatus({ ...made, status: { state: "Available", observedVersion: "v1.13.9", conditions: [ready] } });
    };
    for (let begin = 0; begin < MACHINES; begin += 50) await Promise.all(Array.from({ length: 50 }, (_, index) => make(begin + index)));
  }

  async function status(...words: readonly string[]): Promise<string> {
    const stdout = new PassThrough({ highWaterMark: 16 * 1024 * 1024 });
    const stream = stdout as unknown as NodeJS.WriteStream;
    const context = { signal: new AbortController().signal, stdout: stream, stderr: stream };
    await createProgram(commands, "0", context, commandGroups).parseAsync(["status", ...words, "--kubeconfig", api.kubeconfig], {
      from: "user",
    });
    return String(stdout.read());
  }

  it("reads machines of more than one page, and counts those that are alike", async () => {
    const out = await status("tcp/demo");
    assert.ok(out.split("\n").length < 30, out);
    assert.match(out, /TalosWorker\/demo +Unknown +Pending +worker +1200\/1200 ready +v1\.13\.9/);
    assert.match(out, /\+ 1,190 more +True +Available/);
  });

  it("shows every one with --all, and gives them as data", async () => {
    assert.ok((await status("--all")).split("\n").length > MACHINES);
    const [tree] = JSON.parse(await status("tw/demo", "-o", "json")) as readonly { readonly children: readonly object[] }[];
    assert.equal(tree?.children.length, MACHINES);
  });
});
