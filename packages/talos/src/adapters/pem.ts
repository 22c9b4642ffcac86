/**
 * A private key as OpenSSL takes it.
 *
 * Talos writes Ed25519 keys under a label of its own; the content is ordinary PKCS#8, so only the label changes.
 *
 * @see siderolabs/crypto `x509/constants.go`
 */
export function opensslKey(pem: string): string {
  return pem.replaceAll("ED25519 PRIVATE KEY", "PRIVATE KEY");
}
