import { annotations, talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import { asAdmin, type AdminInput } from "./as-admin.ts";
import { livingEtcd } from "./living-etcd.ts";
import type { SimulatedMachine } from "@talos-operator/simulator";
import type { ObjectView } from "./object-view.ts";
import { CLUSTER_NAME, NAMESPACE } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import { bundleKey } from "./troubles/input.ts";
import { holderOf, isDead, listForAWhile, type ListingInput } from "./unknown-member.ts";

/** Somebody looks at a cluster that asks for help so long after it began to ask. */
const ANSWERED_AFTER_MS = 3 * 60_000;

/** Whoever is asked for the same again and again looks for another cause. */
const MOST_ANSWERS = 5;

/** Secret with the keys that whoever imports a cluster has. */
export const GIVEN_KEYS = "kept-keys";

/** What a person sees of a world, and may do to it. */
export interface PersonInput extends AdminInput, ListingInput {
  readonly objects: ObjectView;
  /** Nothing but the workload happens: what is not of its own edits has to mend itself. */
  readonly isUntroubled?: boolean;
}

/**
 * What a condition asks for: the word that its message tells to write, with the address of the machine that is to be configured by it; or the member of etcd that
 * is to be removed by hand, as its machine is dead or is one that nobody wanted; or the machine that nobody remembers, and that is to be listed again.
 */
type Ask =
  | { readonly annotation: string; readonly word: string; readonly configures?: string; readonly pool?: string }
  | { readonly deadMember: string; readonly keys: string }
  | { readonly stray: string; readonly keys: string }
  | { readonly forgotten: SimulatedMachine; readonly inPlaceOf: string };

/** A person who watches conditions and does what their messages say, where that is right. */
export function watchOver(input: PersonInput): void {
  const { objects, client, datacenter, timers, stage, trace } = input;
  let isOnTheWay = false;
  let answers = 0;
  const answer = async (): Promise<void> => {
    const ask = askOf(input);
    isOnTheWay = false;
    if (ask === undefined) return;
    answers += 1;
    if ("deadMember" in ask) return removeMember(ask.deadMember, ask.keys);
    if ("stray" in ask) {
      // Whoever had it join by hand takes it away again.
      const id = memberNamed(ask.stray)?.id;
      datacenter
        .machines()
        .find(({ state }) => id !== undefined && state.etcd.data?.memberId === id)
        ?.powerOff();
      return removeMember(ask.stray, ask.keys);
    }
    if ("forgotten" in ask) return listForAWhile(input, ask.forgotten, ask.inPlaceOf);
    trace(`a person writes ${ask.annotation}: ${ask.word}`);
    if (ask.configures !== undefined) {
      stage.approved.add(ask.configures);
      stage.mayRepeat += 1;
    }
    if (ask.annotation === annotations.importApprove) for (const address of stage.reinstalled) stage.approved.add(address);
    const value = { metadata: { annotations: { [ask.annotation]: ask.word } } };
    const resource = ask.pool === undefined ? talosControlPlaneResource : talosWorkerResource;
    await client.resource(resource).patch({ namespace: NAMESPACE, name: ask.pool ?? CLUSTER_NAME }, { type: "merge", value });
  };
  /** @param word its name or its id, as it is told */
  const memberNamed = (word: string) =>
    livingEtcd(datacenter)
      .flatMap(({ members }) => members)
      .find(({ id, name }) => [id, name].includes(word));
  /** `talosctl etcd remove-member` on a control plane whose etcd runs. */
  const removeMember = async (name: string, keys: string): Promise<void> => {
    const member = memberNamed(name);
    const isServing = ({ state }: SimulatedMachine): boolean => state.services["etcd"]?.state === "Running" && state.isConnected;
    const other = datacenter.machines().find((machine) => isServing(machine) && machine.state.etcd.data?.memberId !== member?.id);
    if (member === undefined || other === undefined || !isDead(datacenter, member.id)) return;
    trace(`a person removes the member ${name}`);
    await asAdmin(input, keys, other.address, async (talos) => {
      await talos.etcdRemoveMemberById(member.id, { timeoutMs: 5_000 });
    });
  };
  const look = (): void => {
    if (isOnTheWay || answers >= MOST_ANSWERS || askOf(input) === undefined) return;
    isOnTheWay = true;
    timers.schedule(ANSWERED_AFTER_MS, () => void answer().then(look));
  };
  objects.onChange(look);
  look();
}

function askOf(input: PersonInput): Ask | undefined {
  const hazard = hazardOf(input);
  return hazard !== undefined || input.isUntroubled === true ? hazard : askAfterTrouble(input);
}

function askAfterTrouble({ objects, datacenter, stage }: PersonInput): Ask | undefined {
  const conditions = objects.get("taloscontrolplanes", CLUSTER_NAME)?.status?.conditions ?? [];
  const messageOf = (wanted: string): string => conditions.find(({ type, status }) => type === wanted && status === "False")?.message ?? "";
  // Nothing is wrong with the settings of these worlds: it was the machine that was in trouble.
  const machine = new RegExp(`${annotations.retryConfig}: (\\S+) to send them once more`).exec(messageOf("ConfigUpToDate"))?.[1];
  if (machine !== undefined) return { annotation: annotations.retryConfig, word: machine };
  const blank = new RegExp(
    `the machine at (\\S+) was configured and answers in maintenance mode .* Annotate ${annotations.approveReprovision}: (\\S+) on`,
  ).exec(messageOf("Ready"));
  const [, address = "", word = ""] = blank ?? [];
  // Whoever made the record anew, or was told another address, may have met another machine under this name: one that waits, and is wanted, may be configured.
  const isWanted = [...(stage.desired?.controlPlanes ?? []), ...(stage.desired?.workers ?? [])].includes(address);
  if ((stage.isRecordLost || stage.wasMistaken) && isWanted && !stage.routes.has(address))
    return { annotation: annotations.approveReprovision, word, configures: address };
  // Whoever deleted what told of a machine after the record was lost knows which one it was, and whether it will ever come back.
  const unknown =
    /has the member (\S+): list its machine again, in the place of (\S+) until it is known, or, when that one is gone for good, remove it with talosctl etcd remove-member (\w+)\./;
  const [, member = "", waiting = "", memberId = ""] = unknown.exec(messageOf("Ready")) ?? [];
  if (stage.isRecordLost && member !== "" && isDead(datacenter, memberId)) return { deadMember: member, keys: bundleKey.name };
  const forgotten = holderOf({ datacenter, stage }, memberId);
  const inPlaceOf = objects.get("talosmachines", waiting)?.spec?.["endpoint"];
  if (stage.isRecordLost && forgotten !== undefined && typeof inPlaceOf === "string") return { forgotten, inPlaceOf };
  const stray = /\bmember (\S+) \([0-9a-f]{16}, \S+\) belongs to no machine that is known since the record was made anew/.exec(
    messageOf("Ready"),
  )?.[1];
  if (stray !== undefined) return { stray, keys: bundleKey.name };
  const wiped = /, which was wiped, is certainly gone: remove it with talosctl etcd remove-member (\w+)\./.exec(messageOf("Ready"))?.[1];
  if (wiped !== undefined) return { deadMember: wiped, keys: bundleKey.name };
  const imported = messageOf("Imported");
  const deadMember = /etcd has the member (\S+), and no machine in the list shows it\./.exec(imported)?.[1];
  if (deadMember !== undefined && stage.reinstalled.size > 0) return { deadMember, keys: GIVEN_KEYS };
  const plan = new RegExp(`${annotations.importApprove}: (\\S+) to take it over`).exec(imported)?.[1];
  if (plan === undefined || !differencesOf(imported).every((line) => isAboutDisk(line, stage))) return undefined;
  return { annotation: annotations.importApprove, word: plan };
}

/** Whoever takes the address out of META knows that the machines keep it by other means. */
function hazardOf({ objects }: PersonInput): Ask | undefined {
  const hazard = new RegExp(`annotate (TalosControlPlane|TalosWorker) (\\S+) with ${annotations.acceptHazard}: (\\S+)\\.$`);
  const pools = ["talosworkers", "taloscontrolplanes"].flatMap((plural) => objects.all(plural));
  for (const { status } of pools) {
    const said = status?.conditions?.find(({ type, reason }) => type === "ConfigUpToDate" && reason === "HazardFound")?.message ?? "";
    const [, kind, pool = "", codes] = hazard.exec(said) ?? [];
    if (codes !== undefined) return { annotation: annotations.acceptHazard, word: codes, ...(kind === "TalosWorker" ? { pool } : {}) };
  }
  return undefined;
}

function differencesOf(message: string): readonly string[] {
  return message.split("\n").filter((line) => /^\d+\. /.test(line));
}

/** The only difference that a person expects is a machine whose disk was taken: it is empty, and is to join. */
function isAboutDisk(line: string, { reinstalled }: Stage): boolean {
  const address = /^\d+\. \S+?-(\d+\.\d+\.\d+\.\d+) waits in maintenance mode: it would be installed and join\.$/.exec(line)?.[1];
  return address !== undefined && reinstalled.has(address);
}
