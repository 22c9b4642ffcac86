import { isConflict } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Logger } from "@talos-operator/ports";
import { isEffectError } from "../../errors.ts";
import { nodeType } from "../kinds.ts";
import type { NodeObject } from "../kinds.ts";
import { seenNode } from "../seen-node.ts";
import { openWorkloadApi } from "../workload-api.ts";
import type { WorkloadPlace, WorkloadPorts, WorkloadUser } from "../workload-api.ts";
import { judgeRequest } from "./judge.ts";
import type { Around, AskedCertificate, Verdict } from "./judge.ts";
import { openRequests, requestType, SERVING_SIGNER } from "./requests.ts";
import type { OpenRequest, RequestObject } from "./requests.ts";
import type { PendingCertificate, SeenCertificates, SeenNode } from "../../model/workload.ts";

/** Longest that one call may take. */
const CALL_MS = 5_000;

/** Most requests that are read at once: those that nobody decides about go after a day. */
const MOST_REQUESTS = 500;

const FIELD_MANAGER = "talos-operator/kubelet-certificates";

/** What an approver goes by; without one requests are only listed. */
export interface Approver extends Omit<Around, "nodes"> {
  /** Asked right before each approval. @throws EffectError when this machine is to be left alone, or is another one by now */
  readonly demand: (machine: string) => Promise<number>;
  /** Told of each approval. */
  readonly approved: (machine: string, request: string) => void;
}

/** Looks at the certificate requests of the kubelets of one cluster beside the passes, and approves those that may be. A pass reads what was last told. */
export class ClusterCertificates {
  readonly #ports: WorkloadPorts;
  readonly #wake: () => void;
  #seen: SeenCertificates = { at: Number.NEGATIVE_INFINITY, isAsking: false, pending: undefined };
  #isClosed = false;

  constructor(ports: WorkloadPorts, wake: () => void) {
    this.#ports = ports;
    this.#wake = wake;
  }

  seen(): SeenCertificates {
    return this.#seen;
  }

  /** No machine asks any more: what was seen is forgotten. */
  forget(): void {
    this.#seen = { ...this.#seen, pending: undefined };
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Lists requests in the background; approves what may be when there is an approver. */
  look(place: WorkloadPlace, approver: Approver | undefined, log: Logger): void {
    if (this.#isClosed || this.#seen.isAsking) return;
    const before = this.#seen.pending;
    this.#seen = { at: this.#ports.clock.now(), isAsking: true, pending: before };
    void this.#tend(place, approver, log).then((pending) => {
      this.#seen = { ...this.#seen, isAsking: false, pending: pending ?? before };
      if (!this.#isClosed && pending !== undefined && JSON.stringify(pending) !== JSON.stringify(before)) this.#wake();
    });
  }

  async #tend(place: WorkloadPlace, approver: Approver | undefined, log: Logger): Promise<readonly PendingCertificate[] | undefined> {
    try {
      const open = openRequests(await this.#list(place));
      if (approver === undefined || open.length === 0) return open.map((one) => pendingOf(one));
      const around = { ...approver, nodes: await this.#nodes(place) };
      const judged = await Promise.all(open.map(async (one) => ({ one, verdict: judgeRequest(await this.#asked(one), around) })));
      return await this.#approve(judged, place, approver, log);
    } catch (thrown) {
      const err = thrown instanceof Error ? thrown.message : "unknown";
      if (!isEffectError(thrown)) log.debug({ action: "TendCertificates", err }, "The cluster's own API lists no certificate requests now");
      return undefined;
    }
  }

  #list(place: WorkloadPlace): Promise<readonly RequestObject[]> {
    const options = { fieldSelector: `spec.signerName=${SERVING_SIGNER}`, limit: MOST_REQUESTS, timeoutMs: CALL_MS };
    return this.#as(
      { kind: "certificates" },
      place,
      async (client) => (await client.resource<RequestObject>(requestType).listPage(options)).items,
    );
  }

  #nodes(place: WorkloadPlace): Promise<readonly SeenNode[]> {
    return this.#as({ kind: "nodes" }, place, async (client) =>
      (await client.resource<NodeObject>(nodeType).list({ timeoutMs: CALL_MS })).items.map((node) => seenNode(node)),
    );
  }

  /** Each as the user with the least rights that do: who may approve is nobody before something is to be approved. */
  async #as<T>(user: WorkloadUser, place: WorkloadPlace, work: (client: KubeClient) => Promise<T>): Promise<T> {
    const api = await openWorkloadApi(user, place, this.#ports);
    try {
      return await work(api.client);
    } finally {
      api.close();
    }
  }

  /** What is left pending. */
  async #approve(
    judged: readonly { readonly one: OpenRequest; readonly verdict: Verdict }[],
    place: WorkloadPlace,
    approver: Approver,
    log: Logger,
  ): Promise<readonly PendingCertificate[]> {
    const refused = judged.flatMap(({ one, verdict }) => (verdict.kind === "refuse" ? [{ ...pendingOf(one), refusal: verdict.why }] : []));
    const good = judged.flatMap(({ one, verdict }) => (verdict.kind === "approve" ? [{ one, machine: verdict.machine }] : []));
    if (good.length === 0) return refused;
    const left = await this.#as({ kind: "approver" }, place, async (client) => {
      const undone: PendingCertificate[] = [];
      for (const { one, machine } of good) {
        const outcome = this.#isClosed ? undefined : await this.#approveOne(one.object, machine, client, approver, log);
        if (outcome !== "approved") undone.push({ ...pendingOf(one), ...(outcome === undefined ? {} : { refusal: outcome }) });
      }
      return undone;
    });
    return [...refused, ...left].toSorted((a, b) => (a.username < b.username ? -1 : 1));
  }

  async #asked({ object, username }: OpenRequest): Promise<AskedCertificate> {
    const { signerName = "", groups = [], usages = [], request = "" } = object.spec ?? {};
    const text = Buffer.from(request, "base64").toString("latin1");
    const asks = await this.#ports.keys.describeCertificateRequest(text).catch(() => undefined);
    return { signerName, username, groups, usages, asks };
  }

  /** @returns why it was not approved, in words; `undefined` = it will be tried again, `"approved"` = it was */
  async #approveOne(
    object: RequestObject,
    machine: string,
    client: KubeClient,
    { demand, approved }: Approver,
    log: Logger,
  ): Promise<string | undefined> {
    const name = object.metadata?.name ?? "";
    try {
      const leftMs = await demand(machine);
      const condition = {
        type: "Approved",
        status: "True",
        reason: "KnownMachine",
        message: `Approved by talos-operator.dev: its names and addresses are those of ${machine}.`,
      };
      // With the resourceVersion that was judged: whoever decided meanwhile has decided.
      const status = { ...object.status, conditions: [...(object.status?.conditions ?? []), condition] };
      await client
        .resource<RequestObject>(requestType)
        .subresource<RequestObject>("approval")
        .update({ name }, { ...object, status }, { fieldManager: FIELD_MANAGER, timeoutMs: Math.min(CALL_MS, leftMs) });
      log.info({ action: "ApproveCertificate", machine, request: name }, "Approved the serving certificate of a kubelet");
      approved(machine, name);
      return "approved";
    } catch (thrown) {
      if (isEffectError(thrown, "MODE_CHANGED")) return `${machine} is left alone`;
      if (!isConflict(thrown)) log.debug({ action: "ApproveCertificate", machine, request: name, err: thrown }, "Not approved");
      return undefined;
    }
  }
}

function pendingOf({ object, username, since }: OpenRequest): PendingCertificate {
  return { request: object.metadata?.name ?? "", username, since };
}
