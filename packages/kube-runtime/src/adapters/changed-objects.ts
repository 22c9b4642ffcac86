import { type KnownJson, type Part, wholeOf } from "./shared-parts.ts";

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
  /** Those that changed before and after it; both ends of the line are tied. */
  older: ChangedObject;
  newer: ChangedObject;
}

/** The objects of one watch that change again and again, by hints. */
export interface ChangedObjects {
  /** The object of an event, or `undefined` when nothing shall be remembered of it yet. A hint that fits two objects costs time and nothing else. */
  changed(hint: number): ChangedObject | undefined;
  /** Remembers the JSON from `start` to `end`, which says `value`. `whole` are the places in it, where they are known. */
  remember(object: ChangedObject, text: Buffer, start: number, end: number, value: object, whole?: Part): void;
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
const bytesOfPlace = 80;
/** Room for texts that grow, so that the next JSON mostly fits. */
const spareBytes = 64;
/** Places for objects that are not remembered yet; a power of two. */
const strangerPlaces = 4_096;
/** Events to wait after so many failures in a row. */
const waits = [0, 0, 16, 256];

/**
 * Remembers at most `maxBytes`, those that changed last. An object is remembered from its second event on, and where there is no room only when it
 * came again sooner than the one that would have to go: of more objects than fit, which change in turn, as many as fit stay.
 */
export function createChangedObjects(maxBytes: number): ChangedObjects {
  const objects = new Map<number, ChangedObject>();
  /** From here on there is no room for one more. */
  const fullBytes = maxBytes - maxBytes / 16;
  /** Holds the line of objects by their last change: `newer` of it is the oldest. */
  const ends = newObject(0, 0);
  let strangers: Strangers | undefined;
  let events = 0;
  let bytes = 0;

  function drop(object: ChangedObject): void {
    unlink(object);
    objects.delete(object.hint);
    bytes -= object.size;
    object.size = 0;
    object.known = undefined;
  }

  function measure(object: ChangedObject): void {
    const { known } = object;
    const size = bytesBeside + (known === undefined ? 0 : known.bytes.length + known.places * bytesOfPlace);
    bytes += size - object.size;
    object.size = size;
  }

  /** Makes room, if need be also by letting go what has come just now. */
  function trim(): void {
    while (bytes > maxBytes && ends.newer !== ends) drop(ends.newer);
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
        unlink(held);
        linkBefore(ends, held);
        return held;
      }
      const lastAt = (strangers ??= createStrangers()).meet(hint, events);
      if (lastAt === 0 || (bytes > fullBytes && ends.newer.lastAt >= lastAt)) return undefined;
      const object = newObject(hint, events);
      objects.set(hint, object);
      linkBefore(ends, object);
      measure(object);
      trim();
      return object;
    },
    remember(object, text, start, end, value, whole = wholeOf(end - start)) {
      const length = end - start;
      if (length > maxBytes / 4) {
        drop(object);
        return;
      }
      let { known } = object;
      if (known === undefined || length > known.bytes.length) {
        const copy = Buffer.allocUnsafeSlow(length + spareBytes);
        known = object.known = { bytes: copy, view: new DataView(copy.buffer), value, whole, places: known?.places ?? 0 };
      }
      text.copy(known.bytes, 0, start, end);
      known.value = value;
      known.whole = whole;
      measure(object);
      trim();
    },
    failed(object) {
      object.failures += 1;
      object.wait = waits[Math.min(object.failures, waits.length - 1)] ?? 0;
      const { known } = object;
      if (known === undefined) return;
      known.whole = wholeOf(known.whole.to);
      known.places = 0;
      if (object.wait > 0) object.known = undefined;
      measure(object);
    },
    forget(hint) {
      const object = objects.get(hint);
      if (object !== undefined) drop(object);
    },
  };
}

/** When objects came last that are not remembered: as many as have a place. */
interface Strangers {
  /** Notes that the object came with event `now`; the event before, or 0 when that is not known. */
  meet(hint: number, now: number): number;
}

function createStrangers(): Strangers {
  const hints = new Int32Array(strangerPlaces);
  const lastAt = new Int32Array(strangerPlaces);
  return {
    meet(hint, now) {
      // Each has a choice of two places, so that hardly two stand in each other's way for ever.
      const [one, other] = [hint & (strangerPlaces - 1), (hint >>> 16) & (strangerPlaces - 1)];
      const isOne = hints[one] === hint || (hints[other] !== hint && (lastAt[one] ?? 0) <= (lastAt[other] ?? 0));
      const place = isOne ? one : other;
      const before = hints[place] === hint ? (lastAt[place] ?? 0) : 0;
      hints[place] = hint;
      lastAt[place] = now;
      return before;
    },
  };
}

function newObject(hint: number, lastAt: number): ChangedObject {
  const object: Partial<ChangedObject> & Omit<ChangedObject, "older" | "newer"> = {
    hint,
    known: undefined,
    failures: 0,
    wait: 0,
    size: 0,
    lastAt,
  };
  object.older = object as ChangedObject;
  object.newer = object as ChangedObject;
  return object as ChangedObject;
}

function unlink({ older, newer }: ChangedObject): void {
  older.newer = newer;
  newer.older = older;
}

function linkBefore(next: ChangedObject, object: ChangedObject): void {
  object.older = next.older;
  object.newer = next;
  next.older.newer = object;
  next.older = object;
}
