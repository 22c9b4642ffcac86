// Genuine parts: helm, kubectl
// The examples of addons against `npm start`, with genuine Helm on the PATH: what their accept line promises (B082, B129, C054).
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { KUBECTL_WAITS, ownAddress, tool } from "@talos-operator/adapters/testing";
import { must, startCommand, temporaryFolder, type Running } from "./processes.ts";

const LISTEN = `${ownAddress()}:6443`;
const example = (file: string): string => fileURLToPath(new URL(`../../examples/${file}`, import.meta.url));
const main = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));

describe("the examples of addons, with npm start and genuine Helm", () => {
  const folder = temporaryFolder();
  let demo: Running;
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", join(folder.path, "kubeconfig"), ...args]);
  const accessOf = (cluster: string): string => join(folder.path, "clusters", "default", cluster, "kubeconfig");
  const inside = (cluster: string, ...args: string[]): Promise<string> =>
    must(tool("kubectl"), ["--kubeconfig", accessOf(cluster), ...args]);
  const first = (): string => readdirSync(join(folder.path, "clusters", "default")).find((name) => name !== "own-network") ?? "";
  const helm = (...args: string[]): Promise<string> => must(tool("helm"), [...args, "--kubeconfig", accessOf(first())]);
  const start = async (): Promise<void> => {
    const path = [dirname(tool("helm")), process.env["PATH"]].join(delimiter);
    demo = startCommand(process.execPath, [main, "demo", "--data-dir", folder.path, "--listen", LISTEN], { ...process.env, PATH: path });
    await demo.says(/Ctrl-C stops it/);
  };
  const revisions = async (): Promise<readonly number[]> =>
    (JSON.parse(await helm("history", "page", "--namespace", "page", "--output", "json")) as readonly { readonly revision: number }[]).map(
      ({ revision }) => revision,
    );
  const untilRevision = (revision: number): Promise<string> =>
    kubectl("wait", `tcar/${first()}-page-addonrelease`, `--for=jsonpath={.status.revision}=${revision}`, KUBECTL_WAITS);

  before(start);
  after(async () => {
    await demo.end();
    folder[Symbol.dispose]();
  });

  it("talos-cluster-addon.yaml ends Ready with pods Ready; an edit makes one revision, a restart none; deletion uninstalls", async () => {
    await kubectl("apply", "-f", example("talos-cluster-addon.yaml"));
    await kubectl("wait", "tca/page", "--for=condition=Ready", KUBECTL_WAITS);
    const release = `tcar/${first()}-page-addonrelease`;
    assert.match(await kubectl("get", release, "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].reason}"), /^Installed$/);
    await inside(first(), "wait", "pods", "--all", "--namespace", "page", "--for=condition=Ready", KUBECTL_WAITS);
    const edited = join(folder.path, "edited.yaml");
    writeFileSync(edited, readFileSync(example("talos-cluster-addon.yaml"), "utf8").replace("Hello from", "Edited on"));
    const plan = await must(process.execPath, [
      main,
      "plan",
      "-f",
      edited,
      "--kubeconfig",
      join(folder.path, "kubeconfig"),
      "--helm",
      tool("helm"),
    ]);
    assert.match(
      plan,
      /^default\/\S+-page-addonrelease\npage 1\.0\.0 would follow revision 1; 2 objects change\.\n {2}ConfigMap page is changed: data\[index\.html\]: Edited on/,
    );
    const edit = { spec: { helmSpec: { valuesTemplate: "text: Edited on {{ .Cluster.Name }}\n" } } };
    await kubectl("patch", "tca/page", "--type=merge", "--patch", JSON.stringify(edit));
    await untilRevision(2);
    await kubectl("wait", "tca/page", "--for=condition=Ready", KUBECTL_WAITS);
    assert.deepEqual(await revisions(), [1, 2]);
    assert.match(await helm("get", "values", "page", "--namespace", "page"), /Edited on/);
    await demo.end();
    await start();
    await kubectl("wait", "tca/page", "--for=condition=Ready", KUBECTL_WAITS);
    await kubectl("annotate", release, "talos-operator.dev/rollback-to=1");
    await untilRevision(3);
    assert.deepEqual(await revisions(), [1, 2, 3], "the restart made none");
    await kubectl("delete", "tca/page", KUBECTL_WAITS);
    assert.equal((await helm("list", "--all-namespaces", "--short")).trim(), "");
  });

  /** The demo writes the access of its own cluster alone. */
  const keepAccess = async (cluster: string): Promise<void> => {
    const data = await kubectl("get", "secret", `${cluster}-kubeconfig`, "-o", "jsonpath={.data.kubeconfig}");
    mkdirSync(dirname(accessOf(cluster)), { recursive: true });
    writeFileSync(accessOf(cluster), Buffer.from(data, "base64"), { mode: 0o600 });
  };

  it("own-network/cluster.yaml: Nodes get Ready only after the addon that brings the network", async () => {
    const [cluster = ""] = readFileSync(example("own-network/cluster.yaml"), "utf8").split("\n---\n");
    const alone = join(folder.path, "cluster.yaml");
    writeFileSync(alone, cluster);
    await kubectl("apply", "-f", alone);
    await kubectl(
      "wait",
      "tcp/own-network",
      "--for=jsonpath={.status.conditions[?(@.type=='NodesReady')].reason}=NoNetworkPlugin",
      KUBECTL_WAITS,
    );
    await keepAccess("own-network");
    assert.match(await inside("own-network", "get", "nodes", "--no-headers"), /NotReady/);
    await kubectl("apply", "-f", example("own-network/cluster.yaml"));
    await inside("own-network", "wait", "nodes", "--all", "--for=condition=Ready", KUBECTL_WAITS);
    await kubectl("wait", "talosclusters/own-network", "--for=condition=Ready", KUBECTL_WAITS);
    await kubectl("delete", "-f", example("own-network/cluster.yaml"), KUBECTL_WAITS);
  });
});
