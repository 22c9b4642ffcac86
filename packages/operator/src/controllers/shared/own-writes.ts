import { apiVersionOf } from "@talos-operator/kube-runtime";
import type { ResourceType } from "@talos-operator/kube-runtime";
import type { Clock, KubeRequest, KubeTransport } from "@talos-operator/ports";

/** A write of ours that certainly changed something. */
export interface OwnWrite {
  /** What it made is no older than this: when it was sent. Milliseconds since the epoch. */
  readonly sentAt: number;
  readonly resourceVersion: string;
}

/** The last such write of each kind. */
export interface OwnWrites {
  last(type: Pick<ResourceType, "group" | "version" | "kind">): OwnWrite | undefined;
}

/**
 * Notes what is written over a transport: a cache that shows such a write shows everything that was written before it, too.
 *
 * Only what the server must have stored anew counts: what was created, and what was patched in a version that is another one afterwards. A write that changes
 * nothing is answered with a version that may be of long ago.
 */
export function notingWrites(kube: KubeTransport, clock: Clock): { readonly kube: KubeTransport; readonly writes: OwnWrites } {
  const last = new Map<string, OwnWrite>();
  return {
    writes: { last: (type) => last.get(nameOf(apiVersionOf(type), type.kind)) },
    kube: {
      ...kube,
      async send(request, options) {
        const sentAt = clock.now();
        const response = await kube.send(request, options);
        const stored = storedAnew(request, response);
        if (stored !== undefined) last.set(stored.name, { sentAt, resourceVersion: stored.resourceVersion });
        return response;
      },
    },
  };
}

interface Body {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly resourceVersion?: unknown };
}

function storedAnew(
  { method, body }: KubeRequest,
  response: Awaited<ReturnType<KubeTransport["send"]>>,
): { readonly name: string; readonly resourceVersion: string } | undefined {
  const stored = bodyOf(response.body);
  const version = stored?.metadata?.resourceVersion;
  if (typeof version !== "string" || typeof stored?.kind !== "string" || typeof stored.apiVersion !== "string") return undefined;
  const before = bodyOf(body)?.metadata?.resourceVersion;
  const isChanged = method === "PATCH" && typeof before === "string" && before !== version;
  const isNew = isChanged || (response.status === 201 && (method === "POST" || method === "PATCH"));
  return isNew ? { name: nameOf(stored.apiVersion, stored.kind), resourceVersion: version } : undefined;
}

function bodyOf(body: unknown): Body | undefined {
  return typeof body === "object" && body !== null ? body : undefined;
}

function nameOf(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`;
}
