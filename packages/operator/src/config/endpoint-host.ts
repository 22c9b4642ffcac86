/** Hosts of endpoints that were asked for last: a pass asks about the same one for each machine, and reading a URL is dear. */
const read = new Map<string, string | undefined>();
const MOST_READ = 1_000;
/** Longer ones are read each time, so that what is kept stays small. */
const LONGEST_KEPT = 500;

/** Host of an endpoint as an address is written, without brackets; `undefined` when the text is no URL. */
export function endpointHost(endpoint: string): string | undefined {
  if (read.has(endpoint)) return read.get(endpoint);
  const host = URL.parse(endpoint)?.hostname.replace(/^\[(.*)\]$/, "$1");
  if (endpoint.length > LONGEST_KEPT) return host;
  if (read.size >= MOST_READ) read.clear();
  read.set(endpoint, host);
  return host;
}
