import { createHash } from "node:crypto";
import type { KubeTransport, Timers } from "@talos-operator/ports";

/** From the end of the last container that used a volume until its storage has let go of it. */
const detachMs = 3_000;

const attachments = "/apis/storage.k8s.io/v1/volumeattachments";

/** What is read of a pod to see which volumes it uses. */
export interface PodWithVolumes {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec?: {
    readonly nodeName?: string;
    readonly volumes?: readonly { readonly name?: string; readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  };
}

interface Volume {
  readonly name: string;
  readonly driver: string;
  readonly handle: string;
}

/**
 * Volumes of a CSI driver, as far as drains can tell: attached to a Node before the containers start that use them, and detached a while after the last of those
 * has ended. Claims and volumes are a story's to make. An attachment with a finalizer of a story stays, as one does whose driver is gone.
 *
 * @see kubernetes/kubernetes `pkg/controller/volume/attachdetach`, `pkg/volume/csi/csi_attacher.go` getAttachmentName
 */
export class Attacher {
  readonly #transport: KubeTransport;
  readonly #timers: Timers;
  readonly #signal: AbortSignal;

  constructor(transport: KubeTransport, timers: Timers, signal: AbortSignal) {
    this.#transport = transport;
    this.#timers = timers;
    this.#signal = signal;
  }

  async attach(pod: PodWithVolumes): Promise<void> {
    const nodeName = pod.spec?.nodeName ?? "";
    for (const claim of claimsOf(pod)) {
      const volume = await this.#volumeOf(pod.metadata.namespace, claim);
      if (volume === undefined) continue;
      const name = attachmentName(volume, nodeName);
      const spec = { attacher: volume.driver, nodeName, source: { persistentVolumeName: volume.name } };
      const body = { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata: { name }, spec };
      await this.#transport.send({ method: "POST", path: attachments, body });
      const headers = { "content-type": "application/merge-patch+json" };
      await this.#transport.send({ method: "PATCH", path: `${attachments}/${name}/status`, headers, body: { status: { attached: true } } });
    }
  }

  /** @param pod has left its Node */
  async detach(pod: PodWithVolumes): Promise<void> {
    const nodeName = pod.spec?.nodeName ?? "";
    const claims = claimsOf(pod);
    if (claims.length === 0) return;
    await this.#timers.sleep(detachMs, this.#signal);
    const query = { fieldSelector: `spec.nodeName=${nodeName}` };
    const { body } = await this.#transport.send({ method: "GET", path: podsPath(pod.metadata.namespace), query });
    const { items = [] } = body as { readonly items?: readonly PodWithVolumes[] };
    const used = new Set(items.flatMap(claimsOf));
    for (const claim of claims) {
      const volume = used.has(claim) ? undefined : await this.#volumeOf(pod.metadata.namespace, claim);
      if (volume !== undefined)
        await this.#transport.send({ method: "DELETE", path: `${attachments}/${attachmentName(volume, nodeName)}` });
    }
  }

  async #volumeOf(namespace: string, claim: string): Promise<Volume | undefined> {
    const at = `/api/v1/namespaces/${encodeURIComponent(namespace)}/persistentvolumeclaims/${encodeURIComponent(claim)}`;
    const { body: claimed } = await this.#transport.send({ method: "GET", path: at });
    const name = (claimed as { readonly spec?: { readonly volumeName?: string } }).spec?.volumeName;
    if (name === undefined) return undefined;
    const { body } = await this.#transport.send({ method: "GET", path: `/api/v1/persistentvolumes/${encodeURIComponent(name)}` });
    const csi = (body as { readonly spec?: { readonly csi?: { readonly driver: string; readonly volumeHandle: string } } }).spec?.csi;
    return csi === undefined ? undefined : { name, driver: csi.driver, handle: csi.volumeHandle };
  }
}

function claimsOf({ spec }: PodWithVolumes): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
}

function attachmentName({ handle, driver }: Volume, nodeName: string): string {
  return `csi-${createHash("sha256").update(`${handle}${driver}${nodeName}`).digest("hex")}`;
}
