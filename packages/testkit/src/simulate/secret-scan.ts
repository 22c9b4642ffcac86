/** Half of the shortest secret that there is, a bootstrap token of 23 characters; long enough that nothing occurs by chance. */
const WINDOW = 11;

const BASE = 16_777_619;

/** What the oldest character of a window weighs. */
const OLDEST = Array.from({ length: WINDOW - 1 }).reduce((power: number) => Math.imul(power, BASE), 1);

const FILTER_BITS = 21;

/** Secrets of one world, and whether a text tells any part of one. */
export interface SecretScan {
  /** A key in PEM, a token, or a secret in base64: from now on each part of it is found, written as it is, in base64 or in hex. Whether it was new. */
  add(name: string, secret: string): boolean;
  /** The name of a secret of which the text holds {@link WINDOW} characters in a row, `undefined` for none. */
  find(text: string): string | undefined;
}

/**
 * Texts are read once, whatever the number of secrets: every window of a text is looked up among all windows of all forms that secrets may have. A bit for each
 * hash answers nearly always.
 */
export function createSecretScan(): SecretScan {
  const known = new Set<string>();
  const windows = new Map<string, string>();
  const filter = new Uint8Array(2 ** (FILTER_BITS - 3));
  const bitOf = (hash: number): number => Math.imul(hash, 0x9e37_79b1) >>> (32 - FILTER_BITS);

  const learn = (name: string, form: string): void => {
    eachWindow(form, (hash, at) => {
      const bit = bitOf(hash);
      filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
      windows.set(form.slice(at, at + WINDOW), name);
      return false;
    });
  };

  return {
    add(name, secret) {
      if (known.has(secret)) return false;
      known.add(secret);
      for (const form of formsOf(secret)) learn(name, form);
      return true;
    },
    find(text) {
      let found: string | undefined;
      eachWindow(text, (hash, at) => {
        const bit = bitOf(hash);
        if (((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0) found = windows.get(text.slice(at, at + WINDOW));
        return found !== undefined;
      });
      return found;
    },
  };
}

/** Calls `see` with the hash and the place of each window, until it returns true. */
function eachWindow(text: string, see: (hash: number, at: number) => boolean): void {
  let hash = 0;
  for (let end = 0; end < text.length; end += 1) {
    if (end >= WINDOW) hash = (hash - Math.imul(text.charCodeAt(end - WINDOW), OLDEST)) | 0;
    hash = (Math.imul(hash, BASE) + text.charCodeAt(end)) | 0;
    if (end >= WINDOW - 1 && see(hash, end - WINDOW + 1)) return;
  }
}

/** How every Ed25519 key begins, in base64; the last bits of it are those of the key. */
const ED25519_HEAD = "MC4CAQAwBQYDK2VwBCIEI";
const ED25519_HEAD_BYTES = 16;

/**
 * How a secret may be written. What is the same in every key, as its header, is left out; not what an RSA or P-256 key shares with its certificate, which no
 * output of a life holds.
 */
function formsOf(secret: string): readonly string[] {
  const [, body] = /-----BEGIN [^-]+-----\r?\n([^-]+)-----END/.exec(secret) ?? [];
  const whole = body ?? secret;
  const hasHead = whole.startsWith(ED25519_HEAD);
  const text = hasHead ? whole.slice(ED25519_HEAD.length) : whole;
  const joined = text.replaceAll(/\s/g, "");
  const bytes = body !== undefined || isBase64(secret) ? [Buffer.from(whole, "base64").subarray(hasHead ? ED25519_HEAD_BYTES : 0)] : [];
  return [
    joined,
    text,
    ...encoded(Buffer.from(text)),
    ...encoded(Buffer.from(joined)),
    // Bytes of which the secret is the base64, which is a form already.
    ...bytes.flatMap(encoded),
  ];
}

/** At least 128 bits, so that no word is taken for one. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]{22,}={0,2}$/.test(text);
}

/** In base64, wherever in a longer text it begins, and in hex. */
function encoded(bytes: Buffer): readonly string[] {
  const shifted = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replaceAll("=", "");
    // The first and the last characters depend on what is beside it.
    return whole.slice(before === 0 ? 0 : before + 1, whole.length - 1);
  });
  return [...shifted, ...shifted.map((one) => one.replaceAll("+", "-").replaceAll("/", "_")), ...hexOf(bytes)];
}

function hexOf(bytes: Buffer): readonly string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/** A secret that stands in the text of a file, with what it is called there. */
export interface WrittenSecret {
  readonly name: string;
  readonly secret: string;
}

/** Keys, tokens and secrets in a text, by what stands before them in their line. Certificates are public. */
export function secretsIn(text: string): readonly WrittenSecret[] {
  const named =
    /\b(key|client-key-data|secret|token|bootstraptoken|secretboxencryptionsecret|aescbcencryptionsecret)"?:\s*"?([A-Za-z0-9+/=_.-]{23,})/gi;
  return [...text.matchAll(named)].map(([, name = "", word = ""]) => {
    const inside = Buffer.from(word, "base64").toString("utf8");
    return { name, secret: inside.startsWith("-----BEGIN ") ? inside : word };
  });
}
