import type { Conditioned } from "../object-view.ts";
import { chooseScenario } from "../scenario.ts";
import type { ScenarioVersions } from "../scenario.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { isSettled, wantedMachines } from "./machines.ts";
import { approveOutage, createSeat } from "./self-hosted.ts";
import { createTaintLook } from "./soft-taints.ts";

/** What runs, with what is asked for: the next patch in steps and in one call, the next minor, and two minors. */
const ways: readonly (ScenarioVersions & { readonly target: string })[] = [
  { talosVersion: "v1.13.8", kubeVersion: "v1.36.3", target: "v1.13.9" },
  { talosVersion: "v1.12.10", kubeVersion: "v1.35.4", target: "v1.12.11" },
  { talosVersion: "v1.13.9", kubeVersion: "v1.36.3", target: "v1.14.0" },
  { talosVersion: "v1.12.11", kubeVersion: "v1.35.4", target: "v1.14.0" },
];

function targetOf(talosVersion: string): string {
  return ways.find((way) => way.talosVersion === talosVersion)?.target ?? "";
}

function allRun(world: EditableWorld, version: string): boolean {
  return wantedMachines(world).every(({ state }) => state.hardware.talosVersion === version);
}

/** Every machine of a cluster gets another Talos. */
export const upgradeTalos: Workload = {
  name: "upgrade-talos",
  about: "every machine is brought another Talos: control planes one by one, then workers, through a minor between where one lies there",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3, 3, 5], workers: [0, 1, 2, 3], versions: ways }),
  steps: ({ talosVersion }) => {
    const target = targetOf(talosVersion);
    const taints = createTaintLook();
    return [
      {
        what: `ask for Talos ${target}`,
        make(world) {
          taints.run(world);
          return world.edit({ talosVersion: target });
        },
        isReached: (world) => isSettled(world) && allRun(world, target) && taints.hasNone(),
      },
    ];
  },
  effects: ["T10", "T11", "K2"],
};

/** The operator runs in the cluster that it upgrades (INC32). */
export const upgradeSelfHosted: Workload = {
  name: "upgrade-self-hosted",
  about:
    "every machine of the cluster that the operator runs in is brought another Talos: it leaves its node under an intent, and goes on elsewhere",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3, 3], workers: [0, 1, 2], versions: ways.slice(0, 3) }),
  steps: ({ talosVersion }) => {
    const target = targetOf(talosVersion);
    const seat = createSeat();
    return [
      {
        what: `run the operator in the cluster, and ask for Talos ${target}`,
        async make(world) {
          await seat.run(world);
          if (wantedMachines(world).length === 1) await approveOutage(world, target);
          await world.edit({ talosVersion: target });
        },
        isReached: (world) => seat.isTaken() && isSettled(world) && allRun(world, target),
      },
    ];
  },
  // Of an upgrade, what is another one where the operator runs in the cluster: its own boot, and what is drained.
  effects: ["T11", "WL1"],
};

/** Another release of the operator takes over in the middle, again and again. */
export const operatorUpgradeMidway: Workload = {
  name: "operator-upgrade-midway",
  about: "while every machine is brought another Talos the operator is replaced several times: what one began the next one ends",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3, 3], workers: [0, 1, 2], versions: ways }),
  steps: ({ talosVersion }, random) => {
    const target = targetOf(talosVersion);
    const taints = createTaintLook();
    const pauses = Array.from({ length: 3 + Math.floor(random.fraction() * 3) }, () => 5_000 + Math.floor(random.fraction() * 60_000));
    let left = pauses.length;
    return [
      {
        what: `ask for Talos ${target}, and replace the operator ${pauses.length} times meanwhile`,
        async make(world) {
          taints.run(world);
          await world.edit({ talosVersion: target });
          const next = (index: number): void => {
            const pauseMs = pauses[index];
            if (pauseMs === undefined) return;
            world.timers.schedule(pauseMs, () => {
              left -= 1;
              world.trace("the operator is replaced");
              world.replaceOperator();
              next(index + 1);
            });
          };
          next(0);
        },
        isReached: (world) => left === 0 && isSettled(world) && allRun(world, target) && taints.hasNone(),
      },
    ];
  },
  // Crashes at the steps of an upgrade are planned in `upgrade-talos`; here operators end anyway.
  effects: ["K2"],
};

/** How a version fails, and whether a machine shows afterwards in its other slot that it had it. */
const faults = [{ boot: "never-healthy" }, { boot: "fails" }, { installerExitCode: 3 }] as const;

/** Machines that have, or are about to boot, the version. */
function touched(world: EditableWorld, version: string): number {
  return wantedMachines(world).filter(({ state: { system, hardware } }) =>
    [system?.next, system?.other, hardware.talosVersion].includes(version),
  ).length;
}

function isQuarantined(world: EditableWorld, version: string): boolean {
  const [record] = world.objects.all("clusterrecords") as readonly (Conditioned & {
    readonly spec?: { readonly quarantine?: readonly { readonly version: string }[] };
  })[];
  return record?.spec?.quarantine?.some((row) => row.version === version) === true;
}

/** Its etcd writes what the one before does not read: the only member that ran it stays with it, and a person has to help. */
const NO_WAY_BACK_ALONE = "v1.14.0";

/** A version does not work: one machine tries it, and the cluster goes on with the one before. */
export const upgradeBrokenVersion: Workload = {
  name: "upgrade-broken-version",
  about: "a Talos is asked for that does not work: one machine gets it and comes back to the one before, and no other is touched",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3, 3, 5], workers: [0, 1, 2, 3], versions: ways.slice(0, 3) }),
  steps: ({ talosVersion, controlPlanes }, random) => {
    const target = targetOf(talosVersion);
    const possible = controlPlanes === 1 && target === NO_WAY_BACK_ALONE ? faults.slice(1) : faults;
    const fault = possible[Math.floor(random.fraction() * possible.length)] ?? faults[1];
    let most = 0;
    const taints = createTaintLook();
    const isBack = (world: EditableWorld): boolean => {
      most = Math.max(most, touched(world, target));
      return most <= 1 && taints.hasNone() && isQuarantined(world, target) && isSettled(world) && allRun(world, talosVersion);
    };
    return [
      {
        what: `ask for Talos ${target}, which ${JSON.stringify(fault)}`,
        async make(world) {
          taints.run(world);
          world.datacenter.setReleaseFault(target, fault);
          await world.edit({ talosVersion: target });
        },
        isReached: isBack,
      },
      {
        what: `ask for Talos ${talosVersion} again`,
        make: (world) => world.edit({ talosVersion }),
        isReached: isBack,
      },
    ];
  },
  effects: ["T10", "T11", "K2"],
};
