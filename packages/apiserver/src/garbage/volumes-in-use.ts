import type { JsonObject } from "../json.ts";
import { claimFinalizer, volumeFinalizer } from "../kinds/new-volumes.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt, stringsAt, withMetadata } from "../request/json.ts";
import type { ApiContext } from "../routes/context.ts";
import { isReadyToGo } from "../routes/write.ts";

const pods = "/pods";
const claims = "/persistentvolumeclaims";
const volumes = "/persistentvolumes";
const finalizers: Readonly<Record<string, string>> = { [claims]: claimFinalizer, [volumes]: volumeFinalizer };

/**
 * What the protection controllers of volumes do: a claim that is deleted goes when no pod on a node uses it, a volume when no claim has it. It works
 * from a timer of 0 ms after pods, claims or volumes changed, and looks at the present state only.
 */
export class VolumeProtector {
  readonly #context: ApiContext;
  readonly #stops: readonly (() => void)[];
  #timer: { cancel(): void } | undefined;
  #isClosed = false;

  constructor(context: ApiContext) {
    this.#context = context;
    const isGoing = (object: JsonObject): boolean => metadataOf(object)["deletionTimestamp"] !== undefined;
    this.#stops = [pods, claims, volumes].map((resource) =>
      context.state.subscribe(resource, (change) => {
        // A pod that is gone or has moved may have been the last to use a claim; nothing else sets one free.
        if (resource === pods ? context.state.count(claims) > 0 : change.type !== "DELETED" && isGoing(change.object)) this.#look();
      }),
    );
    if ([claims, volumes].some((resource) => context.state.list(resource).some(({ object }) => isGoing(object)))) this.#look();
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#timer?.cancel();
  }

  #look(): void {
    if (!this.#isClosed) this.#timer ??= this.#context.timers.schedule(0, () => this.#work());
  }

  #work(): void {
    this.#timer = undefined;
    const { state } = this.#context;
    for (const [resource, finalizer] of Object.entries(finalizers)) {
      for (const { key, object } of state.list(resource)) {
        const metadata = metadataOf(object);
        if (metadata["deletionTimestamp"] === undefined || !stringsAt(metadata, "finalizers").includes(finalizer)) continue;
        if (resource === claims ? !this.#isMounted(object) : objectAt(object, "status")["phase"] !== "Bound")
          this.#free(resource, key, object, finalizer);
      }
    }
  }

  #free(resource: string, key: string, object: JsonObject, finalizer: string): void {
    const { state, log } = this.#context;
    const left = stringsAt(metadataOf(object), "finalizers").filter((name) => name !== finalizer);
    const freed = withMetadata(object, { finalizers: left.length === 0 ? undefined : left });
    try {
      if (isReadyToGo(freed)) state.remove(resource, key, freed);
      else state.put(resource, key, freed);
    } catch (err) {
      // The store took no write; the next change of a pod, claim or volume tries again.
      log?.error({ err, resource, key }, "A volume that nobody uses was not set free");
    }
  }

  #isMounted(claim: JsonObject): boolean {
    const namespace = stringAt(metadataOf(claim), "namespace") ?? "";
    const name = stringAt(metadataOf(claim), "name") ?? "";
    return this.#context.state.list(pods, keyOf(namespace, "")).some(({ object: pod }) => {
      const spec = objectAt(pod, "spec");
      if ((stringAt(spec, "nodeName") ?? "") === "") return false;
      const own = `${stringAt(metadataOf(pod), "name") ?? ""}-`;
      return objectsAt(spec, "volumes").some(
        (volume) =>
          stringAt(objectAt(volume, "persistentVolumeClaim"), "claimName") === name ||
          (volume["ephemeral"] !== undefined && `${own}${stringAt(volume, "name") ?? ""}` === name),
      );
    });
  }
}
