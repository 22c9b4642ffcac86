const QUOTA = "quota-backend-bytes";

/** What etcd keeps to where its arguments say nothing, or 0. @see etcd v3.6.14 `server/storage/quota.go` DefaultQuotaBytes */
export const ETCD_DEFAULT_QUOTA_BYTES = 2_147_483_648;

/** Above it etcd warns in its log, and keeps to the larger one. @see etcd v3.6.14 `server/storage/quota.go` MaxQuotaBytes */
export const ETCD_ADVISED_QUOTA_BYTES = 8_589_934_592;

/**
 * How large the file of an etcd may grow that was started with these arguments (`resourceKinds.etcdSpec`). Bytes, rounded above 2^53; `Infinity`: it was told to have no
 * quota; `undefined`: etcd does not start with the argument.
 */
export function etcdQuotaBytes(extraArguments: Readonly<Record<string, readonly string[]>>): number | undefined {
  const bytes = etcdFlagNumber(extraArguments[QUOTA]?.at(-1) ?? "0");
  if (bytes === 0) return ETCD_DEFAULT_QUOTA_BYTES;
  return bytes !== undefined && bytes < 0 ? Number.POSITIVE_INFINITY : bytes;
}

const WHOLE_NUMBER = /^([+-]?)(0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?\d)*)$/;

/**
 * A whole number of 64 bits as etcd reads its flags, rounded above 2^53: decimal, or by its prefix; `0755` is octal. `undefined` = etcd ends with exit code 2.
 *
 * @see Go `flag.Int64`, which is `strconv.ParseInt(text, 0, 64)`
 */
export function etcdFlagNumber(text: string): number | undefined {
  const [, sign, digits = ""] = WHOLE_NUMBER.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const plain = digits.replaceAll("_", "");
  const size = BigInt(/^0[0-7]+$/.test(plain) ? `0o${plain.slice(1)}` : plain);
  const value = sign === "-" ? -size : size;
  return BigInt.asIntN(64, value) === value ? Number(value) : undefined;
}
