import type { RandomSource } from "@talos-operator/ports";

/** JSON as it is written: objects keep the order of their keys, and a key may stand twice. */
type Tree = string | { readonly kind: "list"; items: Tree[] } | { readonly kind: "object"; members: [string, Tree][] };

const scalars = String.raw`null true false 0 -0 1e3 1E-2 12 123 1234.5 -7 9007199254740993 1e400 "" "a" "abc" "a\"b" "\\" "\u0041" "größer€"
  "\ud83d\ude00😀" "]}" "{\"a\":1}" "\n\t" "" "a_text_that_is_longer_than_a_word_and_somewhat_like_the_others"`.split(/\s+/);
/** None with a backslash: V8 takes such keys for one another (Node 24.21), so JSON.parse is no measure for them. */
const keys = "a b name spec status metadata managedFields object uid items 0 1 12 -1 größe constructor toString __proto__"
  .split(" ")
  .concat("");

/**
 * The JSON of an object of a cluster that changes from time to time: mostly a little, seldom all, sometimes into something that servers do not write.
 * Keys that stand twice, numbers that look alike, spaces and escapes are all among it. In a calm story only strings, numbers and words change.
 */
export function createJsonStory(random: RandomSource, { isCalm }: { readonly isCalm: boolean }): { next(this: void): string } {
  const pick = (below: number): number => Math.floor(random.fraction() * below);
  const one = <T>(from: readonly T[]): T => from[pick(from.length)] as T;

  function scalar(): string {
    const kind = pick(3);
    if (kind === 0) return one(scalars);
    // Of many lengths: what comes behind them moves.
    const digits = String(pick(10 ** (1 + pick(8))));
    return kind === 1 ? digits : `"${"x".repeat(pick(20))}${digits}"`;
  }

  function value(depth: number): Tree {
    const kind = depth <= 0 ? 0 : pick(4);
    if (kind < 2) return scalar();
    if (kind === 2) return { kind: "list", items: Array.from({ length: pick(4) }, () => value(depth - 1)) };
    return object(depth);
  }

  function object(depth: number): Tree {
    const members = Array.from({ length: pick(5) }, (): [string, Tree] => [one(keys), value(depth - 1)]);
    return { kind: "object", members };
  }

  function metadata(): Tree {
    const entry = (manager: string): Tree => ({
      kind: "object",
      members: [
        ["manager", `"${manager}"`],
        ["time", `"${pick(100)}"`],
        ["fieldsV1", { kind: "object", members: [['f:k:{\\"name\\":\\"a]}\\"}', object(1)]] }],
      ],
    });
    const members: [string, Tree][] = [
      ["name", '"a"'],
      ["managedFields", { kind: "list", items: [entry("kubectl"), entry("operator")] }],
      ["resourceVersion", `"${pick(1_000)}"`],
      ["uid", '"00000000-0000-4000-8000-000000000001"'],
      ["labels", object(1)],
    ];
    return { kind: "object", members: pick(4) === 0 ? members.toReversed() : members };
  }

  const whole: Tree & { kind: "object" } = {
    kind: "object",
    members: [
      ["apiVersion", '"v1"'],
      ["metadata", metadata()],
      ["spec", object(4)],
      ["status", { kind: "object", members: [["conditions", { kind: "list", items: [object(2), object(2)] }]] }],
    ],
  };

  /** A way down to something that holds others. */
  function somewhere(tree: Tree): Exclude<Tree, string> | undefined {
    if (typeof tree === "string") return undefined;
    const inner = tree.kind === "list" ? tree.items : tree.members.map(([, held]) => held);
    const below = inner.length === 0 || pick(4) === 0 ? undefined : somewhere(one(inner));
    return below ?? tree;
  }

  function changeScalar(): void {
    const place = somewhere(whole);
    if (place === undefined) return;
    if (place.kind === "list") {
      const at = pick(place.items.length);
      if (typeof place.items[at] === "string") place.items[at] = scalar();
      return;
    }
    const member = place.members[pick(place.members.length)];
    if (typeof member?.[1] === "string" && member[0] !== "uid") member[1] = scalar();
  }

  function changeShape(): void {
    const place = somewhere(whole);
    if (place === undefined) return;
    const what = pick(5);
    if (place.kind === "list") {
      if (what === 0) place.items.splice(pick(place.items.length), 1);
      else if (what === 1) place.items.reverse();
      else if (what === 2) place.items[pick(place.items.length + 1)] = value(3);
      else place.items.splice(pick(place.items.length + 1), 0, value(2));
      return;
    }
    const { members } = place;
    const at = pick(members.length);
    const member = members[at];
    if (what === 0) members.splice(at, 1);
    else if (what === 1) members.reverse();
    else if (what === 2 && member !== undefined) member[1] = value(3);
    else if (what === 3 && member !== undefined) member[0] = one(keys);
    else members.splice(at, 0, [one(keys), value(2)]);
    // The story is of one object.
    if (place !== whole) return;
    if (!members.some(([key]) => key === "metadata") || pick(4) === 0) {
      place.members = [["metadata", metadata()], ...members.filter(([key]) => key !== "metadata")];
    }
  }

  /** Some servers write for people: always with the same spaces. */
  const between = !isCalm && pick(5) === 0 ? one([", ", " ,"]) : ",";

  function written(tree: Tree, space: () => string): string {
    if (typeof tree === "string") return space() + tree + space();
    if (tree.kind === "list") return `${space()}[${space()}${tree.items.map((item) => written(item, space)).join(between)}]${space()}`;
    const members = tree.members.map(([key, held]) => `${space()}"${key}"${space()}:${written(held, space)}`);
    return `${space()}{${space()}${members.join(",")}}${space()}`;
  }

  return {
    next() {
      for (let count = pick(4); count >= 0; count -= 1) changeScalar();
      if (!isCalm && pick(6) === 0) changeShape();
      const isSpaced = !isCalm && pick(40) === 0;
      return written(whole, () => (isSpaced && pick(6) === 0 ? one([" ", "\t", "  "]) : ""));
    },
  };
}

/** A line that something happened to on its way: cut, with other bytes, or with more of them. */
export function createDamage(random: RandomSource): (line: Buffer) => Buffer {
  const pick = (below: number): number => Math.floor(random.fraction() * below);
  const bytes = Buffer.from('{}[]",:\\0a1 \u0001\u00ff-e.', "latin1");
  const byte = (): number => bytes[pick(bytes.length)] ?? 0;
  return (line) => {
    const damaged = Buffer.from(line);
    const at = pick(line.length);
    switch (pick(6)) {
      case 0:
        return damaged.subarray(0, at);
      case 1:
        return Buffer.concat([damaged.subarray(0, at), Buffer.from([byte()]), damaged.subarray(at)]);
      case 2:
        return Buffer.concat([damaged.subarray(0, at), damaged.subarray(at + 1 + pick(4))]);
      case 3:
        return Buffer.concat([damaged, Buffer.from([byte()])]);
      case 4:
        return Buffer.concat([damaged.subarray(0, -1), Buffer.from(',"object":{}}')]);
      default:
        damaged[at] = byte();
        return damaged;
    }
  };
}
