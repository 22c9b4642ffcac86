import type { ObjectStoreFailureKind, RandomSource } from "@talos-operator/ports";
import { storeFailure } from "../../world/memory-object-store.ts";
import { pick } from "../fault.ts";
import type { StoreCall } from "../interference.ts";
import { begin, forAWhile, type TroubleInput } from "./input.ts";

/** Those after which the call may have taken place all the same. */
const LOST: readonly ObjectStoreFailureKind[] = ["unreachable", "failing", "cut-off"];
/** Those that say that it did not. */
const REFUSED: readonly ObjectStoreFailureKind[] = [
  "unreachable",
  "failing",
  "slow-down",
  "conflict",
  "expired",
  "clock",
  "damaged",
  "denied",
  "full",
  "missing",
];
const READS: ReadonlySet<StoreCall["method"]> = new Set(["list", "head", "get", "listUploads"]);

/** The store says everything that a store may say. */
export const failStore = forAWhile(({ random, stage: { interference } }) => {
  const rate = 0.05 + random.fraction() * 0.25;
  interference.store = (call) => (random.fraction() < rate ? lieOf(call, random) : undefined);
  return () => (interference.store = undefined);
});

function lieOf(
  { method }: StoreCall,
  random: RandomSource,
): { readonly isDone: boolean; readonly answer: ReturnType<typeof storeFailure> } {
  const isDone = !READS.has(method) && random.fraction() < 0.3;
  const kind = pick(isDone ? LOST : REFUSED, random);
  return { isDone, answer: storeFailure(kind, `a lie: ${kind}`) };
}

/** Nobody reaches the store. */
export const loseStore = forAWhile(({ stage: { interference } }) => {
  interference.store = () => ({ isDone: false, answer: storeFailure("unreachable", "nobody answers") });
  return () => (interference.store = undefined);
});

/** A part of a backup is not as it was. */
export async function tamper(input: TroubleInput, lastsMs: number): Promise<void> {
  await begin(input, lastsMs);
  for (let seconds = 0; seconds < lastsMs / 1000; seconds += 1) {
    const done = input.tamperBackup();
    if (done !== undefined) return input.trace(`somebody changes ${done}`);
    await input.timers.sleep(1000);
  }
}

/** Snapshots that are not what the member has. */
export async function damageSnapshots(input: TroubleInput, lastsMs: number): Promise<void> {
  const { datacenter, random, timers } = input;
  await begin(input, lastsMs);
  const until = input.now() + lastsMs;
  while (input.now() < until) {
    const at = Math.floor(random.fraction() * 20_000);
    const effect = pick(
      [
        { kind: "end-early", bytes: pick([0, 1, 32, 511, 512, 8_192, 8_192 + 31, 8_192 + 32, -32, -1, at], random) } as const,
        { kind: "flip-byte", at: pick([-1, at], random) } as const,
        { kind: "foreign-hash" } as const,
      ],
      random,
    );
    const fault = datacenter.inject({ method: "EtcdSnapshot", effect });
    await timers.sleep(5_000);
    fault.remove();
  }
}

/** Snapshots in whose middle something happens. */
export async function breakSnapshots(input: TroubleInput, lastsMs: number): Promise<void> {
  const { datacenter, random, timers } = input;
  await begin(input, lastsMs);
  const slow = datacenter.inject({
    method: "EtcdSnapshot",
    effect: { kind: "slow-stream", pauseMs: 1 + Math.floor(random.fraction() * 2_000) },
  });
  await timers.sleep(lastsMs / 2);
  slow.remove();
  const crash = datacenter.inject({
    method: "EtcdSnapshot",
    times: 1,
    effect: { kind: "crash-within", bytes: Math.floor(random.fraction() * 20_000), downMs: 10_000 },
  });
  await timers.sleep(lastsMs / 2);
  crash.remove();
}

/** The store does not keep what it was given. */
export const garble = forAWhile(({ garbleStore }) => {
  garbleStore(true);
  return () => garbleStore(false);
});
