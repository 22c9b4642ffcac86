/** Off where nothing says otherwise, and Talos says nothing. */
const CHECKS = ["corrupt-check-time", "experimental-corrupt-check-time"] as const;

/**
 * Whether an etcd that was started with these arguments (`resourceKinds.etcdSpec`) compares the data of all members with its own from time to time when it leads. That check
 * names the first member that differs from the leader, also where the leader is the only wrong one. The other check, after each compaction, which Talos
 * switches on, goes by the majority.
 *
 * @see etcd v3.6.14 `server/etcdserver/corrupt.go` PeriodicCheck, checkPeerHashes
 */
export function etcdComparesWithLeader(extraArguments: Readonly<Record<string, readonly string[]>>): boolean {
  return CHECKS.some((name) => {
    const given = extraArguments[name]?.at(-1);
    return given !== undefined && !/^[+-]?0+(?:ns|us|µs|ms|s|m|h)?$/.test(given);
  });
}
