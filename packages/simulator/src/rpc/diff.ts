/** Unified diff of two texts as one hunk with three lines of context; empty when they are equal. */
export function unifiedDiff(before: string, after: string): string {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  if (start === a.length && start === b.length) return "";
  const from = Math.max(0, start - 3);
  const tail = Math.min(3, end);
  const place = (lines: readonly string[], length: number): string => `${lines.length === 0 ? 0 : from + 1},${length}`;
  return [
    "--- a",
    "+++ b",
    `@@ -${place(a, a.length - end + tail - from)} +${place(b, b.length - end + tail - from)} @@`,
    ...a.slice(from, start).map((line) => ` ${line}`),
    ...a.slice(start, a.length - end).map((line) => `-${line}`),
    ...b.slice(start, b.length - end).map((line) => `+${line}`),
    ...a.slice(a.length - end, a.length - end + tail).map((line) => ` ${line}`),
    "",
  ].join("\n");
}

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}
