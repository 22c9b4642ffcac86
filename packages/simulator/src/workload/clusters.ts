import type { KeyPair, KubeTransport, ScheduledTimer } from "@talos-operator/ports";
import type { Cell } from "../datacenter/cell.ts";
import type { EtcdRegistry } from "../datacenter/etcd-registry.ts";
import type { Surroundings } from "../datacenter/surroundings.ts";
import type { EtcdContents } from "../etcd/database.ts";
import type { EtcdCluster } from "../etcd/model.ts";
import { activeFacts, nodenameOf, secretFingerprint } from "../node/identity.ts";
import type { Machine } from "../node/machine.ts";
import { etcdRuns, hasNetwork, kubeletRuns } from "../node/step.ts";
import type { ConfigFacts } from "../node/config-facts.ts";
import type { WorkloadApi, WorkloadCluster } from "./api.ts";
import { grantBuiltinRights } from "./builtin-rights.ts";
import { Kubelets } from "./kubelets.ts";
import { drainNode, uncordonNode } from "./node-drain.ts";
import { registryPathOf } from "./registry-path.ts";
import { requestServingCertificate } from "./serving-certificate.ts";
import { nodeObjectOf, nodeStatusOf, type NodeObject } from "./node-object.ts";

const retryMs = 1_000;
const yearMs = 365 * 86_400_000;

/** One cluster's API, as far as it is open. */
interface Entry {
  readonly key: string;
  isOpen: boolean;
  handle: WorkloadCluster | undefined;
  kubelets: Kubelets | undefined;
  /** `address:port` where it listens. */
  /** Where its API is served, and for which names. */
  readonly serving: Map<string, string>;
  /** Virtual addresses that its endpoint ever was. */
  readonly virtual: Map<string, { readonly address: string; readonly port: number }>;
  /** Boot in which each machine last registered its Node with this API: a kubelet does so once, when it starts. */
  readonly registered: Map<Cell, string>;
  /** Works through orders one after another: what was ordered later takes effect later. */
  queue: Promise<void>;
}

/** The Kubernetes APIs of the simulated clusters: when they open, where they answer, which Nodes they hold. */
export class WorkloadClusters {
  readonly #world: Surroundings & { readonly etcd: EtcdRegistry };
  readonly #api: WorkloadApi | undefined;
  readonly #entries = new Map<string, Entry>();
  /** Machines as they were when their Node last turned Ready: a machine that is off no longer says which cluster it belongs to. */
  readonly #lastSeen = new Map<Cell, Machine>();
  readonly #graceTimers = new Set<ScheduledTimer>();
  /** Kubelets whose silence nobody could write down, because their API was away when the grace period ended. */
  readonly #unjudged = new Map<Machine, Cell>();
  readonly #closing = new AbortController();

  constructor(world: Surroundings & { readonly etcd: EtcdRegistry }, api: WorkloadApi | undefined) {
    this.#world = world;
    this.#api = api;
  }

  /** What the API of this etcd keeps in it; `undefined` where nobody keeps anything. */
  contentsOf(key: string): EtcdContents | undefined {
    const stored = this.#entries.get(key)?.handle?.stored?.();
    if (stored === undefined) return undefined;
    return {
      revision: stored.revision,
      keys: stored.objects.map(({ resource, key: name, revision, object }) => ({
        key: registryPathOf(resource, name),
        value: JSON.stringify(object),
        revision,
      })),
    };
  }

  /** Compares what should answer with what does. Called after every change that could matter, with the etcd it concerns where one is known. */
  reconcile(cluster?: EtcdCluster): void {
    if (this.#world.isClosed) return;
    for (const one of cluster === undefined ? this.#world.etcd.all() : [cluster]) this.#reconcileOne(one);
  }

  kubeletUp(cell: Cell): void {
    if (this.#entryFor(cell.state) !== undefined) this.#reach(cell);
  }

  #reach(cell: Cell): void {
    cell.dispatch({ kind: "kubernetes-reachable" });
    // Without a network plugin no other status follows, and a kubelet posts one all the same.
    if (postsStatus(cell.state) && !hasNetwork(cell.state)) this.#writeReady(cell.state, "False");
  }

  registerNode(cell: Cell): void {
    const entry = this.#entryFor(cell.state);
    if (entry === undefined) return;
    const registered = { kind: "node-registered", lacksNetwork: !this.#bringsNetwork(entry) } as const;
    if (this.#api === undefined) return cell.dispatch(registered);
    const { bootId } = cell.state;
    this.#order(entry, async (cluster) => {
      await writeNode(cluster.transport, nodeObjectOf(cell.state, this.#world.clock.now()));
      entry.registered.set(cell, bootId);
      await this.#askForCertificate(cluster, cell.state);
      if (cell.state.bootId === bootId && cell.state.power === "on") cell.dispatch(registered);
    });
  }

  nodeReady(cell: Cell): void {
    const machine = cell.state;
    this.#lastSeen.set(cell, machine);
    const entry = this.#entryFor(machine);
    if (entry !== undefined && this.#api !== undefined && entry.registered.get(cell) !== machine.bootId) {
      this.#order(entry, async (cluster) => {
        await createNode(cluster.transport, nodeObjectOf(machine, this.#world.clock.now()));
        entry.registered.set(cell, machine.bootId);
        await this.#askForCertificate(cluster, machine);
      });
    }
    this.#writeReady(machine, "True");
    void entry?.kubelets?.resume();
    if (machine.kubernetes.isCordoned !== true) return;
    if (entry !== undefined && this.#api !== undefined)
      this.#order(entry, (cluster) => uncordonNode(cluster.transport, nodenameOf(machine)));
    cell.dispatch({ kind: "uncordoned" });
  }

  /** An upgrade by the machine's own sequence drains its Node, where it finds the API within a minute. */
  drainNode(cell: Cell): void {
    const { bootId } = cell.state;
    const name = nodenameOf(cell.state);
    if (this.#api === undefined) return cell.dispatch({ kind: "drained", isCordoned: true });
    const ports = { timers: this.#world.timers, now: () => this.#world.clock.now() };
    const transport = (): KubeTransport | undefined => this.#entryFor(cell.state)?.handle?.transport;
    const isNeeded = (): boolean => !this.#world.isClosed && cell.state.bootId === bootId && cell.state.power === "on";
    void drainNode(name, { ...ports, transport, isNeeded }).then((isCordoned) => {
      if (isNeeded()) cell.dispatch({ kind: "drained", isCordoned });
    });
  }

  /** The kubelet is silent: shown after the grace period of the node controller, unless it is back by then. */
  nodeLost(cell: Cell): void {
    this.#judgeAfterGrace(cell, this.#lastSeen.get(cell) ?? withPersistedConfig(cell.state));
  }

  #judgeAfterGrace(cell: Cell, machine: Machine): void {
    const timer = this.#world.timers.schedule(this.#world.timings.nodeLostMs, () => {
      this.#graceTimers.delete(timer);
      // A machine that was wiped is up as well, and its kubelet is gone for good: one that was installed anew has another Node.
      const isBack = postsStatus(cell.state) && nodenameOf(cell.state) === nodenameOf(machine);
      if (this.#world.isClosed || isBack) return;
      if (this.#entryFor(machine) === undefined) this.#unjudged.set(machine, cell);
      else this.#writeReady(machine, "Unknown");
    });
    this.#graceTimers.add(timer);
  }

  /** A node controller that can work again waits a whole grace period for every kubelet. */
  #judgeAgain(entry: Entry): void {
    for (const [machine, cell] of this.#unjudged) {
      if (this.#entryFor(machine) !== entry) continue;
      this.#unjudged.delete(machine);
      this.#judgeAfterGrace(cell, machine);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#graceTimers) timer.cancel();
    for (const entry of this.#entries.values()) {
      entry.kubelets?.close();
      await entry.queue;
      await entry.handle?.close();
    }
  }

  /** The machine that registered this Node with this API, while it runs and is connected. */
  #upCell(entry: Entry, nodeName: string): Cell | undefined {
    return this.#world
      .cells()
      .find(
        ({ state }) =>
          state.power === "on" &&
          state.isConnected &&
          nodenameOf(state) === nodeName &&
          this.#entryFor(state) === entry &&
          activeFacts(state) !== undefined,
      );
  }

  async #askForCertificate(cluster: WorkloadCluster, machine: Machine): Promise<void> {
    if (activeFacts(machine)?.rotatesServerCertificates !== true) return;
    const node = { name: nodenameOf(machine), address: machine.hardware.address };
    await requestServingCertificate(cluster.transport, this.#world.keys, node);
  }

  /** Control planes apply the manifests of a network plugin, for workers, too. */
  #bringsNetwork(entry: Entry): boolean {
    return this.#world.cells().some(({ state }) => state.etcd.data?.cluster === entry.key && activeFacts(state)?.bringsNetwork === true);
  }

  #writeReady(machine: Machine, ready: "True" | "False" | "Unknown"): void {
    const entry = this.#entryFor(machine);
    if (entry === undefined || this.#api === undefined) return;
    this.#order(entry, (cluster) =>
      writeStatus(cluster.transport, nodenameOf(machine), nodeStatusOf(machine, ready, this.#world.clock.now())),
    );
  }

  #entryFor(machine: Machine): Entry | undefined {
    const facts = activeFacts(machine);
    if (facts === undefined) return undefined;
    const fingerprint = secretFingerprint(facts.clusterSecret);
    const home = this.#world.etcd
      .all()
      .find(
        (cluster) =>
          cluster.clusterId === facts.clusterId &&
          cluster.secretFingerprint === fingerprint &&
          this.#entries.get(cluster.key)?.isOpen === true,
      );
    return home === undefined ? undefined : this.#entries.get(home.key);
  }

  #reconcileOne(cluster: EtcdCluster): void {
    const servers = this.#world.etcd.isAvailable(cluster)
      ? this.#world
          .cells()
          .filter((cell) => cell.state.etcd.data?.cluster === cluster.key && cell.state.kubernetes.hasStaticPods && etcdRuns(cell.state))
      : [];
    let entry = this.#entries.get(cluster.key);
    const [first] = servers;
    if (entry === undefined) {
      const facts = first === undefined ? undefined : activeFacts(first.state);
      if (facts === undefined) return;
      entry = this.#openEntry(cluster, facts);
    }
    const wasOpen = entry.isOpen;
    entry.isOpen = servers.length > 0;
    this.#serve(entry, servers);
    if (!wasOpen && entry.isOpen) {
      this.#judgeAgain(entry);
      for (const cell of this.#world.cells()) {
        const facts = activeFacts(cell.state);
        if (facts?.clusterId === cluster.clusterId && secretFingerprint(facts.clusterSecret) === cluster.secretFingerprint) {
          this.#reach(cell);
        }
      }
    }
  }

  #openEntry(cluster: EtcdCluster, facts: ConfigFacts): Entry {
    const entry: Entry = {
      key: cluster.key,
      isOpen: false,
      handle: undefined,
      kubelets: undefined,
      serving: new Map(),
      virtual: new Map(),
      registered: new Map(),
      queue: Promise.resolve(),
    };
    this.#entries.set(cluster.key, entry);
    const api = this.#api;
    if (api !== undefined) {
      entry.queue = this.#untilDone(async () => {
        entry.handle = await api.open({
          key: cluster.key,
          clusterId: cluster.clusterId,
          clusterName: facts.clusterName,
          kubernetesVersion: facts.kubernetesVersion,
          authority: facts.kubernetesCa,
        });
        await grantBuiltinRights(entry.handle.transport);
        entry.kubelets ??= new Kubelets({
          transport: entry.handle.transport,
          timers: this.#world.timers,
          now: () => this.#world.clock.now(),
          isUp: (name) => this.#upCell(entry, name) !== undefined,
          hasNetwork: (name) => {
            const cell = this.#upCell(entry, name);
            return cell !== undefined && hasNetwork(cell.state);
          },
          onNetwork: (name) => this.#upCell(entry, name)?.installNetwork(),
        });
      });
    }
    return entry;
  }

  #serve(entry: Entry, servers: readonly Cell[]): void {
    if (this.#api === undefined) return;
    const wanted = new Map<string, { readonly address: string; readonly port: number; readonly facts: ConfigFacts }>();
    for (const cell of servers) {
      const facts = activeFacts(cell.state);
      if (facts === undefined) continue;
      wanted.set(`${cell.address}:6443`, { address: cell.address, port: 6443, facts });
      const endpoint = endpointOf(facts.endpoint);
      // A virtual address: held by whichever control plane lives. An address of a machine is that machine's own.
      if (endpoint !== undefined && this.#world.cell(endpoint.address) === undefined)
        entry.virtual.set(`${endpoint.address}:${endpoint.port}`, endpoint);
      // It stays when the endpoint moves on, for as long as certificates are for it.
      for (const [place, virtual] of entry.virtual)
        if (namesOf(facts, cell.address).includes(virtual.address)) wanted.set(place, { ...virtual, facts });
    }
    for (const [place, { address, port, facts }] of wanted) {
      const names = namesOf(facts, address);
      if (entry.serving.get(place) === names.join()) continue;
      entry.serving.set(place, names.join());
      this.#order(entry, async (cluster) => cluster.serve(address, port, await this.#serverCertificate(facts, names), names));
    }
    for (const place of entry.serving.keys()) {
      if (wanted.has(place)) continue;
      entry.serving.delete(place);
      const at = place.lastIndexOf(":");
      this.#order(entry, (cluster) => cluster.unserve(place.slice(0, at), Number(place.slice(at + 1))));
    }
  }

  #serverCertificate(facts: ConfigFacts, names: readonly string[]): Promise<KeyPair> {
    return this.#world.keys.signCertificate(facts.kubernetesCa, {
      usage: "server",
      commonName: "kube-apiserver",
      organizations: ["kube-master"],
      notBefore: this.#world.clock.now(),
      lifetimeMs: yearMs,
      ipAddresses: names.filter((name) => ADDRESS.test(name)),
      dnsNames: names.filter((name) => !ADDRESS.test(name)),
    });
  }

  #order(entry: Entry, work: (cluster: WorkloadCluster) => Promise<void>): void {
    entry.queue = entry.queue.then(() =>
      this.#untilDone(async () => {
        if (entry.handle !== undefined) await work(entry.handle);
      }),
    );
  }

  /** A kubelet goes on trying until it succeeds, and so do we: every second, until the datacenter closes. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    let isAgain = false;
    while (!this.#world.isClosed) {
      try {
        if (isAgain) await this.#world.timers.sleep(retryMs, this.#closing.signal);
        return await work();
      } catch {
        isAgain = true;
      }
    }
  }
}

/** Its kubelet says how its Node is, be it ready or not. */
function postsStatus(machine: Machine): boolean {
  return kubeletRuns(machine) && machine.kubernetes.isNodeRegistered;
}

/** What a machine that was restored while it was off will be after its next boot. */
function withPersistedConfig(machine: Machine): Machine {
  return { ...machine, config: { ...machine.config, active: machine.config.active ?? machine.config.persisted } };
}

/** Address and port of an endpoint that is an IP address; a DNS name is somebody else's to serve. */
const ADDRESS = /^[\d.]+$|:/;

/**
 * What the certificate of an API server is for: the endpoint, what the configuration adds, and the machine itself. It changes with them, without a boot.
 *
 * @see siderolabs/talos `internal/app/machined/pkg/controllers/secrets/kubernetes_cert_sans.go`
 */
function namesOf(facts: ConfigFacts, address: string): readonly string[] {
  const host = URL.parse(facts.endpoint)?.hostname.replace(/^\[(.*)\]$/, "$1");
  const own = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", `kubernetes.default.svc.${facts.dnsDomain}`, "localhost"];
  return [...new Set([address, ...(host === undefined ? [] : [host]), ...facts.apiServerCertSans, "127.0.0.1", ...own])];
}

function endpointOf(endpoint: string): { readonly address: string; readonly port: number } | undefined {
  const match = /^https:\/\/(?:\[([0-9a-fA-F:]+)\]|(\d+\.\d+\.\d+\.\d+))(?::(\d+))?\/?$/.exec(endpoint);
  const address = match?.[1] ?? match?.[2];
  return address === undefined ? undefined : { address, port: Number(match?.[3] ?? 443) };
}

async function writeNode(transport: KubeTransport, node: NodeObject): Promise<void> {
  await createNode(transport, node);
  await writeStatus(transport, node.metadata.name, node.status);
}

/** Leaves a Node that exists as it is. */
async function createNode(transport: KubeTransport, node: NodeObject): Promise<void> {
  const created = await transport.send({ method: "POST", path: "/api/v1/nodes", body: node });
  if (created.status !== 409 && created.status >= 300)
    throw new Error(`Node ${node.metadata.name} was not registered: HTTP ${created.status}`);
}

async function writeStatus(transport: KubeTransport, name: string, status: Record<string, unknown>): Promise<void> {
  const answer = await transport.send({
    method: "PATCH",
    path: `/api/v1/nodes/${encodeURIComponent(name)}/status`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { status },
  });
  // A Node that somebody deleted comes back when its kubelet starts again, as in Kubernetes.
  if (answer.status !== 404 && answer.status >= 300) throw new Error(`status of Node ${name} was not written: HTTP ${answer.status}`);
}
