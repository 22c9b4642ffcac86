import { createHash } from "node:crypto";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import type { FetchedManifest, FetchLimits, FetchManifest } from "../manifests/deps.ts";

/** Redirects in a row, each to https. */
const MOST_REDIRECTS = 5;

/** Fetches by https alone; whatever else an address or a redirect names is refused. @param trust PEM of authorities in place of the system's */
export function createManifestFetcher(trust?: { readonly ca: string }): FetchManifest {
  return async (url, limits) => {
    // One time for all of it: a body that drips is cut as well.
    const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)]);
    try {
      return await follow(url, { ...limits, signal }, trust?.ca, MOST_REDIRECTS);
    } catch (thrown) {
      if (limits.signal.aborted) return failed("the worker was asked to stop");
      if (signal.aborted) return failed(`it takes longer than ${limits.timeoutMs / 1_000} s`);
      const { code = "", message } = thrown as NodeJS.ErrnoException;
      return failed((code === "" ? message : code).slice(0, 120));
    }
  };
}

async function follow(address: string, limits: FetchLimits, ca: string | undefined, redirects: number): Promise<FetchedManifest> {
  const url = URL.parse(address);
  if (url === null || url.protocol !== "https:") return failed("it leads to an address without https://");
  const answer = await get(url, limits.signal, ca);
  const { statusCode = 0, headers } = answer;
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
    answer.destroy();
    const next = URL.parse(headers.location, url.href);
    if (redirects === 0 || next === null) return failed("it leads on and on");
    return follow(next.href, limits, ca, redirects - 1);
  }
  if (statusCode !== 200) {
    answer.destroy();
    return failed(`the answer is ${statusCode}`);
  }
  const hash = createHash("sha256");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limits.bytes) {
      answer.destroy();
      return { kind: "too-large" };
    }
    hash.update(chunk);
    chunks.push(chunk);
  }
  return { kind: "fetched", text: Buffer.concat(chunks).toString("utf8"), sha256: hash.digest("hex") };
}

function get(url: URL, signal: AbortSignal, ca: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // No compression: what is counted is what arrives.
    const headers = { "accept-encoding": "identity", "user-agent": "talos-operator" };
    const call = request(url, { headers, signal, agent: false, ...(ca === undefined ? {} : { ca }) }, resolve);
    call.once("error", reject);
    call.end();
  });
}

function failed(why: string): FetchedManifest {
  return { kind: "failed", why };
}
