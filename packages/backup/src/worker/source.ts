import type { TalosChannel } from "@talos-operator/ports";
import { createTalosClient, parseMemberId, type TalosClient } from "@talos-operator/talos/client";
import type { SnapshotStatistics } from "@talos-operator/etcd-snapshot";

import type { TakeTask, TaskSecrets } from "../task/task.ts";
import { TaskFault } from "./fault.ts";
import type { Job } from "./job.ts";
import { tooLarge } from "./plain-check.ts";

export interface OpenSource {
  /** The database's size as the member tells it, bytes: about that of the snapshot. */
  readonly size: number;
  readonly client: TalosClient;
  close(): void;
}

/**
 * Asks the member, on the connection that the snapshot will use, whether it is the one that was meant, and fit for it.
 *
 * @throws TaskFault, TalosError
 */
export async function openSource(
  { deps, signal, report }: Job,
  task: TakeTask,
  talos: NonNullable<TaskSecrets["talos"]>,
): Promise<OpenSource> {
  const { address, port, memberId, machine } = task.source;
  report({ phase: "asking", bytes: 0 });
  const channel: TalosChannel = deps.dialer.dial({ address, ...(port === undefined ? {} : { port }) }, { kind: "mutual", ...talos });
  try {
    const client = createTalosClient(channel);
    const status = await client.etcdStatus({ signal });
    const changed = (what: string): TaskFault =>
      new TaskFault("source-changed", `${machine} at ${address} ${what}. Another member is asked by the next try.`, { mayRepeat: true });
    if (status.memberId !== memberId) throw changed(`is etcd member ${status.memberId} and not ${memberId}`);
    if (status.isLearner) throw changed("is a learner, whose data may be behind");
    const alarms = await client.etcdAlarmList({ signal });
    if (alarms.some(({ alarm, memberId: raisedBy }) => alarm === "corrupt" && (raisedBy === memberId || BigInt(`0x${raisedBy}`) === 0n)))
      throw changed("has the alarm CORRUPT: its data differ from those of the others");
    if (status.dbSizeBytes > task.maxBytes) throw tooLarge(`about ${status.dbSizeBytes} bytes, and ${task.maxBytes} are allowed`);
    return { size: status.dbSizeBytes, client, close: () => channel.close() };
  } catch (error) {
    channel.close();
    throw error;
  }
}

/** @throws TaskFault when the snapshot does not know the member that gave it: it is another cluster's */
export function checkMembership({ members }: SnapshotStatistics, memberId: string): void {
  const asked = parseMemberId(memberId);
  if (members.length > 0 && !members.some(({ id }) => parseMemberId(id) === asked))
    throw new TaskFault(
      "source-changed",
      `The snapshot does not know etcd member ${memberId}, of which it should be. Look at what answers at that address.`,
    );
}
