/** The effects that took place on each machine, by its address, and on its Node, by that one's name, in their order: `T3 ApplyConfiguration`, `WL1 PATCH node`. */
export type MachineEffects = Readonly<Record<string, readonly string[]>>;

/** What a trace tells of machines and of their Nodes. Names of pods are drawn by chance: what is done to them stands together under `pods`. */
export function machineEffectsOf(lines: readonly string[]): MachineEffects {
  const effects = new Map<string, string[]>();
  for (const line of lines) {
    const found = onMachine(line) ?? inCluster(line);
    if (found === undefined) continue;
    const known = effects.get(found.machine);
    if (known === undefined) effects.set(found.machine, [found.effect]);
    else known.push(found.effect);
  }
  return Object.fromEntries([...effects].toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true })));
}

interface Found {
  readonly machine: string;
  readonly effect: string;
}

function onMachine(line: string): Found | undefined {
  const [, id = "", method = "", machine] = /^\d+ effect (T\d+) \S+\/(\w+) (\S+)$/.exec(line) ?? [];
  return machine === undefined ? undefined : { machine, effect: `${id} ${method}` };
}

function inCluster(line: string): Found | undefined {
  const [, method = "", path = ""] = /^\d+ effect WL1 (\w+) (\S+)$/.exec(line) ?? [];
  const [, node] = /\/nodes\/([^/]+)$/.exec(path) ?? [];
  if (node !== undefined) return { machine: node, effect: `WL1 ${method} node` };
  return path === "" ? undefined : { machine: "pods", effect: `WL1 ${method} ${/\/pods\//.test(path) ? "pod" : path}` };
}
