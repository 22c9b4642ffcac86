/**
 * A tar archive of one file (mode 0600) without the two empty blocks that should end it and without the padding of the file:
 * what a node sends that never closes its tar writer.
 */
export function tarWithoutEnd(name: string, content: Uint8Array, modifiedSeconds: number): Uint8Array {
  return Buffer.concat([headerOf(name, content.length, modifiedSeconds), content]);
}

/** A whole archive of files (mode 0600). */
export function tarOf(files: readonly { readonly name: string; readonly content: Uint8Array }[], modifiedSeconds: number): Uint8Array {
  const parts = files.flatMap(({ name, content }) => [
    headerOf(name, content.length, modifiedSeconds),
    content,
    Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

const blockBytes = 512;

function headerOf(name: string, sizeBytes: number, modifiedSeconds: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(sizeBytes, 12), 124);
  header.write(octal(modifiedSeconds, 12), 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
