import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultSchematicId } from "@talos-operator/talos";
import { configured, facts, founded, running, silent } from "../../testing/builders.ts";
import { buildToInstall } from "./build-to-install.ts";
import type { DeclaredMachine, MachineRole } from "../../model/machine.ts";
import type { ClusterFacts, QuarantineFact } from "../../model/record.ts";
import type { SeenMachine } from "../../model/observation.ts";

const one = "1".repeat(64);
const two = "2".repeat(64);
const factory = (schematic: string, tag = ""): string => `factory.talos.dev/metal-installer/${schematic}${tag}`;

interface Peer {
  readonly role?: MachineRole;
  readonly pool?: string;
  readonly runs?: string;
  readonly schematic?: string;
  readonly ready?: boolean;
  readonly isBusy?: true;
}

interface Given {
  readonly role?: MachineRole;
  readonly asked?: string;
  readonly image?: string;
  /** What control planes were last seen to run. */
  readonly known?: string;
  readonly peers?: readonly Peer[];
  readonly quarantine?: readonly Partial<QuarantineFact>[];
  readonly isFounded?: false;
}

const declared = (name: string, role: MachineRole, pool: string, version: string, image?: string): DeclaredMachine =>
  ({ name, role, version, owner: { name: pool }, machineSpec: image === undefined ? {} : { image } }) as unknown as DeclaredMachine;

function gets({ role = "worker", asked = "v1.13.10", image, known = "v1.13.9", peers = [], quarantine = [], isFounded }: Given) {
  const machines = peers.map(({ role: of = role, pool = "pool", runs, schematic, ready = true }, index): SeenMachine => ({
    declared: declared(`peer-${index}`, of, pool, asked),
    look:
      runs === undefined ? silent : { ...running(undefined, { version: runs, ready }), ...(schematic === undefined ? {} : { schematic }) },
  }));
  const intents = peers.flatMap(({ isBusy }, index) => (isBusy === true ? [{ machine: `peer-${index}` }] : []));
  const record = {
    ...facts({
      ...(isFounded === false ? {} : { bootstrapDone: founded }),
      talosVersion: known,
      machines: peers.map((_peer, index) => ({ ...configured(`10.0.0.${index}`), name: `peer-${index}` })),
    }),
    intents,
    quarantine,
  } as unknown as ClusterFacts;
  const { version, machineSpec, failed } = buildToInstall({ machines }, record, declared("new", role, "pool", asked, image));
  return failed === undefined ? [version, ...(machineSpec.image === undefined ? [] : [machineSpec.image])] : [];
}

const cases: readonly (readonly [what: string, given: Given, gets: readonly string[]])[] = [
  ["what is asked for, before the cluster is founded", { isFounded: false, role: "controlplane" }, ["v1.13.10"]],
  ["what runs, before one of its role is well with what is asked for", { peers: [{ runs: "v1.13.9" }] }, ["v1.13.9"]],
  ["what is asked for, once one is", { peers: [{ runs: "v1.13.9" }, { runs: "v1.13.10" }] }, ["v1.13.10"]],
  ["what runs, while that one is not ready", { peers: [{ runs: "v1.13.9" }, { runs: "v1.13.10", ready: false }] }, ["v1.13.9"]],
  ["what runs, while the upgrade of that one is open", { peers: [{ runs: "v1.13.9" }, { runs: "v1.13.10", isBusy: true }] }, ["v1.13.9"]],
  [
    "what runs, where only another role proved it",
    { peers: [{ runs: "v1.13.9" }, { role: "controlplane", runs: "v1.13.10" }] },
    ["v1.13.9"],
  ],
  ["a control plane: what control planes run", { role: "controlplane", peers: [{ runs: "v1.13.9" }] }, ["v1.13.9"]],
  [
    "a control plane: what one of them is well with",
    { role: "controlplane", peers: [{ runs: "v1.13.9" }, { runs: "v1.13.10" }] },
    ["v1.13.10"],
  ],
  ["the first worker: what is asked for", { known: "v1.13.10" }, ["v1.13.10"]],
  ["the first worker: never more than control planes run", {}, ["v1.13.9"]],
  [
    "what most of its pool run",
    { peers: [{ runs: "v1.13.8" }, { runs: "v1.13.8" }, { runs: "v1.13.9" }, { pool: "other", runs: "v1.13.7" }] },
    ["v1.13.8"],
  ],
  ["what other pools run, where nobody of its own is heard", { peers: [{}, { pool: "other", runs: "v1.13.7" }] }, ["v1.13.7"]],
  ["never what failed", { peers: [{ runs: "v1.13.9" }, { runs: "v1.13.10" }], quarantine: [{ version: "v1.13.10" }] }, ["v1.13.9"]],
  [
    "never what failed, not as the first, either",
    { known: "v1.13.9", asked: "v1.13.8", quarantine: [{ version: "v1.13.8" }] },
    ["v1.13.9"],
  ],
  [
    "never from an image that is named for what failed",
    { peers: [{ runs: "v1.13.9" }], image: factory(one, ":v1.13.10"), quarantine: [{ version: "v1.13.10" }] },
    ["v1.13.9", factory(one, ":v1.13.9")],
  ],
  ["an image without a tag as it is", { peers: [{ runs: "v1.13.9" }], image: factory(one) }, ["v1.13.9", factory(one)]],
  [
    "the schematic that its pool runs, before one of it is well with another",
    { asked: "v1.13.9", image: factory(two), peers: [{ runs: "v1.13.9", schematic: one }] },
    ["v1.13.9", factory(one)],
  ],
  [
    "the schematic that is asked for, once one is",
    {
      asked: "v1.13.9",
      image: factory(two),
      peers: [
        { runs: "v1.13.9", schematic: one },
        { runs: "v1.13.9", schematic: two },
      ],
    },
    ["v1.13.9", factory(two)],
  ],
  [
    "the schematic that is asked for in a pool of its own, whatever others run",
    { asked: "v1.13.9", image: factory(two), peers: [{ runs: "v1.13.9", pool: "other", schematic: one }] },
    ["v1.13.9", factory(two)],
  ],
  [
    "never an image that failed: what its pool runs",
    {
      asked: "v1.13.9",
      image: factory(two),
      peers: [{ runs: "v1.13.9", schematic: one }],
      quarantine: [{ version: "v1.13.9", schematic: two }],
    },
    ["v1.13.9", factory(one)],
  ],
  [
    "never an image that failed: what holds nothing, where its pool runs an installer of Talos itself",
    {
      asked: "v1.13.9",
      image: factory(two),
      peers: [{ runs: "v1.13.9", schematic: "none" }],
      quarantine: [{ version: "v1.13.9", schematic: two }],
    },
    ["v1.13.9", factory(defaultSchematicId)],
  ],
  [
    "nothing, where its image failed and nobody of its pool tells what it runs",
    { asked: "v1.13.9", image: factory(two), peers: [{ runs: "v1.13.9" }], quarantine: [{ version: "v1.13.9", schematic: two }] },
    [],
  ],
  ["nothing, where all that is known failed", { known: "v1.13.10", quarantine: [{ version: "v1.13.10" }] }, []],
  [
    "what another machine runs, where what most run failed",
    { peers: [{ runs: "v1.13.10" }, { runs: "v1.13.10" }, { runs: "v1.13.9" }], quarantine: [{ version: "v1.13.10" }] },
    ["v1.13.9"],
  ],
];

describe("a machine that joins is installed with", () => {
  for (const [what, given, want] of cases) test(what, () => assert.deepEqual(gets(given), want));
});
