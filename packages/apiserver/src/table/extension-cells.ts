import { age, name, none, numberAt } from "./cell-texts.ts";
import type { CellWriter } from "./cell-texts.ts";
import { at, listAt, textAt } from "./read-fields.ts";

function availability(api: unknown): string {
  const condition = listAt(api, "status", "conditions").find((one) => at(one, "type") === "Available");
  if (condition === undefined) return "Unknown";
  const [status, reason] = [textAt("", condition, "status"), textAt("", condition, "reason")];
  return status === "True" || reason === "" ? status : `${status} (${reason})`;
}

function limitCells(level: unknown): readonly unknown[] {
  const limited = at(level, "spec", "limited");
  const queuing = at(limited, "limitResponse", "queuing");
  const count = (of: unknown, field: string): unknown => (of === undefined ? none : numberAt(of, field));
  return [
    count(limited, "nominalConcurrencyShares"),
    count(queuing, "queues"),
    count(queuing, "handSize"),
    count(queuing, "queueLengthLimit"),
  ];
}

const webhooks: CellWriter = (o, now) => [name(o), listAt(o, "webhooks").length, age(o, now)];

/** Cells of the kinds by which others extend or steer an API server. */
export const extensionCells: Readonly<Record<string, CellWriter>> = {
  APIService: (o, now) => {
    const service = at(o, "spec", "service");
    return [
      name(o),
      service === undefined ? "Local" : `${textAt("", service, "namespace")}/${textAt("", service, "name")}`,
      availability(o),
      age(o, now),
    ];
  },
  ValidatingWebhookConfiguration: webhooks,
  MutatingWebhookConfiguration: webhooks,
  FlowSchema: (o, now) => [
    name(o),
    textAt("", o, "spec", "priorityLevelConfiguration", "name"),
    numberAt(o, "spec", "matchingPrecedence"),
    textAt(none, o, "spec", "distinguisherMethod", "type"),
    age(o, now),
    textAt(
      "?",
      listAt(o, "status", "conditions").find((one) => at(one, "type") === "Dangling"),
      "status",
    ),
  ],
  PriorityLevelConfiguration: (o, now) => [name(o), textAt("", o, "spec", "type"), ...limitCells(o), age(o, now)],
};
