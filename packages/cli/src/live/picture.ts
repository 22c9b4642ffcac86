/** What the screen shows of a rollout: plain values, no colours, no widths. */
export interface Picture {
  readonly isReady: boolean;
  /** One line per applied top-level object, for example `TalosCluster default/first  Progressing  2 of 3 etcd members`. */
  readonly headlines: readonly Headline[];
  readonly rows: readonly MachineRow[];
}

export interface Headline {
  readonly title: string;
  readonly isReady: boolean;
  readonly state: string;
  /** What is waited for; empty when Ready. */
  readonly waitsFor: string;
}

export interface MachineRow {
  readonly address: string;
  readonly role: "control plane" | "worker" | "spare";
  readonly name: string;
  /** The published word of `status.state`, `Waiting` before the first one, `Starting` when it was ready before a restart, `Spare` for machines that no object names. */
  readonly stage: string;
  readonly isReady: boolean;
  readonly waitsFor: string;
}

/** The parts of an API object that the picture is made from. */
export interface WatchedObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly generation?: number };
  readonly spec?: { readonly endpoint?: string; readonly controlPlaneRef?: object; readonly workerRef?: object };
  readonly status?: { readonly state?: unknown; readonly phase?: string; readonly conditions?: readonly WatchedCondition[] };
}

export interface WatchedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export interface PictureInput {
  /** The objects that the person applied and whose readiness ends the wait. */
  readonly goals: readonly WatchedObject[];
  readonly machines: readonly WatchedObject[];
  /** Every simulated machine, named by an object or not. */
  readonly addresses: readonly string[];
  /**
   * Addresses whose Node is Ready at this moment. What a status calls ready and is not here counts as starting: the status may
   * come from before a restart. Absent: the statuses alone count.
   */
  readonly up?: ReadonlySet<string>;
}

const STARTING = "Starting";

export function pictureOf(input: PictureInput): Picture {
  const named = input.machines.map((machine) => rowOf(machine, input.up)).toSorted(byRoleThenAddress);
  const starting = named.filter((row) => row.stage === STARTING).length;
  const headlines = input.goals.map((goal) => headlineOf(goal, starting));
  const taken = new Set(named.map((row) => row.address));
  const spare = input.addresses.filter((address) => !taken.has(address)).map(spareRow);
  return { isReady: headlines.length > 0 && headlines.every((line) => line.isReady), headlines, rows: [...named, ...spare] };
}

/** What a person must know when time is up: everything that is not Ready, and what each part waits for. */
export function waitingLines(picture: Picture): readonly string[] {
  const lines = picture.headlines.filter((line) => !line.isReady).map((line) => `${line.title}: ${line.waitsFor}`);
  const machines = picture.rows
    .filter((row) => row.role !== "spare" && !row.isReady && row.waitsFor !== "")
    .map((row) => `${row.name} (${row.address}): ${row.waitsFor}`);
  return [...lines, ...machines];
}

/** A condition counts only when it was made for the object's present generation. */
function isConditionTrue(object: WatchedObject, type: string): boolean {
  const condition = object.status?.conditions?.find((candidate) => candidate.type === type);
  if (condition?.status !== "True") return false;
  const seen = condition.observedGeneration;
  return seen === undefined || object.metadata.generation === undefined || seen >= object.metadata.generation;
}

function headlineOf(object: WatchedObject, starting: number): Headline {
  const title = `${object.kind} ${object.metadata.namespace ?? "default"}/${object.metadata.name}`;
  const isReady = isConditionTrue(object, "Ready");
  if (isReady && starting > 0) {
    return { title, isReady: false, state: STARTING, waitsFor: `${starting} of its machines to be up again; it was Ready before` };
  }
  const ready = object.status?.conditions?.find((condition) => condition.type === "Ready");
  return {
    title,
    isReady,
    state: isReady ? "Ready" : (wordOf(object) ?? ready?.reason ?? "Waiting"),
    waitsFor: isReady ? "" : (ready?.message ?? "the operator to look at it for the first time"),
  };
}

/** The published word: `state`, or `phase` on kinds whose `state` is an object. */
function wordOf({ status }: WatchedObject): string | undefined {
  return typeof status?.state === "string" ? status.state : status?.phase;
}

function rowOf(machine: WatchedObject, up: ReadonlySet<string> | undefined): MachineRow {
  const ready = machine.status?.conditions?.find((condition) => condition.type === "Ready");
  const isReady = ready?.status === "True";
  const row = {
    address: machine.spec?.endpoint ?? "",
    role: machine.spec?.controlPlaneRef === undefined ? "worker" : "control plane",
    name: machine.metadata.name,
  } as const;
  if (isReady && up?.has(row.address) === false) return { ...row, stage: STARTING, isReady: false, waitsFor: "its Node to be Ready again" };
  return { ...row, stage: wordOf(machine) ?? "Waiting", isReady, waitsFor: isReady ? "" : (ready?.message ?? "") };
}

function spareRow(address: string): MachineRow {
  return { address, role: "spare", name: "", stage: "Spare", isReady: false, waitsFor: "" };
}

function byRoleThenAddress(a: MachineRow, b: MachineRow): number {
  return a.role.localeCompare(b.role) || a.address.localeCompare(b.address, "en", { numeric: true });
}
