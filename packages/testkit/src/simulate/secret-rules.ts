import type { FileTree, Keys, KubeRequest, LogFields, Logger } from "@talos-operator/ports";
import type { Report } from "./violation.ts";
import { createSecretScan, secretsIn } from "./secret-scan.ts";

/** What the operator says where anybody may read, searched for every secret that was ever stored or made. */
export interface SecretRules {
  /** What stands in a Secret, in base64 by key. */
  remember(secret: string, data: Readonly<Record<string, string>> | undefined): void;
  /** A request that changes something, before it is sent. */
  inspectWrite(request: KubeRequest): void;
  readonly inspectText: (source: string, text: string) => void;
  /** The keys as the operator has them: those of certificates that it makes for itself are stored nowhere. */
  keys(inner: Keys): Keys;
  /** A log whose lines are searched and dropped. */
  readonly log: Logger;
  files(inner: FileTree): FileTree;
}

/** Lines and writes that are searched again when a secret turns up later. */
const MOST_KEPT = 500;

interface Said {
  readonly source: string;
  readonly text: string;
}

/** S9: status, events, records, ConfigMaps, files, log lines, errors and figures hold no part of a secret. */
export function createSecretRules(report: Report): SecretRules {
  const scan = createSecretScan();
  let said: Said[] = [];

  const search = ({ source, text }: Said): void => {
    if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) report("S9", `${source} holds a private key`);
    const found = scan.find(text);
    if (found !== undefined) report("S9", `${source} holds a part of ${found}`);
  };
  const learn = (name: string, secret: string): void => {
    if (scan.add(name, secret)) for (const one of said) search(one);
  };
  const inspectText = (source: string, text: string): void => {
    if (said.length >= MOST_KEPT) said = said.slice(MOST_KEPT / 2);
    said.push({ source, text });
    search({ source, text });
  };
  const remember: SecretRules["remember"] = (secret, data = {}) => {
    for (const value of Object.values(data))
      for (const { name, secret: word } of secretsIn(Buffer.from(value, "base64").toString("utf8")))
        learn(`${name} in Secret ${secret}`, word);
  };
  const look = (fields: LogFields, message: string): void =>
    inspectText("a log line", `${message} ${JSON.stringify(fields, errorsAsText)}`);
  const log: Logger = {
    debug: look,
    info: look,
    warn: look,
    error: look,
    child: (fields) => {
      look(fields, "");
      return log;
    },
  };

  return {
    remember,
    inspectText,
    inspectWrite({ method, path, query, body }) {
      if (method === "GET") return;
      if (!/\/secrets(\/|$)/.test(path)) return inspectText(`${method} ${path}`, JSON.stringify([query, body]));
      // What a Secret is for may stand in it; its name and marks anybody may read.
      const { data, ...rest } = (body ?? {}) as SecretBody;
      remember(rest.metadata?.name ?? path, data);
      inspectText(`${method} ${path}`, JSON.stringify([query, rest]));
    },
    keys: (inner) => ({
      ...inner,
      createAuthority: async (request) => learned(await inner.createAuthority(request)),
      createPrivateKey: async (kind) => {
        const key = await inner.createPrivateKey(kind);
        learn("a key that was made", key);
        return key;
      },
      signCertificate: async (authority, request) => learned(await inner.signCertificate(authority, request)),
    }),
    log,
    files: (inner) => ({
      ...inner,
      write(folder, file, text) {
        inspectText(`the file ${folder}/${file}`, text);
        return inner.write(folder, file, text);
      },
    }),
  };

  function learned<T extends { readonly key: string }>(pair: T): T {
    learn("a key that was made", pair.key);
    return pair;
  }
}

interface SecretBody {
  readonly metadata?: { readonly name?: string };
  readonly data?: Readonly<Record<string, string>>;
}

function errorsAsText(_key: string, value: unknown): unknown {
  return value instanceof Error ? textOf(value) : value;
}

/** An error as logs and traces may tell it: with what caused it. */
export function textOf(error: Error): string {
  const { message, stack = "", cause } = error;
  return `${message} ${stack} ${cause instanceof Error ? textOf(cause) : cause === undefined ? "" : JSON.stringify(cause)}`;
}
