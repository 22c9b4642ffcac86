import { etcdBackupResource, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import { CliError } from "../cli-error.ts";

/** What a person named: an object of the cluster, something in a bucket, or a path. */
export type AskedBackup =
  | { readonly kind: "backup" | "schedule" | "vitistack"; readonly name: string }
  | { readonly kind: "bucket"; readonly bucket: string; readonly key: string }
  | { readonly kind: "path"; readonly path: string };

const kinds = [
  { kind: "backup", resource: talosEtcdBackupResource },
  { kind: "schedule", resource: talosEtcdBackupScheduleResource },
  { kind: "vitistack", resource: etcdBackupResource },
] as const;

/**
 * Reads the operand of a command. Words of kinds are taken as kubectl takes them; a file in a folder of such a name is reached by `./` before it.
 *
 * @throws CliError with exit code 2
 */
export function askedBackup(asked: string): AskedBackup {
  if (asked === "") throw new CliError("no backup is named", FORMS, { exitCode: 2 });
  if (/^s3:/i.test(asked)) return inBucket(asked);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(asked)) throw new CliError(`"${asked}" is an address that cannot be read`, FORMS, { exitCode: 2 });
  const [word = "", name = "", ...rest] = asked.split("/");
  const found = kinds.find(({ resource }) => isWordOf(word, resource));
  if (found === undefined || rest.length > 0) return { kind: "path", path: asked };
  if (name === "") throw new CliError(`"${asked}" names no object`, FORMS, { exitCode: 2 });
  return { kind: found.kind, name };
}

const FORMS = "Write talosetcdbackup/NAME, s3://BUCKET/KEY with --endpoint where it is not AWS, or the path of a file.";

function inBucket(asked: string): AskedBackup {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]+)\/?(.*)$/is.exec(asked) ?? [];
  if (bucket === "") throw new CliError(`"${asked}" names no bucket`, FORMS, { exitCode: 2 });
  if (bucket.includes("@"))
    throw new CliError("the address holds keys", "Leave them out, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.", { exitCode: 2 });
  return { kind: "bucket", bucket, key };
}

interface Words {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
}

function isWordOf(word: string, { group, kind, plural, singular, shortNames }: Words): boolean {
  const wanted = word.toLowerCase();
  return [kind.toLowerCase(), plural, singular, ...shortNames, `${plural}.${group}`, `${singular}.${group}`].includes(wanted);
}
