import type { ConfigMap } from "../../document/value.ts";
import { textAt } from "../access.ts";
import { quotedList, quoted } from "./quote.ts";

/** One block of a PEM text. */
interface PemBlock {
  readonly type: string;
  readonly bytes: Buffer;
}

const blockPattern =
  /(?:^|\n)-----BEGIN ([^\n]*?)-----[ \t\r]*\n((?:[^\n:]+:[^\n]*\n)*\n?)([A-Za-z0-9+/=\s]*?)\n?-----END \1-----[ \t\r]*(?=\n|$)/g;

/** The blocks of a PEM text, in their order; what is between them is passed over. */
export function pemBlocks(text: string): readonly PemBlock[] {
  return [...text.matchAll(blockPattern)].map(([, type = "", , body = ""]) => ({ type, bytes: Buffer.from(body, "base64") }));
}

/** What Talos says of a text that should hold PEM blocks, all of one type where one is asked for; `undefined` when it takes it. */
export function whyNotPem(text: string, type?: string): string | undefined {
  const blocks = pemBlocks(text);
  const other = blocks.find((block) => type !== undefined && block.type !== type);
  if (other !== undefined) return `unexpected PEM block type ${quoted(other.type)}, expected one of ${quotedList([type ?? ""])}`;
  return blocks.length === 0 ? "no PEM blocks found" : undefined;
}

/** What Talos says of a certificate and its key by their frames alone. */
export function whyNotPair(pair: ConfigMap): string | undefined {
  const certificate = textAt(pair, "cert");
  const key = textAt(pair, "key");
  if (certificate === "") return "certificate is required";
  if (key === "") return "key is required";
  const badCertificate = whyNotPem(certificate, "CERTIFICATE");
  if (badCertificate !== undefined) return `certificate: ${badCertificate}`;
  const badKey = whyNotPem(key);
  return badKey === undefined ? undefined : `key: ${badKey}`;
}

/** What Talos says of a certificate that cannot be read. Only the frame is looked at: the node reads the rest. */
export function whyNotCertificate(text: string): string | undefined {
  const [block] = pemBlocks(text);
  if (block === undefined) return "failed to parse PEM block";
  return isSequence(block.bytes) ? undefined : "failed to parse certificate: x509: malformed certificate";
}

/** What Talos says of a private key in PKCS #8 that cannot be read. */
export function whyNotPkcs8Key(text: string): string | undefined {
  const [block] = pemBlocks(text);
  if (block === undefined) return "failed to parse PEM block";
  const { bytes } = block;
  const failed = (why: string): string => `failed to parse key: ${why}`;
  if (!isSequence(bytes)) return failed("asn1: structure error: tags don't match");
  const body = bytes.subarray(headerLength(bytes));
  const behindVersion = body.subarray(2 + (body[1] ?? 0));
  const use = (other: string): string => failed(`x509: failed to parse private key (use ${other} instead for this key format)`);
  if (body[0] === 0x02 && behindVersion[0] === 0x04) return use("ParseECPrivateKey");
  if (body[0] === 0x02 && behindVersion[0] === 0x02) return use("ParsePKCS1PrivateKey");
  return undefined;
}

/** What Talos says of a private key of the control plane that cannot be read. */
export function whyNotKey(text: string): string | undefined {
  const [block] = pemBlocks(text);
  if (block === undefined) return "failed to parse PEM block";
  const known = ["RSA PRIVATE KEY", "EC PRIVATE KEY", "ED25519 PRIVATE KEY", "PRIVATE KEY"];
  if (!known.includes(block.type)) return `unsupported key type ${quoted(block.type)}`;
  return isSequence(block.bytes) ? undefined : "failed to parse key: asn1: syntax error: data truncated";
}

/** Whether the bytes are one ASN.1 sequence and nothing else. */
function isSequence(bytes: Buffer): boolean {
  const header = headerLength(bytes);
  if (bytes[0] !== 0x30 || bytes.length < header) return false;
  const first = bytes[1] ?? 0;
  const length = first < 0x80 ? first : bytes.subarray(2, header).reduce((sum, byte) => sum * 256 + byte, 0);
  return bytes.length === header + length;
}

function headerLength(bytes: Buffer): number {
  const first = bytes[1] ?? 0;
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}
