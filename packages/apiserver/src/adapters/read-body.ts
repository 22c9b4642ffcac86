import { KubernetesYamlError, parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { depthExceeds } from "../json.ts";
import { maxNestingDepth } from "../request/json.ts";
import { duplicateFields } from "../request/duplicate-fields.ts";
import { decodeKubernetesProtobuf } from "../request/protobuf.ts";
import type { ApiRequest } from "../request/request.ts";
import { badRequest, tooLarge, unsupportedMediaType } from "../request/status.ts";
import type { BodyRoom } from "./body-budget.ts";
import type { ServedRequest } from "./served-request.ts";

/** Largest request body. kube-apiserver has the same limit. */
const maxBodyBytes = 3 * 1024 * 1024;

/** Largest body of YAML that is no JSON. Its parser reads a mebibyte in one to two seconds, and everybody waits; kubectl sends JSON. */
const maxYamlBytes = 1024 * 1024;

/** What is read and thrown away behind a refused body, so that the connection can go on; beyond it the connection is cut. */
const maxDrainBytes = 64 * 1024 * 1024;

/** Room for a body whose length nobody knows yet. */
const firstBytes = 16 * 1024;

/**
 * Reads a whole body.
 *
 * @throws StatusError 413 above the limit, 429 when others fill the room; the rest is drained, so the connection survives
 */
export function readBody({ headers, body }: Pick<ServedRequest, "headers" | "body">, room: BodyRoom): Promise<Buffer> {
  if (body === undefined) return Promise.resolve(Buffer.alloc(0));
  const { readable } = body;
  return new Promise<Buffer>((resolve, reject) => {
    // Copied together: a piece of one byte would hold the whole record that it came with.
    let held = Buffer.alloc(0);
    let size = 0;
    let isRefused = false;
    const refuse = (refusal: unknown): void => {
      isRefused = true;
      held = Buffer.alloc(0);
      room.release();
      reject(refusal instanceof Error ? refusal : new Error("the body was refused"));
    };
    const isBroken = (): void => reject(new Error("the client closed the connection inside the body"));
    const keep = (chunk: Buffer): void => {
      const end = size + chunk.length;
      if (end > held.length) {
        const capacity = Math.min(Math.max(firstBytes, held.length * 2, end), maxBodyBytes);
        room.grow(capacity);
        const larger = Buffer.allocUnsafeSlow(capacity);
        held.copy(larger, 0, 0, size);
        held = larger;
      }
      chunk.copy(held, size);
    };
    if (Number(headers["content-length"] ?? 0) > maxBodyBytes) refuse(tooLarge(maxBodyBytes));
    else body.begin();
    readable.on("data", (chunk: Buffer) => {
      if (!isRefused) {
        try {
          if (size + chunk.length > maxBodyBytes) throw tooLarge(maxBodyBytes);
          keep(chunk);
        } catch (refusal) {
          refuse(refusal);
        }
      }
      size += chunk.length;
      if (size > maxDrainBytes) readable.destroy();
    });
    readable.on("end", () => (body.isCut() ? isBroken() : resolve(held.subarray(0, size))));
    readable.on("error", reject);
    readable.on("close", isBroken);
  });
}

const jsonTypes = [
  "application/json",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];
const protobufType = "application/vnd.kubernetes.protobuf";
const yamlTypes = ["application/yaml", "application/apply-patch+yaml"];

/** What a body holds. */
export type ParsedBody = Pick<ApiRequest, "body" | "duplicateFields">;

/**
 * Parses a body as its content type says. Apply patches may be YAML or JSON.
 *
 * @throws StatusError 400 for what cannot be parsed or nests too deep, 415 for other content types, and for protobuf beyond the few kinds that kubectl insists on
 */
export function parseBody(contentType: string | undefined, body: Buffer, fieldValidation: string | null): ParsedBody {
  if (body.length === 0) {
    return { body: undefined };
  }
  const type = (contentType ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === protobufType) {
    return { body: decodeKubernetesProtobuf(body) };
  }
  const text = decodeUtf8(body);
  const parsed = jsonTypes.includes(type) ? parseJson(text) : yamlTypes.includes(type) ? parseYaml(text) : refuseType();
  if (depthExceeds(parsed, maxNestingDepth)) {
    throw badRequest(`the request body nests deeper than ${maxNestingDepth} levels; flatten it`);
  }
  const isWatched = fieldValidation !== "Ignore" && jsonTypes.includes(type) && type !== "application/json-patch+json";
  const duplicates = isWatched ? duplicateFields(text) : [];
  return duplicates.length === 0 ? { body: parsed } : { body: parsed, duplicateFields: duplicates };
}

function refuseType(): never {
  throw unsupportedMediaType(["application/json", "application/yaml"]);
}

function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw Object.assign(badRequest("the request body is not valid UTF-8"), { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // V8 quotes the text around the error, and that may be a Secret.
    throw badRequest("the request body is not valid JSON; check it with a JSON parser");
  }
}

function parseYaml(text: string): unknown {
  // kubectl sends JSON under the YAML type; the JSON parser is many times faster.
  if (text.trimStart().startsWith("{")) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // A YAML flow mapping also begins with a brace.
    }
  }
  if (text.length > maxYamlBytes) throw tooLarge(maxYamlBytes);
  try {
    const documents = parseKubernetesYaml(text);
    if (documents.length > 1) throw new KubernetesYamlError("it holds more than one document");
    return documents[0];
  } catch (cause) {
    if (!(cause instanceof KubernetesYamlError)) throw cause;
    throw badRequest(`the request body is not acceptable YAML: ${cause.message}`);
  }
}
