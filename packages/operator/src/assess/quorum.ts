import { alarmedMember, beneathAlarms } from "./alarmed.ts";
import { elapsedMs } from "../elapsed.ts";
import { controlPlanesOf } from "./etcd-view.ts";
import type { EtcdMember, Look } from "../model/look.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { EtcdAnswer, EtcdDoubt, EtcdDoubtCode, EtcdQuorum, EtcdVoter } from "../model/etcd.ts";

/** A look older than this says nothing about quorum: the longest pause between looks at a settled cluster, and a look's deadline. Milliseconds. */
const FRESH_MS = 75_000;

/** Stages of a machine that goes down, whatever its etcd still says. */
export const GOING_STAGES: ReadonlySet<string> = new Set(["rebooting", "shutting down", "resetting", "upgrading"]);

/**
 * etcd as it may be relied on for disturbing a member: fresh identical lists of at least a quorum of the voters, one leader, no alarm, nobody joining.
 *
 * Silence, differing lists and everything that does not fit together is doubt, never a number.
 */
export function etcdQuorum(seen: Observed): EtcdQuorum | EtcdDoubt {
  return settled(quorumOf(answersOf(seen)));
}

/** The same with members that are joining still in it; for whoever looks after those. */
export function etcdMembership(seen: Observed): EtcdQuorum | EtcdDoubt {
  return quorumOf(answersOf(seen));
}

/** What each control plane that answered just now says of etcd. */
function answersOf(seen: Observed): readonly EtcdAnswer[] {
  return controlPlanesOf(seen).flatMap(({ declared, look }) =>
    look.kind === "running" && elapsedMs(look.at, seen.now) < FRESH_MS ? (answerOf(declared.name, look) ?? []) : [],
  );
}

/** What a look says of etcd; `undefined` = nothing. */
export function answerOf(machine: MachineName, look: Look): EtcdAnswer | undefined {
  if (look.kind !== "running" || look.etcd === undefined) return undefined;
  return { machine, etcd: look.etcd, isGoing: look.stage !== undefined && GOING_STAGES.has(look.stage) };
}

/** Joining members make it unsafe to disturb a voter: etcd is in the middle of a change. */
export function settled(view: EtcdQuorum | EtcdDoubt): EtcdQuorum | EtcdDoubt {
  if (view.kind === "unsafe") return view;
  const [learner] = view.learners;
  if (learner !== undefined)
    return doubt("joining", `member ${wordOf(learner)} of etcd is still a learner; nothing is disturbed until it votes or is gone`);
  const unstarted = view.voters.find((voter) => voter.name === "");
  if (unstarted !== undefined)
    return doubt("joining", `member ${unstarted.id} of etcd has never started; nothing is disturbed until it runs or is gone`);
  return view;
}

/** Puts the answers of members together. Pure; the live check of an effect uses it on what it just read. */
export function quorumOf(answers: readonly EtcdAnswer[]): EtcdQuorum | EtcdDoubt {
  const telling = answers.flatMap(({ machine, etcd, isGoing }) =>
    etcd.members === undefined ? [] : [{ machine, etcd, isGoing, members: etcd.members }],
  );
  const [first] = telling;
  if (first === undefined) return doubt("no-answer", "no control plane reports the members of etcd");
  const own = telling.flatMap(({ machine, etcd }) =>
    etcd.localMember === undefined || etcd.localMember === "none" ? [] : [{ machine, id: etcd.localMember }],
  );
  const twin = own.find((one, index) => own.findIndex((other) => other.id === one.id) < index);
  if (twin !== undefined) return doubt("twins", `two machines show member ${twin.id} of etcd as their own, ${twin.machine} is one of them`);

  for (const { machine, members } of telling) {
    if (members.length === 0) return doubt("malformed", `${machine} reports an empty list of etcd members`);
    if (new Set(members.map(({ id }) => id)).size < members.length)
      return doubt("malformed", `${machine} reports a list of etcd members with one id twice`);
  }
  const differing = telling.find(({ members }) => printed(members) !== printed(first.members));
  if (differing !== undefined)
    return doubt("differing", `${differing.machine} lists other members of etcd than ${first.machine}; it is looked at again`);
  const stranger = own.find(({ id }) => !first.members.some((member) => member.id === id));
  if (stranger !== undefined)
    return doubt("stranger", `${stranger.machine} shows member ${stranger.id} of etcd, which its own list does not have`);
  // A member that is ill itself is no witness of who leads.
  const witnesses = telling.filter(({ etcd, isGoing }) => etcd.isHealthy && !isGoing);
  const learners = first.members.filter((member) => member.isLearner);
  const votes = first.members.filter((member) => !member.isLearner);
  const needed = Math.floor(votes.length / 2) + 1;
  const voters = votes.map(({ id, name }): EtcdVoter => {
    const witness = witnesses.find(({ etcd }) => etcd.localMember === id);
    return { id, name, machine: own.find((one) => one.id === id)?.machine, isHealthy: witness !== undefined };
  });
  const healthy = voters.filter((voter) => voter.isHealthy).length;
  if (healthy < needed) {
    const few = doubt("no-quorum", `${healthy} of ${votes.length} voters of etcd answer and are healthy, and ${needed} are needed`);
    return { ...few, counted: { members: first.members, voters } };
  }
  const leaders = new Set(witnesses.map(({ etcd }) => etcd.leader ?? "0"));
  const leaderless = witnesses.find(({ etcd }) => !voters.some((voter) => voter.id === etcd.leader));
  if (leaderless !== undefined) return doubt("leaderless", `etcd on ${leaderless.machine} knows no leader among the voters`);
  const [leader = "0"] = leaders;
  if (leaders.size > 1) return doubt("two-leaders", `members of etcd name ${leaders.size} different leaders`);
  const view: EtcdQuorum = { kind: "known", members: first.members, voters, learners, leader, healthy, needed };
  const alarmed = alarmedMember(telling);
  if (alarmed === undefined) return view;
  const said = doubt(
    "alarm",
    `etcd on ${alarmed.machine} raises an alarm (${alarmed.alarms}): see the condition EtcdHealthy of the TalosControlPlane`,
  );
  return { ...said, ...beneathAlarms(telling, view) };
}

/** The same for whoever replaces members with wrong data: it goes on although they are there, and by no other alarm. */
export function despiteCorrupt(view: EtcdQuorum | EtcdDoubt): EtcdQuorum | EtcdDoubt {
  return view.kind === "unsafe" ? (view.corrupt?.view ?? view) : view;
}

/** What the members say beneath alarms that can be cured, whatever they are of. */
export function despiteAlarms(view: EtcdQuorum | EtcdDoubt): EtcdQuorum | EtcdDoubt {
  return despiteCorrupt(despiteFull(view));
}

/** The same for whoever frees the space of files that are full: it goes on although they are, and by no other alarm. */
export function despiteFull(view: EtcdQuorum | EtcdDoubt): EtcdQuorum | EtcdDoubt {
  return view.kind === "unsafe" ? (view.beneath ?? view) : view;
}

/**
 * The same for whoever brings the voters back to their number, and thereby lets one of them be defragmented: without space etcd takes changes of its members, for they are
 * no writes. Not where an alarm tells of data, be it of a member that is gone.
 *
 * @see etcd v3.6.14 `server/etcdserver/apply/quota.go` applierV3Capped
 */
export function besideFull(view: EtcdQuorum | EtcdDoubt): EtcdQuorum | EtcdDoubt {
  return view.kind === "unsafe" && view.isOnlyFull === true ? (view.beneath ?? view) : view;
}

/** What is left when one member counts as gone. */
export interface Projection {
  readonly isSafe: boolean;
  /** Healthy voters without it. */
  readonly left: number;
  /** Healthy voters that must be left. */
  readonly needed: number;
  /** For people, with the numbers; without a full stop. */
  readonly message: string;
}

/**
 * Projects etcd with one member gone, counting it as a voter until it is proved away: healthy voters never fall below the majority by our action.
 *
 * `leaves` is for a member that leaves for good, where one exception holds: of two voters one may go when the other one is healthy.
 * A member that is ill itself may be taken away whenever the quorum of the others stands.
 *
 * @param memberId of the list; `undefined` or a learner's takes no vote away
 */
export function projectWithout(view: EtcdQuorum, memberId: string | undefined, how: "leaves" | "is-down"): Projection {
  const rest = view.voters.filter((voter) => voter.id !== memberId);
  const left = rest.filter((voter) => voter.isHealthy).length;
  const numbers = `${left} healthy of ${view.voters.length} voters would be left, and ${view.needed} are needed`;
  if (rest.length === view.voters.length) return { isSafe: true, left, needed: view.needed, message: numbers };
  if (rest.length === 0) return { isSafe: false, left: 0, needed: 1, message: "it is the only voter of etcd" };
  if (view.voters.length === 2 && how === "leaves") {
    const isSafe = left === 1;
    return {
      isSafe,
      left,
      needed: 1,
      message: isSafe ? "the other one of two voters is healthy" : "the other one of two voters is not healthy",
    };
  }
  return { isSafe: left >= view.needed, left, needed: view.needed, message: numbers };
}

function doubt(code: EtcdDoubtCode, message: string): EtcdDoubt {
  return { kind: "unsafe", code, message };
}

/** What makes two lists the same. Names and addresses are no identity, but a member that starts or is promoted changes the list. */
function printed(members: readonly EtcdMember[]): string {
  return members
    .map(({ id, isLearner, name }) => `${id}/${isLearner ? "learner" : "voter"}/${name === "" ? "unstarted" : "started"}`)
    .toSorted()
    .join(" ");
}

function wordOf({ id, name }: EtcdMember): string {
  return name === "" ? id : name;
}
