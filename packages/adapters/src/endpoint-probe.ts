import { lookup } from "node:dns/promises";
import { get } from "node:https";
import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import type { EndpointAnswer, EndpointProbe, NameResolver } from "@talos-operator/ports";

const NO_SUCH_NAME: EndpointAnswer = { kind: "unresolvable", detail: "the name does not resolve" };

/** Addresses of a name that are asked. */
const MOST_ADDRESSES = 8;

/** Longest answer that is read: whoever answers may be anybody. */
const MOST_BYTES = 65_536;

/** Of several addresses the answer that says most is told. */
const WEIGHT: readonly EndpointAnswer["kind"][] = ["foreign", "unfit", "not-kubernetes", "refused", "silent"];

/**
 * Asks endpoints by DNS and TLS: `GET /version` without credentials. Talos lets no anonymous client in, and a refusal in the words of an API server proves as
 * much as an answer: TLS has proved before that the server's key is this cluster's.
 *
 * @param names resolves the names of endpoints
 */
export function createEndpointProbe(names: NameResolver): EndpointProbe {
  return {
    async ask({ endpoint, ca, anyName }, { timeoutMs, signal }) {
      const url = URL.parse(endpoint);
      if (url?.protocol !== "https:") return { kind: "unresolvable", detail: "it is no https URL" };
      const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
      const until = Date.now() + timeoutMs;
      // Half of the time is left for whoever is there.
      const addresses = isIP(host) === 0 ? await addressesOf(host, names, timeoutMs / 4) : [host];
      if ("kind" in addresses) return addresses;
      const answers: EndpointAnswer[] = [];
      for (const [index, address] of addresses.entries()) {
        const leftMs = Math.max(1, Math.floor((until - Date.now()) / (addresses.length - index)));
        const answer = await askAddress({ address, host, port: Number(url.port || 443), ca, anyName }, leftMs, signal);
        if (answer.kind === "reached") return answer;
        answers.push(answer);
      }
      return answers.toSorted((a, b) => WEIGHT.indexOf(a.kind) - WEIGHT.indexOf(b.kind))[0] ?? { kind: "unresolvable", detail: "" };
    },
  };
}

/** The addresses of a name, as DNS has them, else as the system does: a hosts file names what DNS does not. Takes `timeoutMs` twice. */
async function addressesOf(host: string, names: NameResolver, timeoutMs: number): Promise<readonly string[] | EndpointAnswer> {
  // Never anybody's, and no resolver is to be asked (RFC 6761, 6.4): known where there is no DNS, too.
  if (host.endsWith(".invalid")) return NO_SUCH_NAME;
  try {
    const found = await names.resolve(host, { timeoutMs });
    if (found.length > 0) return found.slice(0, MOST_ADDRESSES);
  } catch (thrown) {
    return { kind: "silent", detail: `DNS does not answer (${codeOf(thrown)})` };
  }
  try {
    const { promise, resolve } = Promise.withResolvers<readonly { readonly address: string }[]>();
    const deadline = setTimeout(() => resolve([]), timeoutMs);
    const found = await Promise.race([lookup(host, { all: true }), promise]).finally(() => clearTimeout(deadline));
    if (found.length > 0) return found.slice(0, MOST_ADDRESSES).map(({ address }) => address);
  } catch {
    // DNS has said already that there is nothing.
  }
  return NO_SUCH_NAME;
}

interface Server {
  readonly address: string;
  /** The name, or address, that the certificate must hold. */
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly anyName: true | undefined;
}

function askAddress(
  { address, host, port, ca, anyName }: Server,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<EndpointAnswer> {
  return new Promise((resolve) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const request = get(
      {
        host: address,
        port,
        path: "/version",
        ca,
        // Each time anew: an earlier connection tells nothing of the way there now.
        agent: false,
        servername: isIP(host) === 0 ? host : "",
        checkServerIdentity: (_, certificate) => (anyName === true ? undefined : checkServerIdentity(host, certificate)),
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      },
      (response) => {
        let text = "";
        const end = (): void => {
          resolve(answerOf(response.statusCode ?? 0, text));
          request.destroy();
        };
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
          if (text.length > MOST_BYTES) end();
        });
        response.on("end", end);
        response.on("error", (error) => resolve(failureOf(error)));
      },
    );
    request.on("error", (error) => resolve(failureOf(error)));
  });
}

/** What speaks there, by its words: a version, or a Status such as "Unauthorized". */
function answerOf(status: number, text: string): EndpointAnswer {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && (("kind" in body && body.kind === "Status") || "gitVersion" in body))
      return { kind: "reached", detail: `an API server answers ${status}` };
  } catch {
    // What is no JSON is no API server's.
  }
  return { kind: "not-kubernetes", detail: `the answer ${status} is no API server's` };
}

const REFUSED = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE"]);
const UNFIT = new Set(["ERR_TLS_CERT_ALTNAME_INVALID", "CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]);
const FOREIGN = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "INVALID_CA",
  "INVALID_PURPOSE",
]);

function failureOf(error: Error): EndpointAnswer {
  const code = codeOf(error);
  if (REFUSED.has(code))
    return { kind: "refused", detail: code === "ECONNREFUSED" ? "nobody listens there" : "the connection is ended at once" };
  if (FOREIGN.has(code)) return { kind: "foreign", detail: "another authority signed its certificate" };
  if (UNFIT.has(code))
    return {
      kind: "unfit",
      detail: code === "ERR_TLS_CERT_ALTNAME_INVALID" ? "its certificate is for other names" : "its certificate is not in force now",
    };
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("HPE_"))
    return { kind: "not-kubernetes", detail: "it does not speak TLS and HTTP" };
  return { kind: "silent", detail: code === "ABORT_ERR" || code === "" ? "no answer in time" : `no way there (${code})` };
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}
