import { isTalosError } from "@talos-operator/talos/client";
import type { TalosErrorCode } from "@talos-operator/talos/client";
import { EffectError } from "../errors.ts";
import { etcdHasData, hasEtcdImage } from "../looking/etcd-files.ts";
import { hasStopped } from "../looking/look.ts";
import { LOOK_TIMEOUT_MS, lookAt, seenEtcd } from "../looking/look-at.ts";
import { stoppedWithoutData, waitsForEtcd } from "../assess/etcd-view.ts";
import { isOtherMachine } from "../assess/identity.ts";
import { memberOf, runningLook, settled, withLook } from "../planning/afterwards.ts";
import { onMachine } from "../planning/step-of.ts";
import type { ProbeTarget } from "../model/effect.ts";
import type { Look } from "../model/look.ts";
import type { MachineName } from "../model/machine.ts";
import { always, rememberedAs } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { unpaused } from "./demand-unpaused.ts";
import { defineSend } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface BootstrapEtcd {
  readonly machine: MachineName;
  readonly address: string;
  /** SMBIOS UUID of that machine, and of no other at its address; empty where it has none. */
  readonly ifUuid: string;
  readonly probe: readonly ProbeTarget[];
  /** The call was answered before: while etcd prepares it is repeated only if the machine lost it in a reboot. */
  readonly onlyAfterReboot: boolean;
  /** Milliseconds since the epoch since which the pull of etcd's image is waited for; `undefined` = it is not. */
  readonly imageAwaitedSince: number | undefined;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only while every control plane shows no etcd, and the record holds this very intent. */
    BootstrapEtcd: BootstrapEtcd;
  }
}

type Asked = Connected<BootstrapEtcd>;

/** Said of the bootstrap itself. Any other failure leaves open whether it took effect. */
const refusals: readonly TalosErrorCode[] = ["ALREADY_EXISTS", "FAILED_PRECONDITION"];

/**
 * A target that refused is not far enough in its boot. A call whose reply was lost: the machine gets a moment to show what happened. One that was answered is
 * repeated only when the machine rebooted since, which the effect itself finds out.
 */
const retry = { word: "Bootstrap", refusals, pauseMs: { answered: 30_000, refused: 500, unknown: 1_000 } } as const;

/** A target whose etcd has no image yet is asked whether it came. */
export const awaitedImage = { retry: { word: "BootstrapImage", refusals: [], pauseMs: always(1_000) } } as const;

const etcdNow = ({ client, effects: { signal } }: Asked) => seenEtcd(client, { timeoutMs: LOOK_TIMEOUT_MS, signal });

/** What the folder itself shows, where it shows something. */
const etcdWithData = async (asked: Asked) => {
  const options = { timeoutMs: LOOK_TIMEOUT_MS, signal: asked.effects.signal };
  const [etcd, hasData] = await Promise.all([asked.ask(etcdNow), etcdHasData(asked.client, options)]);
  return hasData === undefined ? etcd : { ...etcd, hasData };
};

/** Only needed to find out whether a later repetition makes sense. */
const bootIdNow = async ({ client, effects: { signal } }: Asked): Promise<string | undefined> => {
  try {
    return await client.bootId({ timeoutMs: LOOK_TIMEOUT_MS, signal });
  } catch (thrown) {
    if (isTalosError(thrown)) return undefined;
    throw thrown;
  }
};

/** Another control plane, as it shows itself to a live question. */
interface Probed {
  readonly target: ProbeTarget;
  /** `undefined` = nobody looks at it. */
  readonly look: Look | undefined;
}

/** Every other control plane, asked now. */
const othersNow = ({ action, effects: { session, clock, signal } }: Asked): Promise<readonly Probed[]> =>
  Promise.all(
    action.probe
      // Nobody knows where it is, and nobody ever configured it: it holds nothing of this cluster.
      .filter((target) => target.machine !== action.machine && (target.address !== "" || target.wasConfigured))
      .map(async (target): Promise<Probed> => {
        const connections = session.machines.connections(target.machine);
        if (connections === undefined) return { target, look: undefined };
        const look = await lookAt({
          connections,
          role: "controlplane",
          credentials: session.machines.credentials(),
          mayBeConfigured: target.wasConfigured,
          needsHardware: true,
          needsEtcdData: true,
          now: () => clock.now(),
          signal,
        });
        return { target, look };
      }),
  );

/** Fails where one of the other control planes may hold etcd data, for this reason. What answers in its place proves nothing about it. */
const noneOf = (may: (one: Probed) => boolean, why?: string) => async (asked: Asked) => {
  const doubted = (await asked.ask(othersNow)).find(may);
  if (doubted === undefined) return;
  const { target, look } = doubted;
  if (look === undefined) throw new EffectError("PRECONDITION_GONE", `${target.machine} was not looked at`);
  throw new EffectError("PRECONDITION_GONE", `${target.machine} may hold etcd data (${why ?? look.kind})`);
};

const isOther = ({ target, look }: Probed): boolean => look?.kind === "running" && isOtherMachine(target.uuid, look.hardware?.uuid);

/** It waits and its data directory is empty, or waits in maintenance mode with the key that was written down, or was never configured. */
const everyOther = {
  othersWatched: noneOf(({ look }) => look === undefined),
  othersThemselves: noneOf(isOther, "another machine answers"),
  othersWait: noneOf(({ look }) => look?.kind === "running" && (look.etcd?.service !== "Preparing" || look.etcd.localMember !== "none")),
  othersEmpty: noneOf(({ look }) => look?.kind === "running" && look.etcd?.hasData !== false),
  othersKeys: noneOf(({ target, look }) => look?.kind === "maintenance" && target.wasConfigured && look.spki !== target.spki),
  othersHeard: noneOf(({ target, look }) => look?.kind === "silent" && target.wasConfigured),
  othersTalos: noneOf(({ target, look }) => look?.kind === "not-talos" && target.wasConfigured),
  othersOurs: noneOf(({ look }) => look?.kind === "foreign" || look?.kind === "not-asked"),
} as const;

/**
 * Asks the recorded machine to bootstrap etcd.
 *
 * Talos looks only at its own directory, so the whole guard is here: a live question to every control plane, then to the target on the very connection
 * of the call, then lease and record. A repetition to the same machine is harmless: it loads the same service anew, or is answered with ALREADY_EXISTS.
 *
 * The call stops the etcd that waits, and dies with its caller while that takes; what it starts then, pulling included, goes on by itself. So it is sent when
 * there is nothing to pull, or after a while all the same; it is asked again from every state that shows no data; and a process that ends lets it end first.
 */
export const bootstrapEtcd = defineSend("BootstrapEtcd", {
  inventory: "T4",
  machine: ({ machine }) => machine,
  address: ({ address }) => address,
  disrupts: "nothing",
  intent: "Bootstrap",
  retry,
  checks: {
    imageThere: async (asked) => {
      const { action, client, effects } = asked;
      if (action.imageAwaitedSince === undefined) return undefined;
      const options = { timeoutMs: LOOK_TIMEOUT_MS, signal: effects.signal };
      const [etcd, isThere] = await Promise.all([seenEtcd(client, options), hasEtcdImage(client, options)]);
      // One that has stopped has nothing under way that a Bootstrap would end.
      if (isThere === true || hasStopped(etcd)) return undefined;
      const detail = `Waiting for etcd's image on ${action.machine} before it bootstraps etcd.`;
      effects.session.noteSent(rememberedAs(awaitedImage), "refused", detail);
      return "not-now";
    },
    // Not each time that it waits for its image.
    unpaused,
    ...everyOther,
    waitingEtcd: async (asked) => {
      const etcd = await asked.ask(etcdWithData);
      if (!waitsForEtcd(etcd) && !stoppedWithoutData(etcd))
        throw new EffectError("PRECONDITION_GONE", `etcd on ${asked.action.machine} does not wait to be bootstrapped any more`);
    },
    sameMachine,
    lostInReboot: async (asked) => {
      const { action, effects } = asked;
      const bootId = await asked.ask(bootIdNow);
      const isKnown = bootId === undefined || bootId === effects.session.bootIdAtBootstrap;
      if (!action.onlyAfterReboot || hasStopped(await asked.ask(etcdNow)) || !isKnown) return undefined;
      effects.session.noteSent(rememberedAs({ retry }), "answered", "");
      return "not-now";
    },
  },
  record: {
    notFounded: ({ bootstrapDone }) => bootstrapDone === undefined,
    target: ({ bootstrapIntent }, { machine }) => bootstrapIntent?.machine === machine,
  },
  doing: "Bootstrapping etcd",
  async send(asked, options) {
    asked.effects.session.bootIdAtBootstrap = await asked.ask(bootIdNow);
    await asked.client.bootstrap(options);
  },
  ended(ending, { effects: { session } }) {
    const key = rememberedAs({ retry });
    // Data on our own target: its member list decides whether it is our cluster.
    if (ending.kind === "refused" && ending.code === "ALREADY_EXISTS") session.noteSent(key, "answered", "its etcd has data");
    if (ending.kind === "refused" && ending.code === "FAILED_PRECONDITION") session.noteSent(key, "refused", "not available yet");
    // Without a pause the next pass would ask again at once.
    if (ending.kind === "not-sent")
      session.noteSent(key, ending.before?.outcome === "answered" ? "answered" : "refused", couldNotBeAsked(ending.error));
  },
  lastly({ action, effects }, notNow) {
    // While nothing was done to it there is nothing new to see.
    if (notNow !== "imageThere") effects.session.machines.nudge(action.machine);
  },
  step: ({ machine, address }) =>
    onMachine(
      "bootstraps etcd",
      machine,
      (named) => `Bootstrap etcd on ${named}, once in the life of the cluster.`,
      `${machine} (${address})`,
    ),
  afterwards: (seen, { machine }) =>
    settled(withLook(seen, machine, runningLook(seen, { role: "controlplane", etcd: memberOf(machine, []) }))),
});

/** For people; the same words while it stays so. */
function couldNotBeAsked(error: Error): string {
  if (error instanceof EffectError) return error.detail;
  return isTalosError(error, "CLIENT_REFUSED", "UNTRUSTED_SERVER")
    ? "certificates are refused: another machine, or its clock or this operator's is wrong"
    : "it does not answer";
}
