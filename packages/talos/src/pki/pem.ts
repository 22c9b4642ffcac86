/** One block of PEM text. */
export interface PemBlock {
  /** Words of the label, for example `CERTIFICATE`. */
  readonly label: string;
  readonly der: Uint8Array;
}

const opening = /^-----BEGIN (.*)-----[ \t]*$/;

/**
 * The first block of a PEM text that can be read. Text before it is passed over, as are headers inside it, and blocks whose end or base64 is
 * broken: what Go's `encoding/pem` takes is taken here.
 */
export function decodePem(text: string): PemBlock | undefined {
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const label = opening.exec(line)?.[1];
    if (label === undefined) continue;
    const end = lines.findIndex((later, at) => at > index && later.trimEnd() === `-----END ${label}-----`);
    if (end < 0) continue;
    const der = decodeBody(lines.slice(index + 1, end));
    if (der !== undefined) return { label, der };
  }
  return undefined;
}

function decodeBody(lines: readonly string[]): Uint8Array | undefined {
  const isHeader = (line: string | undefined): boolean => line?.includes(":") === true;
  const body = lines.slice(isHeader(lines[0]) ? lines.findIndex((line) => !isHeader(line)) : 0);
  const base64 = body.join("").replace(/[ \t]/g, "");
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64) ? Buffer.from(base64, "base64") : undefined;
}
