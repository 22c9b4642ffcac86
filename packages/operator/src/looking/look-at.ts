import { etcdComparesWithLeader, etcdQuotaBytes, isTalosError, resourceKinds, untypedKind } from "@talos-operator/talos/client";
import type { CallOptions, EtcdMemberFacts, EtcdStatusFacts, TalosClient, TalosError, TalosLooks } from "@talos-operator/talos/client";
import type { MachineConnections, ReaderCredentials } from "./connections.ts";
import { AddressRefusal } from "./checked-dialer.ts";
import { seenDisks } from "./disks.ts";
import { etcdHasData } from "./etcd-files.ts";
import { hasStopped } from "./look.ts";
import { reportedImage } from "./reported-image.ts";
import type { ReportedImage } from "./reported-image.ts";
import { bounded, LONGEST_UUID, reportedWord } from "./reported-words.ts";
import type { EtcdMember, Hardware, InMaintenance, Look, Running, SeenAlarm, SeenEtcd, SeenVersion } from "../model/look.ts";

/** Deadline of each call of a look. */
export const LOOK_TIMEOUT_MS = 3_000;

/**
 * A settled machine that is seen through a control plane shows no key, so another machine of the cluster at its address shows by its hardware alone, unless it
 * booted at another time: that is asked at least this often. So are members of etcd that others take away or add, unless the control plane, asked for no more
 * than its own member, tells of another leader or complains.
 */
const FORWARDED_FRESH_MS = 180_000;

/** Which Talos runs changes with a boot alone, and a boot shows. */
const SAME_BOOT_FRESH_MS = 600_000;

/** A machine that does not show when it booted is asked at each look. */
const NOT_FRESH_MS = 0;

/** What the record takes of a machine, in characters. */
const LONGEST = { uuid: LONGEST_UUID, mac: 32, platform: 64, peerUrl: 300, nodeName: 253, address: 45 } as const;

/** etcd runs with seven members at most, and each has a handful of addresses. A list beyond this is none. */
const MOST_MEMBERS = 64;
const MOST_PEER_URLS = 16;
const MOST_ADDRESSES = 64;
/** Two kinds for each member. */
const MOST_ALARMS = 2 * MOST_MEMBERS;

/** Whom to look at, and what is known of it. */
export interface LookQuestion {
  readonly connections: MachineConnections;
  readonly role: "controlplane" | "worker";
  /** `undefined` while the cluster has no keys. */
  readonly credentials: ReaderCredentials | undefined;
  /** True when a configuration may have been sent: the machine is then met with our certificate first. */
  readonly mayBeConfigured: boolean;
  /** Asks for UUID and hardware addresses now. Default false: those that were told a while ago over a connection to the same key count. */
  readonly needsHardware?: boolean;
  /** Asks whether the data directory of etcd holds something. Default false: only where etcd has stopped. */
  readonly needsEtcdData?: boolean;
  /** Asks whether discovery is on. Default false. */
  readonly needsDiscovery?: boolean;
  /** Asks a machine in maintenance mode for its addresses. Default false. */
  readonly needsAddresses?: boolean;
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

const platformMetadata = untypedKind("PlatformMetadatas.talos.dev", "runtime", "platformmetadata");

/**
 * Looks at one machine once. Never throws, never sends anything but reads.
 *
 * A machine that may run our configuration is asked with our certificate. When it presents another one, its maintenance service is asked
 * for the stage, without credentials: that tells a wiped machine from an impostor. It is a look, not a weaker retry: nothing that depends on trust follows from it.
 */
export async function lookAt(question: LookQuestion): Promise<Look> {
  const { credentials, mayBeConfigured } = question;
  if (mayBeConfigured && credentials !== undefined) {
    const look = await tryOurs(question, credentials);
    return look ?? (await tryMaintenance(question, undefined));
  }
  return tryMaintenance(question, credentials);
}

/**
 * Looks at a machine through a control plane that forwards; `undefined` when that does not show it running as it should.
 *
 * The control plane has checked that the machine's certificate is of this cluster and names the address, as we check it when we dial. But only what is as
 * expected is believed: everything else, and every failure, is to be looked at on a connection of its own, where TLS tells a wiped machine from an impostor.
 */
export async function lookThrough(looks: TalosLooks, question: LookQuestion): Promise<Running | undefined> {
  try {
    const look = await readRunning(looks, question);
    // Without a UUID its own key is what a person can name when it shows another card.
    const isTold = look.hardware === undefined || look.hardware.uuid !== undefined;
    return look.stage === "running" && isTold ? look : undefined;
  } catch (thrown) {
    if (isTalosError(thrown)) return undefined;
    throw thrown;
  }
}

/** With our certificate; `undefined` when the machine shows a certificate that is not ours. */
async function tryOurs(question: LookQuestion, credentials: ReaderCredentials): Promise<Look | undefined> {
  try {
    const client = question.connections.mutual(credentials);
    return await readRunning(client, question, client);
  } catch (thrown) {
    question.connections.closeMutual();
    if (isTalosError(thrown) && thrown.isByTime) return outOfTime(thrown, question.now());
    if (isTalosError(thrown, "UNTRUSTED_SERVER", "UNEXPECTED_IDENTITY")) return undefined;
    if (isTalosError(thrown, "CLIENT_REFUSED"))
      return {
        kind: "foreign",
        at: question.now(),
        detail: "it refuses this cluster's client certificate: another cluster's machine, or its clock or this operator's is wrong",
      };
    return failedLook(thrown, question.now());
  }
}

/** A certificate that is in order but for its dates: whose clock is wrong cannot be told from here. */
function outOfTime(error: TalosError, at: number): Look {
  const detail =
    error.code === "CLIENT_REFUSED"
      ? "by its clock this cluster's client certificate is over or has not begun"
      : "by this operator's clock its certificate is over or has not begun";
  return { kind: "foreign", isByTime: true, at, detail };
}

/** Without proof; a machine that demands a certificate is met with ours when there is one. */
async function tryMaintenance(question: LookQuestion, credentials: ReaderCredentials | undefined): Promise<Look> {
  try {
    return await readMaintenance(question.connections.maintenance(), question);
  } catch (thrown) {
    question.connections.closeMaintenance();
    if (!isTalosError(thrown, "CLIENT_REFUSED")) return failedLook(thrown, question.now());
    const foreign: Look = {
      kind: "foreign",
      at: question.now(),
      detail: "it is configured, and its certificate is not this cluster's, or begins in the future by this operator's clock",
    };
    if (credentials === undefined) return foreign;
    return (await tryOurs(question, credentials)) ?? foreign;
  }
}

async function readMaintenance(client: TalosClient, question: LookQuestion): Promise<Look> {
  const options = callOptions(question);
  const status = await client.resources.get(resourceKinds.machineStatus, undefined, options);
  const spki = client.peerSpki();
  // While a machine takes its configuration, the open connection still answers; what it says then is no longer maintenance.
  if (status === undefined || status.spec.stage !== "maintenance" || spki === undefined) {
    question.connections.closeMaintenance();
    return { kind: "silent", at: question.now(), since: question.now(), detail: "changes its mode" };
  }
  const waiting = await question.connections.waiting.take(spki, question.now, async () => {
    const [version, hardware, disks, addresses] = await Promise.all([
      versionOf(client, options),
      hardwareOf(client, options),
      seenDisks(client, options),
      question.needsAddresses === true ? optional(addressesOf(client, options)) : undefined,
    ]);
    return { ...version, ...hardware, disks, ...(addresses === undefined ? {} : { addresses }) };
  });
  // What it did not tell now it may tell the next time.
  const isUntold = waiting.version === undefined || waiting.disks === undefined;
  if (isUntold || (question.needsAddresses === true && waiting.addresses === undefined)) question.connections.waiting.forget();
  const look: InMaintenance = { kind: "maintenance", at: question.now(), since: question.now(), spki, ...waiting };
  return look;
}

/** Addresses that Kubernetes may use: those of the link or the machine alone are left out, as Talos leaves them out. */
async function addressesOf(client: TalosClient, options: CallOptions): Promise<readonly string[]> {
  const statuses = await client.resources.list(resourceKinds.addressStatus, options);
  return statuses
    .filter(({ spec }) => spec.scope === "global" || spec.scope === "site")
    .flatMap(({ spec }) => reportedWord(spec.address.split("/")[0], LONGEST.address) ?? [])
    .slice(0, MOST_ADDRESSES);
}

/** Version and platform; up to Talos 1.12 a stranger is refused the Version call and reads the resources. */
async function versionOf(client: TalosClient, options: CallOptions): Promise<SeenVersion> {
  try {
    return await runningVersionOf(client, options);
  } catch (thrown) {
    if (!isTalosError(thrown, "UNIMPLEMENTED", "PERMISSION_DENIED")) throw thrown;
    const [version, platform] = await Promise.all([
      optional(client.resources.get(resourceKinds.talosVersion, undefined, options)),
      optional(client.resources.get(platformMetadata, undefined, options)),
    ]);
    const spec = platform?.spec;
    const name =
      typeof spec === "object" && spec !== null && "platform" in spec && typeof spec.platform === "string" ? spec.platform : undefined;
    return { version: version === undefined ? undefined : bounded(version.spec.version), platform: reportedWord(name, LONGEST.platform) };
  }
}

async function runningVersionOf(client: TalosLooks, options: CallOptions): Promise<SeenVersion> {
  const version = await client.version(options);
  return { version: bounded(version.tag), platform: reportedWord(version.platform?.name, LONGEST.platform) };
}

/**
 * What a machine with a configuration shows.
 *
 * @param own the machine on a connection of its own, where it shows its key and is asked what is on its disk; absent = it is reached through another one
 */
async function readRunning(
  client: TalosLooks,
  question: LookQuestion,
  own?: Pick<TalosClient, "list" | "resources" | "peerSpki">,
): Promise<Running> {
  const options = callOptions(question);
  const isControlPlane = question.role === "controlplane";
  const asked = client.resources.get(resourceKinds.machineStatus, undefined, options);
  const bootedAt = own === undefined ? (await asked)?.createdAt : undefined;
  // The first answer on a connection shows the key. What was told under it before need not be told again.
  if (own !== undefined && own.peerSpki() === undefined) await asked;
  const steadyFor = own === undefined ? `booted at ${bootedAt}` : own.peerSpki();
  const freshMs = own === undefined ? FORWARDED_FRESH_MS : undefined;
  const versionFreshMs = own !== undefined ? undefined : bootedAt === undefined ? NOT_FRESH_MS : SAME_BOOT_FRESH_MS;
  const etcdOf = async (): Promise<SeenEtcd> => {
    const needsData = question.needsEtcdData === true && own !== undefined;
    const [seen, before] = await Promise.all([seenEtcd(client, options), needsData ? etcdHasData(own, options) : undefined]);
    const hasData = needsData || own === undefined || !isDown(seen) ? before : await etcdHasData(own, options);
    return hasData === undefined ? seen : { ...seen, hasData };
  };
  const [status, version, etcd, hardware, discovers] = await Promise.all([
    asked,
    question.connections.version.take(steadyFor, question.now, () => runningVersionOf(client, options), versionFreshMs),
    isControlPlane ? (own === undefined ? steadyEtcd(client, question, steadyFor, options) : etcdOf()) : undefined,
    // Addresses change hands: the certificate says only that it is one of ours.
    question.needsHardware === true
      ? hardwareOf(client, options)
      : question.connections.hardware.take(steadyFor, question.now, () => hardwareOf(client, options), freshMs),
    question.needsDiscovery === true && own !== undefined
      ? question.connections.discovers.take(steadyFor, question.now, () => optional(discoversOf(own, options)))
      : undefined,
  ]);
  // It comes up with the machine, and goes with its settings: only that it is on is told from memory.
  if (discovers !== true) question.connections.discovers.forget();
  if (own !== undefined) question.connections.etcd.forget();
  // What it did not tell now it may tell the next time.
  if (hardware === undefined || (hardware.uuid === undefined && hardware.macs.length === 0)) question.connections.hardware.forget();
  const [nodeName, image] = await Promise.all([nodeNameOf(client, question, status, options), imageOf(client, question, status, options)]);
  // By now: a machine that booted meanwhile answers on another connection, with another key. Where a UUID tells the machine, nobody needs its key.
  const spki = hardware !== undefined && hardware.uuid === undefined ? own?.peerSpki() : undefined;
  return {
    kind: "running",
    at: question.now(),
    ...version,
    stage: status === undefined ? undefined : bounded(status.spec.stage),
    ready: status?.spec.isReady === true,
    unmet: (status?.spec.unmetConditions ?? []).slice(0, 16).map((unmet) => ({ name: bounded(unmet.name), reason: bounded(unmet.reason) })),
    etcd,
    ...(hardware === undefined ? {} : { hardware }),
    ...namedNode(question, nodeName),
    ...image,
    ...(discovers === undefined ? {} : { discovers }),
    ...(spki === undefined ? {} : { spki }),
  };
}

function namedNode({ connections }: LookQuestion, nodeName: string | undefined): Pick<Running, "nodeName" | "nodeNameBefore"> {
  if (nodeName === undefined) return {};
  const nodeNameBefore = connections.nodeNameBefore(nodeName);
  return nodeNameBefore === undefined ? { nodeName } : { nodeName, nodeNameBefore };
}

/**
 * A machine that does not tell it, or comes up, has none for now. It changes with a boot or with the host name, and with that the machine has no ready Node for a while:
 * an answer counts for the status it came with, on a connection of the machine's own and through a control plane alike.
 */
async function nodeNameOf(
  client: TalosLooks,
  { connections, now }: LookQuestion,
  status: SeenStatus | undefined,
  options: CallOptions,
): Promise<string | undefined> {
  if (status?.spec.stage !== "running") return undefined;
  const ask = async (): Promise<string | undefined> => {
    const told = await optional(client.resources.get(resourceKinds.nodeName, undefined, options));
    return reportedWord(told?.spec.nodeName, LONGEST.nodeName);
  };
  const boot = bootOf(status);
  const name = await connections.nodeName.take(boot === undefined ? undefined : `${boot}, status ${status.version}`, now, ask);
  if (name === undefined) connections.nodeName.forget();
  return name;
}

function bootOf({ createdAt }: SeenStatus): string | undefined {
  return createdAt === undefined ? undefined : `booted at ${createdAt}`;
}

/** Asked once in a boot: an image does not change while it runs. */
async function imageOf(
  client: TalosLooks,
  { connections, now }: LookQuestion,
  status: SeenStatus | undefined,
  options: CallOptions,
): Promise<ReportedImage> {
  if (status?.spec.stage !== "running") return {};
  const ask = async (): Promise<ReportedImage | undefined> => {
    const extensions = await optional(client.resources.list(resourceKinds.extensionStatus, options));
    return extensions === undefined ? undefined : reportedImage(extensions);
  };
  const image = await connections.image.take(bootOf(status), now, ask);
  if (image?.schematic === undefined) connections.image.forget();
  return image ?? {};
}

/** The status of a machine is as old as its boot. */
interface SeenStatus {
  /** Milliseconds since the epoch, by the machine's clock. */
  readonly createdAt: number | undefined;
  /** Another one with each change of it. */
  readonly version: string;
  readonly spec: { readonly stage: string };
}

/** With discovery a machine lists at least itself; without it nobody. What the configuration says is shown to administrators alone. */
async function discoversOf(client: Pick<TalosClient, "resources">, options: CallOptions): Promise<boolean> {
  return (await client.resources.list(resourceKinds.member, options)).length > 0;
}

/**
 * What tells this machine from others. What it does not have, as a container has no UUID, is missing in it; a question that fails is no answer: a machine
 * that is written down without what tells it from others could be any.
 */
export async function hardwareOf(client: TalosLooks, options: CallOptions): Promise<Hardware> {
  const [system, links] = await Promise.all([
    client.resources.get(resourceKinds.systemInformation, undefined, options),
    client.resources.list(resourceKinds.linkStatus, options),
  ]);
  const macs = links
    .filter((link) => link.spec.type === "ether" && (link.spec.kind === "" || link.spec.kind === "veth"))
    .map((link) => (link.spec.permanentAddress || link.spec.hardwareAddress).toLowerCase())
    .filter((mac) => reportedWord(mac, LONGEST.mac) !== undefined);
  return { uuid: reportedWord(system?.spec.uuid, LONGEST.uuid), macs: [...new Set(macs)].toSorted().slice(0, 64) };
}

/** etcd as this machine tells it. What it does not tell stays `undefined`; only failures that concern the whole machine are thrown. */
export async function seenEtcd(client: TalosLooks, options: CallOptions): Promise<SeenEtcd> {
  const [services, local] = await Promise.all([client.serviceList(options), localMemberOf(client, options)]);
  const service = services.find((one) => one.id === "etcd");
  const seen = { service: service?.state, isHealthy: service?.isHealthy === true, localMember: local };
  // Before it runs, a question for members hangs until its deadline.
  if (service?.state !== "Running") return { ...seen, members: undefined, leader: undefined };
  const [members, status] = await Promise.all([
    optional(client.etcdMemberList({ queryLocal: true }, options)),
    optional(client.etcdStatus(options)),
  ]);
  const told = status === undefined ? {} : { ...alarmsOf(status), ...sizesOf(status), ...storageOf(status) };
  return {
    ...seen,
    localMember: local === "none" && status !== undefined ? status.memberId : local,
    members: members === undefined || members.length > MOST_MEMBERS ? undefined : members.map(memberOf),
    leader: status === undefined ? undefined : (status.leaderId ?? "0"),
    ...told,
    ...(await startedWith(client, new Set(told.raised?.map(({ kind }) => kind)), options)),
  };
}

/** What its etcd was started with, as far as an alarm makes it matter. */
async function startedWith(
  client: TalosLooks,
  raised: ReadonlySet<SeenAlarm["kind"]>,
  options: CallOptions,
): Promise<Pick<SeenEtcd, "quotaBytes" | "comparesWithLeader">> {
  if (!raised.has("no-space") && !raised.has("corrupt")) return {};
  const given = (await optional(client.resources.get(resourceKinds.etcdSpec, undefined, options)))?.spec.extraArguments;
  const quotaBytes = given === undefined || !raised.has("no-space") ? undefined : etcdQuotaBytes(given);
  const compares = raised.has("corrupt") && (given === undefined || etcdComparesWithLeader(given));
  return { ...(quotaBytes === undefined ? {} : { quotaBytes }), ...(compares ? { comparesWithLeader: true } : {}) };
}

/** etcd of a control plane that is looked at through another: where nothing changed one question tells so. */
async function steadyEtcd(client: TalosLooks, question: LookQuestion, boot: string | undefined, options: CallOptions): Promise<SeenEtcd> {
  const { etcd } = question.connections;
  const askedAt = question.now();
  const known = etcd.known(boot, askedAt, FORWARDED_FRESH_MS)?.value;
  if (known !== undefined) {
    const status = await optional(client.etcdStatus(options));
    const isSame = status !== undefined && status.memberId === known.localMember && status.leaderId === known.leader;
    if (isSame && !status.isLearner && status.errors.length === 0) return { ...known, ...sizesOf(status), ...storageOf(status) };
  }
  const seen = await seenEtcd(client, options);
  if (seen.isHealthy && seen.members !== undefined && seen.leader !== undefined && seen.alarms === undefined)
    etcd.keep(boot, askedAt, seen);
  else etcd.forget();
  return seen;
}

/** It has stopped, or is started again and again: whether it has data tells what becomes of it. */
function isDown(etcd: SeenEtcd): boolean {
  return hasStopped(etcd) || etcd.service === "Waiting";
}

/** That there is no leader is told apart. */
function alarmsOf({ errors, alarms: told }: EtcdStatusFacts): Pick<SeenEtcd, "alarms" | "raised"> {
  const alarms = errors.filter((error) => !/no leader/i.test(error)).map((error) => bounded(error.trim()));
  const raised = told
    .slice(0, MOST_ALARMS)
    .map(({ memberId, alarm }) => ({ member: memberId, kind: alarm === "none" ? "unknown" : alarm }) as const);
  return { ...(alarms.length === 0 ? {} : { alarms: alarms.slice(0, 8) }), ...(raised.length === 0 ? {} : { raised }) };
}

/** Sizes that no file has tell nothing. */
function sizesOf({ dbSizeBytes, dbSizeInUseBytes }: EtcdStatusFacts): Pick<SeenEtcd, "dbSizeBytes" | "dbInUseBytes"> {
  const isTold = [dbSizeBytes, dbSizeInUseBytes].every((size) => Number.isSafeInteger(size) && size >= 0) && dbSizeBytes > 0;
  return isTold ? { dbSizeBytes, dbInUseBytes: dbSizeInUseBytes } : {};
}

function storageOf({ storageVersion }: EtcdStatusFacts): Pick<SeenEtcd, "storage"> {
  return /^3\.\d{1,4}(\.\d{1,4})?$/.test(storageVersion) ? { storage: storageVersion } : {};
}

async function localMemberOf(client: TalosLooks, options: CallOptions): Promise<string | undefined> {
  try {
    const own = await client.resources.get(resourceKinds.etcdMember, undefined, options);
    if (own === undefined) return "none";
    return /^[0-9a-f]{1,16}$/.test(own.spec.memberId) ? own.spec.memberId : undefined;
  } catch (thrown) {
    if (isTalosError(thrown, "PERMISSION_DENIED", "UNIMPLEMENTED")) return undefined;
    throw thrown;
  }
}

function memberOf(member: EtcdMemberFacts): EtcdMember {
  return { id: member.id, name: bounded(member.hostname), isLearner: member.isLearner, peerUrls: peerUrlsOf(member.peerUrls) };
}

/** Who tells more of them, or longer ones, than a member has tells nothing: half of a list could be taken for another machine's. */
function peerUrlsOf(urls: readonly string[]): readonly string[] {
  return urls.length > MOST_PEER_URLS || urls.some((url) => url.length > LONGEST.peerUrl) ? [] : urls;
}

/** A fact that may be missing: what the machine refuses or cannot answer now is `undefined`. */
async function optional<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    // Refusals say "not told"; that the machine as a whole is gone is found by the calls that are not optional.
    if (isTalosError(thrown)) return undefined;
    throw thrown;
  }
}

/** What a failed look says about the machine. The words stay the same while the fact does. */
function failedLook(thrown: unknown, at: number): Look {
  if (!isTalosError(thrown)) return { kind: "silent", at, since: at, detail: "could not be asked" };
  const { cause } = thrown;
  if (cause instanceof AddressRefusal)
    return {
      kind: "silent",
      at,
      since: at,
      detail: "no machine is asked there",
      stopped: { reason: cause.reason, message: cause.message },
    };
  switch (thrown.code) {
    case "NOT_TLS":
    case "NOT_GRPC":
      return { kind: "not-talos", at, detail: "it does not speak TLS and gRPC" };
    case "MALFORMED_REPLY":
    case "UNIMPLEMENTED":
      return { kind: "not-talos", at, detail: "it does not know the calls of the Talos API" };
    case "UNTRUSTED_SERVER":
    case "UNEXPECTED_IDENTITY":
    case "CLIENT_REFUSED":
      return { kind: "foreign", at, detail: "its certificate is not this cluster's" };
    default:
      return { kind: "silent", at, since: at, detail: silentWords(thrown) };
  }
}

function silentWords(error: TalosError): string {
  if (error.code === "DEADLINE_EXCEEDED") return "no answer in time";
  if (error.code === "UNAVAILABLE") return "unreachable";
  return `answers with ${error.code}`;
}

function callOptions(question: LookQuestion): CallOptions {
  return { timeoutMs: LOOK_TIMEOUT_MS, ...(question.signal === undefined ? {} : { signal: question.signal }) };
}
