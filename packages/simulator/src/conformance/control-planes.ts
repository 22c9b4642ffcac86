import assert from "node:assert/strict";
import { realisticTimings } from "../node/timings.ts";
import { conformanceCredentials } from "../testing/conformance-configs.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";
import { createChannelSubject } from "./channel-subject.ts";
import type { Outcome } from "./subject.ts";
import type { RecordedCall } from "./transcript.ts";

/** A call to one of three control planes in containers: n1 leads, n2 and n3 follow. */
export interface RecordedAt extends Omit<RecordedCall, "machine"> {
  readonly machine: "n1" | "n2" | "n3";
  /** When the recorder gave up; absent = later than any answer. */
  readonly deadlineMs?: number;
  /** What the recorder let pass before. */
  readonly pauseMs?: number;
}

/** What the recorder did between two calls, without the machine API. */
export interface RecordedStep {
  readonly label: string;
  readonly step: string;
  readonly machine?: RecordedAt["machine"];
}

type Recorded<Step extends RecordedStep> = RecordedAt | Step;

export const addresses = { n1: "10.5.0.2", n2: "10.5.0.3", n3: "10.5.0.4" };

const deadlineExceeded = 4;

/** Calls and steps of a transcript, in the order in which they were made. */
export function parseRecorded<Step extends RecordedStep = never>(text: string): readonly Recorded<Step>[] {
  return JSON.parse(text) as readonly Recorded<Step>[];
}

/** Three voters in containers, of which n1 leads. @param change of the configuration of each */
export async function threeVoters(change: (config: string) => string = (config) => config): Promise<TestWorld> {
  const machines = Object.entries(addresses).map(([name, address]) => ({ name, address, platform: "container" as const }));
  const world = await createTestWorld(machines, { timings: realisticTimings });
  await world.time.advance(60_000);
  for (const address of Object.values(addresses)) await configure(world, address, change);
  await world.time.advance(60_000);
  const bootstrapped = (await world.client(addresses.n1, "os:admin")).bootstrap();
  await world.time.advance(180_000);
  await bootstrapped;
  const [etcd] = world.datacenter.etcdClusters();
  assert.equal(etcd?.members.filter(({ isLearner }) => !isLearner).length, 3);
  assert.equal(world.datacenter.machine(addresses.n1).state.etcd.data?.memberId, etcd.leader, "n1 leads");
  return world;
}

/** A control plane in maintenance mode gets the configuration of the others. */
export async function configure(world: TestWorld, address: string, change: (config: string) => string = (config) => config): Promise<void> {
  const config = change(world.config("controlplane", { endpoint: "https://10.5.0.2:6443" }));
  const applied = (await world.client(address)).applyConfiguration({ config, mode: "auto" });
  await world.time.advance(1_000);
  await applied;
}

/**
 * Sends every call to the simulated machines and compares what a client learns. Returns where that is not what was recorded, and where it is though it is listed as
 * a difference: one that is gone must leave the list.
 */
export async function compareCalls<Step extends RecordedStep>(
  world: TestWorld,
  recorded: readonly Recorded<Step>[],
  differences: ReadonlyMap<string, string>,
  act: (step: Step) => Promise<void>,
): Promise<readonly string[]> {
  const credentials = await conformanceCredentials(world.keys, world.secrets, world.time.now());
  const different: string[] = [];
  const answers = new Map<string, Outcome>();
  for (const one of recorded) {
    if ("step" in one) {
      await act(one);
      continue;
    }
    await world.time.advance(one.pauseMs ?? 0);
    const outcome = await send(world, credentials, { ...one, request: requestNow(one, answers) });
    answers.set(one.label, outcome);
    const [answered, was] = [told(one.method, outcome), told(one.method, { message: "", responses: [], ...one })];
    if ((answered === was) === differences.has(one.label)) different.push(`${one.label}: ${answered}, recorded ${was}`);
  }
  return different;
}

/** Ids of members differ from run to run: one that is to be removed is the one that the simulated etcd has at the recorded address. */
function requestNow({ request }: RecordedAt, answers: ReadonlyMap<string, Outcome>): RecordedAt["request"] {
  if (!("memberId" in request)) return request;
  const listed = [...answers.values()].flatMap(({ responses }) => messagesOf(responses)).flatMap(({ members }) => members ?? []);
  const stray = listed.findLast(({ peerUrls }) => peerUrls?.some((url) => url.includes(strayAddress)) === true);
  return stray === undefined ? request : { ...request, memberId: stray.id };
}

/** Where a member is that belongs to none of the three. */
export const strayAddress = "10.5.0.9";

async function send(
  world: TestWorld,
  credentials: Parameters<typeof createChannelSubject>[0]["credentials"],
  call: RecordedAt,
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
  const messages = messagesOf(responses);
  switch (method.split("/")[1]) {
    case "EtcdMemberList":
      return `members ${messages
        .flatMap(({ members }) => members ?? [])
        .map(({ peerUrls, isLearner }) => `${peerUrls?.join(" ")}${isLearner === true ? " (learner)" : ""}`)
        .toSorted(byText)
        .join(", ")}`;
    case "EtcdStatus":
      return messages.map(({ memberStatus }) => statusTold(memberStatus)).join("");
    case "EtcdAlarmList":
    case "EtcdAlarmDisarm":
      return `alarms ${[...new Set(messages.flatMap(({ memberAlarms }) => memberAlarms ?? []).map(({ alarm }) => alarm))].join(", ")}`;
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

/** Who says what is wrong, whether there is a leader, and how much of the file is in use. */
function statusTold({ errors = [], leader, dbSize, dbSizeInUse }: Status = {}): string {
  const kinds = [...new Set(errors.map((error) => error.replace(/^memberID:\d+ /, "")))].toSorted(byText);
  const inUse = Number(dbSizeInUse) / Number(dbSize);
  const free = inUse > 0.95 ? "nothing" : inUse > 0.1 ? "a part" : "most";
  return `${leader === undefined ? "no leader, " : ""}${free} of the file is free [${kinds.join("|")}]`;
}

function messagesOf(responses: readonly unknown[]): readonly Told[] {
  return responses.flatMap((response) => (response as { readonly messages?: readonly Told[] }).messages ?? []);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

interface Status {
  readonly errors?: readonly string[];
  readonly leader?: string;
  readonly dbSize?: string;
  readonly dbSizeInUse?: string;
}

interface Told {
  readonly members?: readonly { readonly id: string; readonly peerUrls?: readonly string[]; readonly isLearner?: boolean }[];
  readonly services?: readonly { readonly id?: string; readonly state?: string }[];
  readonly memberStatus?: Status;
  readonly memberAlarms?: readonly { readonly alarm: string }[];
}
