import { spelledOut } from "@talos-operator/api";
import type { KubeTransport } from "@talos-operator/ports";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { ours } from "../world/kinds.ts";
import { NAMESPACE } from "./scenario.ts";

/** An object with what its conditions say. */
export type Conditioned = KubeObject & {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly observedGeneration?: number;
    }[];
  };
};

interface KubeList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Conditioned[];
}

const ALWAYS = ["talosclusters", "taloscontrolplanes", "talosworkers", "talosmachines", "clusterrecords"];
const COMPOSED = ["kubernetesclusters", "machines"];
const BACKUPS = ["talosetcdbackups", "talosetcdbackupschedules"];
const ADDONS = ["talosclusteraddons", "talosclusteraddonreleases"];

/** Where objects of a kind are served in these worlds, or one of them. */
export function pathOf(plural: string, name?: string): string {
  const { group, version } = ours(plural);
  return `/apis/${group}/${version}/namespaces/${NAMESPACE}/${plural}${name === undefined ? "" : `/${name}`}`;
}

/** Each condition with what it says, also where that stands in another one. */
function read(object: Conditioned): Conditioned {
  const { conditions } = object.status ?? {};
  return conditions === undefined
    ? object
    : { ...object, status: { ...object.status, conditions: conditions.map((one) => spelledOut(conditions, one)) } };
}

/** The objects of one world as they are, followed by watches, so that asking costs nothing. */
export interface ObjectView {
  start(): Promise<void>;
  /** Calls `heard` after every change. */
  onChange(heard: () => void): void;
  get(plural: string, name: string): Conditioned | undefined;
  /** All of one plural, in the order of their making. */
  all(plural: string): readonly Conditioned[];
  /** Ready by a status that belongs to the spec as it is now. */
  isReady(plural: string, name: string): boolean;
  /** What its condition Ready says, for people. */
  waitsFor(plural: string, name: string): string;
}

/** What there is beside machines and clusters. */
export interface Viewed {
  /** KubernetesClusters and Machines. */
  readonly isComposed?: boolean;
  /** TalosEtcdBackups and their schedules. */
  readonly hasBackups?: boolean;
  /** TalosClusterAddons and their releases. */
  readonly hasAddons?: boolean;
}

/** @param truth the API without faults */
export function createObjectView(truth: KubeTransport, { isComposed, hasBackups, hasAddons }: Viewed = {}): ObjectView {
  const followed = [
    ...ALWAYS,
    ...(isComposed === true ? COMPOSED : []),
    ...(hasBackups === true ? BACKUPS : []),
    ...(hasAddons === true ? ADDONS : []),
  ];
  const listeners: (() => void)[] = [];
  const seen = new Map(followed.map((plural) => [plural, new Map<string, Conditioned>()]));
  const get = (plural: string, name: string): Conditioned | undefined => seen.get(plural)?.get(name);
  const readyOf = (plural: string, name: string) => get(plural, name)?.status?.conditions?.find((condition) => condition.type === "Ready");
  return {
    async start() {
      for (const [plural, objects] of seen) {
        const path = pathOf(plural);
        /** `undefined` once the world has ended. */
        const list = async (): Promise<string | undefined> => {
          const { status, body } = await truth.send({ method: "GET", path });
          if (status !== 200) return undefined;
          const { items, metadata } = body as KubeList;
          objects.clear();
          for (const item of items) objects.set(item.metadata?.name ?? "", read(item));
          return metadata.resourceVersion;
        };
        const follow = async (resourceVersion: string): Promise<void> => {
          const { events } = await truth.watch({ method: "GET", path, query: { watch: "true", resourceVersion } });
          for await (const { type, object } of events) {
            const conditioned = object as Conditioned;
            const name = conditioned.metadata?.name ?? "";
            if (type === "DELETED") objects.delete(name);
            else if (name !== "") objects.set(name, read(conditioned));
            for (const heard of listeners) heard();
          }
        };
        const first = await list();
        if (first === undefined) throw new Error(`${plural} cannot be followed: the API does not serve them`);
        void (async () => {
          // A server ends each watch after half an hour or more.
          for (let version: string | undefined = first; version !== undefined; version = await list()) await follow(version);
        })();
      }
    },
    onChange: (heard) => void listeners.push(heard),
    get,
    all: (plural) => [...(seen.get(plural)?.values() ?? [])],
    isReady(plural, name) {
      const object = get(plural, name);
      const ready = readyOf(plural, name);
      return ready?.status === "True" && ready.observedGeneration === object?.metadata?.generation;
    },
    waitsFor: (plural, name) => {
      const ready = readyOf(plural, name);
      return get(plural, name) === undefined ? "does not exist" : (ready?.message ?? "no condition Ready");
    },
  };
}
