import { annotations } from "@talos-operator/api";
import type { ObjectMeta } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, KeyPair, Keys } from "@talos-operator/ports";
import { checkAuthority } from "@talos-operator/talos";
import { secretText, secretType } from "./secret.ts";
import type { Secret } from "./secret.ts";
import type { SeenGiven } from "../model/observation.ts";

/** Keys of a Secret with given secrets. */
export const givenSecretKeys = { token: "token", certificate: "ca.crt", key: "ca.key" } as const;

/** Talos takes any text as a token; one line of printable characters is what every way of writing a config keeps. */
const TOKEN = /^[!-~]{1,256}$/;

/** A leaf is signed to see whether the authority can, and thrown away. Milliseconds. */
const TRIAL_LIFETIME_MS = 3_600_000;

/** Token and authority of the Talos API that somebody chose for a new cluster. In memory only, for as long as keys are made. */
export interface GivenSecrets {
  readonly token: string;
  readonly authority: KeyPair;
}

/** Name of the Secret that an object says its keys are given in; `undefined` = the operator makes all of them. */
export function givenSecretsName({ annotations: words }: ObjectMeta): string | undefined {
  const name = words?.[annotations.givenSecrets]?.trim() ?? "";
  return name === "" ? undefined : name;
}

/**
 * Reads the secrets that somebody gave, and tries them: the key must belong to the certificate, and what it signs must be accepted now.
 *
 * @throws KubeApiError when the Secret cannot be read: then nobody knows
 */
export async function readGivenSecrets(
  { client, keys, clock }: { readonly client: KubeClient; readonly keys: Keys; readonly clock: Clock },
  namespace: string,
  name: string,
): Promise<SeenGiven & { readonly given?: GivenSecrets }> {
  const source = `Secret ${name}`;
  const secret = await client.resource<Secret>(secretType).tryGet({ namespace, name });
  if (secret === undefined) return { source, problem: "it does not exist" };
  const [token, certificate, key] = [givenSecretKeys.token, givenSecretKeys.certificate, givenSecretKeys.key].map((one) =>
    secretText(secret, one)?.trim(),
  );
  const absent = Object.values(givenSecretKeys).filter((one) => (secretText(secret, one) ?? "").trim() === "");
  if (token === undefined || certificate === undefined || key === undefined || absent.length > 0)
    return { source, problem: `it lacks ${absent.join(" and ")}` };
  if (!TOKEN.test(token)) return { source, problem: "its token is too long, or has blanks in it" };
  const authority = { certificate: `${certificate}\n`, key: `${key}\n` };
  const problem = await problemOf(authority, keys, clock.now());
  return problem === undefined ? { source, given: { token, authority } } : { source, problem };
}

async function problemOf(authority: KeyPair, keys: Keys, now: number): Promise<string | undefined> {
  try {
    if (!keys.isPair(authority)) return "its ca.key does not belong to its ca.crt";
    const { notBefore, notAfter } = keys.describeCertificate(authority.certificate);
    if (now < notBefore || now >= notAfter) return "its ca.crt is not valid now";
    const [wrong] = checkAuthority("its ca.crt", authority, { now });
    if (wrong !== undefined) return wrong.detail;
    const leaf = await keys.signCertificate(authority, { usage: "client", notBefore: now, lifetimeMs: TRIAL_LIFETIME_MS });
    return keys.verifyCertificate(leaf.certificate, authority.certificate, now)
      ? undefined
      : "its ca.crt accepts nothing that its ca.key signs";
  } catch {
    // The cause may quote a key.
    return "its ca.crt and ca.key are no PEM certificate and key that can sign";
  }
}
