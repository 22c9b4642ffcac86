/** What etcd keeps to where its arguments say nothing, or 0. @see etcd v3.6.14 `server/storage/quota.go` DefaultQuotaBytes */
export const ETCD_DEFAULT_QUOTA_BYTES = 2_147_483_648;

/** Above it etcd warns in its log, and keeps to the larger one. @see etcd v3.6.14 `server/storage/quota.go` MaxQuotaBytes */
export const ETCD_ADVISED_QUOTA_BYTES = 8_589_934_592;

/**
 * How large the file of an etcd may grow that was started with these arguments (`resourceKinds.etcdSpec`). `Infinity`: it was told to have no quota; `undefined`:
 * the argument is no whole number, and nobody knows.
 */
export function etcdQuotaBytes(extraArguments: Readonly<Record<string, readonly string[]>>): number | undefined {
  const given = extraArguments["quota-backend-bytes"]?.at(-1);
  if (given === undefined || /^[+-]?0+$/.test(given)) return ETCD_DEFAULT_QUOTA_BYTES;
  if (!/^[+-]?[1-9]\d{0,15}$/.test(given) || !Number.isSafeInteger(Number(given))) return undefined;
  return Number(given) < 0 ? Number.POSITIVE_INFINITY : Number(given);
}
