const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const;
/** 32 bytes in groups of five bits, and six of the checksum. */
const SYMBOLS = 52 + 6;

/**
 * Whether a text is a recipient of age as `age-keygen` prints it: `age1`, an X25519 key and its checksum, in one letter case.
 *
 * Recipients of plugins and of ssh are none: who encrypts has no plugin.
 *
 * @see https://github.com/C2SP/C2SP/blob/main/age.md the native X25519 recipient type; BIP 173 for the encoding
 */
export function isAgeRecipient(text: string): boolean {
  if (!/^age1[0-9a-z]{58}$/.test(text)) return false;
  const symbols = Array.from(text.slice(4), (symbol) => ALPHABET.indexOf(symbol));
  if (symbols.length !== SYMBOLS || symbols.includes(-1)) return false;
  // Four bits of the last symbol of the key are padding.
  if (((symbols[51] ?? 0) & 0b1111) !== 0) return false;
  const prefix = Array.from("age", (letter) => letter.charCodeAt(0));
  return checksum([...prefix.map((code) => code >> 5), 0, ...prefix.map((code) => code & 31), ...symbols]) === 1;
}

function checksum(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATOR.entries()) if (((top >>> bit) & 1) === 1) sum ^= generator;
  }
  return sum;
}
