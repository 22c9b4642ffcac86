import { forgetPlaces, type KnownJson } from "./known-json.ts";

/** What is remembered of an object that changes. */
export interface ChangedObject {
  readonly hint: number;
  /** Its last JSON; `undefined` while it is not worth comparing with. */
  known: KnownJson | undefined;
  /** How often in a row the next JSON was unlike the one before. */
  failures: number;
  /** Events of the object until its JSON is remembered again. */
  wait: number;
  /** As the bound counts it. */
  size: number;
  /** Number of the event that brought it last. */
  lastAt: number;
}

/** The objects of one watch that change again and again, by hints. */
export interface ChangedObjects {
  /** The object of an event, or `undefined` when nothing shall be remembered of it yet. A hint that fits two objects costs time and nothing else. */
  changed(hint: number): ChangedObject | undefined;
  /** Remembers the JSON from `start` to `end`, which says `value`. The places of what was known must be those of this JSON. */
  remember(object: ChangedObject, text: Buffer, start: number, end: number, value: object): void;
  /** The next JSON was unlike the remembered one, whose places are spoilt. */
  failed(object: ChangedObject): void;
  /** The object is gone. */
  forget(hint: number): void;
  /** What is remembered, counted as the bound counts it. */
  readonly bytes: number;
}

/** What an object takes beside its JSON: the view, entries of maps. */
const bytesBeside = 1_024;
/** What the place of a value that changed takes. */
const bytesOfPlace = 64;
/** Room for texts that grow, so that the next JSON mostly fits. */
const spareBytes = 64;
/** Of so many objects that are not remembered yet it is known when they came. */
const mostStrangers = 4_096;
/** Events to wait after so many failures in a row. */
const waits = [0, 0, 16, 256];

/**
 * Remembers at most `maxBytes`, those that changed last. An object is remembered from its second event on, and where there is no room only when it
 * came again sooner than the one that would have to go: of more objects than fit, which change in turn, as many as fit stay.
 */
export function createChangedObjects(maxBytes: number): ChangedObjects {
  /** Both in the order of their last events. */
  const objects = new Map<number, ChangedObject>();
  const strangers = new Map<number, number>();
  /** From here on there is no room for one more. */
  const fullBytes = maxBytes - maxBytes / 16;
  let events = 0;
  let bytes = 0;

  function drop(object: ChangedObject): void {
    objects.delete(object.hint);
    bytes -= object.size;
    object.size = 0;
    object.known = undefined;
  }

  function measure(object: ChangedObject): void {
    const { known } = object;
    const size = bytesBeside + (known === undefined ? 0 : known.bytes.length + known.paths.length * bytesOfPlace);
    bytes += size - object.size;
    object.size = size;
    // Room is made, if need be also by letting go what has come just now.
    while (bytes > maxBytes) drop(first(objects.values()) as ChangedObject);
  }

  /** When an object that is not remembered came before, or 0 when that is not known. */
  function meetStranger(hint: number): number {
    const lastAt = strangers.get(hint) ?? 0;
    strangers.delete(hint);
    strangers.set(hint, events);
    if (strangers.size > mostStrangers) strangers.delete(first(strangers.keys()) as number);
    return lastAt;
  }

  /** Nothing fits, and what is remembered changed since. */
  function isNoRoomFor(lastAt: number): boolean {
    return bytes > fullBytes && (first(objects.values())?.lastAt ?? 0) >= lastAt;
  }

  return {
    get bytes() {
      return bytes;
    },
    changed(hint) {
      events += 1;
      const held = objects.get(hint);
      if (held !== undefined) {
        held.lastAt = events;
        objects.delete(hint);
        objects.set(hint, held);
        return held;
      }
      const lastAt = meetStranger(hint);
      if (lastAt === 0 || isNoRoomFor(lastAt)) return undefined;
      strangers.delete(hint);
      const object: ChangedObject = { hint, known: undefined, failures: 0, wait: 0, size: 0, lastAt: events };
      objects.set(hint, object);
      measure(object);
      return object;
    },
    remember(object, text, start, end, value) {
      const length = end - start;
      // It has been released since it came.
      if (object.size === 0) return;
      if (length > maxBytes / 4) {
        drop(object);
        return;
      }
      let { known } = object;
      if (known === undefined || length > known.bytes.length) {
        const bytes = Buffer.allocUnsafeSlow(length + spareBytes);
        const { bounds, paths, plain } = known ?? { bounds: [], paths: [], plain: [] };
        known = object.known = { bytes, view: new DataView(bytes.buffer), length, value, bounds, paths, plain };
      }
      known.length = length;
      known.value = value;
      text.copy(known.bytes, 0, start, end);
      measure(object);
    },
    failed(object) {
      object.failures += 1;
      object.wait = waits[Math.min(object.failures, waits.length - 1)] ?? 0;
      if (object.known === undefined) return;
      forgetPlaces(object.known);
      if (object.wait > 0) object.known = undefined;
      measure(object);
    },
    forget(hint) {
      const object = objects.get(hint);
      if (object !== undefined) drop(object);
    },
  };
}

function first<T>(of: MapIterator<T>): T | undefined {
  return of.next().value;
}
