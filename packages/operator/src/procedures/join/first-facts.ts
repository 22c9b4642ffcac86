import { controlPlanesOf, foundedBy, withFounded } from "../../assess/etcd-view.ts";
import { reportedMachines, wasNeverRecorded } from "../../observe/reported-machines.ts";
import { planMachines } from "./plan.ts";
import { withDecisions } from "../../record/facts.ts";
import { networksOf } from "../../spec/fixed-properties.ts";
import { writtenConfig } from "../../spec/written-config.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Observed } from "../../model/observation.ts";
import type { Assessment } from "../../model/assessment.ts";

/**
 * The first record of a cluster; machines that wait already are written down in the same stroke.
 *
 * One that is made for keys that were there before may take the place of a record that was lost: machines that were configured are written down again, as
 * far as their TalosMachines tell.
 */
export function firstFacts(
  assessed: Assessment,
  secret: string,
  bundle: { readonly fingerprint: string; readonly clusterId: string },
): ClusterFacts {
  const { seen } = assessed;
  const wasFound = seen.sent.get("CreateBundle")?.outcome !== "answered" && !wasNeverRecorded(seen);
  const facts: ClusterFacts = {
    controlPlaneUid: seen.controlPlane.metadata.uid ?? "",
    clusterId: bundle.clusterId,
    bundle: { secretName: secret, fingerprint: bundle.fingerprint, wasFound },
    endpoint: endpointFor(seen),
    ...networksOf(seen.controlPlane.spec ?? {}, writtenConfig(seen)),
    cni: seen.controlPlane.spec?.cni ?? {},
    talosVersion: seen.controlPlane.spec?.version ?? "",
    kubernetesVersion: writtenConfig(seen)?.kubernetesVersion ?? seen.controlPlane.spec?.kubeVersion ?? "",
    machines: wasFound ? reportedMachines(seen) : [],
    bootstrapIntent: undefined,
    bootstrapDone: undefined,
    intents: [],
    decisions: [],
  };
  const founded = wasFound ? foundedBy(controlPlanesOf(seen)) : undefined;
  const noted = withDecisions(founded === undefined ? facts : withFounded(facts, founded, seen.now), {
    at: seen.now,
    action: wasFound ? "TakeBundle" : "CreateBundle",
    reason: wasFound ? "BundleFound" : "NewCluster",
    message: wasFound ? `The Secret ${secret} was there before this record.` : `The cluster's keys are in the Secret ${secret}.`,
  });
  return planMachines(assessed, noted).facts;
}

/** `spec.endpoint`, else the first control plane's address: a name that nobody can resolve would help no node. */
function endpointFor(seen: Observed): string {
  const { endpoint } = seen.controlPlane.spec ?? {};
  if (endpoint !== undefined && endpoint !== "") return endpoint;
  const written = writtenConfig(seen)?.endpoint;
  if (written !== undefined) return written;
  const first =
    seen.machines.find((machine) => machine.declared.role === "controlplane")?.declared.address ?? seen.controlPlane.metadata.name;
  return `https://${first.includes(":") ? `[${first}]` : first}:6443`;
}
