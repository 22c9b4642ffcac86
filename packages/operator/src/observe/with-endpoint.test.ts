import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { EndpointAnswer, EndpointTarget } from "@talos-operator/ports";
import { EndpointWatch } from "../looking/endpoint-watch.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running, silent } from "../testing/builders.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, IntentFact, IntentKind } from "../model/record.ts";
import { withEndpoint } from "./with-endpoint.ts";

const cps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;
const healthy = Object.fromEntries(cps.map((address, index) => [address, running(member(index, 3))]));
const made = facts({ machines: cps.map((address) => configured(address)), bootstrapDone: founded });

const cluster = (over: Partial<ClusterFacts> = {}, rest: Parameters<typeof observed>[0] = {}): Observed =>
  observed({ facts: { ...made, ...over }, looks: healthy, ...rest });

const intent = (what: IntentKind, address: string, role: "controlplane" | "worker" = "controlplane"): IntentFact => ({
  what,
  machine: `demo-${address}`,
  address,
  uuid: `uuid-${address}`,
  role,
  at: NOW,
  deadline: NOW + 600_000,
  why: "",
});

/** A session of which each pass is asked for what it sees of the endpoint, more than a minute after it began to ask. */
function session() {
  const time = createVirtualTime();
  const world = { kind: "reached" as EndpointAnswer["kind"] };
  const targets: EndpointTarget[] = [];
  const endpoint = new EndpointWatch({
    endpoints: {
      ask(target) {
        targets.push(target);
        return Promise.resolve({ kind: world.kind, detail: "" });
      },
    },
    timers: time.timers,
    random: createSeededRandom(1),
    onChange: () => undefined,
  });
  const kubernetesAuthority = { fingerprint: made.bundle.fingerprint, certificate: "the cluster's authority" };
  return {
    targets,
    say: (kind: EndpointAnswer["kind"]) => void (world.kind = kind),
    sees: async (seen: Observed, parent?: Parameters<typeof withEndpoint>[2], authority = kubernetesAuthority): Promise<string> => {
      withEndpoint(seen, { endpoint, kubernetesAuthority: authority }, parent);
      await time.advance(70_000);
      const known = withEndpoint(seen, { endpoint, kubernetesAuthority: authority }, parent).endpoint;
      return known?.kind === "answered" ? known.answer.kind : (known?.kind ?? "nothing");
    },
  };
}

test("the endpoint of the record is asked, and only the cluster's own authority is believed", async () => {
  const { sees, targets } = session();
  assert.equal(await sees(cluster()), "reached");
  assert.deepEqual(targets[0], { endpoint: "https://10.0.0.100:6443", ca: "the cluster's authority" });
});

test("it is not asked before the bootstrap, of a cluster that is paused or goes, or while the keys are not those of the record", async () => {
  for (const seen of [
    cluster({ bootstrapDone: undefined }),
    cluster({}, { mode: "disable" }),
    cluster({}, { mode: "dryrun" }),
    cluster({}, { controlPlane: controlPlane(3, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }) }),
  ]) {
    const { sees, targets } = session();
    assert.deepEqual([await sees(seen), targets.length], ["nothing", 0]);
  }
  const { sees, targets } = session();
  const another = { fingerprint: "another", certificate: "another authority" };
  assert.deepEqual([await sees(cluster(), undefined, another), targets.length], ["not-asked", 0]);
});

test("a record that cannot be read makes nothing forgotten", async () => {
  const { sees } = session();
  assert.equal(await sees(cluster()), "reached");
  assert.equal(await sees(observed({ record: { kind: "unknown", detail: "FORBIDDEN" }, looks: healthy })), "reached");
});

test("the word outside is read from the control plane, else from its TalosCluster, in any letter case", async () => {
  const { sees, targets } = session();
  const word = { annotations: { [annotations.endpointReachableFrom]: "Outside" } };
  const parent = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosCluster", metadata: { name: "demo", ...word } } as const;
  assert.equal(await sees(cluster({}, { controlPlane: controlPlane(3, {}, word) })), "outside");
  assert.equal(await sees(cluster(), parent), "outside");
  assert.equal(targets.length, 0);
  assert.equal(
    await sees(cluster({}, { controlPlane: controlPlane(3, {}, { annotations: { [annotations.endpointReachableFrom]: "here" } }) })),
    "reached",
  );
});

describe("while an effect is open that may take the API server at the endpoint away, the earlier answer stays", () => {
  const disturbing: readonly IntentKind[] = [
    "Reboot",
    "ApplyConfig",
    "UpgradeTalos",
    "Reset",
    "RemoveMember",
    "ReplaceMember",
    "WriteMeta",
  ];
  for (const what of disturbing)
    test(`${what} of a control plane behind a virtual address`, async () => {
      const { sees, say } = session();
      assert.equal(await sees(cluster()), "reached");
      say("refused");
      assert.equal(await sees(cluster({ intents: [intent(what, "10.0.0.2")] })), "reached");
    });

  for (const [what, endpoint, open, want] of [
    ["of the machine at the endpoint", "https://10.0.0.2:6443", intent("Reboot", "10.0.0.2"), "reached"],
    ["of another control plane: that is another matter", "https://10.0.0.2:6443", intent("Reboot", "10.0.0.1"), "refused"],
    ["of a worker: that neither", "https://10.0.0.100:6443", intent("Reboot", "10.0.0.9", "worker"), "refused"],
    ["that only gives free pages back: that neither", "https://10.0.0.100:6443", intent("Defragment", "10.0.0.2"), "refused"],
  ] as const)
    test(`a reboot ${what}`, async () => {
      const { sees, say } = session();
      assert.equal(await sees(cluster({ endpoint })), "reached");
      say("refused");
      assert.equal(await sees(cluster({ endpoint, intents: [open] })), want);
    });
});

test("until a control plane is a ready node for the first time, nobody is expected to listen", async () => {
  const { sees, say } = session();
  const young = cluster({}, { looks: Object.fromEntries(cps.map((address) => [address, silent])) });
  say("refused");
  assert.equal(await sees(young), "not-asked");
  const told = {
    type: "EndpointReachable",
    status: "True",
    reason: "Reached",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  } as const;
  const old = { ...young, controlPlane: { ...young.controlPlane, status: { conditions: [told] } } };
  assert.equal(await sees(old), "refused");
});
