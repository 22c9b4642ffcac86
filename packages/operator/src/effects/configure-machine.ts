import { createTalosClient, resourceKinds } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { certificateHosts, endpointOf, keptOf } from "../config/endpoints.ts";
import { renderMachineConfig } from "../config/render.ts";
import { EffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { wantedMeta } from "../procedures/configure/meta-plan.ts";
import { configuredLook, diskWords, settled, withLook } from "../planning/afterwards.ts";
import { onMachine } from "../planning/step-of.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import { buildToInstall } from "../procedures/join/build-to-install.ts";
import { asMade } from "../spec/fixed-properties.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { InMaintenance } from "../model/look.ts";
import type { Observed } from "../model/observation.ts";
import { noteNotSent } from "./attempt.ts";
import { rememberedAs } from "./define.ts";
import type { Sending } from "./define.ts";
import { isContainerHere } from "./reset-machine.ts";
import { defineSend } from "./send-to-machine.ts";
import { writeMetaInMaintenance } from "./write-meta.ts";

interface ConfigureMachine {
  readonly machine: DeclaredMachine;
  readonly ifSpki: string;
  readonly installDisk: string | undefined;
  /** The cluster goes, and a worker that must be wiped gets its certificate through no other machine. */
  readonly isForWipe?: true;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only to the key that was written down, and only while the record says so. */
    ConfigureMachine: ConfigureMachine;
  }
}

const refusals: readonly TalosErrorCode[] = [
  "INVALID_ARGUMENT",
  "NODE_FAILED",
  "FAILED_PRECONDITION",
  "UNIMPLEMENTED",
  "PERMISSION_DENIED",
];

/** A machine that just took its configuration needs a moment to act on it. */
const retry = { word: "Configure", refusals, pauseMs: { answered: 30_000, refused: 30_000, unknown: 1_000 } } as const;

type Asked = Sending<ConfigureMachine>;

/** The machine as it was seen waiting. */
const waiting = ({ action: { machine }, effects: { seen } }: Asked): InMaintenance | undefined => {
  const look = seen.machines.find((one) => one.declared.name === machine.name)?.look;
  return look?.kind === "maintenance" ? look : undefined;
};

/** Rendered before anything is dialled. */
const rendered = async (sending: Asked): Promise<string> => {
  const { machine, installDisk } = sending.action;
  const { controlPlane, machines } = sending.effects.seen;
  const facts = sending.effects.facts();
  const look = sending.ask(waiting);
  const secrets = await sending.effects.bundle();
  const { spec } = controlPlane;
  if (spec === undefined) throw new EffectError("PRECONDITION_GONE", `${machine.name} is not declared any more`);
  const { failed, ...build } = buildToInstall(sending.effects.seen, facts, machine);
  if (failed !== undefined) throw new EffectError("PRECONDITION_GONE", `Talos ${failed.version} failed on ${failed.machine} by now`);
  const contract = machineFact(facts, machine.name)?.contract;
  const addresses = machines.flatMap(({ declared }) =>
    // One that a reference has not given yet is none.
    declared.role === "controlplane" && declared.address !== "" ? [declared.address] : [],
  );
  return renderMachineConfig({
    role: machine.role,
    clusterName: controlPlane.metadata.name,
    endpoint: endpointOf(machine.role, facts),
    kept: keptOf(machine.role, facts),
    controlPlane: asMade(spec, facts),
    ...build,
    // What was written down: which Talos is installed may have changed since.
    ...(contract === undefined ? {} : { contract }),
    readBy: look?.version,
    platform: look?.platform,
    installDisk,
    // For the certificates of those who answer there.
    addresses: machine.role === "controlplane" ? [...new Set([...addresses, ...certificateHosts(facts)])] : [machine.address],
    secrets,
  });
};

/**
 * Sends a machine its configuration, in maintenance mode, to exactly the key that the record names.
 *
 * Order: connect with that key demanded, see that the machine still waits, read lease and record, send. A repetition to the same key is harmless.
 */
export const configureMachine = defineSend("ConfigureMachine", {
  inventory: "T2",
  machine: ({ machine }) => machine.name,
  whom: ({ machine }) => machine.name,
  address: ({ machine }) => machine.address,
  disrupts: "nothing",
  goesTogether: true,
  intent: "Configure",
  retry,
  before: {
    unpaused: ({ action, effects }) => effects.demandUnpaused(action.machine.name),
    declared: async (sending) => {
      if (sending.ask(waiting) === undefined)
        throw new EffectError("PRECONDITION_GONE", `${sending.action.machine.name} is not declared any more`);
      await sending.ask(rendered);
    },
  },
  async dial({ action: { machine, ifSpki }, effects: { dialer } }, use) {
    const client = createTalosClient(dialer.dial({ address: machine.address }, { kind: "maintenance", expectedSpki: ifSpki }));
    try {
      await use(client);
    } finally {
      client.close();
    }
  },
  checks: {
    waits: async ({ action: { machine }, client, effects: { signal } }) => {
      const status = await client.resources.get(resourceKinds.machineStatus, undefined, { timeoutMs: LOOK_TIMEOUT_MS, signal });
      if (status?.spec.stage !== "maintenance")
        throw new EffectError("PRECONDITION_GONE", `${machine.name} does not wait in maintenance mode any more`);
    },
    pinnedKey: ({ action: { machine, ifSpki }, client }) => {
      if (client.peerSpki() !== ifSpki)
        throw new EffectError("PRECONDITION_GONE", `${machine.name} does not wait in maintenance mode any more`);
    },
  },
  record: {
    configured: (facts, { machine }) => machineFact(facts, machine.name)?.configuredAt !== undefined,
    key: (facts, { machine, ifSpki }) => machineFact(facts, machine.name)?.spki === ifSpki,
    notReleased: (facts, { machine }) => machineFact(facts, machine.name)?.releasedAt === undefined,
    address: (facts, { machine }) => machineFact(facts, machine.name)?.address === machine.address,
  },
  // Of whose reading it is a part.
  beside: {
    kept: async ({ action, effects }) => {
      if (action.isForWipe !== true) await effects.demandKept(action.machine.name);
    },
  },
  first(connected) {
    const meta = wantedMeta(connected.action.machine, connected.ask(waiting)?.platform);
    return meta.text === undefined ? undefined : (options) => writeMetaInMaintenance(connected.client, meta, options);
  },
  doing: "Sending machine config",
  send: async (connected, options) => connected.client.applyConfiguration({ config: await connected.ask(rendered), mode: "auto" }, options),
  ended(ending, { action: { machine }, effects }) {
    if (ending.kind === "over") effects.tellStep(machine.name, "MachineConfigured", `Configured ${machine.name}.`);
    if (ending.kind === "not-sent") noteNotSent(rememberedAs({ retry }, machine.name), ending, effects);
    if (ending.kind === "refused")
      effects.event("ConfigApplyFailed", "ConfigureMachine", `${machine.name} refused its configuration: ${ending.words}`);
  },
  lastly({ action: { machine }, effects: { session } }) {
    session.machines.connections(machine.name)?.closeMaintenance();
    session.machines.lookForConfigured(machine.name);
  },
  step({ machine, installDisk }, seen) {
    const { name, address } = machine;
    const version = versionToInstall(seen, machine);
    if (isContainerHere(seen, name))
      return onMachine(
        "live",
        name,
        (named) => `Send the configuration to containers, where nothing is installed and no disk is overwritten: ${named}.`,
        `${name} (${address}, Talos ${version})`,
      );
    return onMachine(
      "installs",
      name,
      (named) => `Send the configuration, which installs on the disk named and overwrites it: ${named}.`,
      `${name} (${address}, ${diskWords(installDisk)}, Talos ${version})`,
    );
  },
  afterwards: (seen, { machine }) =>
    settled(withLook(seen, machine.name, configuredLook(seen, { ...machine, version: versionToInstall(seen, machine) }))),
});

/** What a plan has it run: what runs in the cluster comes before what is asked for. */
function versionToInstall(seen: Observed, machine: DeclaredMachine): string {
  const facts = factsOf(seen);
  return facts === undefined ? machine.version : buildToInstall(seen, facts, machine).version;
}
