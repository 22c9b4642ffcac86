import type { VitistackMachine } from "@talos-operator/api";
import { createHash } from "node:crypto";
import { controllerOf, vitistackMachineResource } from "@talos-operator/api";
import { keyText } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { CompositionError } from "./errors.ts";
import type { MachineManifest } from "./model.ts";
import { holderOf } from "./observe.ts";
import type { OwnerQuestion } from "./live-cluster.ts";
import { isUndeclaredField } from "./undeclared.ts";

/** Owner of the fields that a cluster sets on its Machines and pools. */
export const FIELD_MANAGER = "talos-operator/kubernetescluster";

/** Brings Machines to their manifests by server-side apply: fields of others stay (V21). */
export interface MachineApplier {
  /**
   * @param stored as the cache has it; `undefined` = it is to be made
   * @param isOwnerThere asked before anything is written
   * @returns the Machine as it was stored, `undefined` when there was nothing to do, or nobody to do it for
   * @throws CompositionError
   */
  apply(
    manifest: MachineManifest,
    stored: VitistackMachine | undefined,
    isOwnerThere: OwnerQuestion,
  ): Promise<VitistackMachine | undefined>;
  /** True when this API's Machine drops `spec.talosConfig`: a CRD that is not ours. */
  dropsTalosConfig(): boolean;
  forget(key: string): void;
}

interface Applied {
  readonly uid: string | undefined;
  readonly wish: string;
  /** What the API server made of it. */
  readonly result: string;
}

export function createMachineApplier(client: KubeClient): MachineApplier {
  const machines = client.resource<VitistackMachine>(vitistackMachineResource);
  const applied = new Map<string, Applied>();
  let drops = false;

  /** Nothing of ours is different from what the last apply left behind, or from what is wished. */
  const isThere = (manifest: MachineManifest, stored: VitistackMachine, wish: string): boolean => {
    const last = applied.get(keyText(manifest.metadata));
    if (last?.wish !== wish || last.uid !== stored.metadata.uid) return false;
    return last.result === resultOf(stored) || holds(stored, manifest);
  };

  /** A CRD that does not declare spec.talosConfig has the whole apply refused for it: the Machine is made without it then. */
  const applyAsDeclared = async (manifest: MachineManifest): Promise<VitistackMachine> => {
    const options = { fieldManager: FIELD_MANAGER, force: true };
    try {
      return await machines.apply(manifest, options);
    } catch (thrown) {
      if (manifest.spec === undefined || !isUndeclaredField(thrown, ".spec.talosConfig")) throw thrown;
      const { talosConfig: _, ...spec } = manifest.spec;
      return machines.apply({ ...manifest, spec }, options);
    }
  };

  return {
    async apply(manifest, stored, isOwnerThere) {
      const { namespace, name } = manifest.metadata;
      const wish = hashOf(manifest);
      if (stored !== undefined && isThere(manifest, stored, wish)) return undefined;
      const owner = controllerOf(manifest.metadata)?.uid ?? "";
      try {
        if (!(await isOwnerThere())) return undefined;
        // An apply would take over a Machine that somebody made a moment ago: look once more before one is made.
        const there = stored ?? (await machines.tryGet({ namespace, name }));
        const holder = holderOf(there, owner);
        if (holder !== undefined) throw new CompositionError("MachineCreationError", `Machine ${name} exists and is ${holder}'s`);
        if (stored === undefined && there?.metadata.deletionTimestamp !== undefined)
          throw new CompositionError("MachineCreationError", `Machine ${name} is being deleted, and the list of Machines did not show it`);
        if (there?.metadata.deletionTimestamp !== undefined) return undefined;
        const { uid } = there?.metadata ?? {};
        const bound = uid === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, uid } };
        if (!(await isOwnerThere())) return undefined;
        const result = await applyAsDeclared(bound);
        if (controllerOf(result.metadata)?.uid !== owner)
          throw new CompositionError("OwnerReferenceError", `Machine ${name} came back without its owner`);
        applied.set(keyText(manifest.metadata), { uid: result.metadata.uid, wish, result: resultOf(result) });
        drops = manifest.spec?.talosConfig !== undefined && result.spec?.talosConfig === undefined;
        return result;
      } catch (thrown) {
        if (thrown instanceof CompositionError) throw thrown;
        throw new CompositionError("MachineCreationError", `Machine ${name}: ${wordsOf(thrown)}`, { cause: thrown });
      }
    },
    dropsTalosConfig: () => drops,
    forget: (key) => void applied.delete(key),
  };
}

/** Everything of a Machine that a manifest may set. */
function resultOf({ metadata, spec }: VitistackMachine): string {
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  return hashOf([labels, annotations, finalizers, ownerReferences, spec]);
}

/** Every field of `wanted` stands in `stored` with the same value; lists of names hold at least the wanted ones. */
function holds(stored: VitistackMachine, wanted: MachineManifest): boolean {
  const { metadata } = wanted;
  return (
    isPart(wanted.spec, stored.spec) &&
    isPart(metadata.labels, stored.metadata.labels) &&
    isPart(metadata.annotations, stored.metadata.annotations) &&
    (metadata.finalizers ?? []).every((one) => stored.metadata.finalizers?.includes(one) === true) &&
    (metadata.ownerReferences ?? []).every((one) => stored.metadata.ownerReferences?.some(({ uid }) => uid === one.uid) === true)
  );
}

function isPart(wanted: unknown, stored: unknown): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted !== "object" || wanted === null) return wanted === stored;
  if (typeof stored !== "object" || stored === null) return false;
  if (Array.isArray(wanted)) return JSON.stringify(wanted) === JSON.stringify(stored);
  const there = stored as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([key, value]) => isPart(value, there[key]));
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** What an API server said, without the content of objects. */
export function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message.slice(0, 512) : "it failed";
}
