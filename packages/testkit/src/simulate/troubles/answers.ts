import type { KubeResponse, RandomSource, TalosCallFailure } from "@talos-operator/ports";
import { pick } from "../fault.ts";
import type { Lie } from "../interference.ts";
import { forAWhile } from "./input.ts";

/** Share of the calls that are answered so. */
const LEAST_RATE = 0.05;
const MOST_RATE = 0.3;

/** Statuses that say that nothing took place, with the reason of their Status. */
const REFUSALS: readonly (readonly [number, string])[] = [
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [409, "Conflict"],
  [410, "Expired"],
  [413, "RequestEntityTooLarge"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
];

/** Statuses that leave open whether it took place. */
const FAILURES: readonly (readonly [number, string])[] = [
  [500, "InternalError"],
  [502, ""],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
];

/** gRPC codes with which a machine, or whatever stands before it, says that nothing took place. */
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const TALOS_REFUSALS: readonly number[] = [NOT_FOUND, ALREADY_EXISTS, 7, 9, 10, 11, 12, 16];
/** Those that leave it open: CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE, DATA_LOSS. */
const TALOS_FAILURES: readonly number[] = [1, 2, 4, 8, 13, 14, 15];

/** Requests to the Kubernetes APIs are answered with every status there is, before and after they took place. */
export const failKube = forAWhile(({ random, stage: { interference } }) => {
  const rate = rateOf(random);
  interference.kube = (request) => {
    if (random.fraction() >= rate) return undefined;
    const isDone = random.fraction() < 0.3;
    return { isDone, answer: kubeAnswer(random, isDone, request.method === "GET") };
  };
  return () => (interference.kube = undefined);
});

/** Calls to machines are answered with every status there is, before and after they took place. */
export const failTalos = forAWhile(({ random, stage: { interference } }) => {
  const rate = rateOf(random);
  interference.talos = (path): Lie<TalosCallFailure> | undefined => {
    if (random.fraction() >= rate) return undefined;
    const isDone = random.fraction() < 0.3;
    // That a resource is not there, or etcd's data is, are words about the machine.
    const isWord = (code: number): boolean => code === (path.endsWith("/Bootstrap") ? ALREADY_EXISTS : NOT_FOUND);
    const refusals = TALOS_REFUSALS.filter((refusal) => !isWord(refusal));
    const code = pick(isDone ? TALOS_FAILURES : [...refusals, ...TALOS_FAILURES], random);
    return { isDone, answer: Object.assign(new Error(`a lie with code ${code}`), { name: "TalosCallFailure" as const, code }) };
  };
  return () => (interference.talos = undefined);
});

function rateOf(random: RandomSource): number {
  return LEAST_RATE + random.fraction() * (MOST_RATE - LEAST_RATE);
}

function kubeAnswer(random: RandomSource, isDone: boolean, isRead: boolean): KubeResponse | Error {
  const kind = random.fraction();
  if (kind < 0.1) return Object.assign(new Error("connection reset"), { name: "KubeTransportFailure" });
  // A body that breaks off in the middle of a read, and pages of proxies.
  if (kind < 0.15 && isRead) return { status: 200, headers: { "content-type": "application/json" }, body: '{"kind":"Sec' };
  if (kind < 0.2 && !isDone) return { status: 404, headers: { "content-type": "text/html" }, body: "<html>not here</html>" };
  const [status, reason] = pick(isDone ? FAILURES : [...REFUSALS, ...FAILURES], random);
  if (reason === "") return { status, headers: { "content-type": "text/html" }, body: "<html>bad gateway</html>" };
  const headers: Record<string, string> = status === 429 ? { "retry-after": pick(["1", "3", "3600"], random) } : {};
  return {
    status,
    headers,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code: status, message: "a lie" },
  };
}
