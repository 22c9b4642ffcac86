import type { Count } from "@talos-operator/etcd-snapshot";
import type { Inspection, StoredFacts } from "./inspection.ts";
import { printable, sizeText } from "./words.ts";

/** Namespaces that are named for each kind. */
const MOST_NAMESPACES = 6;
/** Nodes that are named; `-o json` names all. */
const MOST_NODES = 100;

/** What people read. Names come from the snapshot, whoever wrote it: nothing in them reaches the terminal but letters. */
export function inspectionText(found: Inspection): string {
  const { members, removedMembers, hasTrailer, nodes, stored } = found;
  const facts = [
    ["File", `${found.file} (${sizeText(found.size)})`],
    ...(stored === undefined ? [] : storedLines(stored)),
    [
      "Checked",
      hasTrailer ? `every byte, SHA-256 ${found.sha256}` : "not: it ends without a SHA-256, as a copy of a member's database does",
    ],
    ["Revision", `${found.revision}${found.compactRevision === undefined ? "" : `, compacted up to ${found.compactRevision}`}`],
    ["Keys", `${found.liveKeys} live, ${found.revisions} revisions of them and of deleted ones`],
    ["etcd", `storage ${found.storageVersion ?? "before 3.6"}, cluster ${found.clusterVersion ?? "unknown"}, raft term ${found.term}`],
    ...(members.length === 0
      ? [["Members", "none"]]
      : members.map(({ id, name, isLearner, peerURLs }, index) => [
          index === 0 ? "Members" : "",
          `${name || "(not started)"}${peerURLs.length === 0 ? "" : ` (${peerURLs.join(", ")})`} ${id}${isLearner ? " learner" : ""}`,
        ])),
    ...(removedMembers.length === 0 ? [] : [["Removed", removedMembers.join(", ")]]),
    ["Nodes", nodesText(nodes)],
  ];
  const lines = facts.map(([what = "", value = ""]) => `${what.padEnd(9)} ${printable(value)}`);
  const rows = [
    ...found.kinds.map(({ apiVersion, kind, ...count }) => [kind, apiVersion, String(count.total), places(count)]),
    ...found.encrypted.map(({ resource, ...count }) => [resource, "(encrypted)", String(count.total), places(count)]),
  ].map((row) => row.map(printable));
  const rest = [
    ...(found.otherKinds + found.otherEncrypted === 0 ? [] : [`${found.otherKinds + found.otherEncrypted} objects of further kinds`]),
    ...(found.unreadable === 0 ? [] : [`${found.unreadable} keys at places of objects whose values are none`]),
    ...(found.otherKeys === 0 ? [] : [`${found.otherKeys} keys of others than objects`]),
    `${found.sample.decoded} objects decoded and compared with their keys, ${found.sample.mismatched === 0 ? "all match" : `${found.sample.mismatched} do not match`}`,
  ];
  const objects =
    rows.length === 0 ? ["No object of Kubernetes is in it."] : table([["KIND", "API VERSION", "OBJECTS", "NAMESPACES"], ...rows]);
  return `${[...lines, "", ...objects, "", ...rest].join("\n")}\n`;
}

function storedLines(stored: StoredFacts): readonly (readonly string[])[] {
  const { facts, signature, uncheckedBecause } = stored;
  const layers = stored.layers.map((layer) => (layer === "age" ? "encrypted by age" : "compressed by zstd"));
  return [
    [
      "Stored",
      `${stored.object} in ${stored.place} (${sizeText(stored.size)}${layers.length === 0 ? ", plain" : `, ${layers.join(", ")}`})`,
    ],
    ...(facts === undefined
      ? [["Manifest", noManifest(stored)]]
      : [
          [
            "Manifest",
            `of ${facts.slot}, its checksums are right; its signature is ${signature === "checked" ? "checked" : `not checked: ${uncheckedBecause ?? ""}`}`,
          ],
          [
            "Taken",
            [
              `${facts.startedAt} from ${facts.source.machine} (member ${facts.source.memberId})`,
              ...(facts.talosVersion === undefined ? [] : [`Talos ${facts.talosVersion}`]),
              ...(facts.kubernetesVersion === undefined ? [] : [`Kubernetes ${facts.kubernetesVersion}`]),
            ].join(", "),
          ],
          [
            "Bundle",
            stored.hasKeys
              ? "the cluster's keys are with it, encrypted to its recipients"
              : "the cluster's keys are not with it: keep them elsewhere, or give the backup recipients",
          ],
        ]),
  ];
}

function noManifest({ writtenBy }: StoredFacts): string {
  if (writtenBy === "published") return "none: written by the published operator; retention neither counts nor removes it";
  return writtenBy === "us" ? "none names it: its try has not ended, or another one won" : "none";
}

function nodesText({ names, others }: Inspection["nodes"]): string {
  if (names.length === 0) return "none";
  const more = names.length + others - Math.min(names.length, MOST_NODES);
  return `${names.length + others}: ${names.slice(0, MOST_NODES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function places({ namespaces, others }: Count): string {
  const named = Object.entries(namespaces);
  const shown = named.slice(0, MOST_NAMESPACES).map(([namespace, count]) => (namespace === "" ? "" : `${namespace} ${count}`));
  const more = named.length - shown.length + others.namespaces;
  return [...shown.filter((one) => one !== ""), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}
