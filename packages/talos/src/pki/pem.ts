/** One block of PEM text. */
export interface PemBlock {
  /** Words of the label, for example `CERTIFICATE`. */
  readonly label: string;
  readonly der: Uint8Array;
}

const closing = /^-----END (.*)-----[ \t]*$/;
const opening = /^-----BEGIN (.*)-----[ \t]*$/;

/**
 * The first block of a PEM text that can be read. Text before it is passed over, as are headers inside it, and blocks whose end or base64 is
 * broken: what Go's `encoding/pem` takes is taken here.
 */
export function decodePem(text: string): PemBlock | undefined {
  const lines = text.split(/\r?\n/);
  const ends = endsByLabel(lines);
  let index = 0;
  while (index < lines.length) {
    const label = opening.exec(lines[index] as string)?.[1];
    const end = label === undefined ? undefined : nextEnd(ends.get(label), index);
    if (label !== undefined && end !== undefined) {
      const der = decodeBody(lines.slice(index + 1, end));
      if (der !== undefined) return { label, der };
      index = end;
    }
    index++;
  }
  return undefined;
}

/** Lines that end blocks, by label, the last first. Looked up rather than looked for: texts full of beginnings would take forever. */
function endsByLabel(lines: readonly string[]): ReadonlyMap<string, number[]> {
  const ends = new Map<string, number[]>();
  for (let index = lines.length - 1; index >= 0; index--) {
    const label = closing.exec(lines[index] as string)?.[1];
    if (label === undefined) continue;
    const known = ends.get(label);
    if (known === undefined) ends.set(label, [index]);
    else known.push(index);
  }
  return ends;
}

/** The first of the lines behind `index`, which stand last; those before it are dropped, since nobody goes back. */
function nextEnd(lines: number[] | undefined, index: number): number | undefined {
  for (let first = lines?.at(-1); first !== undefined; first = lines?.at(-1)) {
    if (first > index) return first;
    lines?.pop();
  }
  return undefined;
}

function decodeBody(lines: readonly string[]): Uint8Array | undefined {
  const isHeader = (line: string | undefined): boolean => line?.includes(":") === true;
  const body = lines.slice(isHeader(lines[0]) ? lines.findIndex((line) => !isHeader(line)) : 0);
  const base64 = body.join("").replace(/[ \t]/g, "");
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64) ? Buffer.from(base64, "base64") : undefined;
}
