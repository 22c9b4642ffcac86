import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import { createKubeClient } from "../client/kube-client.ts";
import { createFakeApi, createMemoryLog, createSeededRandom, createVirtualTime, type FakeApi, type VirtualTime } from "../testing/index.ts";
import { createLeaseElector } from "./create-lease-elector.ts";
import type { Lease } from "./lease-record.ts";
import { isStopInOrder, LeadershipOver } from "./leadership-over.ts";
import type { Leadership, LeadershipEnd, LeaseElectorOptions } from "./types.ts";

const leases = "/apis/coordination.k8s.io/v1/leases";

interface Candidate {
  readonly name: string;
  readonly terms: Leadership[];
  readonly ends: LeadershipEnd[];
  readonly leadersSeen: string[];
  current(): Leadership | undefined;
  stop(): Promise<void>;
}

interface CandidateOptions extends Partial<LeaseElectorOptions> {
  /** Wall clock of this candidate runs ahead by this much. */
  readonly skewMs?: number;
  readonly transport?: KubeTransport;
}

function stand(
  api: FakeApi,
  time: VirtualTime,
  name: string,
  { skewMs = 0, transport = api.transport(), ...options }: CandidateOptions = {},
): Candidate {
  const terms: Leadership[] = [];
  const ends: LeadershipEnd[] = [];
  const leadersSeen: string[] = [];
  const elector = createLeaseElector({
    client: createKubeClient(transport),
    namespace: "ns",
    name: "operator",
    identity: name,
    clock: { now: () => time.clock.now() + skewMs },
    timers: time.timers,
    random: createSeededRandom(name.length),
    log: createMemoryLog(),
    onElected: async (leadership) => {
      terms.push(leadership);
      if (!leadership.signal.aborted) await new Promise((resolve) => leadership.signal.addEventListener("abort", resolve));
    },
    onLost: (reason) => ends.push(reason),
    onNewLeader: (identity) => leadersSeen.push(identity),
    ...options,
  });
  const abort = new AbortController();
  const running = elector.run(abort.signal);
  return {
    name,
    terms,
    ends,
    leadersSeen,
    current: () => elector.leadership(),
    async stop() {
      abort.abort();
      await time.settle();
      await running;
    },
  };
}

/** A transport whose connection can be cut. */
function cuttable(inner: KubeTransport): KubeTransport & { isCut: boolean } {
  const cut = (): never => {
    const error = new Error("no route");
    error.name = "KubeTransportFailure";
    throw error;
  };
  const transport = {
    isCut: false,
    send: async (request: KubeRequest, options?: Parameters<KubeTransport["send"]>[1]) =>
      transport.isCut ? cut() : inner.send(request, options),
    watch: async (request: KubeRequest, options?: Parameters<KubeTransport["watch"]>[1]) =>
      transport.isCut ? cut() : inner.watch(request, options),
    close: () => undefined,
  };
  return transport;
}

const leaseIn = (api: FakeApi): Lease | undefined => api.objects(leases)[0];
const record = (api: FakeApi): Lease["spec"] => leaseIn(api)?.spec;

describe("lease election", () => {
  it("lets the first candidate lead at once and the second wait", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a");
    await time.settle();
    const b = stand(api, time, "b");
    await time.advance(60_000);
    assert.equal(a.current()?.isHeld(), true);
    assert.equal(b.current(), undefined);
    assert.deepEqual(b.leadersSeen, ["a"]);
    assert.equal(record(api)?.holderIdentity, "a");
    assert.equal(record(api)?.leaseDurationSeconds, 15);
    await b.stop();
    await a.stop();
    assert.equal(time.pending(), 0, "timers were left behind");
  });

  it("hands over at once when the leader stops, after its work has ended", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const events: string[] = [];
    const a = stand(api, time, "a", {
      onElected: async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await time.timers.sleep(4_000);
        events.push("work of a ended");
      },
    });
    await time.settle();
    const b = stand(api, time, "b", {
      onElected: async ({ signal }) => {
        events.push("b leads");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    await time.advance(10_000);
    const stopping = a.stop();
    await time.advance(3_900);
    assert.deepEqual(events, [], "nobody may lead while the old work still runs");
    await time.advance(200);
    assert.deepEqual(events, ["work of a ended", "b leads"]);
    await stopping;
    assert.deepEqual(a.ends, ["stopped"]);
    await b.stop();
    assert.equal(record(api)?.holderIdentity, "");
  });

  it("renews while the work takes long to end", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a", {
      onElected: async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await time.timers.sleep(120_000);
      },
    });
    await time.settle();
    const b = stand(api, time, "b");
    const stopping = a.stop();
    await time.advance(119_000);
    assert.equal(b.terms.length, 0);
    await time.advance(2_000);
    assert.equal(b.terms.length, 1);
    await stopping;
    await b.stop();
  });

  it("gives up before another can take over when it is cut off, and the other takes over after the lease duration", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const line = cuttable(api.transport());
    const a = stand(api, time, "a", { transport: line });
    await time.settle();
    const b = stand(api, time, "b");
    await time.advance(9_000);
    line.isCut = true;
    const lostAt: number[] = [];
    a.terms[0]?.signal.addEventListener("abort", () => lostAt.push(time.now()));
    const wonAt: number[] = [];
    const begin = time.now();
    for (let tick = 0; tick < 400 && b.terms.length === 0; tick += 1) {
      await time.advance(100);
      assert.ok(!(a.current()?.isHeld() === true && b.current()?.isHeld() === true), "two leaders");
      if (b.terms.length > 0) wonAt.push(time.now());
    }
    assert.ok((lostAt[0] ?? Infinity) - begin <= 10_000, "the old leader must give up within the renew deadline");
    assert.ok((wonAt[0] ?? 0) - (lostAt[0] ?? Infinity) >= 3_000, "a gap must remain between them");
    assert.ok((wonAt[0] ?? Infinity) - begin <= 18_000);
    assert.deepEqual(a.ends, ["renewal-failed"]);
    line.isCut = false;
    await time.advance(30_000);
    assert.equal(a.current(), undefined, "the old leader must wait its turn");
    await a.stop();
    await b.stop();
  });

  it("does not look at the holder's time stamps: clocks an hour apart change nothing", async () => {
    for (const skewMs of [3_600_000, -3_600_000]) {
      const [api, time] = [createFakeApi(), createVirtualTime()];
      const a = stand(api, time, "a");
      await time.settle();
      const b = stand(api, time, "b", { skewMs });
      await time.advance(600_000);
      assert.equal(b.terms.length, 0);
      assert.equal(a.terms.length, 1);
      await a.stop();
      await time.advance(100);
      assert.equal(b.terms.length, 1);
      await b.stop();
    }
  });

  it("does not hold by its own account after the clock jumped ahead, until it has renewed", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a");
    await time.advance(500);
    const term = a.terms[0];
    assert.ok(term);
    assert.equal(term.isHeld(), true);
    assert.ok(term.remainingMs() > 14_000);
    time.setClock(time.now() + 60_000);
    assert.equal(term.isHeld(), false);
    assert.equal(term.remainingMs(), 0);
    assert.equal(await term.confirm(), false);
    await time.advance(2_000);
    assert.equal(term.isHeld(), true);
    await a.stop();
  });

  it("confirms by reading the lease, and does not when another holds it or nobody answers", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const line = cuttable(api.transport());
    const a = stand(api, time, "a", { transport: line });
    await time.settle();
    const term = a.terms[0];
    assert.equal(await term?.confirm(), true);
    line.isCut = true;
    assert.equal(await term?.confirm(), false);
    line.isCut = false;
    const held = api.objects(leases)[0] as Lease;
    api.put(leases, { ...held, spec: { ...held.spec, holderIdentity: "thief" } } as Lease);
    assert.equal(await term?.confirm(), false);
    const writes = () => api.requests.filter((request) => request.method === "PUT").length;
    const before = writes();
    await time.advance(2_000);
    assert.deepEqual(a.ends, ["taken"]);
    assert.equal(writes() - before, 1, "after the refused renewal nothing may be written any more");
    assert.equal(term?.signal.aborted, true);
    await a.stop();
    assert.equal(record(api)?.holderIdentity, "thief", "somebody else's lease must not be released");
  });

  it("does not confirm when its own time ran out while it asked", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a");
    await time.settle();
    api.onRequest = ({ method }) => {
      if (method === "GET") time.setClock(time.now() + 60_000);
      return undefined;
    };
    assert.equal(await a.terms[0]?.confirm(), false);
    api.onRequest = undefined;
    await a.stop();
  });

  it("counts the time since its last renewal also when its clock is set back", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const line = cuttable(api.transport());
    const a = stand(api, time, "a", { transport: line });
    await time.advance(5_000);
    line.isCut = true;
    time.setClock(time.now() - 3_600_000);
    await time.advance(7_000);
    const left = a.terms[0]?.remainingMs() ?? Infinity;
    assert.ok(left <= 15_000 - 6_000, `${left} ms are left by its own account`);
    await a.stop();
  });

  it("writes a duration of no whole seconds down as the next longer one", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a", { leaseDurationMs: 15_500 });
    await time.settle();
    assert.equal(record(api)?.leaseDurationSeconds, 16);
    await a.stop();
  });

  it("waits as long as the lease of the holder says, though its own would be shorter", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    api.put(leases, {
      metadata: { namespace: "ns", name: "operator" },
      spec: { holderIdentity: "a", leaseDurationSeconds: 60, acquireTime: "2025-01-01T00:00:00.000000Z", leaseTransitions: 4 },
    } as Lease);
    const b = stand(api, time, "b");
    await time.advance(59_000);
    assert.equal(b.terms.length, 0);
    await time.advance(10_000);
    assert.equal(b.terms.length, 1);
    await b.stop();
  });

  it("tells only a process that was told to stop that its lease is still its own", () => {
    const ends: readonly LeadershipEnd[] = ["stopped", "taken", "renewal-failed", "resigned"];
    assert.deepEqual(
      ends.filter((why) => isStopInOrder(new LeadershipOver(why))),
      ["stopped"],
    );
    assert.equal(isStopInOrder(new Error("another")), false);
  });

  it("gives every term a higher fencing token", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const tokens: Leadership["token"][] = [];
    for (const name of ["a", "b", "a"]) {
      const candidate = stand(api, time, name);
      await time.advance(5_000);
      if (candidate.terms[0] !== undefined) tokens.push(candidate.terms[0].token);
      await candidate.stop();
    }
    assert.deepEqual(
      tokens.map((token) => token.leaseTransitions),
      [0, 1, 2],
    );
    const versions = tokens.map((token) => Number(token.resourceVersion));
    assert.deepEqual(
      versions,
      versions.toSorted((x, y) => x - y),
    );
  });

  it("keeps leading when the answer of a renewal is lost", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a");
    await time.settle();
    let lost = 0;
    api.onRequest = (request) => {
      if (request.method !== "PUT" || lost > 0) return undefined;
      lost += 1;
      return "lose-reply";
    };
    await time.advance(30_000);
    assert.equal(lost, 1);
    assert.deepEqual(a.ends, []);
    assert.equal(a.current()?.isHeld(), true);
    await a.stop();
  });

  it("recognises its own win when the answer was lost", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    let lost = 0;
    api.onRequest = (request) => {
      if (request.method !== "POST" || lost > 0) return undefined;
      lost += 1;
      return "lose-reply";
    };
    const a = stand(api, time, "a");
    await time.advance(5_000);
    assert.equal(lost, 1);
    assert.equal(a.terms.length, 1, "it must not wait for its own lease to expire");
    await a.stop();
  });

  it("does not take over the term of an earlier process with the same identity before that expired", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    api.put(leases, {
      metadata: { namespace: "ns", name: "operator" },
      spec: { holderIdentity: "a", leaseDurationSeconds: 15, acquireTime: "2025-01-01T00:00:00.000000Z", leaseTransitions: 4 },
    } as Lease);
    const a = stand(api, time, "a");
    await time.advance(14_000);
    assert.equal(a.terms.length, 0);
    await time.advance(4_000);
    assert.equal(a.terms[0]?.token.leaseTransitions, 5);
    await a.stop();
  });

  it("steps down when the lease is deleted under it", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a");
    await time.settle();
    api.remove(leases, "ns", "operator");
    await time.advance(2_000);
    assert.deepEqual(a.ends, ["taken"]);
    await time.advance(10_000);
    assert.equal(a.terms.length, 2);
    await a.stop();
  });

  it("gives the lease back when the work fails or resigns, so that a healthy replica can lead", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a", { onElected: () => Promise.reject(new Error("broken")) });
    await time.settle();
    const b = stand(api, time, "b");
    await time.advance(1_000);
    assert.equal(b.terms.length, 1);
    b.current()?.resign();
    await time.settle();
    assert.deepEqual(b.ends, ["resigned"]);
    await a.stop();
    await b.stop();
  });

  it("costs a waiting candidate hardly any request", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const a = stand(api, time, "a");
    await time.settle();
    const b = stand(api, time, "b");
    await time.advance(5_000);
    const before = api.requests.length;
    await time.advance(600_000);
    const puts = api.requests.slice(before).filter((request) => request.method === "PUT").length;
    const others = api.requests.length - before - puts;
    assert.ok(puts <= 301, `${puts} renewals in ten minutes`);
    assert.ok(others <= 50, `${others} other requests in ten minutes`);
    await a.stop();
    await b.stop();
  });

  it("polls when it may not watch", async () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    const forbidden = { status: 403, headers: {}, body: { kind: "Status", reason: "Forbidden", code: 403 } };
    const a = stand(api, time, "a");
    await time.settle();
    api.onRequest = (request) => (request.method === "GET" && request.query !== undefined ? forbidden : undefined);
    const b = stand(api, time, "b");
    await time.advance(30_000);
    await a.stop();
    await time.advance(3_000);
    assert.equal(b.terms.length, 1);
    await b.stop();
  });

  it("never has two leaders while connections come and go", async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const [api, time] = [createFakeApi(), createVirtualTime()];
      const random = createSeededRandom(seed);
      const lines = ["a", "b", "c"].map(() => cuttable(api.transport()));
      const candidates = lines.map((transport, index) =>
        stand(api, time, `candidate-${index}`, { transport, skewMs: (random.fraction() - 0.5) * 1e7 }),
      );
      let led = 0;
      for (let tick = 0; tick < 300; tick += 1) {
        for (const line of lines) if (random.fraction() < 0.03) line.isCut = !line.isCut;
        await time.advance(500);
        const leaders = candidates.filter((candidate) => candidate.current()?.isHeld() === true);
        assert.ok(leaders.length <= 1, `seed ${seed}: ${leaders.map((leader) => leader.name).join(" and ")} lead`);
        led += leaders.length;
      }
      assert.ok(led > 0, `seed ${seed}: nobody ever led`);
      for (const line of lines) line.isCut = false;
      for (const candidate of candidates) await candidate.stop();
    }
  });

  it("refuses periods that cannot be safe", () => {
    const [api, time] = [createFakeApi(), createVirtualTime()];
    assert.throws(() => stand(api, time, "a", { renewDeadlineMs: 20_000 }), RangeError);
    assert.throws(() => stand(api, time, ""), RangeError);
  });
});
