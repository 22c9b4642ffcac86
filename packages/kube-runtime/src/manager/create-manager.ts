import { keyText } from "../objects/kube-object.ts";
import { createLeaseElector } from "../lease/create-lease-elector.ts";
import type { Leadership } from "../lease/types.ts";
import { leadAlone } from "./alone.ts";
import { createContact } from "./contact.ts";
import type { Manager, ManagerHealth, ManagerOptions, Term } from "./types.ts";

/** About a minute of failures in a row: the cache is not followed any more. */
const failuresBeforeUnready = 10;
/** Twice the time after which others take a lease over: a standby that follows it by its watch reads it once in a little more than that time. */
const leaseTimesBeforeUnready = 2;
/** A pass that was aborted at its deadline may take this long to end. */
const stuckGraceMs = 60_000;

/**
 * Joins caches, leadership and controllers.
 *
 * ```
 * run ─► caches follow ──────────────────────────────────────────────────────────► caches end
 *          └► stand for the lease ─► term: controllers run ─► last pass ends ─► lease released ─► close ─┘
 *                      ▲                                        │ lost or resigned
 *                      └────────────────────────────────────────┘
 * ```
 */
export function createManager(options: ManagerOptions): Manager {
  const { client, clock, timers, random, log, identity, informers, leaderElection, metrics, shutdownTimeoutMs = 25_000 } = options;
  const leaseName = leaderElection === false ? "none" : leaderElection.name;
  const masterStatus = metrics
    ?.gauge({ name: "leader_election_master_status", help: "1 while this process holds the lease.", labels: ["name"] })
    .with({ name: leaseName });
  masterStatus?.set(0);
  const silenceMs = (leaderElection === false ? 0 : (leaderElection.leaseDurationMs ?? 15_000)) * leaseTimesBeforeUnready;
  const contact = createContact(timers, silenceMs);
  let current: { readonly leadership: Leadership; readonly term: Term } | undefined;

  async function lead(leadership: Leadership): Promise<void> {
    const term = options.term(leadership);
    current = { leadership, term };
    masterStatus?.set(1);
    try {
      await Promise.all(term.controllers.map((controller) => controller.run(leadership.signal)));
    } finally {
      current = undefined;
      masterStatus?.set(0);
      term.close?.();
    }
  }

  async function work(signal: AbortSignal): Promise<void> {
    if (leaderElection === false) return lead(leadAlone(identity, clock, signal));
    const onContact = (): void => contact.made();
    const elector = createLeaseElector({ client, clock, timers, random, log, identity, ...leaderElection, onElected: lead, onContact });
    contact.made();
    try {
      await elector.run(signal);
    } finally {
      contact.end();
    }
  }

  /** Waits for `ending`, but not for ever once told to stop. */
  async function untilEnded(ending: Promise<void>, signal: AbortSignal): Promise<void> {
    const tooLate = Promise.withResolvers<void>();
    let cancel = (): void => undefined;
    const onStop = (): void => {
      const timer = timers.schedule(shutdownTimeoutMs, () => {
        const left = current?.term.controllers.flatMap((controller) => controller.running().map((pass) => keyText(pass.key))) ?? [];
        log.error({ timeoutMs: shutdownTimeoutMs, left }, "Shutdown goes on without the passes that have not ended");
        tooLate.resolve();
      });
      cancel = () => timer.cancel();
    };
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) onStop();
    try {
      await Promise.race([ending, tooLate.promise]);
    } finally {
      signal.removeEventListener("abort", onStop);
      cancel();
    }
  }

  return {
    leadership: () => current?.leadership,
    async run(signal) {
      // Caches outlive the last pass: they end when the controllers have.
      const caches = new AbortController();
      const following = informers.run(caches.signal);
      const orderly = async (): Promise<void> => {
        try {
          await work(signal);
        } finally {
          await options.close?.();
        }
      };
      try {
        await untilEnded(orderly(), signal);
      } finally {
        caches.abort();
        await following;
      }
    },
    health(): ManagerHealth {
      const reports = informers.reports();
      const controllers = current?.term.controllers ?? [];
      const stuck = controllers.flatMap((controller) => controller.stuck());
      const unready = reports.flatMap(({ name, status }) => {
        if (!status.isSynced) return [`the cache of ${name} is not complete yet`];
        return status.failures < failuresBeforeUnready ? [] : [`the cache of ${name} has failed ${status.failures} times in a row`];
      });
      if (contact.isLost())
        unready.push(`the Kubernetes API let the lease ${leaseName} be neither read nor renewed for ${silenceMs / 1000} s`);
      const dead = stuck
        .filter((pass) => pass.overdueForMs > stuckGraceMs)
        .map((pass) => `the pass over ${keyText(pass.key)} exceeds its deadline by ${Math.round(pass.overdueForMs / 1000)} s`);
      return {
        isReady: unready.length === 0,
        isAlive: dead.length === 0,
        isLeading: current !== undefined,
        problems: [...dead, ...unready],
        informers: Object.fromEntries(reports.map(({ name, status }) => [name, status])),
        controllers: Object.fromEntries(controllers.map((controller) => [controller.name, controller.stats()])),
        stuck,
      };
    },
  };
}
