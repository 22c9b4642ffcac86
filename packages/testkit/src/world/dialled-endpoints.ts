import type { Clock, EndpointAnswer, EndpointProbe, KeyPair, Keys, Timers } from "@talos-operator/ports";

/** Where simulated API servers listen. */
export interface ListeningServers {
  /** By `address|port`. */
  readonly places: ReadonlyMap<string, { readonly certificate: KeyPair; readonly names: readonly string[] }>;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whether the network between operator and an address works. */
  readonly isConnected: (address: string) => boolean;
  /** Certificates that are old are replaced. */
  readonly renewOld: () => Promise<void>;
  /** What DNS says of a name. */
  readonly resolve: (name: string) => readonly string[] | undefined;
}

/** Tells the truth of what answers where an endpoint leads, as DNS and TLS would. */
export function createDialledEndpoints({ places, keys, clock, timers, isConnected, renewOld, resolve }: ListeningServers): EndpointProbe {
  const answerAt = (
    address: string,
    port: string,
    { host, ca }: { readonly host: string | undefined; readonly ca: string },
  ): EndpointAnswer => {
    const place = places.get(`${address}|${port}`);
    if (!isConnected(address)) return { kind: "silent", detail: "no answer in time" };
    if (place === undefined) return { kind: "refused", detail: "nobody listens there" };
    const { certificate } = place.certificate;
    if (keys.verifyCertificate(certificate, ca, clock.now()))
      return host === undefined || place.names.includes(host)
        ? { kind: "reached", detail: "an API server answers 401" }
        : { kind: "unfit", detail: "its certificate is for other names" };
    // Whose it is shows at a time at which it is in force.
    const isOurs = keys.verifyCertificate(certificate, ca, keys.describeCertificate(certificate).notBefore);
    return isOurs
      ? { kind: "unfit", detail: "its certificate is not in force now" }
      : { kind: "foreign", detail: "another authority signed its certificate" };
  };
  return {
    async ask({ endpoint, ca, anyName }, { timeoutMs }) {
      await renewOld();
      const url = new URL(endpoint);
      const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
      const asked = { host: anyName === true ? undefined : host, ca };
      const isAddress = /^[\d.]+$|:/.test(host);
      const answers = (isAddress ? [host] : (resolve(host) ?? [])).map((address) => answerAt(address, url.port || "443", asked));
      const answer = answers.find(({ kind }) => kind === "reached") ?? answers[0];
      if (answer?.kind === "silent") await timers.sleep(timeoutMs);
      return answer ?? { kind: "unresolvable", detail: "the name does not resolve" };
    },
  };
}
