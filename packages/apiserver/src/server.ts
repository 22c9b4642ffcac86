import { createHash } from "node:crypto";
import type { Clock, KubeTransport, Logger, RandomSource, Timers } from "@talos-operator/ports";
import { systemNamespaces } from "./admission/namespace-lifecycle.ts";
import { aggregateRoles } from "./auth/aggregate-roles.ts";
import type { AuthenticateToken, Authorize } from "./auth/authorize.ts";
import { bootstrapPolicy } from "./auth/gen/bootstrap-policy.ts";
import { impersonatedUser } from "./auth/impersonate.ts";
import { rbacGroup, RbacAuthorizer } from "./auth/rbac.ts";
import { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
import { builtinKinds } from "./builtin/index.ts";
import { BudgetKeeper } from "./garbage/budgets.ts";
import { GarbageCollector } from "./garbage/collector.ts";
import { VolumeProtector } from "./garbage/volumes-in-use.ts";
import { equalJson } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { crdResource } from "./kinds/custom.ts";
import { establishCrd } from "./kinds/establish-crd.ts";
import { keyOf } from "./kinds/kind.ts";
import { systemPriorities } from "./kinds/priorities.ts";
import { readCertificateRequest, type ReadCertificateRequest } from "./kinds/certificate-request.ts";
import { KindRegistry } from "./kinds/registry.ts";
import { withinDeadline } from "./request/deadline.ts";
import { objectAt, objectsAt, stringAt } from "./request/json.ts";
import type { ApiAnswer, ApiRequest, ApiStream, ApiUser } from "./request/request.ts";
import { internalError, StatusError } from "./request/status.ts";
import { createUid, timestampOf } from "./routes/context.ts";
import type { ApiContext } from "./routes/context.ts";
import { dispatch, refuseUnauthorized, resolveRequest } from "./routes/dispatch.ts";
import { NonResourceRoutes } from "./routes/non-resource.ts";
import { ObjectState } from "./store/state.ts";
import type { Store } from "./store/store.ts";
import { createInProcessTransport } from "./transport.ts";
import { WorkloadKeeper } from "./workloads/keeper.ts";

/** What one request was, for counting and audit. Bodies are not in it. */
export interface RequestRecord {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or the method of a path that is no resource. */
  readonly verb: string;
  readonly path: string;
  /** Name of the user. */
  readonly user: string;
  /** As the client gave it; empty when it gave none. */
  readonly userAgent: string;
  readonly status: number;
}

/** What a server is made of. */
export interface ApiServerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log?: Logger;
  /**
   * Milliseconds that this thread has worked: what the deadline of a request is measured by, so that a busy machine refuses nobody. Default: the
   * clock.
   */
  readonly workedMs?: () => number;
  /** Asked for everyone but `system:masters`, instead of the Roles and bindings in the store. */
  readonly authorize?: Authorize;
  /** Finds the user of a bearer token that is none of a ServiceAccount, for requests and for TokenReview. */
  readonly authenticateToken?: AuthenticateToken;
  /** Reads what CertificateSigningRequests hold, where keys are no X.509; default PKCS #10 in PEM, whose signature is checked. */
  readonly readCertificateRequest?: ReadCertificateRequest;
  /** Called once per request, when its status is known. */
  readonly onRequest?: (record: RequestRecord) => void;
  /** Changes that stay available to watches and pages, default 5,000; up to twice as many are held in memory. */
  readonly historyLimit?: number;
  /** Time between bookmarks, default 60,000 ms. */
  readonly bookmarkIntervalMs?: number;
  /** Watches open at once, default 2,000; the next is refused with 429. */
  readonly maxWatches?: number;
  /**
   * Plays the controllers of Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs, and the scheduler, for a simulated cluster; default:
   * they are stored and nothing happens. With `controllers` somebody else plays the kubelets; with `controllers and kubelets` pods run
   * and are ready as soon as they have a Node, without anything being executed.
   */
  readonly workloads?: "controllers" | "controllers and kubelets";
  /** Reported by `/version`, default `1.36.3`. */
  readonly kubernetesVersion?: string;
}

/** A Kubernetes API. */
export interface ApiServer {
  /** A transport in this process that acts as `user`. Its promises resolve by microtasks alone; closing it does not close the server. */
  transport(user: ApiUser): KubeTransport;
  /** Answers one parsed, authenticated request: what the HTTPS front end calls. Never throws. */
  handle(request: ApiRequest): ApiAnswer | ApiStream;
  /** Refuses what the headers alone forbid, so that no body is read for it; `undefined` when `handle` shall be called with the body. Never throws. */
  refuseByHeaders(request: Omit<ApiRequest, "body">): ApiAnswer | undefined;
  /** The user behind a bearer token: a ServiceAccount whose token this server gave out, else whom `authenticateToken` knows. */
  authenticateToken(token: string): ApiUser | undefined;
  /** Forgets the changes up to and including this revision; watches and pages from before get 410. Default: everything there is. */
  compact(revision?: number): void;
  /** The newest revision. */
  revision(): number;
  /** Ends all watches, then closes the store. May be repeated. */
  close(): void;
}

/**
 * Creates a Kubernetes API on a store. Objects, kinds and the revision counter go on where the store left off; what always exists
 * (the system namespaces, the `kubernetes` Service) is created when it is missing.
 *
 * Resolves by microtasks alone when the store is synchronous, as all of ours are.
 *
 * @throws what the store throws while it loads
 */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const closing = new AbortController();
  const { clock, random, timers, log } = options;
  const state = new ObjectState(options.store, options.historyLimit ?? 5000);
  const rbac = new RbacAuthorizer(state);
  const kinds = new KindRegistry(builtinKinds());
  const authorize: Authorize = options.authorize ?? ((attributes) => rbac.authorize(attributes));
  const context: ApiContext = {
    state,
    kinds,
    clock,
    timers,
    random,
    log,
    authorize,
    rbac,
    decidesByRbac: options.authorize === undefined,
    authenticateToken: options.authenticateToken,
    accountTokens: new ServiceAccountTokens(state, clock, random),
    readCertificateRequest: options.readCertificateRequest ?? readCertificateRequest,
    kubernetesVersion: options.kubernetesVersion ?? "1.36.3",
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    watches: { open: 0, limit: options.maxWatches ?? 2000 },
    closing: closing.signal,
    newMetadata: (given) => ({ ...given, uid: createUid(random), creationTimestamp: timestampOf(clock.now()) }),
  };
  const changedCrds = serveStoredCrds(context);
  createDefaults(context);
  const roles = keepRolesAggregated(context);
  const collector = new GarbageCollector(context);
  const keepers = [new BudgetKeeper(context), new VolumeProtector(context)];
  const workloads = options.workloads === undefined ? undefined : new WorkloadKeeper(context, options.workloads === "controllers");
  const nonResource = new NonResourceRoutes(context);
  let isClosed = false;

  const record = (request: ApiRequest, status: number): void => {
    const userAgent = request.headers["user-agent"] ?? "";
    options.onRequest?.({ verb: verbOf(request), path: request.path, user: request.user.name, userAgent, status });
  };
  const handle = (request: ApiRequest): ApiAnswer | ApiStream => {
    const result = withinDeadline(options.workedMs ?? (() => clock.now()), () =>
      answerOrRefuse(context, request, () => dispatch(context, nonResource, asImpersonated(context, request))),
    );
    settleCrds(context, changedCrds);
    roles.settle();
    record(request, result.status);
    return result;
  };
  const refuseByHeaders = (asked: Omit<ApiRequest, "body">): ApiAnswer | undefined => {
    const request = { ...asked, body: undefined };
    const refused = answerOrRefuse(context, request, () => {
      refuseUnauthorized(context, asImpersonated(context, request));
      return undefined;
    });
    if (refused !== undefined) record(request, refused.status);
    return refused;
  };
  const server: ApiServer = {
    transport: (user) => createInProcessTransport(handle, user),
    handle,
    refuseByHeaders,
    authenticateToken: (token) => {
      const outcome = context.accountTokens.check(token);
      return outcome.ok ? outcome.user : options.authenticateToken?.(token);
    },
    compact: (revision = context.state.revision) => context.state.compact(revision),
    revision: () => context.state.revision,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      collector.close();
      for (const keeper of keepers) keeper.close();
      workloads?.close();
      closing.abort();
      options.store.close();
    },
  };
  await Promise.resolve();
  return server;
}

function asImpersonated(context: ApiContext, request: ApiRequest): ApiRequest {
  const user = impersonatedUser(context.authorize, request.user, request.headers);
  return user === request.user ? request : { ...request, user };
}

function answerOrRefuse<T>(context: ApiContext, request: ApiRequest, answer: () => T): T | ApiAnswer {
  try {
    if (context.closing.aborted) {
      throw new StatusError(503, "ServiceUnavailable", "the server is shutting down; connect again");
    }
    return answer();
  } catch (err) {
    const refusal = err instanceof StatusError ? err : brokenInside(context, request, err);
    const retryAfter = refusal.details?.["retryAfterSeconds"];
    return {
      kind: "answer",
      status: refusal.code,
      headers: {
        "content-type": "application/json",
        ...(typeof retryAfter === "number" ? { "retry-after": String(retryAfter) } : {}),
        ...(refusal.warning === undefined ? {} : { warning: refusal.warning }),
      },
      body: refusal.toStatus(),
    };
  }
}

// The message goes to the client, so it names the failure and never the object.
function brokenInside(context: ApiContext, request: ApiRequest, err: unknown): StatusError {
  context.log?.error({ err, method: request.method, path: request.path }, "Request failed inside the API server");
  const code = err instanceof Error && "code" in err && typeof err.code === "string" ? err.code : undefined;
  return internalError(
    code === undefined
      ? "the request failed; nothing was stored, the server's log has the cause"
      : err instanceof Error
        ? err.message
        : code,
  );
}

function verbOf(request: ApiRequest): string {
  try {
    return resolveRequest(request).verb;
  } catch {
    // A path that cannot be read was refused already; the record still counts it.
    return request.method.toLowerCase();
  }
}

/** Serves the CRDs in the store and remembers from now on which ones changed. */
function serveStoredCrds(context: ApiContext): Set<string> {
  const changed = new Set<string>(context.state.list(crdResource).map((entry) => entry.key));
  settleCrds(context, changed);
  context.state.subscribe(crdResource, (change) => {
    const before = objectAt(change.previous, "spec");
    if (change.type === "DELETED") {
      const group = stringAt(before, "group") ?? "";
      context.kinds.unregister(group, stringAt(objectAt(before, "names"), "plural") ?? "");
      // Its names are free now, and another definition may wait for them.
      const waiting = context.state.list(crdResource).filter((entry) => isWaitingForNames(entry.object, group));
      for (const entry of waiting) changed.add(entry.key);
      if (waiting.length > 0) context.timers.schedule(0, () => settleCrds(context, changed));
    } else if (!equalJson(before, objectAt(change.object, "spec"))) {
      changed.add(change.key);
    }
  });
  return changed;
}

function isWaitingForNames(crd: JsonObject, group: string): boolean {
  const conditions = objectsAt(crd["status"], "conditions");
  return objectAt(crd, "spec")["group"] === group && conditions.some(({ type, status }) => type === "NamesAccepted" && status === "False");
}

/** Serves what changed CRDs say and writes it into their status, before the next request is looked at. */
function settleCrds(context: ApiContext, changed: Set<string>): void {
  for (const key of changed) {
    changed.delete(key);
    const entry = context.state.get(crdResource, key);
    if (entry === undefined) continue;
    const status = establishCrd(context.kinds, entry.object, timestampOf(context.clock.now()));
    if (!equalJson(status, entry.object["status"])) {
      try {
        context.state.put(crdResource, key, { ...entry.object, status });
      } catch (err) {
        // The kind is served; only its status could not be stored. It is written with the next change or start.
        context.log?.error({ err, resource: crdResource, key }, "Status of a CustomResourceDefinition not stored");
      }
    }
  }
}

/** Gathers what aggregated ClusterRoles hold, now and, before the next request is looked at, after every change. */
function keepRolesAggregated(context: ApiContext): { settle(): void } {
  let isStale = true;
  context.state.subscribe(`${rbacGroup}/clusterroles`, () => {
    isStale = true;
  });
  const settle = (): void => {
    if (!isStale) return;
    try {
      aggregateRoles(context.state);
      isStale = false;
    } catch (err) {
      // The store took no write: the role keeps what it had, and the next request tries again.
      context.log?.error({ err }, "Rules of an aggregated ClusterRole not stored");
    }
  };
  settle();
  return { settle };
}

function createDefaults(context: ApiContext): void {
  const { state } = context;
  const ensure = (resource: string, namespace: string, name: string, make: () => JsonObject): void => {
    if (state.get(resource, keyOf(namespace, name)) === undefined) state.put(resource, keyOf(namespace, name), make());
  };
  for (const name of systemNamespaces) {
    ensure("/namespaces", "", name, () => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: context.newMetadata({ name, labels: { "kubernetes.io/metadata.name": name } }),
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    }));
  }
  for (const { plural, kind, name, namespace, labels, annotations, content } of bootstrapPolicy) {
    ensure(`${rbacGroup}/${plural}`, namespace, name, () => ({
      apiVersion: `${rbacGroup}/v1`,
      kind,
      metadata: { ...context.newMetadata({ name, ...(namespace === "" ? {} : { namespace }), labels }), annotations },
      ...content,
    }));
  }
  for (const [name, { value, description }] of Object.entries(systemPriorities)) {
    ensure("scheduling.k8s.io/priorityclasses", "", name, () => ({
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      // The same on every server: what else is made up does not depend on these.
      metadata: { name, uid: uidFrom(name), creationTimestamp: timestampOf(context.clock.now()), generation: 1 },
      value,
      description,
      preemptionPolicy: "PreemptLowerPriority",
    }));
  }
  ensure("/services", "default", "kubernetes", () => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: context.newMetadata({ name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } }),
    spec: {
      clusterIP: "10.96.0.1",
      clusterIPs: ["10.96.0.1"],
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
      sessionAffinity: "None",
      type: "ClusterIP",
    },
    status: { loadBalancer: {} },
  }));
}

function uidFrom(text: string): string {
  const digest = createHash("sha256").update(text).digest();
  return createUid({ bytes: (length) => digest.subarray(0, length), fraction: () => 0 });
}
