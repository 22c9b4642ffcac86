/**
 * The slow and obvious way to plan an upgrade: every hop that the compatibility tables allow from every state, breadth first, until one is what is asked for.
 * Its tables are written down again from the releases, so that a slip in the matrix is found.
 */
interface SlowMachine {
  readonly name: string;
  readonly isControlPlane: boolean;
  readonly runs: string;
  readonly asked: string;
}

export interface SlowWish {
  readonly machines: readonly SlowMachine[];
  readonly kubernetes: { readonly runs: string; readonly asked: string };
  readonly allowDowngrade: string;
}

export interface SlowState {
  readonly machines: readonly string[];
  readonly kubernetes: string;
}

/** Talos minor: Kubernetes from and to, host from, host below, etcd, newest patch. */
const tables: Readonly<Record<number, readonly [number, number, number, number, number, number]>> = {
  8: [26, 31, 5, 10, 5, 4],
  9: [27, 32, 8, 11, 5, 6],
  10: [28, 33, 8, 12, 5, 9],
  11: [29, 34, 9, 13, 6, 6],
  12: [30, 35, 10, 14, 6, 11],
  13: [31, 36, 11, 15, 6, 9],
  14: [32, 37, 12, 16, 7, -1],
};
const newestKubernetes: Readonly<Record<number, number>> = { 31: 4, 32: 4, 33: 6, 34: 1, 35: 4, 36: 3 };

const parts = (version: string): readonly [minor: number, patch: number] => {
  const [, minor = "", patch = ""] = version.slice(1).split(".");
  return [Number(minor), Number(patch)];
};
const isOlder = (a: string, b: string): boolean => parts(a)[0] < parts(b)[0] || (parts(a)[0] === parts(b)[0] && parts(a)[1] < parts(b)[1]);
const minorOf = (version: string): number => parts(version)[0];

/** How many hops it takes at least; `undefined` = no sequence of legal hops leads there. */
export function slowSearch(wish: SlowWish): number | undefined {
  const key = (state: SlowState): string => `${state.machines.join()} ${state.kubernetes}`;
  const goal = key({ machines: wish.machines.map(({ asked }) => asked), kubernetes: wish.kubernetes.asked });
  let edge: readonly SlowState[] = [{ machines: wish.machines.map(({ runs }) => runs), kubernetes: wish.kubernetes.runs }];
  const seen = new Set(edge.map(key));
  for (let hops = 0; edge.length > 0; hops += 1) {
    if (edge.some((state) => key(state) === goal)) return hops;
    const next = new Map(edge.flatMap((state) => hopsFrom(wish, state)).map((state) => [key(state), state]));
    edge = [...next].flatMap(([name, state]) => (seen.has(name) ? [] : [state]));
    for (const state of edge) seen.add(key(state));
  }
  return undefined;
}

/** Every state that one legal hop leads to. */
function hopsFrom(wish: SlowWish, state: SlowState): readonly SlowState[] {
  const versions = [
    ...new Set([...wish.machines.map(({ asked }) => asked), ...Object.entries(tables).map(([minor, row]) => `v1.${minor}.${row[5]}`)]),
  ];
  const talos = versions.flatMap((version) =>
    [true, false].flatMap((isControlPlane) =>
      [true, false].flatMap((isBack) =>
        subsets(wish.machines.flatMap((machine, index) => (machine.isControlPlane === isControlPlane ? [index] : []))).map((chosen) => ({
          chosen,
          isBack,
          after: { ...state, machines: state.machines.map((runs, index) => (chosen.includes(index) ? version : runs)) },
        })),
      ),
    ),
  );
  const kubernetes = [
    ...new Set([wish.kubernetes.asked, ...Object.entries(newestKubernetes).map(([minor, patch]) => `v1.${minor}.${patch}`)]),
  ].map((version) => ({ ...state, kubernetes: version }));
  return [
    ...talos.filter(({ chosen, isBack, after }) => isLegalTalosHop(wish, state, after, { chosen, isBack })).map(({ after }) => after),
    ...kubernetes.filter((after) => isLegalKubernetesHop(wish, state, after)),
  ];
}

function subsets(all: readonly number[]): readonly (readonly number[])[] {
  const lists = all.reduce<readonly (readonly number[])[]>((before, one) => [...before, ...before.map((list) => [...list, one])], [[]]);
  return lists.filter((list) => list.length > 0);
}

/** Whether these machines may go from what they run in one state to what they run in another. */
export function isLegalTalosHop(
  wish: SlowWish,
  before: SlowState,
  after: SlowState,
  { chosen, isBack }: { readonly chosen: readonly number[]; readonly isBack: boolean },
): boolean {
  const data = Math.min(
    ...before.machines.flatMap((runs, index) => (wish.machines[index]?.isControlPlane === true ? [tables[minorOf(runs)]?.[4] ?? 0] : [])),
  );
  return chosen.every((index) => {
    const [from = "", to = ""] = [before.machines[index], after.machines[index]];
    const { asked = "", isControlPlane = false } = wish.machines[index] ?? {};
    const row = tables[minorOf(to)];
    if (row === undefined || from === to || isOlder(to, from) !== isBack) return false;
    const [oldest, newest, hostFrom, hostBelow, etcd, patch] = row;
    const isThrough = parts(to)[1] === patch && (minorOf(to) - minorOf(asked)) * (minorOf(to) - minorOf(from)) < 0;
    if (to !== asked && !isThrough) return false;
    if (Math.abs(minorOf(to) - minorOf(from)) > 1 || minorOf(from) < hostFrom || minorOf(from) >= hostBelow) return false;
    if (minorOf(before.kubernetes) < oldest || minorOf(before.kubernetes) > newest) return false;
    if (isBack && (wish.allowDowngrade !== asked || (isControlPlane && etcd < data))) return false;
    if (minorOf(to) === minorOf(from)) return true;
    const others = wish.machines.flatMap((one, at) => (one.isControlPlane === isControlPlane ? [] : [minorOf(before.machines[at] ?? "")]));
    if (isControlPlane) return !isBack || others.every((minor) => minor <= minorOf(to));
    return isBack || others.every((minor) => minor >= minorOf(to));
  });
}

/** Whether Kubernetes may go from what runs in one state to what runs in another. */
export function isLegalKubernetesHop(wish: SlowWish, before: SlowState, after: SlowState): boolean {
  const [from, to] = [before.kubernetes, after.kubernetes];
  const [minor, patch] = parts(to);
  if (from === to || minor < minorOf(from) || minor > minorOf(from) + 1) return false;
  if (isOlder(to, from) && wish.allowDowngrade !== wish.kubernetes.asked) return false;
  const isThrough = minor > minorOf(from) && minor < minorOf(wish.kubernetes.asked) && patch === newestKubernetes[minor];
  if (to !== wish.kubernetes.asked && !isThrough) return false;
  return before.machines.every((talos) => {
    const [oldest = 0, newest = 0] = tables[minorOf(talos)] ?? [];
    return oldest <= minor && minor <= newest;
  });
}
