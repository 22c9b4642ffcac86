import type { KeyPair } from "@talos-operator/ports";

/** A key pair whose private key does not show in JSON, logs and on the console. A copy made by spreading shows it again. */
export function createKeyPair(certificate: string, key: string): KeyPair {
  const hidden = { enumerable: false, value: (): unknown => ({ certificate, key: "[private key]" }) };
  return Object.defineProperties({ certificate, key }, { toJSON: hidden, [Symbol.for("nodejs.util.inspect.custom")]: hidden });
}
