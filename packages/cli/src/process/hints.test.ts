import assert from "node:assert/strict";
import { it } from "node:test";
import { accessHints, closingHints, commandLine, shellPath } from "./hints.ts";

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
  const hints = (words: readonly string[], objectStorage?: string, firstAddress = "127.1.0.1"): string =>
    accessHints(started(words), { kubeconfig: "/k", applied, files: [], objectStorage, firstAddress }).join("\n");
  assert.match(hints(["demo"]), /kubectl apply -f .*examples\/grow\/cluster\.yaml/);
  // The machines of that example are elsewhere.
  assert.doesNotMatch(hints(["demo"], undefined, "127.20.3.1"), /grow/);
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
