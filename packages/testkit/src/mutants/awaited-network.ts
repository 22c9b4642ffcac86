import type { Mutant, SourceEdit } from "./mutant.ts";

const stories = ["testkit/src/stories/cni-first.test.ts"];

const edit = (file: string, find: string, replace: string): SourceEdit => ({ file: `operator/src/${file}.ts`, find, replace });

/** Faults that stand still, or wait in a circle, on a cluster whose network plugin is an addon. */
export const awaitedNetworkFaults: readonly Mutant[] = [
  {
    name: "addon-waits-for-ready",
    about: "installs addons once the cluster is Ready, which it is not before one of them brings its network",
    tests: stories,
    edits: [
      edit(
        "controllers/talosclusteraddonrelease/cluster-of",
        "if (facts.bootstrapDone === undefined) return",
        'if (facts.bootstrapDone === undefined || controlPlane.status?.state !== "Ready") return',
      ),
    ],
  },
  {
    name: "addon-waits-for-pods-without-network",
    about: "lets Helm wait for pods that cannot run before another release has brought the network, and takes that one's turn",
    tests: stories,
    edits: [
      edit(
        "controllers/talosclusteraddonrelease/controller",
        "isWithoutNetwork ? withoutWaits(wish.options) : wish.options",
        "wish.options",
      ),
    ],
  },
  {
    name: "addon-never-waits-for-pods",
    about: "does not let Helm wait for pods where the network is there",
    tests: stories,
    edits: [
      edit(
        "controllers/talosclusteraddonrelease/without-network",
        'if (nodes?.reason === "NoNetworkPlugin") return true;',
        "if (nodes !== undefined) return true;",
      ),
    ],
  },
  {
    name: "boot-awaits-ready-node-without-network",
    about: "takes a machine that booted for broken because its Node is not Ready, which none can be before the network plugin is there",
    tests: stories,
    edits: [edit("procedures/configure/settle-config", "withoutAwaited(seen, factsOf(seen), met);", "met;")],
  },
  {
    name: "cordon-stays-without-network",
    about: "leaves a Node cordoned until it is Ready, and the next machine waits for that before the network plugin is there",
    tests: stories,
    edits: [edit("assess/node-owners", "isReadyNode(withoutAwaited(seen, facts, named))", "isReadyNode(named)")],
  },
  {
    name: "no-plugin-said-of-one-node",
    about: "says that no network plugin is installed where other Nodes have one",
    tests: ["operator/src/report/awaited-network.test.ts"],
    edits: [edit("report/awaited-network", "!seen.machines.some(isReadyNode) && ", "")],
  },
];
