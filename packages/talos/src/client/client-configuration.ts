import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import { GenerateClientConfigurationRequestSchema, MachineService } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** A client certificate that a control plane made. It redacts itself where it is printed; the key is in `key` and in `talosconfig`. */
export class ClientConfiguration {
  /** PEM. */
  readonly ca: string;
  /** PEM. */
  readonly certificate: string;
  readonly #key: string;
  readonly #talosconfig: string;

  constructor(parts: { readonly ca: string; readonly certificate: string; readonly key: string; readonly talosconfig: string }) {
    this.ca = parts.ca;
    this.certificate = parts.certificate;
    this.#key = parts.key;
    this.#talosconfig = parts.talosconfig;
  }

  /** PEM; secret. */
  get key(): string {
    return this.#key;
  }

  /** YAML without endpoints; holds the key. */
  get talosconfig(): string {
    return this.#talosconfig;
  }

  toJSON(): { readonly ca: string; readonly certificate: string; readonly key: "[redacted]" } {
    return { ca: this.ca, certificate: this.certificate, key: "[redacted]" };
  }
}

export interface ClientConfigurationCalls {
  /**
   * Lets a control plane sign a client certificate. Needs `os:admin`. Default deadline 30 s.
   *
   * @param input.roles default `os:admin` alone
   * @param input.lifetimeMs more than 0
   * @throws TalosError `UNIMPLEMENTED` on a worker, `INVALID_ARGUMENT` for a lifetime that is not positive
   */
  generateClientConfiguration(
    input: { readonly roles?: readonly string[]; readonly lifetimeMs: number },
    options?: CallOptions,
  ): Promise<ClientConfiguration>;
}

const GENERATE = methodOf(MachineService.method.generateClientConfiguration);

export function clientConfigurationCalls(caller: Caller): ClientConfigurationCalls {
  return {
    async generateClientConfiguration(input, options) {
      const request = create(GenerateClientConfigurationRequestSchema, {
        roles: [...(input.roles ?? ["os:admin"])],
        crtTtl: durationFromMs(input.lifetimeMs),
      });
      const part = await caller.one(GENERATE, request, EFFECT_TIMEOUT_MS, options);
      const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
      return new ClientConfiguration({
        ca: text(part.ca),
        certificate: text(part.crt),
        key: text(part.key),
        talosconfig: text(part.talosconfig),
      });
    },
  };
}
