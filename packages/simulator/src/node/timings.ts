/**
 * How long things take on a simulated machine, in milliseconds. Data, not behaviour: the same machine runs at full speed in a simulated
 * world and at a pace that people can follow in the demo.
 */
export interface Timings {
  /** Network time of one call, both ways together. 0 answers in the same turn of the event loop. */
  readonly callMs: number;
  /** Power on until the API answers. */
  readonly bootMs: number;
  /** Configuration accepted in maintenance until the API demands client certificates; callers are refused meanwhile. */
  readonly switchMs: number;
  /** Pulling an image that somebody asked for, where it is not there yet. */
  readonly imagePullMs: number;
  /** Writing Talos to the disk (metal only). */
  readonly installMs: number;
  /** Reboot ordered until the machine goes down. */
  readonly shutdownMs: number;
  /** Configured API up until `cri` and `trustd` run. */
  readonly criMs: number;
  /** `cri` up until etcd waits for bootstrap (`Preparing`). */
  readonly etcdPreparingMs: number;
  /** Pulling etcd's image, where it is not there yet. 0 = it is always there. */
  readonly etcdPullMs: number;
  /** The service etcd told to stop until it has stopped; a Bootstrap waits for that. 0 = in the turn in which it is told. */
  readonly etcdStopMs: number;
  /** `cri` up until the kubelet runs. */
  readonly kubeletMs: number;
  /** Bootstrap (or a cluster to join) seen until the etcd process runs. */
  readonly etcdStartMs: number;
  /** etcd runs until its first health check succeeds. */
  readonly etcdHealthyMs: number;
  /** Between two health checks of etcd. A learner passes none, so a promoted member is healthy only with the next one. 0 = a learner passes them, too. */
  readonly etcdCheckMs: number;
  /** How often a control plane without etcd data looks for an etcd of its cluster. */
  readonly etcdJoinPollMs: number;
  /** A started learner until it is promoted to voter. */
  readonly etcdPromoteMs: number;
  /** A lost leader until the next one is elected. */
  readonly etcdElectionMs: number;
  /** A member that serves told to stop until its process has ended. */
  readonly etcdShutdownMs: number;
  /** Defragmenting an etcd that uses 1 GiB. */
  readonly etcdDefragmentMsPerGib: number;
  /** etcd healthy until the static pods run and the Kubernetes API answers. */
  readonly staticPodsMs: number;
  /** Kubernetes API answers until the kubelet has registered its Node. */
  readonly nodeRegisterMs: number;
  /** Node registered until it is Ready. */
  readonly nodeReadyMs: number;
  /** Kubelet silent until its Node is shown as `Unknown`. */
  readonly nodeLostMs: number;
  /** Wiping the system disk on reset. */
  readonly wipeMs: number;
}

/** Everything as soon as possible, in the order a genuine node has. For tests and benches that measure the other side. */
export const instantTimings: Timings = {
  callMs: 0,
  bootMs: 0,
  switchMs: 0,
  imagePullMs: 0,
  installMs: 0,
  shutdownMs: 0,
  criMs: 0,
  etcdPreparingMs: 0,
  etcdPullMs: 0,
  etcdStopMs: 0,
  kubeletMs: 0,
  etcdStartMs: 0,
  etcdHealthyMs: 0,
  etcdCheckMs: 0,
  etcdJoinPollMs: 1,
  etcdPromoteMs: 0,
  etcdElectionMs: 0,
  etcdShutdownMs: 0,
  etcdDefragmentMsPerGib: 0,
  staticPodsMs: 0,
  nodeRegisterMs: 0,
  nodeReadyMs: 0,
  nodeLostMs: 40_000,
  wipeMs: 0,
};

/** A cluster in a few seconds, slow enough to watch. The demo uses it. */
export const demoTimings: Timings = {
  callMs: 0,
  bootMs: 400,
  switchMs: 150,
  imagePullMs: 300,
  installMs: 500,
  shutdownMs: 100,
  criMs: 200,
  etcdPreparingMs: 50,
  etcdPullMs: 0,
  etcdStopMs: 20,
  kubeletMs: 150,
  etcdStartMs: 150,
  etcdHealthyMs: 150,
  etcdCheckMs: 0,
  etcdJoinPollMs: 150,
  etcdPromoteMs: 200,
  etcdElectionMs: 100,
  etcdShutdownMs: 100,
  etcdDefragmentMsPerGib: 4_000,
  staticPodsMs: 250,
  nodeRegisterMs: 150,
  nodeReadyMs: 250,
  nodeLostMs: 40_000,
  wipeMs: 300,
};

/** What was measured on genuine machines, roughly: minutes to boot and install, seconds for services. For simulated worlds in virtual time. */
export const realisticTimings: Timings = {
  callMs: 2,
  bootMs: 45_000,
  switchMs: 800,
  imagePullMs: 15_000,
  installMs: 60_000,
  shutdownMs: 10_000,
  criMs: 4_000,
  etcdPreparingMs: 1_000,
  etcdPullMs: 6_000,
  etcdStopMs: 400,
  kubeletMs: 15_000,
  etcdStartMs: 2_000,
  etcdHealthyMs: 5_000,
  etcdCheckMs: 20_000,
  etcdJoinPollMs: 5_000,
  etcdPromoteMs: 10_000,
  etcdElectionMs: 1_500,
  etcdShutdownMs: 1_000,
  etcdDefragmentMsPerGib: 10_000,
  staticPodsMs: 20_000,
  nodeRegisterMs: 3_000,
  nodeReadyMs: 15_000,
  nodeLostMs: 40_000,
  wipeMs: 5_000,
};

/**
 * What five genuine nodes in container mode took on one machine of two processors: three voters after 40 s, of which nearly all goes into pulling etcd's image and
 * into learners that catch up one after the other, ready nodes some seconds later. Between the steps minutes of a machine pass, and people only wait.
 */
export const genuineTimings: Timings = {
  callMs: 2,
  bootMs: 2_000,
  switchMs: 300,
  imagePullMs: 3_500,
  installMs: 0,
  shutdownMs: 1_000,
  criMs: 500,
  etcdPreparingMs: 300,
  etcdPullMs: 3_500,
  etcdStopMs: 60,
  kubeletMs: 3_000,
  etcdStartMs: 500,
  etcdHealthyMs: 5_000,
  etcdCheckMs: 0,
  etcdJoinPollMs: 1_000,
  etcdPromoteMs: 11_000,
  etcdElectionMs: 1_000,
  etcdShutdownMs: 7_000,
  etcdDefragmentMsPerGib: 10_000,
  staticPodsMs: 12_000,
  nodeRegisterMs: 2_000,
  nodeReadyMs: 10_000,
  nodeLostMs: 40_000,
  wipeMs: 2_000,
};
