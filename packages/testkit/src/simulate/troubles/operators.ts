import { leaseType, type KubeObject } from "@talos-operator/kube-runtime";
import { pick } from "../fault.ts";
import type { TroubleInput } from "./input.ts";

/** What an operator does next after it wrote down an intent is what a pause must not let it do late. */
export async function pauseOperator(input: TroubleInput, lastsMs: number): Promise<void> {
  await input.tookEffect("K2", 1 + Math.floor(input.random.fraction() * 4));
  input.trace(`trouble ${input.kind} for ${lastsMs} ms`);
  input.pauseOperator(lastsMs);
  await input.timers.sleep(lastsMs);
}

/** Stands still for up to five seconds, ten times; nobody else is there to take over. */
export async function stutter({ kind, random, trace, timers, holdOperator }: TroubleInput): Promise<void> {
  trace(`trouble ${kind}`);
  for (let n = 0; n < 10; n += 1) {
    await timers.sleep(Math.floor(random.fraction() * 15_000));
    const goOn = holdOperator();
    await timers.sleep(500 + Math.floor(random.fraction() * 4_500));
    goOn();
  }
}

/** Between its last check and the send of the record, or of something else. */
export async function pauseBeforeSend({ kind, random, trace, timers, ...input }: TroubleInput, lastsMs: number): Promise<void> {
  const effect = kind === "paused-before-record" ? "K2" : pick(["K1", "K4", "K5", "T2", "T4"] as const, random);
  await new Promise<void>((resolve) => {
    input.beforeSend(effect, 1 + Math.floor(random.fraction() * (effect === "K2" ? 5 : 2)), () => {
      trace(`trouble ${kind} at ${effect} for ${lastsMs} ms`);
      input.pauseOperator(lastsMs);
      resolve();
    });
  });
  await timers.sleep(lastsMs);
}

/** Another operator is there, the lease is deleted, and the other one takes it. */
export async function takeLease({ client, timers, trace, random, tookEffect, holdOperator, startOperator }: TroubleInput): Promise<void> {
  startOperator();
  // After the record says what is to be sent comes the send.
  await tookEffect("K2", 1 + Math.floor(random.fraction() * 4));
  const goOn = holdOperator();
  const leases = client.resource<KubeObject & { readonly spec?: { readonly holderIdentity?: string } }>(leaseType);
  const { items } = await leases.list();
  const before = items[0]?.spec?.holderIdentity;
  const { name = "", namespace } = items[0]?.metadata ?? {};
  await leases.delete({ name, namespace });
  // The one that is held has its lease for ten seconds by its own count.
  for (let n = 0; n < 50; n += 1) {
    await timers.sleep(100);
    const holder = (await leases.tryGet({ name, namespace }))?.spec?.holderIdentity;
    if (holder !== undefined && holder !== before) break;
  }
  trace("trouble lease-taken");
  goOn();
}

/** An operator that is ahead works with it; one that is behind cannot tell machines' certificates from such of the future until somebody sets its clock. */
export async function jumpClock({ random, timers, trace, setClock, tookEffect }: TroubleInput, lastsMs: number): Promise<void> {
  const skewMs = pick([-6, -1, 1, 6], random) * 3_600_000;
  const stays = skewMs > 0 && random.fraction() < 0.5;
  const effect = pick(["start", "K1", "K2", "T2", "T4"] as const, random);
  if (effect !== "start") await tookEffect(effect, 1);
  trace(`trouble clock-jump by ${skewMs} ms ${stays ? "for ever" : `for ${lastsMs} ms`}`);
  setClock(skewMs);
  await timers.sleep(lastsMs);
  if (!stays) setClock(0);
}

/** Whatever is written, nobody lives to hear of it: every write of a while ends the process, before or after it took place. */
export async function crashAtEachWrite({ kind, random, trace, timers, plan }: TroubleInput, lastsMs: number): Promise<void> {
  await timers.sleep(Math.floor(random.fraction() * 60_000));
  const count = 3 + Math.floor(random.fraction() * 12);
  trace(`trouble ${kind}: ${count} times`);
  plan.crashAtEach(count);
  for (let n = 0; n < 60 && plan.isCrashing; n += 1) await timers.sleep(10_000);
  plan.crashAtEach(0);
  await timers.sleep(lastsMs);
}
