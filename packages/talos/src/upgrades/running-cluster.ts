import { supportsKubernetes, type TalosMinors } from "../versions/matrix.ts";
import { parseVersion } from "../versions/version.ts";
import { withV } from "./paths.ts";
import type { Hop, KubernetesHop, MachineHop, Refusal, TalosHop, UpgradeMachine } from "./upgrade.ts";

/** What runs after the hops so far, and which hop may come next. */
export class RunningCluster {
  /** Version, with `v`. */
  kubernetes: string;
  readonly #machines: Map<string, { readonly role: TalosHop["role"]; version: string }>;
  readonly #talos: TalosMinors;
  /** Thousands of machines run few versions. */
  readonly #minors = new Map<string, number>();
  readonly #pairs = new Map<string, boolean>();
  readonly #etcdStorage: string | undefined;

  /** All versions can be read. */
  constructor(
    machines: readonly UpgradeMachine[],
    {
      kubernetes,
      etcdStorage,
      talos,
    }: { readonly kubernetes: string; readonly etcdStorage: string | undefined; readonly talos: TalosMinors },
  ) {
    this.#talos = talos;
    this.#etcdStorage = etcdStorage;
    this.kubernetes = withV(parseVersion(kubernetes));
    const written = new Map<string, string>();
    const versionOf = ({ runs: { version } }: UpgradeMachine): string => remembered(written, version, () => withV(parseVersion(version)));
    this.#machines = new Map(machines.map((machine) => [machine.name, { role: machine.role, version: versionOf(machine) }]));
  }

  take(hop: Hop): void {
    if (hop.kind === "kubernetes") this.kubernetes = hop.version;
    else
      for (const { name } of hop.machines) {
        const machine = this.#machines.get(name);
        if (machine !== undefined) machine.version = hop.version;
      }
  }

  /** Why a hop may not come now; `undefined` = it may. */
  refusalOf(hop: Hop): Refusal | undefined {
    if (hop.kind === "kubernetes") return this.#kubernetesRefusal(hop);
    return this.#rangeRefusal(hop) ?? this.#orderRefusal(hop) ?? this.#etcdRefusal(hop);
  }

  #kubernetesRefusal({ version }: KubernetesHop): Refusal | undefined {
    const [first, ...others] = [...this.#machines].filter(([, { version: talos }]) => !this.#goTogether(talos, version));
    if (first === undefined) return undefined;
    const talos = first[1].version;
    const machines = [first, ...others].filter(([, machine]) => machine.version === talos).map(([name]) => name);
    return this.#outOfRange("kubernetes", talos, version, machines);
  }

  #rangeRefusal({ version, machines }: TalosHop): Refusal | undefined {
    if (this.#goTogether(version, this.kubernetes)) return undefined;
    return this.#outOfRange("talos", version, this.kubernetes, namesOf(machines));
  }

  #goTogether(talos: string, kubernetes: string): boolean {
    return remembered(this.#pairs, `${talos} ${kubernetes}`, () => supportsKubernetes(talos, kubernetes, this.#talos).ok);
  }

  #minorOf(version: string): number {
    return remembered(this.#minors, version, () => parseVersion(version).minor);
  }

  #outOfRange(hop: "talos" | "kubernetes", talos: string, kubernetes: string, machines: readonly string[]): Refusal {
    const { major, minor } = parseVersion(talos);
    const known = major === 1 ? this.#talos.get(minor) : undefined;
    if (known === undefined) return { kind: "UnknownMinor", of: "talos", version: talos, machines };
    const [oldest, newest] = known.kubernetes;
    return { kind: "OutOfRange", hop, talos, kubernetes, oldest: `1.${oldest}`, newest: `1.${newest}`, machines };
  }

  /** A change within a minor passes: only who crosses one is asked. */
  #orderRefusal({ role, version, machines, isDowngrade }: TalosHop): Refusal | undefined {
    const minor = this.#minorOf(version);
    const crosses = machines.some(({ from }) => this.#minorOf(from.version) !== minor);
    if (!crosses || isDowngrade !== (role === "controlplane")) return undefined;
    const wrong = [...this.#machines].filter(([, other]) => {
      const theirs = this.#minorOf(other.version);
      return other.role !== role && (role === "worker" ? theirs < minor : theirs > minor);
    });
    const [first] = wrong;
    if (first === undefined) return undefined;
    const other = first[1].version;
    const workers = role === "worker" ? namesOf(machines) : wrong.map(([name]) => name);
    const [worker, controlPlane] = role === "worker" ? [version, other] : [other, version];
    return { kind: "WorkerAboveControlPlane", worker, controlPlane, machines: workers };
  }

  #etcdRefusal({ role, version, machines, isDowngrade }: TalosHop): Refusal | undefined {
    if (role === "worker" || !isDowngrade) return undefined;
    const etcd = this.#etcdOf(version);
    const data = this.#etcdData();
    if (etcd === undefined || data === undefined || etcd >= data) return undefined;
    return { kind: "EtcdDataNewer", version, etcd: `3.${etcd}`, data: `3.${data}`, machines: namesOf(machines) };
  }

  /** etcd keeps its data in the version of its oldest member. */
  #etcdData(): number | undefined {
    const told = /^v?3\.(\d+)(?:\.|$)/.exec(this.#etcdStorage ?? "")?.[1];
    if (told !== undefined) return Number(told);
    const minors = [...this.#machines.values()].flatMap(({ role, version }) => (role === "worker" ? [] : (this.#etcdOf(version) ?? [])));
    return minors.length === 0 ? undefined : Math.min(...minors);
  }

  #etcdOf(talos: string): number | undefined {
    return this.#talos.get(this.#minorOf(talos))?.etcd;
  }
}

function namesOf(machines: readonly MachineHop[]): readonly string[] {
  return machines.map(({ name }) => name);
}

function remembered<V>(all: Map<string, V>, key: string, make: () => V): V {
  const known = all.get(key);
  if (known !== undefined) return known;
  const made = make();
  all.set(key, made);
  return made;
}
