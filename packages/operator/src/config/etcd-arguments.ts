const QUOTA = "quota-backend-bytes";

/** A whole number as etcd reads its flags. @see Go `flag.Int64`, which is `strconv.ParseInt(text, 0, 64)` */
const WHOLE_NUMBER = /^[+-]?(?:0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?\d)*)$/;

/** Why etcd would not start with these arguments (`cluster.etcd.extraArgs`), in words; `undefined` = nothing that is known here. */
export function etcdArgumentTrouble(given: Readonly<Record<string, readonly string[]>>): string | undefined {
  const wrong = given[QUOTA]?.find((text) => !WHOLE_NUMBER.test(text));
  if (wrong === undefined) return undefined;
  return `cluster.etcd.extraArgs.${QUOTA} is ${JSON.stringify(wrong.slice(0, 40))}, and etcd would not start: give the quota in bytes as a whole number, 4294967296 for 4 GiB`;
}
