import { Resolver } from "node:dns/promises";
import type { NameResolver } from "@talos-operator/ports";

/** Answers that say that there is nothing, as against failures. */
const NOTHING = new Set(["ENOTFOUND", "ENODATA"]);

/**
 * DNS by the resolvers of the system (`/etc/resolv.conf`), A and AAAA. `/etc/hosts` and search domains are not looked at: a machine's name is a whole one.
 *
 * Not `getaddrinfo`: it cannot be given up, and a few slow answers would fill the thread pool.
 *
 * @param servers resolvers to ask instead, `address` or `address:port`
 */
export function createNameResolver(servers?: readonly string[]): NameResolver {
  return {
    async resolve(name, { timeoutMs }) {
      const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
      if (servers !== undefined) resolver.setServers(servers);
      // One deadline for everything, however many servers there are.
      const deadline = setTimeout(() => resolver.cancel(), timeoutMs);
      try {
        const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
        const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
        const failed = answers.find((answer) => answer.status === "rejected" && !NOTHING.has(codeOf(answer.reason)));
        // Half an answer might be the half with the address that is refused.
        if (failed?.status === "rejected") throw failed.reason;
        return found;
      } finally {
        clearTimeout(deadline);
      }
    },
  };
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}
