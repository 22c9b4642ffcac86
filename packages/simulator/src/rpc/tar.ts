/**
 * A tar archive of one file (mode 0600) without the two empty blocks that should end it and without the padding of the file:
 * what a node sends that never closes its tar writer.
 */
export function tarWithoutEnd(name: string, content: Uint8Array, modifiedSeconds: number): Uint8Array {
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content.length, 12), 124);
  header.write(octal(modifiedSeconds, 12), 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, content]);
}
