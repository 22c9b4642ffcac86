import { gzipSync } from "node:zlib";

const BLOCK = 512;

/** When every file was changed: an archive is the same bytes wherever it is made, and so is its digest. Seconds since the epoch. */
const MODIFIED_S = 1_767_225_600;

/** The archive of a chart, as Helm packs one. Nothing is compressed: releases of zlib compress otherwise. */
export function chartArchive(chart: string, files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    return [header(`${chart}/${name}`, content.length), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 0 });
}

/** @see POSIX.1-1988, ustar */
function header(name: string, bytes: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, "0")}\0`;
  const fields: readonly (readonly [number, string])[] = [
    [0, name],
    [100, octal(0o644, 8)],
    [108, octal(0, 8)],
    [116, octal(0, 8)],
    [124, octal(bytes, 12)],
    [136, octal(MODIFIED_S, 12)],
    [148, " ".repeat(8)],
    [156, "0"],
    [257, "ustar\0\x30\x30"],
  ];
  for (const [at, text] of fields) block.write(text, at);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
