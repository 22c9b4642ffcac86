import { deniedHost, parseHost } from "@talos-operator/api";
import type { Host, HostOptions, ReadyReason } from "@talos-operator/api";
import type {
  Clock,
  NameResolver,
  TalosCallFailure,
  TalosChannel,
  TalosCredentials,
  TalosDialer,
  TalosTarget,
} from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";

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
 * moment later changes nothing. TLS still demands the name. A channel never moves: one that is kept asks DNS again from time to time, fails when the name
 * leads elsewhere by then, and who follows the name dials anew.
 *
 * @param names `undefined` refuses every name
 * @param clock for channels that are kept; without it DNS is asked once
 */
export function createCheckedDialer(dialer: TalosDialer, names: NameResolver | undefined, hosts: HostOptions, clock?: Clock): TalosDialer {
  const placeOf = async (target: TalosTarget): Promise<TalosTarget | undefined> => {
    try {
      return { ...target, ...(await checkedPlace(parseHost(target.address), target, names, hosts)) };
    } catch (thrown) {
      if (thrown instanceof AddressRefusal) return undefined;
      throw thrown;
    }
  };
  return {
    dial(target, credentials) {
      const host = parseHost(target.address);
      if ("kind" in host && host.kind === "ip" && deniedHost(host, hosts) === undefined) return dialer.dial(target, credentials);
      return new CheckedChannel(
        target,
        async () => ({ ...target, ...(await checkedPlace(host, target, names, hosts)) }),
        dialer,
        credentials,
        "kind" in host && host.kind === "name" ? clock : undefined,
      );
    },
    async reaches(target, timeoutMs) {
      const place = await placeOf(target);
      return place !== undefined && dialer.reaches(place, timeoutMs);
    },
    async hold(target, options) {
      const place = await placeOf(target);
      return place === undefined ? "unreached" : dialer.hold(place, options);
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

/** How long the answer of DNS counts for a channel that is kept. */
const ASKED_AGAIN_MS = 10_000;

/** The name of a kept channel leads elsewhere: whoever is there is to be met by a handshake of his own. */
class MovedAway extends Error implements TalosCallFailure {
  override readonly name = "TalosCallFailure";
  readonly code = UNAVAILABLE;

  constructor(name: string) {
    super(`${name} leads to another address by now`);
  }
}

/** A channel whose address is looked up at the first call, and stays. */
class CheckedChannel implements TalosChannel {
  readonly target: TalosTarget;
  readonly #find: () => Promise<TalosTarget>;
  readonly #dialer: TalosDialer;
  readonly #credentials: TalosCredentials;
  readonly #clock: Clock | undefined;
  #askedAt = 0;
  #asking: Promise<void> | undefined;
  #opening: Promise<TalosChannel> | undefined;
  #channel: TalosChannel | undefined;
  #isClosed = false;

  constructor(
    target: TalosTarget,
    find: () => Promise<TalosTarget>,
    dialer: TalosDialer,
    credentials: TalosCredentials,
    clock: Clock | undefined,
  ) {
    this.target = target;
    this.#find = find;
    this.#dialer = dialer;
    this.#credentials = credentials;
    this.#clock = clock;
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

  async #open(): Promise<TalosChannel> {
    if (this.#channel !== undefined) await this.#askAgain(this.#channel.target.address);
    this.#opening ??= this.#find().then((target) => {
      this.#askedAt = this.#clock?.now() ?? 0;
      const channel = this.#dialer.dial(target, this.#credentials);
      if (this.#isClosed) channel.close();
      this.#channel = channel;
      return channel;
    });
    return this.#opening;
  }

  /** Calls that come together share the answer. While DNS is silent the connection that stands is as good as it was. */
  #askAgain(address: string): Promise<void> {
    const clock = this.#clock;
    if (clock === undefined || elapsedMs(this.#askedAt, clock.now()) < ASKED_AGAIN_MS) return Promise.resolve();
    this.#asking ??= this.#find()
      .then(
        (found) => {
          if (found.address !== address) throw new MovedAway(this.target.address);
        },
        (thrown: unknown) => {
          if (!(thrown instanceof AddressRefusal) || thrown.reason !== "NameUnresolved") throw thrown;
        },
      )
      .then(() => {
        this.#askedAt = clock.now();
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
