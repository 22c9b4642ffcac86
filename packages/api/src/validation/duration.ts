const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `90s`, `1h30m`, `30d`; `undefined` for anything else. A day has 24 hours. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d{1,6}[smhd]){1,4}$/.test(text)) return undefined;
  return (text.match(/\d+[smhd]/g) ?? []).reduce((sum, part) => sum + Number(part.slice(0, -1)) * (UNIT_MS[part.slice(-1)] ?? 0), 0);
}
