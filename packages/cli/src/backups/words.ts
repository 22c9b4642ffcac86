/** `12.3 MiB` */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1] ?? ""}`;
}

/** Names come from whoever wrote them: control characters could move the cursor of whoever reads them. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, "\u{fffd}");
}
