import type { KeyPair, Keys, TalosCredentials } from "@talos-operator/ports";
import { generateMachineConfig, patchMachineConfig } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";

/** The configs that the transcripts name, for one cluster's secrets. */
export function conformanceConfigs(secrets: SecretsBundle, endpoint: string): Readonly<Record<string, string>> {
  const base = {
    clusterName: "rt",
    endpoint,
    contract: "1.13" as const,
    kubernetesVersion: "1.36.3",
    secrets,
    platform: "container" as const,
  };
  const controlplane = generateMachineConfig({ role: "controlplane", ...base });
  const worker = generateMachineConfig({ role: "worker", ...base });
  const labelled = (value: string): string =>
    patchMachineConfig(controlplane, [`machine:\n  nodeAnnotations:\n    rt/v: "${value}"\n`], { contract: "1.13" });
  return {
    "controlplane.yaml": controlplane,
    "worker.yaml": worker,
    "v1.yaml": labelled("1"),
    "v2.yaml": labelled("2"),
    "v3.yaml": labelled("3"),
    "disk.yaml": patchMachineConfig(controlplane, ["machine:\n  install:\n    disk: /dev/sdz\n"], { contract: "1.13" }),
    "hostname.yaml": "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: other\n",
    "garbage.txt": "this: [is, not\n  yaml",
    "unknownkey.yaml": "machine:\n    nonsense: 1\n",
    "unknowndoc.yaml": "apiVersion: v1alpha1\nkind: NonsenseConfig\n",
    "badtype.yaml": controlplane.replace("type: controlplane", "type: nonsense"),
    "noendpoint.yaml": controlplane.replace(`endpoint: ${endpoint}`, "endpoint: https://"),
  };
}

const roles: Readonly<Record<string, string>> = {
  admin: "os:admin",
  reader: "os:reader",
  operator: "os:operator",
  "etcd-backup": "os:etcd:backup",
  impersonator: "os:impersonator",
  unknownrole: "os:nonsense",
};

/** Certificates that the transcripts name. */
export async function conformanceCredentials(
  keys: Keys,
  secrets: SecretsBundle,
  now: number,
): Promise<(who: string | undefined) => TalosCredentials> {
  const hourMs = 3_600_000;
  const { os } = secrets.certs;
  const sign = (authority: KeyPair, organizations: readonly string[], notBefore = now): Promise<KeyPair> =>
    keys.signCertificate(authority, { usage: "client", organizations, notBefore, lifetimeMs: hourMs });
  const pairs = new Map<string, KeyPair>();
  for (const [who, role] of Object.entries(roles)) pairs.set(who, await sign(os, [role]));
  pairs.set("norole", await sign(os, []));
  pairs.set("expired", await sign(os, ["os:admin"], now - 2 * hourMs));
  pairs.set("notyet", await sign(os, ["os:admin"], now + hourMs));
  pairs.set("otherca", await sign(await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore: now }), ["os:admin"]));
  return (who) => {
    const pair = who === undefined ? undefined : pairs.get(who);
    return pair === undefined ? { kind: "maintenance" } : { kind: "mutual", ca: os.certificate, ...pair };
  };
}
