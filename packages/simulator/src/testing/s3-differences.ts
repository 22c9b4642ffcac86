import type { S3Seen } from "./adapters/s3-sender.ts";

/** Each thing that is not as it is with the genuine server: `404 NoSuchKey, not 200`, `header etag: …, not …`. */
export function s3Differences(genuine: S3Seen, ours: S3Seen): readonly string[] {
  const [theirs, own] = [genuine, ours].map(({ status, code }) => (code === undefined ? String(status) : `${status} ${code}`));
  // With another outcome all else differs.
  if (theirs !== own) return [`${own}, not ${theirs}`];
  return [
    ...between("header ", genuine.headers ?? {}, ours.headers ?? {}),
    ...between("", genuine.xml ?? {}, ours.xml ?? {}),
    ...between("", { body: genuine.body }, { body: ours.body }),
  ];
}

type Texts = Readonly<Record<string, string | undefined>>;

function between(kind: string, genuine: Texts, ours: Texts): readonly string[] {
  const names = [...new Set([...Object.keys(genuine), ...Object.keys(ours)])];
  return names
    .filter((name) => genuine[name] !== ours[name])
    .map((name) => `${kind}${name}: ${ours[name] ?? "none"}, not ${genuine[name] ?? "none"}`);
}
