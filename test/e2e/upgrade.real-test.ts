// Genuine parts: kubectl, talosctl
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ownAddress, tool, until } from "@talos-operator/adapters/testing";
import { findCondition, type Condition } from "@talos-operator/api";
import { must, startCommand, startOurs, temporaryFolder } from "./processes.ts";

const FROM = "v1.13.9";
const TO = "v1.13.10";
const ADDRESSES = [1, 2, 3, 4, 5, 6].map((n) => `127.1.0.${n}`);

/** What is sent to machines, by the words with which the log says that it begins. */
const SENT: Readonly<Record<string, string>> = {
  "Pulling installer image": "PullInstaller",
  "Installing Talos": "InstallTalos",
  "Upgrading Talos": "UpgradeTalos",
  "Handing over etcd leadership": "ForfeitLeadership",
  "Rebooting machine": "RebootMachine",
  "Rolling Talos back": "RollBackTalos",
};

interface Step {
  readonly action: string;
  readonly machines: readonly string[];
}

interface Demo extends AsyncDisposable {
  readonly folder: string;
  kubectl(...args: string[]): Promise<string>;
  condition(kind: string, type: string): Promise<Condition | undefined>;
  /** `InstallTalos first-127.1.0.2`, in the order in which it was sent. */
  sent(): readonly string[];
  /** `127.1.0.1 v1.13.9 True`: what each Node says it runs, and whether it is ready. */
  nodes(): Promise<readonly string[]>;
}

async function startDemo(...flags: readonly string[]): Promise<Demo> {
  const folder = temporaryFolder();
  const ports = ["--listen", `${ownAddress()}:6443`, "--object-storage-port", "0", "--chart-repository-port", "0"];
  const demo = startOurs("demo", "--data-dir", folder.path, ...ports, ...flags);
  await demo.says(/Ctrl-C stops it/);
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", join(folder.path, "kubeconfig"), ...args]);
  return {
    folder: folder.path,
    kubectl,
    condition: async (kind, type) => {
      const { status } = JSON.parse(await kubectl("get", kind, "first", "-o", "json")) as { status: { conditions: readonly Condition[] } };
      return findCondition(status.conditions, type);
    },
    sent: () =>
      readFileSync(join(folder.path, "demo.log"), "utf8")
        .split("\n")
        // The last line may not be written to its end.
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { message: string; machine?: string })
        .flatMap(({ message, machine }) => (SENT[message] === undefined ? [] : [`${SENT[message]} ${machine}`])),
    nodes: async () => {
      const kubeconfig = join(folder.path, "clusters", "default", "first", "kubeconfig");
      const table = await must(tool("kubectl"), ["--kubeconfig", kubeconfig, "get", "nodes", "-o", "wide", "--no-headers"]);
      return table
        .trim()
        .split("\n")
        .map((line) => {
          const [, ready = "", address = "", image = ""] = /^\S+\s+(\S+).*\s(127\.1\.0\.\d)\s.*Talos \((v[\d.]+)\)/.exec(line) ?? [];
          return `${address} ${image} ${ready}`;
        })
        .toSorted();
    },
    async [Symbol.asyncDispose]() {
      await demo.end();
      folder[Symbol.dispose]();
    },
  };
}

const patch = (demo: Demo): Promise<string> =>
  demo.kubectl("patch", "taloscluster", "first", "--type=merge", "-p", JSON.stringify({ spec: edited }));
const edited = { controlPlane: { version: TO }, worker: { version: TO } };

/** The steps of `plan -f` that are sent to machines, and the drains. */
async function planned(demo: Demo): Promise<{ readonly sent: readonly string[]; readonly drained: readonly string[] }> {
  const file = join(demo.folder, "edited.yaml");
  writeFileSync(file, readFileSync("examples/first-cluster/cluster.yaml", "utf8").replaceAll(`version: ${FROM}`, `version: ${TO}`));
  const plan = startOurs("plan", "-f", file, "--kubeconfig", join(demo.folder, "kubeconfig"), "--allow-loopback-machines", "-o", "json");
  assert.equal(await plan.exited, 0, plan.output());
  const [found] = JSON.parse(plan.output()) as readonly { readonly plan: { readonly steps: readonly Step[] } }[];
  const of = (is: (action: string) => boolean): readonly (readonly [string, string])[] =>
    (found?.plan.steps ?? []).flatMap(({ action, machines }) => (is(action) ? machines.map((name) => [action, name] as const) : []));
  return {
    sent: of((action) => Object.values(SENT).includes(action)).map((step) => step.join(" ")),
    drained: of((action) => action === "CordonAndDrain").map(([, name]) => name),
  };
}

describe("npm start, and another Talos", { concurrency: false }, () => {
  it("upgrades six machines by the steps that plan names, without losing quorum, and is Ready after it", async () => {
    await using demo = await startDemo();
    const plan = await planned(demo);
    assert.equal(plan.drained.length, 6);
    const reasons = `jsonpath={.status.conditions[?(@.type=="EtcdHealthy")].reason}{"\\n"}`;
    const access = ["--kubeconfig", join(demo.folder, "kubeconfig")];
    const etcd = startCommand(tool("kubectl"), [...access, "get", "taloscontrolplane", "first", "--watch", "-o", reasons]);
    await etcd.says(/AllMembersHealthy/);
    await patch(demo);
    await until(`every Node shows ${TO}, and nothing is left to do`, async () => {
      const nodes = await demo.nodes();
      return (
        nodes.join() === ADDRESSES.map((address) => `${address} ${TO} Ready`).join() &&
        (await demo.condition("taloscluster", "Ready"))?.status === "True" &&
        (await demo.condition("taloscluster", "Progressing"))?.reason === "Settled"
      );
    });
    assert.deepEqual(demo.sent(), plan.sent, "what happened is what was planned");
    const events = await demo.kubectl(
      "get",
      "events",
      "--field-selector",
      "reason=MachineDrained",
      "-o",
      "jsonpath={range .items[*]}{.note}{.message}{'\\n'}{end}",
    );
    for (const name of plan.drained) assert.match(events, new RegExp(`^Drained ${name.replaceAll(".", "\\.")}\\.`, "m"));
    await etcd.end("SIGKILL");
    assert.doesNotMatch(etcd.output(), /QuorumLost|NoAnswer|DataCorrupt/);
    const talosconfig = join(demo.folder, "clusters", "default", "first", "talosconfig");
    const members = await must(tool("talosctl"), ["--talosconfig", talosconfig, "-n", "127.1.0.1", "etcd", "members"]);
    assert.equal(members.trim().split("\n").length, 4, members);
  });

  it("stops after one machine where the version is broken, and that one runs the old version again", async () => {
    await using demo = await startDemo("--broken-version", TO);
    await patch(demo);
    await until("stopped", async () => (await demo.condition("taloscontrolplane", "UpgradePending"))?.reason === "VersionFailed");
    await until("Ready", async () => (await demo.condition("taloscluster", "Ready"))?.status === "True");
    assert.deepEqual(
      await demo.nodes(),
      ADDRESSES.map((address) => `${address} ${FROM} Ready`),
    );
    const touched = new Set(demo.sent().map((one) => one.split(" ")[1]));
    assert.equal(touched.size, 1, demo.sent().join(", "));
    const message = (await demo.condition("taloscontrolplane", "UpgradePending"))?.message ?? "";
    assert.match(message, new RegExp(`failed on ${[...touched][0]?.replaceAll(".", "\\.")}`));
    assert.match(
      message,
      /Ask for another version, or annotate the TalosControlPlane with talos-operator\.dev\/lift-quarantine: v1\.13\.10/,
    );
  });
});
