import type { CertificateRequestFacts } from "@talos-operator/ports";
import { loadX509 } from "./load.ts";

/** Longest text that is read as a request; one of a kubelet has some hundred bytes. */
const LONGEST = 64 * 1_024;

const pem = /^\s*-----BEGIN CERTIFICATE REQUEST-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE REQUEST-----\s*$/u;

/**
 * What a certificate request (PKCS #10, PEM) asks for.
 *
 * A name that stands in the subject more than once counts as each of its values; whoever wants one alone must ask for exactly one.
 *
 * @throws Error for what is no request, or several, or was not signed with the key that it is about
 */
export async function describeCertificateRequest(text: string): Promise<CertificateRequestFacts> {
  if (text.length > LONGEST || !pem.test(text)) throw new Error("it is no single certificate request in PEM");
  const x509 = await loadX509();
  const request = new x509.Pkcs10CertificateRequest(text);
  if (!(await request.verify())) throw new Error("it is not signed with its own key");
  const commonNames = request.subjectName.getField("CN");
  const names = [...request.extensions].flatMap((extension) =>
    extension instanceof x509.SubjectAlternativeNameExtension ? [...extension.names.items] : [],
  );
  const valuesOf = (kind: string): readonly string[] => names.filter(({ type }) => type === kind).map(({ value }) => value);
  return {
    // Two are none that anybody could mean.
    commonName: commonNames.length === 1 ? commonNames[0] : undefined,
    organizations: [...request.subjectName.getField("O")],
    dnsNames: valuesOf("dns"),
    ipAddresses: valuesOf("ip"),
    otherNames: names.filter(({ type }) => type !== "dns" && type !== "ip").map(({ type, value }) => `${type}:${value}`),
  };
}
