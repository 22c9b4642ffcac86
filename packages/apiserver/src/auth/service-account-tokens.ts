import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock, RandomSource } from "@talos-operator/ports";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, stringAt, stringsAt } from "../request/json.ts";
import type { ApiUser } from "../request/request.ts";
import type { ObjectState } from "../store/state.ts";
import { serverAudience } from "./tokens.ts";

/** What a token is to say. */
export interface TokenSpec {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  readonly lifetimeSeconds: number;
  /** An object without which the token is void. */
  readonly bound?: { readonly kind: "Pod" | "Secret" | "Node"; readonly name: string; readonly uid: string };
}

/** What came of looking at a token. */
export type TokenOutcome =
  { readonly ok: true; readonly user: ApiUser; readonly audiences: readonly string[] } | { readonly ok: false; readonly why: string };

/** Where the store keeps the key; no kind is served under this name. */
const keyResource = "talos-operator.dev/token-keys";
const boundResources = { Pod: "/pods", Secret: "/secrets", Node: "/nodes" } as const;

/**
 * Issues and checks the tokens of ServiceAccounts: signed with a key that is made with the first of them and kept in the store, so that they
 * survive a restart. They are for this server alone; nobody else can check them.
 */
export class ServiceAccountTokens {
  readonly #state: ObjectState;
  readonly #clock: Clock;
  readonly #random: RandomSource;

  constructor(state: ObjectState, clock: Clock, random: RandomSource) {
    this.#state = state;
    this.#clock = clock;
    this.#random = random;
  }

  /** A signed token (JWT, HS256). */
  issue(spec: TokenSpec, id: string): { readonly token: string; readonly expiresAt: number } {
    const now = Math.floor(this.#clock.now() / 1000);
    const { bound } = spec;
    const claims = {
      aud: spec.audiences,
      exp: now + spec.lifetimeSeconds,
      iat: now,
      iss: serverAudience,
      jti: id,
      "kubernetes.io": {
        namespace: spec.namespace,
        ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
        serviceaccount: { name: spec.name, uid: spec.uid },
      },
      nbf: now,
      sub: `system:serviceaccount:${spec.namespace}:${spec.name}`,
    };
    const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
    return { token: `${signed}.${this.#sign(signed, this.#key() ?? this.#newKey())}`, expiresAt: (now + spec.lifetimeSeconds) * 1000 };
  }

  /** The ServiceAccount behind a token, when it is good for one of the audiences. */
  check(token: string, audiences: readonly string[] = [serverAudience]): TokenOutcome {
    const unknown: TokenOutcome = { ok: false, why: "invalid bearer token" };
    const key = this.#key();
    const parts = token.split(".");
    if (key === undefined || parts.length !== 3) return unknown;
    const expected = Buffer.from(this.#sign(`${parts[0] ?? ""}.${parts[1] ?? ""}`, key));
    const given = Buffer.from(parts[2] ?? "");
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) return unknown;
    // Signed by us, so it is what we wrote.
    const claims = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString()) as JsonObject;
    if (Number(claims["exp"]) * 1000 <= this.#clock.now()) {
      return { ok: false, why: "[invalid bearer token, service account token has expired]" };
    }
    const held = stringsAt(claims, "aud");
    const shared = audiences.filter((audience) => held.includes(audience));
    if (shared.length === 0) {
      const list = (names: readonly string[]): string => `[${names.map((name) => JSON.stringify(name)).join(" ")}]`;
      return {
        ok: false,
        why: `[invalid bearer token, token audiences ${list(held)} is invalid for the target audiences ${list(audiences)}]`,
      };
    }
    const facts = objectAt(claims, "kubernetes.io");
    const namespace = stringAt(facts, "namespace") ?? "";
    const account = objectAt(facts, "serviceaccount");
    if (!this.#exists("/serviceaccounts", namespace, account)) {
      return { ok: false, why: "[invalid bearer token, service account token has been invalidated]" };
    }
    const extra: Record<string, readonly string[]> = { "authentication.kubernetes.io/credential-id": [`JTI=${String(claims["jti"])}`] };
    for (const [kind, resource] of Object.entries(boundResources)) {
      const field = kind.toLowerCase();
      const bound = facts[field];
      if (!isObject(bound)) continue;
      if (!this.#exists(resource, kind === "Node" ? "" : namespace, bound)) {
        return { ok: false, why: "[invalid bearer token, service account token has been invalidated]" };
      }
      if (kind === "Secret") continue;
      extra[`authentication.kubernetes.io/${field}-name`] = [String(bound["name"])];
      extra[`authentication.kubernetes.io/${field}-uid`] = [String(bound["uid"])];
    }
    const user: ApiUser = {
      name: String(claims["sub"]),
      uid: String(account["uid"]),
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
      extra,
    };
    return { ok: true, user, audiences: shared };
  }

  #exists(resource: string, namespace: string, named: JsonObject): boolean {
    const entry = this.#state.get(resource, keyOf(namespace, stringAt(named, "name") ?? ""));
    return entry !== undefined && metadataOf(entry.object)["uid"] === named["uid"];
  }

  #sign(text: string, key: Uint8Array): string {
    return createHmac("sha256", key).update(text).digest("base64url");
  }

  #key(): Uint8Array | undefined {
    const entry = this.#state.get(keyResource, keyOf("", "current"));
    return entry === undefined ? undefined : Buffer.from(String(entry.object["key"]), "base64");
  }

  #newKey(): Uint8Array {
    const key = this.#random.bytes(32);
    this.#state.put(keyResource, keyOf("", "current"), { metadata: { name: "current" }, key: Buffer.from(key).toString("base64") });
    return key;
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
