import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { ours } from "../world/kinds.ts";
import type { Composed } from "./composed.ts";
import type { Report } from "./violation.ts";
import type { ObjectView } from "./object-view.ts";
import { CLUSTER_NAME, NAMESPACE } from "./scenario.ts";
import type { Stage } from "./stage.ts";

const IN_USE = "cluster.vitistack.io/machine-in-use";
const CLUSTER_FINALIZER = "cluster.vitistack.io/finalizer";
const NODE_ADDRESS = "cluster.vitistack.io/node-address";
const INSTALLED = "vitistack.io/os-installed";

interface Body {
  readonly metadata?: {
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string | null>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
  };
  readonly spec?: { readonly metalSpec?: { readonly machines?: readonly { readonly machineRef?: { readonly name?: string } }[] } };
}

type Machine = KubeObject & { readonly status?: { readonly publicIPAddresses?: readonly string[] } };
type Pool = KubeObject & Pick<Body, "spec">;

/** Watches what is done to KubernetesClusters, their Machines and the pools of them. */
export interface CompositionRules {
  /** Before a write leaves the operator. */
  beforeSend(request: KubeRequest): Promise<void>;
}

/**
 * KC1 a Machine is applied after its file was written; KC2 a Machine is released when its machine is blank or given up; KC3 a machine keeps the address it
 * is called by as long as its provider names it; KC4 what is said to be installed is; KC5 a Machine that somebody deletes is not put back into its pool;
 * KC6 nothing is made of a cluster whose id an older one has; KC7 the KubernetesCluster goes after everything that was made for it.
 */
export function createCompositionRules(
  truth: KubeTransport,
  objects: ObjectView,
  { files, provider }: Composed,
  datacenter: Datacenter,
  stage: Stage,
  report: Report,
): CompositionRules {
  const client = createKubeClient(truth);
  const addressOf = (name: string): string | undefined => provider.given.get(`${NAMESPACE}/${name}`);

  function judgeRelease(name: string): void {
    const address = addressOf(name);
    if (address === undefined || stage.abandoned.has(address)) return;
    // Of two that say they have one address, the other one may be what runs there.
    if ([...provider.given.values()].filter((other) => other === address).length > 1) return;
    if (datacenter.machine(address).state.config.persisted !== undefined)
      report("KC2", `Machine ${name} is released, and ${address} still holds its configuration`);
  }

  async function judgeAnnotations(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const address = addressOf(name);
    if (annotations[INSTALLED] === "true") {
      const state = address === undefined ? undefined : datacenter.machine(address).state;
      if (state?.config.persisted === undefined || state.stage === "maintenance" || state.stage === "installing")
        report("KC4", `Machine ${name} is said to be installed, and ${address ?? "no machine"} is not`);
    }
    if (!(NODE_ADDRESS in annotations)) return;
    const machine = await client.resource<Machine>(ours("machines")).tryGet({ namespace: NAMESPACE, name });
    const known = machine?.metadata?.annotations?.[NODE_ADDRESS];
    if (known !== undefined && known !== annotations[NODE_ADDRESS] && machine?.status?.publicIPAddresses?.includes(known) === true)
      report("KC3", `Machine ${name} is called ${String(annotations[NODE_ADDRESS])} now, and its provider still names ${known}`);
  }

  async function judgeMachine(name: string, { method }: KubeRequest, body: Body): Promise<void> {
    if (method === "DELETE") return judgeRelease(name);
    if (
      body.metadata?.finalizers?.includes(IN_USE) === false &&
      objects.get("machines", name)?.metadata?.finalizers?.includes(IN_USE) === true
    )
      judgeRelease(name);
    await judgeAnnotations(name, body.metadata?.annotations ?? {});
    if (body.spec === undefined) return;
    if (!files.texts.has(`${CLUSTER_NAME}/${name}.yaml`)) report("KC1", `Machine ${name} is applied before its file was written`);
    const owner = body.metadata?.ownerReferences?.find(({ kind }) => kind === "KubernetesCluster")?.name;
    if (owner !== CLUSTER_NAME) report("KC6", `Machine ${name} is made for ${owner ?? "nobody"}, and ${CLUSTER_NAME} has that id`);
  }

  function judgePool(plural: string, name: string, wanted: Body): void {
    const stored: Pool | undefined = objects.get(plural, name);
    const listed = (one: Pick<Body, "spec"> | undefined): readonly string[] =>
      one?.spec?.metalSpec?.machines?.flatMap(({ machineRef }) => machineRef?.name ?? []) ?? [];
    const before = listed(stored);
    for (const machine of listed(wanted))
      if (!before.includes(machine) && objects.get("machines", machine)?.metadata?.deletionTimestamp !== undefined)
        report("KC5", `Machine ${machine}, which is being deleted, is put into ${name}`);
  }

  function judgeEnd(): void {
    const left = ["machines", "talosmachines", "talosworkers", "taloscontrolplanes", "clusterrecords"].flatMap((plural) =>
      objects
        .all(plural)
        .map(({ metadata }) => metadata?.name ?? "")
        // Another cluster that names its machines has objects of its own.
        .filter((name) => name === CLUSTER_NAME || name.startsWith(`${CLUSTER_NAME}-`))
        .map((name) => `${plural}/${name}`),
    );
    if (left.length > 0) report("KC7", `the KubernetesCluster goes, and ${left.join(", ")} are left`);
    if (files.texts.size > 0) report("KC7", `the KubernetesCluster goes, and its files are left: ${[...files.texts.keys()].join(", ")}`);
  }

  return {
    async beforeSend(request) {
      const [, plural = "", name = ""] = /\/([a-z]+)\/([^/]+)$/.exec(request.path) ?? [];
      const body = (request.body ?? {}) as Body;
      if (plural === "machines" && request.path.startsWith("/apis/vitistack.io/")) return judgeMachine(name, request, body);
      if (plural === "taloscontrolplanes" || plural === "talosworkers") return judgePool(plural, name, body);
      const isEnd =
        body.metadata?.finalizers?.includes(CLUSTER_FINALIZER) === false &&
        objects.get(plural, name)?.metadata?.deletionTimestamp !== undefined;
      if (plural === "kubernetesclusters" && name === CLUSTER_NAME && isEnd) judgeEnd();
    },
  };
}
