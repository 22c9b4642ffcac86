/** Where a value stands in an object. */
export interface Path {
  /** Keys and indexes, from the whole inwards. */
  readonly keys: readonly (string | number)[];
  /** `metadata.managedFields` itself. */
  readonly isManagedFields: boolean;
  /** These, or anything inside of them, where they are left out: no value is kept. */
  readonly isLeftOut: boolean;
}

/** Paths that objects of one kind have in common, each there once. When there are too many they are made anew. */
export interface Paths {
  readonly whole: Path;
  readonly metadata: Path;
  /** The path of a member of what is at `path`; `undefined` is the key of what is left out. */
  member(path: Path, key: string | number | undefined): Path;
}

interface Node extends Path {
  readonly members: Map<string | number, Node>;
}

const mostPaths = 4_096;

/** No paths but those that every object has. */
export function createPaths(): Paths {
  const whole = node([]);
  const metadata = node(["metadata"]);
  const managedFields: Path = { keys: [], isManagedFields: true, isLeftOut: true };
  const insideOfThem: Path = { keys: [], isManagedFields: false, isLeftOut: true };
  let count = 0;

  function begin(): void {
    count = 0;
    whole.members.clear();
    metadata.members.clear();
    whole.members.set("metadata", metadata);
  }

  begin();
  return {
    whole,
    metadata,
    member(path, key) {
      if (key === undefined) return path === metadata ? managedFields : insideOfThem;
      const { members } = path as Node;
      const known = members.get(key);
      if (known !== undefined) return known;
      if (count === mostPaths) begin();
      count += 1;
      const found = node([...path.keys, key], path === metadata && key === "managedFields");
      members.set(key, found);
      return found;
    },
  };
}

function node(keys: Path["keys"], isManagedFields = false): Node {
  return { keys, isManagedFields, isLeftOut: false, members: new Map() };
}
