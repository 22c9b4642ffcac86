/** Host of an endpoint as an address is written, without brackets; `undefined` when the text is no URL. */
export function endpointHost(endpoint: string): string | undefined {
  return URL.canParse(endpoint) ? new URL(endpoint).hostname.replace(/^\[(.*)\]$/, "$1") : undefined;
}
