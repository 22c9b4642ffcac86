import type { SeenMachine } from "../model.ts";

/** True when the machine says that it runs and that nothing is unmet. */
export function isReadyNode({ look }: SeenMachine): boolean {
  return look.kind === "running" && look.stage === "running" && look.ready && look.unmet.length === 0;
}

/** A short word for where a machine is, stable while nothing changes. */
export function stateOf({ look }: SeenMachine): string {
  switch (look.kind) {
    case "not-asked":
      return "not asked yet";
    case "silent":
      return look.detail;
    case "not-talos":
      return "not Talos";
    case "foreign":
      return look.isByTime === true ? "certificates refused for their dates" : "another identity";
    case "maintenance":
      return "in maintenance mode";
    case "running":
      return look.stage === undefined || look.stage === "running"
        ? look.etcd?.service === undefined
          ? "running"
          : `etcd ${look.etcd.service}`
        : look.stage;
  }
}

/** What keeps a machine from being a ready node. */
export function unmetOf(machine: SeenMachine): string {
  const { look } = machine;
  if (look.kind !== "running") return stateOf(machine);
  if (look.unmet.length > 0)
    return look.unmet.map((unmet) => (unmet.reason === "" ? unmet.name : `${unmet.name} (${unmet.reason})`)).join(", ");
  return look.stage === "running" ? "not ready" : `stage ${look.stage ?? "not told"}`;
}

/** Machines by name, for sentences. */
export function names(machines: readonly SeenMachine[]): string {
  return machines.map((machine) => machine.declared.name).join(", ");
}
