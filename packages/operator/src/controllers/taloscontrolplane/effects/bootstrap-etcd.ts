import { isTalosError, TalosError } from "@talos-operator/talos";
import type { TalosClient } from "@talos-operator/talos";
import { EffectError, isEffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS, lookAt, seenEtcd } from "../../../looking/look-at.ts";
import type { Effects } from "../execute.ts";
import { waitsForEtcd } from "../etcd-view.ts";
import type { Action, ProbeTarget } from "../model.ts";
import { asAdmin } from "./admin.ts";

/**
 * Asks the recorded machine to found etcd.
 *
 * Talos looks only at its own directory, so the whole guard is here: a live question to every control plane, then to the target on the very connection
 * of the call, then lease and record. A repetition to the same machine is harmless: it sets the same mark, or is answered with ALREADY_EXISTS.
 */
export async function bootstrapEtcd(action: Extract<Action, { readonly kind: "BootstrapEtcd" }>, effects: Effects): Promise<void> {
  const { session, seen, log, signal } = effects;
  const before = session.sent().get("Bootstrap");
  try {
    await Promise.all(action.probe.filter((target) => target.machine !== action.machine).map((target) => demandNoEtcd(target, effects)));
    await asAdmin(action.address, effects, async (client) => {
      const etcd = await seenEtcd(client, { timeoutMs: LOOK_TIMEOUT_MS, signal });
      if (!waitsForEtcd(etcd)) throw new EffectError("PRECONDITION_GONE", `etcd on ${action.machine} does not wait to be founded any more`);
      const bootId = await bootIdOf(client, signal);
      if (action.onlyAfterReboot && (bootId === undefined || bootId === session.bootIdAtBootstrap)) {
        session.noteSent("Bootstrap", "answered", "");
        return;
      }
      const timeoutMs = await effects.guard.check(
        (facts) => facts.bootstrapDone === undefined && facts.bootstrapIntent?.machine === action.machine,
      );
      log.info({ action: "BootstrapEtcd", machine: action.machine, endpoint: action.address }, "Sending bootstrap");
      session.bootIdAtBootstrap = bootId;
      session.noteSent("Bootstrap", "unknown", "no answer");
      await client.bootstrap({ timeoutMs, signal });
      session.noteSent("Bootstrap", "answered", "");
      log.info({ action: "BootstrapEtcd", machine: action.machine }, "Sent bootstrap");
      effects.event(seen.controlPlane, "Normal", "Created", "BootstrapEtcd", `${action.machine} was asked to found etcd.`);
    });
  } catch (thrown) {
    if (isTalosError(thrown, "ALREADY_EXISTS")) {
      // Data on our own target: its member list decides whether it is our cluster.
      session.noteSent("Bootstrap", "answered", "its etcd has data");
    } else if (isTalosError(thrown, "FAILED_PRECONDITION")) {
      session.noteSent("Bootstrap", "refused", "not available yet");
    } else if (thrown instanceof TalosError || isEffectError(thrown, "PRECONDITION_GONE")) {
      // Not even asked: without a pause the next pass would ask again at once.
      if (session.sent().get("Bootstrap") === before)
        session.noteSent("Bootstrap", before?.outcome === "answered" ? "answered" : "refused", "it could not be asked");
      log.debug(
        { action: "BootstrapEtcd", machine: action.machine, err: thrown.message },
        "Bootstrap not known to have arrived; looking again",
      );
    } else {
      throw thrown;
    }
  } finally {
    session.nudge(action.machine);
  }
}

/** Fails unless this control plane shows now that it holds no etcd: waits without data, or waits in maintenance mode, or was never configured and is silent. */
async function demandNoEtcd(target: ProbeTarget, effects: Effects): Promise<void> {
  const { session, clock, signal } = effects;
  const connections = session.connections(target.machine);
  if (connections === undefined) throw new EffectError("PRECONDITION_GONE", `${target.machine} was not looked at`);
  const look = await lookAt({
    connections,
    role: "controlplane",
    credentials: session.credentials(),
    mayBeConfigured: target.wasConfigured,
    now: () => clock.now(),
    signal,
  });
  if (look.kind === "running" && waitsForEtcd(look.etcd)) return;
  if (look.kind === "maintenance") return;
  if (look.kind === "silent" && !target.wasConfigured) return;
  if (look.kind === "not-talos" && !target.wasConfigured) return;
  throw new EffectError("PRECONDITION_GONE", `${target.machine} may hold etcd data (${look.kind})`);
}

async function bootIdOf(client: TalosClient, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await client.bootId({ timeoutMs: LOOK_TIMEOUT_MS, signal });
  } catch (thrown) {
    // Only needed to find out whether a later repetition makes sense.
    if (isTalosError(thrown)) return undefined;
    throw thrown;
  }
}
