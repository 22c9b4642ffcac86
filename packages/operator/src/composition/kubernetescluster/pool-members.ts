/** A control plane as far as the shared address is concerned. */
export interface PoolMember {
  /** `undefined` while its provider names none. */
  readonly address: string | undefined;
  /** It is on its way out of the cluster, whoever asked for it. */
  readonly leaves: boolean;
}

/**
 * Addresses behind the shared address of a cluster. Pure.
 *
 * The list only grows while control planes come: one that is in it stays until it is known to leave, also while its provider does not name its address
 * (V17). One that leaves is taken out and never comes back (V18). The order stays, and the list is never emptied: an address that leads nowhere helps nobody.
 *
 * @param previous as the list stands now
 */
export function poolMembers(previous: readonly string[], machines: readonly PoolMember[]): readonly string[] {
  const staying = machines.filter(({ leaves }) => !leaves);
  const known = [...new Set(staying.flatMap(({ address }) => address ?? []))];
  const gone = new Set(machines.flatMap(({ address, leaves }) => (leaves && address !== undefined ? [address] : [])));
  const isComplete = staying.every(({ address }) => address !== undefined);
  const kept = previous.filter((address) => known.includes(address) || (!isComplete && !gone.has(address)));
  const members = [...kept, ...known.filter((address) => !kept.includes(address))];
  return members.length === 0 ? previous : members;
}
