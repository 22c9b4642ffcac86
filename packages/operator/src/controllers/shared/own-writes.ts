import { apiVersionOf } from "@talos-operator/kube-runtime";
import type { ObjectKey, ResourceType } from "@talos-operator/kube-runtime";
import type { Clock, KubeRequest, KubeTransport } from "@talos-operator/ports";
import { elapsedMs } from "../../elapsed.ts";

/** So long what was answered tells how an object is: a watch that stands still hides no more than that. Milliseconds. */
export const ANSWER_LASTS_MS = 2_000;

/** A write of ours that certainly changed something. */
export interface OwnWrite {
  /** What it made is no older than this: when it was sent. Milliseconds since the epoch. */
  readonly sentAt: number;
  readonly resourceVersion: string;
}

type Kind = Pick<ResourceType, "group" | "version" | "kind">;

/** What requests of this process were answered. */
export interface OwnWrites {
  /** The last such write of a kind. */
  last(type: Kind): OwnWrite | undefined;
  /** The version in which an object was answered last, whatever was asked; `undefined` = not within {@link ANSWER_LASTS_MS}. */
  answered(type: Kind, key: ObjectKey): string | undefined;
}

/**
 * Notes what is written over a transport: a cache that shows such a write shows everything of its kind that was written before it, too.
 *
 * Only what the server must have stored anew counts: what was created, and what was patched in a version that is another one afterwards. A write that changes
 * nothing is answered with a version that may be of long ago. Of the object itself every answer tells how it was at that moment.
 */
export function notingWrites(kube: KubeTransport, clock: Clock): { readonly kube: KubeTransport; readonly writes: OwnWrites } {
  const last = new Map<string, OwnWrite>();
  /** Oldest first. */
  const answers = new Map<string, OwnWrite>();
  const noteAnswer = (object: string, answer: OwnWrite): void => {
    answers.delete(object);
    answers.set(object, answer);
    for (const [old, { sentAt }] of answers) {
      if (elapsedMs(sentAt, clock.now()) < ANSWER_LASTS_MS) return;
      answers.delete(old);
    }
  };
  return {
    writes: {
      last: (type) => last.get(nameOf(apiVersionOf(type), type.kind)),
      answered(type, { namespace, name }) {
        const answer = answers.get(objectOf(nameOf(apiVersionOf(type), type.kind), { namespace, name }));
        return answer === undefined || elapsedMs(answer.sentAt, clock.now()) >= ANSWER_LASTS_MS ? undefined : answer.resourceVersion;
      },
    },
    kube: {
      ...kube,
      async send(request, options) {
        const sentAt = clock.now();
        const response = await kube.send(request, options);
        const { apiVersion, kind, metadata } = bodyOf(response.body) ?? {};
        const resourceVersion = metadata?.resourceVersion;
        if (typeof resourceVersion !== "string" || typeof kind !== "string" || typeof apiVersion !== "string") return response;
        const answer = { sentAt, resourceVersion };
        if (isStoredAnew(request, response.status, resourceVersion)) last.set(nameOf(apiVersion, kind), answer);
        // What is deleted is answered as it was.
        if (metadata?.name !== undefined && request.method !== "DELETE") noteAnswer(objectOf(nameOf(apiVersion, kind), metadata), answer);
        return response;
      },
    },
  };
}

interface Body {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly resourceVersion?: unknown; readonly namespace?: unknown; readonly name?: unknown };
}

function isStoredAnew({ method, body }: KubeRequest, status: number, version: string): boolean {
  if (status === 201) return method === "POST" || method === "PATCH";
  const before = bodyOf(body)?.metadata?.resourceVersion;
  return method === "PATCH" && typeof before === "string" && before !== version;
}

function objectOf(kind: string, { namespace, name }: { readonly namespace?: unknown; readonly name?: unknown }): string {
  return JSON.stringify([kind, namespace ?? "", name]);
}

function bodyOf(body: unknown): Body | undefined {
  return typeof body === "object" && body !== null ? body : undefined;
}

function nameOf(apiVersion: string, kind: string): string {
  return `${apiVersion}/${kind}`;
}
