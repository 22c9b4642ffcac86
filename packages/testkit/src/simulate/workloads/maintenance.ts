import { annotations, clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import type { EtcdDatabase } from "@talos-operator/simulator";
import { createTalosClient } from "@talos-operator/talos/client";
import { pick } from "../fault.ts";
import { livingEtcd } from "../living-etcd.ts";
import { chooseScenario, CLUSTER_NAME } from "../scenario.ts";
import { BACKUP_TROUBLES } from "../troubles/kinds.ts";
import { ofCluster } from "../troubles/input.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { annotate, backsUp } from "./before-risk.ts";
import { createPeriod, isNode, isSettled, sparesOf, wantedMachines } from "./machines.ts";

const MINUTE = 60_000;

/** A person looks so often. Milliseconds. */
const LOOKS_EVERY_MS = 5_000;

function databaseOf({ datacenter }: EditableWorld): EtcdDatabase | undefined {
  const [living] = livingEtcd(datacenter);
  return living === undefined ? undefined : datacenter.etcdDatabase(living.key);
}

/** No alarm stands, nothing is being done to etcd, and the cluster is what is wanted. */
function isWell(world: EditableWorld): boolean {
  const [record] = world.objects.all("clusterrecords") as readonly unknown[] as readonly ClusterRecord[];
  const isOver = (databaseOf(world)?.alarms() ?? []).length === 0;
  if (isOver) world.stage.alarmedSince = undefined;
  return isOver && record?.spec.openControlPlaneIntent === undefined && isSettled(world);
}

/** What `EtcdHealthy` of the control plane says. */
function told({ objects }: EditableWorld): { readonly reason?: string; readonly message?: string } {
  const conditions = objects.get("taloscontrolplanes", CLUSTER_NAME)?.status?.conditions;
  return conditions?.find(({ type }) => type === "EtcdHealthy") ?? {};
}

/** One event of etcd's life, reached when nothing is left of it. */
function befalls(what: string, make: (world: EditableWorld) => Promise<void> | void): Step {
  return { what, make: async (world) => make(world), isReached: isWell };
}

/** Files of gibibytes of which little is in use: each member is defragmented by itself, unless it was within a day. */
const isFragmented = befalls("files have more free pages than content", (world) => {
  const database = databaseOf(world);
  database?.put(400_000_000);
  database?.erase(390_000_000);
  database?.compact();
});

const isFull = befalls("files reach their quota, and most of them is free", (world) => {
  databaseOf(world)?.fill();
  world.stage.alarmedSince = world.now();
});

/** Nothing but a person helps, and does as it is told. */
const isFullOfContent = befalls("content reaches the quota, and a person deletes most of it when that is told", (world) => {
  databaseOf(world)?.fill(0.99);
  world.stage.alarmedSince = world.now();
  whenTold(world, /would free nothing/, () => {
    world.trace("a person deletes objects, and compacts");
    // Beneath an alarm of wrong data nothing is deleted.
    if (told(world).message?.includes("alarm disarm") === true) databaseOf(world)?.disarm();
    // Data that began to differ a moment ago let nobody delete: what is told then is read again.
    if (databaseOf(world)?.erase(1_700_000_000) !== undefined) return "refused";
    databaseOf(world)?.compact();
    // What a compaction freed is told as of the next write, and without room deletes are all that is written.
    databaseOf(world)?.erase(1);
    return "done";
  });
});

/** A person asks for a larger quota instead, which is in force where a member has booted. */
const isOutgrown = befalls("content reaches the quota, and a person asks for a larger one when that is told", (world) => {
  databaseOf(world)?.fill(0.99);
  world.stage.alarmedSince = world.now();
  whenTold(world, /would free nothing/, () => {
    world.trace("a person asks for a larger quota");
    // Beneath an alarm of wrong data none is booted.
    if (told(world).message?.includes("alarm disarm") === true) databaseOf(world)?.disarm();
    const extraArgs = { "quota-backend-bytes": String(4 * 2 ** 30) };
    void world.edit({ controlPlanePatches: [{ cluster: { etcd: { extraArgs } } }] });
    return "done";
  });
});

/** Where no majority of those that answer has the same data, a person is told, and brings the right ones. */
function isWrong(who: "a follower" | "the leader"): Step {
  return befalls(`${who} has other data than the others`, (world) => {
    const [etcd] = livingEtcd(world.datacenter);
    const members = world.datacenter.machines().filter(({ state }) => etcd?.members.some(({ id }) => id === state.etcd.data?.memberId));
    const candidates = members.filter(({ state }) => (state.etcd.data?.memberId === etcd?.leader) === (who === "the leader"));
    if (candidates.length === 0) return;
    pick(candidates, world.random).corruptEtcd();
    world.stage.alarmedSince = world.now();
    // Before an alarm tells of them they may end an etcd that boots, whose log says so.
    whenTold(world, /^DataCorrupt|its log says why/, () => {
      world.trace("a person brings every member the right data, and takes the alarms back");
      databaseOf(world)?.mend();
      databaseOf(world)?.disarm();
      return "done";
    });
  });
}

/**
 * Does something once the reason or the message of `EtcdHealthy` has this in it, if it ever has: whoever takes alarms back in between does not bring the data that
 * they were raised for, and they come back.
 */
function whenTold(world: EditableWorld, words: RegExp, act: () => "done" | "refused"): void {
  const look = (): void => {
    const { reason = "", message = "" } = told(world);
    if (!words.test(`${reason}: ${message}`) || act() === "refused") world.timers.schedule(LOOKS_EVERY_MS, look);
  };
  look();
}

/** It is answered, whatever comes of it. */
function isAskedFor(): Step {
  let isAsked = false;
  const isAnswered = (world: EditableWorld): boolean =>
    world.objects.get("taloscontrolplanes", CLUSTER_NAME)?.metadata?.annotations?.[annotations.defragment] === undefined;
  return {
    what: "a person has one member defragmented",
    async make(world) {
      databaseOf(world)?.put(20_000_000);
      databaseOf(world)?.erase(10_000_000);
      databaseOf(world)?.compact();
      const ask = async (): Promise<void> => {
        const record = (await world.client.resource(clusterRecordResource).tryGet(ofCluster)) as ClusterRecord | undefined;
        const wanted = world.stage.desired?.controlPlanes ?? [];
        const known = (record?.spec.knownControlPlanes ?? []).filter(({ address }) => wanted.includes(address));
        if (known.length === 0) return void world.timers.schedule(LOOKS_EVERY_MS, () => void ask());
        await annotate(world, annotations.defragment, pick(known, world.random).name);
        isAsked = true;
      };
      await ask();
    },
    isReached: (world) => isAsked && isAnswered(world) && isWell(world),
  };
}

/** A machine that nobody lists gets the configuration of a control plane by hand and joins etcd; half of them lose their power then. */
function isJoined(): Step {
  const period = createPeriod();
  const join = async (world: EditableWorld): Promise<void> => {
    const [stranger = ""] = sparesOf(world);
    const [first = ""] = world.stage.desired?.controlPlanes ?? [];
    const config = world.datacenter.machine(first).state.config.persisted ?? "";
    const talos = createTalosClient(world.datacenter.dialer().dial({ address: stranger }, { kind: "maintenance" }));
    await talos.applyConfiguration({ config, mode: "auto" }, { timeoutMs: 10_000 });
    talos.close();
  };
  return {
    what: "a machine that nobody lists joins etcd",
    make(world) {
      period.begin(world, 5 * MINUTE);
      if (world.random.fraction() < 0.5)
        world.timers.schedule(3 * MINUTE, () => {
          // Beside a control plane that is away two of four are left, which nobody but people bring back.
          if (wantedMachines(world).every(isNode)) sparesOf(world).forEach((stranger) => world.datacenter.machine(stranger).powerOff());
        });
      // Time passes only when nobody waits for it here.
      void join(world);
      return Promise.resolve();
    },
    isReached: (world) => period.isOver(world) && isWell(world),
  };
}

/** What befalls the etcd of a cluster that nobody looks after, and what a person does who reads what is told. */
export const maintenance: Workload = {
  name: "maintenance",
  about:
    "etcd's files become full or fragmented, data differ, a stranger joins, a person asks for a defragmentation: alarms go, or a person is told",
  choose: (random) => ({ ...chooseScenario(random, { controlPlanes: [3], workers: [0, 1], spares: 1 }), hasBackups: "controllers" }),
  steps: (_scenario, random) => {
    const all = [isFragmented, isFull, isFullOfContent, isOutgrown, isWrong("a follower"), isWrong("the leader"), isAskedFor(), isJoined()];
    const drawn = Array.from({ length: 3 }, () => all.splice(Math.floor(random.fraction() * all.length), 1)).flat();
    return [backsUp(pick(["preferred", "required"], random)), ...drawn];
  },
  effects: ["K2", "K5", "K6", "T3", "T7", "T8", "T11", "T12", "T13"],
  troubles: BACKUP_TROUBLES,
};
