import { etcdFlagNumber } from "@talos-operator/talos/client";

const QUOTA = "quota-backend-bytes";

/** Why etcd would not start with these arguments (`cluster.etcd.extraArgs`), in words; `undefined` = nothing that is known here. */
export function etcdArgumentTrouble(given: Readonly<Record<string, readonly string[]>>): string | undefined {
  const wrong = given[QUOTA]?.find((text) => etcdFlagNumber(text) === undefined);
  if (wrong === undefined) return undefined;
  return `cluster.etcd.extraArgs.${QUOTA} is ${JSON.stringify(wrong.slice(0, 40))}, and etcd would not start: give the quota in bytes as a whole number, 4294967296 for 4 GiB`;
}
