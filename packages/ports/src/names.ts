/** DNS. One implementation asks the system's resolvers, one is a table in simulation. */
export interface NameResolver {
  /**
   * The IPv4 and IPv6 addresses of a name, as the answer lists them; empty when there is no such name or it has none.
   *
   * @throws any error when nobody answered within `timeoutMs`, or the answer was a failure
   */
  resolve(name: string, options: { readonly timeoutMs: number }): Promise<readonly string[]>;
}
