/** Host of an endpoint as an address is written, without brackets; `undefined` when the text is no URL. */
export function endpointHost(endpoint: string): string | undefined {
  return URL.parse(endpoint)?.hostname.replace(/^\[(.*)\]$/, "$1");
}
