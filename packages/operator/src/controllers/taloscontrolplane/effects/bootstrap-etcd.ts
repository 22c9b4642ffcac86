import { isTalosError } from "@talos-operator/talos/client";
import type { CallOptions, TalosClient, TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../../../errors.ts";
import { etcdHasData, hasEtcdImage } from "../../../looking/etcd-files.ts";
import { hasStopped } from "../../../looking/look.ts";
import { LOOK_TIMEOUT_MS, lookAt, seenEtcd } from "../../../looking/look-at.ts";
import { stoppedWithoutData, waitsForEtcd } from "../membership/etcd-view.ts";
import { asAdmin } from "./admin.ts";
import { attempt } from "./attempt.ts";
import { isOtherMachine } from "../membership/identity.ts";
import { demandMachine } from "./demand-machine.ts";
import type { Action, ProbeTarget } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

/** Said of the bootstrap itself. Any other failure leaves open whether it took effect. */
const REFUSALS: readonly TalosErrorCode[] = ["ALREADY_EXISTS", "FAILED_PRECONDITION"];

/**
 * Asks the recorded machine to bootstrap etcd.
 *
 * Talos looks only at its own directory, so the whole guard is here: a live question to every control plane, then to the target on the very connection
 * of the call, then lease and record. A repetition to the same machine is harmless: it loads the same service anew, or is answered with ALREADY_EXISTS.
 *
 * The call stops the etcd that waits, and dies with its caller while that takes; what it starts then, pulling included, goes on by itself. So it is sent when
 * there is nothing to pull, or after a while all the same; it is asked again from every state that shows no data; and a process that ends lets it end first.
 */
export async function bootstrapEtcd(action: Extract<Action, { readonly kind: "BootstrapEtcd" }>, effects: Effects): Promise<void> {
  const { session, log, signal } = effects;
  let isWaiting = false;
  try {
    const ending = await attempt("Bootstrap", REFUSALS, effects, async (send) => {
      await asAdmin(action.address, effects, async (client) => {
        const options = { timeoutMs: LOOK_TIMEOUT_MS, signal };
        if (action.imageAwaitedSince !== undefined && (await isPulling(client, options))) {
          const detail = `Waiting for etcd's image on ${action.machine} before it bootstraps etcd.`;
          session.noteSent("BootstrapImage", "refused", detail);
          isWaiting = true;
          return;
        }
        await Promise.all(
          action.probe.filter((target) => target.machine !== action.machine).map((target) => demandNoEtcd(target, effects)),
        );
        const [etcd, hasData] = await Promise.all([seenEtcd(client, options), etcdHasData(client, options)]);
        const told = hasData === undefined ? etcd : { ...etcd, hasData };
        if (!waitsForEtcd(told) && !stoppedWithoutData(told))
          throw new EffectError("PRECONDITION_GONE", `etcd on ${action.machine} does not wait to be bootstrapped any more`);
        await demandMachine(client, action.machine, action.ifUuid, signal, effects.facts());
        const bootId = await bootIdOf(client, signal);
        if (action.onlyAfterReboot && !hasStopped(etcd) && (bootId === undefined || bootId === session.bootIdAtBootstrap)) {
          session.noteSent("Bootstrap", "answered", "");
          return;
        }
        const timeoutMs = await effects.guard.check(
          (facts) => facts.bootstrapDone === undefined && facts.bootstrapIntent?.machine === action.machine,
        );
        log.info({ action: "BootstrapEtcd", machine: action.machine, endpoint: action.address }, "Sending bootstrap");
        session.bootIdAtBootstrap = bootId;
        await send(() => client.bootstrap({ timeoutMs, signal }));
        log.info({ action: "BootstrapEtcd", machine: action.machine }, "Sent bootstrap");
      });
    });
    // Data on our own target: its member list decides whether it is our cluster.
    if (ending.kind === "refused" && ending.code === "ALREADY_EXISTS") session.noteSent("Bootstrap", "answered", "its etcd has data");
    if (ending.kind === "refused" && ending.code === "FAILED_PRECONDITION") session.noteSent("Bootstrap", "refused", "not available yet");
    // Without a pause the next pass would ask again at once.
    if (ending.kind === "not-sent")
      session.noteSent("Bootstrap", ending.before?.outcome === "answered" ? "answered" : "refused", couldNotBeAsked(ending.error));
  } finally {
    // While nothing was done to it there is nothing new to see.
    if (!isWaiting) session.nudge(action.machine);
  }
}

/** etcd prepares, and its image is not there. One that has stopped has nothing under way that a Bootstrap would end. */
async function isPulling(client: TalosClient, options: CallOptions): Promise<boolean> {
  const [etcd, isThere] = await Promise.all([seenEtcd(client, options), hasEtcdImage(client, options)]);
  return isThere !== true && !hasStopped(etcd);
}

/**
 * Fails unless this control plane shows now that it holds no etcd: it waits and its data directory is empty, or waits in maintenance mode with the key that was written
 * down, or was never configured. What answers in its place proves nothing about it.
 */
async function demandNoEtcd(target: ProbeTarget, effects: Effects): Promise<void> {
  const { session, clock, signal } = effects;
  // Nobody knows where it is, and nobody ever configured it: it holds nothing of this cluster.
  if (target.address === "" && !target.wasConfigured) return;
  const connections = session.connections(target.machine);
  if (connections === undefined) throw new EffectError("PRECONDITION_GONE", `${target.machine} was not looked at`);
  const look = await lookAt({
    connections,
    role: "controlplane",
    credentials: session.credentials(),
    mayBeConfigured: target.wasConfigured,
    needsHardware: true,
    needsEtcdData: true,
    now: () => clock.now(),
    signal,
  });
  const isOther = look.kind === "running" && isOtherMachine(target.uuid, look.hardware?.uuid);
  if (look.kind === "running" && waitsForEtcd(look.etcd) && look.etcd?.hasData === false && !isOther) return;
  if (look.kind === "maintenance" && (!target.wasConfigured || look.spki === target.spki)) return;
  if (look.kind === "silent" && !target.wasConfigured) return;
  if (look.kind === "not-talos" && !target.wasConfigured) return;
  throw new EffectError("PRECONDITION_GONE", `${target.machine} may hold etcd data (${isOther ? "another machine answers" : look.kind})`);
}

/** For people; the same words while it stays so. */
function couldNotBeAsked(error: Error): string {
  if (error instanceof EffectError) return error.detail;
  return isTalosError(error, "CLIENT_REFUSED", "UNTRUSTED_SERVER")
    ? "certificates are refused: another machine, or its clock or this operator's is wrong"
    : "it does not answer";
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
