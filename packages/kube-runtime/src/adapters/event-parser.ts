import type { KubeWatchEvent } from "@talos-operator/ports";
import { createChangedObjects } from "./changed-objects.ts";
import { closeBrace } from "./json-bytes.ts";
import { createReadLike, unlike } from "./shared-parts.ts";
import { KubeTransportFailure } from "./transport-failure.ts";
import { withoutManagedFields } from "./without-managed-fields.ts";

/** How the events of one watch are parsed. */
export interface EventParserOptions {
  /** `metadata.managedFields` of the objects are left out, where they stand as servers write them. */
  readonly leavesManagedFieldsOut: boolean;
  /** How much is remembered of objects that change. Default 4 MiB. */
  readonly maxRememberedBytes?: number;
}

const modified = Buffer.from('{"type":"MODIFIED","object":');
const deleted = Buffer.from('{"type":"DELETED","object":');
const typeAt = '{"type":"'.length;
const letterM = 77;
const letterD = 68;
const uidKey = Buffer.from('uid":"');
const uidLength = 36;
/** An object that refers to many others is told by the first ones as well. */
const mostUids = 8;

/**
 * A parser for the lines of one watch. Objects that change again and again share with the event before whatever did not change; what is parsed
 * deep-equals what JSON.parse gives, order of keys included.
 *
 * @throws KubeTransportFailure `NOT_JSON`, `NOT_AN_EVENT`
 */
export function createEventParser({
  leavesManagedFieldsOut,
  maxRememberedBytes = 4 * 1024 * 1024,
}: EventParserOptions): (line: Buffer) => KubeWatchEvent {
  const objects = createChangedObjects(maxRememberedBytes);
  const readLike = createReadLike();
  let chunk: Buffer = Buffer.alloc(0);
  let view: DataView = new DataView(chunk.buffer);
  const parseWhole = (line: Buffer): KubeWatchEvent =>
    parseEvent(leavesManagedFieldsOut ? withoutManagedFields(line) : line.toString("utf8"));

  /** The chunk that lines are parts of, and a view of it. */
  function look(line: Buffer): void {
    if (line.buffer === chunk.buffer) return;
    chunk = Buffer.from(line.buffer);
    view = new DataView(line.buffer);
  }

  function parseModified(line: Buffer): KubeWatchEvent {
    look(line);
    const hint = hintOf(line, view);
    const object = hint === 0 ? undefined : objects.changed(hint);
    if (object === undefined) return parseWhole(line);
    const start = line.byteOffset + modified.length;
    const end = line.byteOffset + line.length - 1;
    const { known } = object;
    if (known !== undefined) {
      const value = readLike(known, chunk, view, start, end);
      if (value !== unlike) {
        object.failures = 0;
        objects.remember(object, chunk, start, end, value);
        return { type: "MODIFIED", object: value };
      }
      objects.failed(object);
    }
    const event = parseWhole(line);
    if (object.wait > 0) object.wait -= 1;
    else if (typeof event.object === "object" && event.object !== null) objects.remember(object, chunk, start, end, event.object);
    return event;
  }

  return (line) => {
    const letter = line[typeAt];
    if (letter === letterM && startsWith(line, modified) && line[line.length - 1] === closeBrace) return parseModified(line);
    if (letter === letterD && startsWith(line, deleted)) {
      look(line);
      objects.forget(hintOf(line, view));
    }
    return parseWhole(line);
  };
}

function startsWith(line: Buffer, text: Buffer): boolean {
  // A call of Buffer.compare costs more than so few bytes.
  for (let index = 0; index < text.length; index += 1) if (line[index] !== text[index]) return false;
  return true;
}

/**
 * Tells objects apart without parsing: a number of the first uids in the line, wherever they stand, since the order of keys is the server's. The
 * object's own is among them; those of its owners and of what it refers to seldom change. 0: there are none.
 */
function hintOf(line: Buffer, view: DataView): number {
  let hint = 0;
  let uids = 0;
  const last = line.length - uidKey.length - uidLength;
  for (let key = line.indexOf(uidKey); key >= 0 && key <= last && uids < mostUids; key = line.indexOf(uidKey, key + uidLength)) {
    const at = line.byteOffset + key + uidKey.length;
    for (let index = at; index < at + uidLength; index += 4) {
      hint = Math.imul(hint ^ view.getInt32(index), 0x5bd1e995);
      hint ^= hint >>> 15;
    }
    uids += 1;
  }
  return hint;
}

function parseEvent(text: string): KubeWatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch (cause) {
    throw new KubeTransportFailure("the watch brought something that is not JSON", "NOT_JSON", cause);
  }
  if (typeof event === "object" && event !== null && "type" in event && "object" in event && isEventType(event.type)) {
    return { type: event.type, object: event.object };
  }
  throw new KubeTransportFailure("the watch brought something that is not an event", "NOT_AN_EVENT");
}

function isEventType(type: unknown): type is KubeWatchEvent["type"] {
  return type === "ADDED" || type === "MODIFIED" || type === "DELETED" || type === "BOOKMARK" || type === "ERROR";
}
