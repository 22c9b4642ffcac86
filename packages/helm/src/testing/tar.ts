/** Files as one tar archive (ustar). Paths are at most 100 bytes, and stand there as they are given, whatever they lead to. */
export function tar(files: readonly (readonly [path: string, content: Buffer])[]): Buffer {
  const parts = files.flatMap(([path, content]) => [header(path, content.length), content, Buffer.alloc(-content.length & 511)]);
  return Buffer.concat([...parts, Buffer.alloc(1_024)]);
}

function header(path: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(path, 0, 100);
  block.write(octal(0o644, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write("        ", 148);
  block.write("0", 156);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(octal(sum, 6), 148);
  return block;
}
