import { createTalosClient, resourceKinds } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { endpointHost } from "../../../config/endpoint-host.ts";
import { renderMachineConfig } from "../../../config/render.ts";
import { EffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";
import { machineFact } from "../record/facts.ts";
import { asMade } from "../spec/fixed-properties.ts";
import { installedVersion } from "../membership/plan-machines.ts";
import { wantedMeta } from "../config-changes/meta-plan.ts";
import type { WantedMeta } from "../config-changes/meta-plan.ts";
import { attempt, noteNotSent } from "./attempt.ts";
import { writeMetaInMaintenance } from "./write-meta.ts";
import type { ClusterFacts } from "../../../model/record.ts";
import type { Action } from "../../../model/effect.ts";
import type { DeclaredMachine } from "../../../model/machine.ts";
import type { Observed } from "../../../model/observation.ts";
import type { Effects } from "./ports.ts";

const REFUSALS: readonly TalosErrorCode[] = [
  "INVALID_ARGUMENT",
  "NODE_FAILED",
  "FAILED_PRECONDITION",
  "UNIMPLEMENTED",
  "PERMISSION_DENIED",
];

/**
 * Sends a machine its configuration, in maintenance mode, to exactly the key that the record names.
 *
 * Order: connect with that key demanded, see that the machine still waits, read lease and record, send. A repetition to the same key is harmless.
 */
export async function configureMachine(action: Extract<Action, { readonly kind: "ConfigureMachine" }>, effects: Effects): Promise<void> {
  const { seen, session, dialer, log, signal } = effects;
  const { machine, ifSpki, isForWipe } = action;
  const key = `Configure/${machine.name}`;
  const config = await render(action, effects);
  const isPinned = (facts: ClusterFacts): boolean => {
    const fact = machineFact(facts, machine.name);
    return fact?.configuredAt !== undefined && fact.spki === ifSpki && fact.releasedAt === undefined && fact.address === machine.address;
  };
  const client = createTalosClient(dialer.dial({ address: machine.address }, { kind: "maintenance", expectedSpki: ifSpki }));
  try {
    const ending = await attempt(key, REFUSALS, effects, async (send) => {
      const status = await client.resources.get(resourceKinds.machineStatus, undefined, { timeoutMs: LOOK_TIMEOUT_MS, signal });
      if (status?.spec.stage !== "maintenance" || client.peerSpki() !== ifSpki)
        throw new EffectError("PRECONDITION_GONE", `${machine.name} does not wait in maintenance mode any more`);
      // Asked with the guard, of whose reading it is a part.
      const check = async (): Promise<number> => {
        const [timeoutMs] = await Promise.all([
          effects.guard.check(isPinned),
          isForWipe === true ? undefined : effects.demandKept(machine.name),
        ]);
        return timeoutMs;
      };
      const meta = metaOf(machine, seen);
      if (meta.text !== undefined) {
        const options = { timeoutMs: await check(), signal };
        await effects.letEnd(() => writeMetaInMaintenance(client, meta, options));
      }
      const timeoutMs = await check();
      log.info({ action: "ConfigureMachine", machine: machine.name, endpoint: machine.address }, "Sending machine config");
      await send(() => client.applyConfiguration({ config, mode: "auto" }, { timeoutMs, signal }));
      log.info({ action: "ConfigureMachine", machine: machine.name }, "Sent machine config");
    });
    if (ending.kind === "over") effects.configured(machine.name);
    if (ending.kind === "not-sent") noteNotSent(key, ending, effects);
    if (ending.kind === "refused")
      effects.event(
        seen.controlPlane,
        "ConfigApplyFailed",
        "ConfigureMachine",
        `${machine.name} refused its configuration: ${ending.words}`,
      );
  } finally {
    client.close();
    session.connections(machine.name)?.closeMaintenance();
    session.lookForConfigured(machine.name);
  }
}

function metaOf(machine: DeclaredMachine, { machines }: Observed): WantedMeta {
  const look = machines.find((one) => one.declared.name === machine.name)?.look;
  return wantedMeta(machine, look?.kind === "maintenance" ? look.platform : undefined);
}

async function render(action: Extract<Action, { readonly kind: "ConfigureMachine" }>, effects: Effects): Promise<string> {
  const { machine, installDisk } = action;
  const { controlPlane, machines } = effects.seen;
  const facts = effects.facts();
  const look = machines.find((one) => one.declared.name === machine.name)?.look;
  const secrets = await effects.bundle();
  const spec = controlPlane.spec;
  if (spec === undefined || look?.kind !== "maintenance")
    throw new EffectError("PRECONDITION_GONE", `${machine.name} is not declared any more`);
  // For the certificates of those who answer there.
  const host = endpointHost(facts.endpoint);
  const addresses = machines.flatMap(({ declared }) =>
    // One that a reference has not given yet is none.
    declared.role === "controlplane" && declared.address !== "" ? [declared.address] : [],
  );
  return renderMachineConfig({
    role: machine.role,
    clusterName: controlPlane.metadata.name,
    endpoint: facts.endpoint,
    controlPlane: asMade(spec, facts),
    machineSpec: machine.machineSpec,
    version: installedVersion(facts, machine),
    readBy: look.version,
    platform: look.platform,
    installDisk,
    addresses: machine.role === "controlplane" ? [...new Set([...addresses, ...(host === undefined ? [] : [host])])] : [machine.address],
    secrets,
  });
}
