import { deniedHost, parseHost } from "@talos-operator/api";
import type { Host, HostOptions, ReadyReason } from "@talos-operator/api";
import type { NameResolver, TalosCallFailure, TalosChannel, TalosCredentials, TalosDialer, TalosTarget } from "@talos-operator/ports";

/** How long a name may take to be resolved. */
const NAME_TIMEOUT_MS = 2_000;

/** Most addresses a name may have. */
const MAX_ADDRESSES = 16;

/** gRPC's UNAVAILABLE: nothing was sent. */
const UNAVAILABLE = 14;

/** An address that nobody is asked at, found out at the moment of connecting. */
export class AddressRefusal extends Error implements TalosCallFailure {
  override readonly name = "TalosCallFailure";
  readonly code = UNAVAILABLE;
  readonly reason: Extract<ReadyReason, "AddressRefused" | "NameUnresolved">;

  constructor(reason: AddressRefusal["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * A dialer that connects only to addresses where machines can be, however they are written.
 *
 * A DNS name is resolved once for each channel, every address of the answer is checked, and the connection goes to a checked address: what the name says a
 * moment later changes nothing. TLS still demands the name. A channel never moves: who follows a name dials anew.
 *
 * @param names `undefined` refuses every name
 */
export function createCheckedDialer(dialer: TalosDialer, names: NameResolver | undefined, hosts: HostOptions): TalosDialer {
  return {
    dial(target, credentials) {
      const host = parseHost(target.address);
      if ("kind" in host && host.kind === "ip" && deniedHost(host, hosts) === undefined) return dialer.dial(target, credentials);
      return new CheckedChannel(
        target,
        async () => ({ ...target, ...(await checkedPlace(host, target, names, hosts)) }),
        dialer,
        credentials,
      );
    },
  };
}

/** The address to connect to, and the name that TLS demands. */
async function checkedPlace(
  host: ReturnType<typeof parseHost>,
  { address }: TalosTarget,
  names: NameResolver | undefined,
  hosts: HostOptions,
): Promise<Pick<TalosTarget, "address" | "serverName">> {
  if (!("kind" in host)) throw new AddressRefusal("AddressRefused", `${host.message}. ${host.remedy}.`);
  const denied = deniedHost(host, hosts);
  if (denied !== undefined) throw new AddressRefusal("AddressRefused", `${denied.message}. ${denied.remedy}.`);
  if (host.kind === "ip") return { address };
  if (names === undefined)
    throw new AddressRefusal("NameUnresolved", `${host.text} is a name, and this process resolves none. Write an IP address.`);
  const found = await resolve(host.text, names);
  if (found.length === 0)
    throw new AddressRefusal("NameUnresolved", `${host.text} has no address in DNS. Correct the name or its DNS entry.`);
  if (found.length > MAX_ADDRESSES)
    throw new AddressRefusal(
      "AddressRefused",
      `${host.text} has more than ${MAX_ADDRESSES} addresses in DNS. Give the machine a name of its own.`,
    );
  const parsed = found.map((one) => parseHost(one));
  for (const one of parsed) {
    const problem = !("kind" in one) ? one : one.kind === "name" ? { message: "it is no address", remedy: "" } : deniedHost(one, hosts);
    if (problem !== undefined)
      throw new AddressRefusal(
        "AddressRefused",
        `${host.text} leads in DNS to an address where no machine can be: ${problem.message}. Correct its DNS entry.`,
      );
  }
  const [first] = parsed.filter((one): one is Extract<Host, { kind: "ip" }> => "kind" in one && one.kind === "ip").toSorted(byAddress);
  return { address: first?.text ?? "", serverName: host.text };
}

async function resolve(name: string, names: NameResolver): Promise<readonly string[]> {
  try {
    return await names.resolve(name, { timeoutMs: NAME_TIMEOUT_MS });
  } catch {
    // Whatever went wrong between here and the resolver: there is no address.
    throw new AddressRefusal(
      "NameUnresolved",
      `DNS gave no answer for ${name} within ${NAME_TIMEOUT_MS / 1_000} s. Look at its DNS entry and the resolvers.`,
    );
  }
}

/** IPv4 first, then by number: the order of an answer changes from one to the next. */
function byAddress(a: Extract<Host, { kind: "ip" }>, b: Extract<Host, { kind: "ip" }>): number {
  if (a.ip.family !== b.ip.family) return a.ip.family - b.ip.family;
  return a.ip.value < b.ip.value ? -1 : a.ip.value > b.ip.value ? 1 : 0;
}

/** A channel whose address is looked up at the first call, and stays. */
class CheckedChannel implements TalosChannel {
  readonly target: TalosTarget;
  readonly #find: () => Promise<TalosTarget>;
  readonly #dialer: TalosDialer;
  readonly #credentials: TalosCredentials;
  #opening: Promise<TalosChannel> | undefined;
  #channel: TalosChannel | undefined;
  #isClosed = false;

  constructor(target: TalosTarget, find: () => Promise<TalosTarget>, dialer: TalosDialer, credentials: TalosCredentials) {
    this.target = target;
    this.#find = find;
    this.#dialer = dialer;
    this.#credentials = credentials;
  }

  unary: TalosChannel["unary"] = async (method, request, options) => (await this.#open()).unary(method, request, options);

  upload: TalosChannel["upload"] = async (method, requests, options) => (await this.#open()).upload(method, requests, options);

  serverStream: TalosChannel["serverStream"] = (method, request, options) => {
    const open = (): Promise<TalosChannel> => this.#open();
    return (async function* () {
      yield* (await open()).serverStream(method, request, options);
    })();
  };

  peerSpki(): string | undefined {
    return this.#channel?.peerSpki();
  }

  close(): void {
    this.#isClosed = true;
    this.#channel?.close();
  }

  #open(): Promise<TalosChannel> {
    this.#opening ??= this.#find().then((target) => {
      const channel = this.#dialer.dial(target, this.#credentials);
      if (this.#isClosed) channel.close();
      this.#channel = channel;
      return channel;
    });
    return this.#opening;
  }
}
