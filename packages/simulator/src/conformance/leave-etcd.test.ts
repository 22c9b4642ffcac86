import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { realisticTimings } from "../node/timings.ts";
import { conformanceCredentials } from "../testing/conformance-configs.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";
import { createChannelSubject } from "./channel-subject.ts";
import type { Outcome } from "./subject.ts";
import type { RecordedCall } from "./transcript.ts";

/** A call to one of three control planes in containers: n1 leads, n2 and n3 follow. */
interface LeaveCall extends Omit<RecordedCall, "machine"> {
  readonly machine: "n1" | "n2" | "n3";
  /** When the recorder gave up; absent = later than any answer. */
  readonly deadlineMs?: number;
  /** What the recorder let pass before. */
  readonly pauseMs?: number;
}

const addresses = { n1: "10.5.0.2", n2: "10.5.0.3", n3: "10.5.0.4" };
const path = join(import.meta.dirname, "../../testdata/transcripts/j-leave-etcd.json");
const deadlineExceeded = 4;

/** Calls on which simulated machines differ, and why. */
const differences: ReadonlyMap<string, string> = new Map([
  ["the folder of n2 after it left", "the simulated folder is empty, the genuine one is gone until the next boot"],
  ["n1, the last one, leaves", "the words of a retry around etcd's own are not simulated"],
]);

test("machines leave etcd as genuine ones were recorded: to the end, with a caller that gives up, asked again, and the last one", async () => {
  const calls = JSON.parse(readFileSync(path, "utf8")) as readonly LeaveCall[];
  const world = await threeVoters();
  const credentials = await conformanceCredentials(world.keys, world.secrets, world.time.now());
  const different: string[] = [];
  for (const call of calls) {
    await world.time.advance(call.pauseMs ?? 0);
    const outcome = await send(world, credentials, call);
    const [answered, recorded] = [told(call.method, outcome), told(call.method, { message: "", responses: [], ...call })];
    // A difference that is gone must leave the list.
    if ((answered === recorded) === differences.has(call.label)) different.push(`${call.label}: ${answered}, recorded ${recorded}`);
  }
  assert.deepEqual(different, []);
});

async function threeVoters(): Promise<TestWorld> {
  const machines = Object.entries(addresses).map(([name, address]) => ({ name, address, platform: "container" as const }));
  const world = await createTestWorld(machines, { timings: realisticTimings });
  await world.time.advance(60_000);
  for (const address of Object.values(addresses)) {
    const applied = world.apply(address, "controlplane", { endpoint: "https://10.5.0.2:6443" });
    await world.time.advance(1_000);
    await applied;
  }
  await world.time.advance(60_000);
  const bootstrapped = (await world.client(addresses.n1, "os:admin")).bootstrap();
  await world.time.advance(180_000);
  await bootstrapped;
  const [etcd] = world.datacenter.etcdClusters();
  assert.equal(etcd?.members.filter(({ isLearner }) => !isLearner).length, 3);
  assert.equal(world.datacenter.machine(addresses.n1).state.etcd.data?.memberId, etcd.leader, "n1 leads");
  return world;
}

async function send(
  world: TestWorld,
  credentials: Parameters<typeof createChannelSubject>[0]["credentials"],
  call: LeaveCall,
): Promise<Outcome> {
  const address = addresses[call.machine];
  const subject = createChannelSubject({
    dialer: world.datacenter.dialer(),
    addresses: { "control-plane": address, worker: address },
    credentials,
    hangMs: 6_000,
    pause: (ms) => world.time.advance(ms),
    start: () => undefined,
    whileCalling: async (sent) => {
      const progress = { isDone: false };
      const done = sent.finally(() => {
        progress.isDone = true;
      });
      for (let round = 0; round < 6_000 && !progress.isDone; round += 1) await world.time.advance(round === 0 ? 0 : 10);
      return done;
    },
  });
  return subject.call({
    ...call,
    machine: "control-plane",
    who: call.who,
    metadata: {},
    timeoutMs: call.deadlineMs ?? (call.code === deadlineExceeded ? 6_000 : 60_000),
    take: undefined,
  });
}

/** What a client learns of the answer, in words: ids and sizes differ from run to run. */
function told(method: string, { code, message, responses }: Pick<Outcome, "code" | "message" | "responses">): string {
  if (code === deadlineExceeded) return "no answer in time";
  if (code !== 0) return `${code} ${message.replaceAll(/\d{15,}/g, "N")}`;
  const messages = responses.flatMap((response) => (response as { readonly messages?: readonly Told[] }).messages ?? []);
  switch (method.split("/")[1]) {
    case "EtcdMemberList":
      return `members ${messages
        .flatMap(({ members }) => members ?? [])
        .map(({ hostname, isLearner }) => `${hostname}${isLearner === true ? " (learner)" : ""}`)
        .toSorted(byText)
        .join(", ")}`;
    case "ServiceList":
      return `etcd ${messages.flatMap(({ services }) => services ?? []).find(({ id }) => id === "etcd")?.state}`;
    case "List":
      return `folder ${responses
        .map((one) => (one as { readonly relativeName?: string }).relativeName ?? "")
        .toSorted(byText)
        .join(", ")}`;
    default:
      return "OK";
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

interface Told {
  readonly members?: readonly { readonly hostname?: string; readonly isLearner?: boolean }[];
  readonly services?: readonly { readonly id?: string; readonly state?: string }[];
}
