import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { it } from "node:test";
import { accessHints, closingHints, commandLine, shellPath, startedAs } from "./hints.ts";

const start = { npm_lifecycle_event: "start", INIT_CWD: "/home/me/clone" };
const started = (words: readonly string[], environment: NodeJS.ProcessEnv = start) => ({ words, environment, folder: "/home/me/clone" });
const files = [{ cluster: "default/first", kubeconfig: "/home/my files/kubeconfig", talosconfig: "/d/talosconfig" }];

it("repeats the command as it was typed, for a shell", () => {
  assert.equal(commandLine(started(["demo"])), "npm start");
  assert.equal(commandLine(started(["demo", "--data-dir", "my folder"])), "npm start -- --data-dir 'my folder'");
  assert.equal(
    commandLine(started(["standalone", "--manifest", "it's.yaml"], { npm_lifecycle_event: "talos-operator" })),
    "npm run talos-operator -- standalone --manifest 'it'\\''s.yaml'",
  );
  assert.equal(commandLine(started(["standalone"], {})), "talos-operator standalone");
  assert.equal(commandLine(started(["demo"]), ["why", "tc/first"]), "npm run talos-operator -- why tc/first");
});

it("names the command of the checkout for what is typed next, and repeats what npm was given as it was given", () => {
  const words = ["standalone", "--data-dir", "d"];
  const inClone = (folder: string, environment: NodeJS.ProcessEnv = {}) => ({
    words,
    environment,
    folder,
    program: "/home/me/clone/talos-operator",
  });
  assert.equal(commandLine(inClone("/home/me/clone"), ["status"]), "./talos-operator status");
  assert.equal(commandLine(inClone("/home/me"), ["status"]), "clone/talos-operator status");
  assert.equal(commandLine(inClone("/etc"), ["status"]), "/home/me/clone/talos-operator status");
  // A relative path in it is meant from where npm runs.
  const byNpm = { npm_lifecycle_event: "talos-operator", INIT_CWD: "/etc" };
  assert.equal(commandLine(inClone("/home/me/clone", byNpm)), "npm run talos-operator -- standalone --data-dir d");
  assert.equal(commandLine(inClone("/home/me/clone")), "./talos-operator standalone --data-dir d");
});

it("runs from a checkout here, and its command is there", { skip: process.platform === "win32" }, () => {
  const { program } = startedAs();
  assert.ok(program !== undefined && existsSync(program), program);
});

it("names what was applied and nothing else, and quotes paths", () => {
  const applied = [{ apiVersion: "x/v1", kind: "TalosCluster", metadata: { name: "first", namespace: "prod" } }];
  const text = accessHints(started(["standalone"]), { kubeconfig: "/home/my files/config", applied, files }).join("\n");
  assert.match(text, /export KUBECONFIG='\/home\/my files\/config'/);
  assert.match(text, /kubectl get talosclusters,taloscontrolplanes,talosworkers,talosmachines -n prod\n/);
  assert.match(text, /why taloscluster\/first -n prod/);
  assert.match(text, /--kubeconfig '\/home\/my files\/kubeconfig' get nodes/);
  assert.doesNotMatch(text, /kubernetesclusters|examples/);
});

it("offers to grow the example, to back it up and to install an addon, and no other manifest", () => {
  const applied = [{ apiVersion: "x/v1", kind: "TalosCluster", metadata: { name: "first" } }];
  const hints = (words: readonly string[], objectStorage?: string, spare?: string): string =>
    accessHints(started(words), { kubeconfig: "/k", applied, files: [], objectStorage, spare }).join("\n");
  // It adds to what is there, and asks for no version: after an upgrade a file of the first version would ask for the way back.
  const add = `'[{"op":"add","path":"/spec/worker/metalSpec/machines/-","value":{"address":"127.20.3.7"}}]'`;
  assert.ok(
    hints(["demo"], undefined, "127.20.3.7").includes(`\n  kubectl patch taloscluster first --type json -p ${add}   # adds a worker\n`),
  );
  for (const none of [hints(["demo"]), hints(["demo", "--manifest", "x.yaml"], undefined, "127.20.3.7")])
    assert.doesNotMatch(none, /adds a worker/);
  assert.match(hints(["demo"], "127.0.0.1:9333"), /kubectl apply -f .*examples\/talos-etcd-backup\.yaml/);
  // Elsewhere is no store that the example names.
  for (const store of ["127.0.0.1:9334", undefined])
    assert.match(hints(["demo"], store), /kubectl apply -f .*examples\/talos-etcd-backup-directory\.yaml/);
  assert.doesNotMatch(hints(["demo", "--manifest", "x.yaml"]), /apply/);
  const withCharts = (chartRepository?: string): string =>
    accessHints(started(["demo"]), { kubeconfig: "/k", applied, files: [], chartRepository }).join("\n");
  assert.match(withCharts("https://127.0.0.1:9444"), /kubectl apply -f .*examples\/talos-cluster-addon\.yaml/);
  for (const other of ["https://127.0.0.1:9445", undefined]) assert.doesNotMatch(withCharts(other), /addon/);
});

it("says what stays, how to go on and how to begin anew", () => {
  const lines = closingHints(started(["demo"]), {
    folder: "/home/me/clone/.talos-operator",
    kept: "All is kept in",
    anew: `rm -r ${shellPath(started(["demo"]), "/home/me/clone/my folder")}`,
  });
  assert.deepEqual(lines, ["Stopped. All is kept in .talos-operator.", "  To go on:      npm start", "  To start anew: rm -r 'my folder'"]);
  assert.equal(closingHints(started(["demo"]), { folder: "/d", kept: "x", anew: undefined }).length, 2);
});
