import type { Clock, Logger, RandomSource, Timers } from "@talos-operator/ports";
import type { Authorize, AuthenticateToken } from "../auth/authorize.ts";
import type { RbacAuthorizer } from "../auth/rbac.ts";
import type { ServiceAccountTokens } from "../auth/service-account-tokens.ts";
import type { JsonObject } from "../json.ts";
import type { ReadCertificateRequest } from "../kinds/certificate-request.ts";
import type { ServedKind } from "../kinds/kind.ts";
import type { KindRegistry } from "../kinds/registry.ts";
import type { ApiRequest } from "../request/request.ts";
import type { CompiledVersion } from "../schema/index.ts";
import type { ObjectState } from "../store/state.ts";

/** What every route works with. */
export interface ApiContext {
  readonly state: ObjectState;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger | undefined;
  readonly authorize: Authorize;
  readonly rbac: RbacAuthorizer;
  /** False when somebody else than `rbac` decides; then nobody can list what a user may do. */
  readonly decidesByRbac: boolean;
  readonly authenticateToken: AuthenticateToken | undefined;
  readonly accountTokens: ServiceAccountTokens;
  readonly readCertificateRequest: ReadCertificateRequest;
  /** `major.minor.patch` that `/version` reports. */
  readonly kubernetesVersion: string;
  /** Milliseconds between bookmarks of a watch that asked for them. */
  readonly bookmarkIntervalMs: number;
  /** Watches that are open, and how many may be. */
  readonly watches: { open: number; readonly limit: number };
  /** Ends with the server. */
  readonly closing: AbortSignal;
  /** Metadata of an object that the server itself creates: with uid and creation time. */
  newMetadata(given: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  }): JsonObject;
}

/** One request to a kind, resolved. */
export interface ResourceCall {
  readonly request: ApiRequest;
  readonly kind: ServedKind;
  readonly version: CompiledVersion;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** Texts of `Warning` headers, filled while the call is worked on. */
  readonly warnings: string[];
}

/** RFC 3339 with seconds, as metav1.Time prints. */
export function timestampOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** A version 4 UUID. */
export function createUid(random: RandomSource): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** The five characters that follow `generateName`. */
export function createNameSuffix(random: RandomSource): string {
  return Array.from(random.bytes(5), (byte) => suffixAlphabet[byte % suffixAlphabet.length]).join("");
}
