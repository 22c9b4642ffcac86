import {
  annotations,
  canonicalAddress,
  conditionCatalogue,
  conditionFor,
  findCondition,
  isConditionTrue,
  statusOf,
} from "@talos-operator/api";
import type { ConditionInput, ReasonOf } from "@talos-operator/api";
import type { EndpointAnswer } from "@talos-operator/ports";
import { endpointHost } from "../config/endpoint-host.ts";
import { factsOf } from "../record/facts.ts";
import type { Observed } from "../model/observation.ts";
import type { Said, Waiting } from "../model/plans.ts";
import type { ClusterFacts } from "../model/record.ts";

type Reason = ReasonOf<"EndpointReachable">;

/** Whether clients reach the cluster where its kubeconfig leads; nothing before etcd is bootstrapped. */
export function endpointReachable(seen: Observed): readonly ConditionInput[] {
  const said = endpointState(seen);
  return said === undefined ? [] : [conditionFor("EndpointReachable", said.reason, said.message, seen.controlPlane.metadata.generation)];
}

/**
 * Why a cluster whose machines are all well is not ready: nobody reaches it. One that was ready stays so while nothing is known; another one waits for the
 * first answer, which takes some seconds at most.
 */
export function waitingOfEndpoint(seen: Observed): Waiting | undefined {
  const said = endpointState(seen);
  if (said === undefined) return undefined;
  const status = statusOf("EndpointReachable", said.reason);
  if (status === "False") return { reason: "EndpointUnreachable", message: said.message, saysRemedy: true };
  const isHeld = PENDING.has(said.reason) && !isConditionTrue(seen.controlPlane.status?.conditions, "Ready");
  return isHeld ? { reason: "EndpointPending", message: said.message } : undefined;
}

const PENDING: ReadonlySet<Reason> = new Set<Reason>(["NotAsked", "NoAnswer"]);

function endpointState(seen: Observed): Said<Reason> | undefined {
  const facts = factsOf(seen);
  const { endpoint } = seen;
  if (endpoint === undefined) return undefined;
  // What the process before said counts until this one has an answer, for it may have stopped in the middle of a reboot.
  const told = findCondition(seen.controlPlane.status?.conditions, "EndpointReachable");
  if (facts === undefined || endpoint.kind === "not-asked")
    return told === undefined || told.reason === "OutsideOnly" || !isReason(told.reason)
      ? { reason: "NotAsked", message: "The endpoint has not answered yet. Its answer counts once a control plane is a ready node." }
      : { reason: told.reason, message: told.message };
  if (endpoint.kind === "outside")
    return {
      reason: "OutsideOnly",
      message: `The endpoint is not asked: the annotation ${annotations.endpointReachableFrom} says outside.`,
    };
  if (endpoint.answer.kind === "reached")
    return { reason: "Reached", message: `An API server of this cluster answers at ${facts.endpoint}.` };
  if (!endpoint.isSure)
    return { reason: "NoAnswer", message: `The endpoint ${facts.endpoint} does not answer in time. It is asked again within seconds.` };
  return unreachable(endpoint.answer, seen, facts);
}

/** Another release may have said more. */
function isReason(word: string): word is Reason {
  return word in conditionCatalogue.EndpointReachable.reasons;
}

const OUTSIDE = `If only clients in other networks reach it, annotate the TalosControlPlane with ${annotations.endpointReachableFrom}=outside.`;

/** State, cause and cure. */
function unreachable({ kind, detail }: EndpointAnswer, seen: Observed, facts: ClusterFacts): Said<Reason> {
  const url = facts.endpoint;
  const left = machineThatLeft(seen, facts);
  if (left !== undefined)
    return {
      reason: "MachineLeft",
      message: `The endpoint ${url} is the address of ${left}, which left the cluster. Give the address to a control plane, or to a load balancer that leads to port 6443 of the control planes.`,
    };
  switch (kind) {
    case "unresolvable":
      return {
        reason: "NameUnresolved",
        message: `The endpoint ${url} does not resolve. Create a DNS record that leads to the control planes. ${OUTSIDE}`,
      };
    case "foreign":
      return {
        reason: "ForeignCertificate",
        message: `The endpoint ${url} leads to another cluster or service: ${detail}. Correct its DNS record, virtual IP or load balancer, which must pass TLS through.`,
      };
    case "unfit":
      return {
        reason: "CertificateUnfit",
        message: `The certificate at the endpoint ${url} is refused by clients: ${detail}. Correct cluster.apiServer.certSANs, or the clocks of the control planes.`,
      };
    default:
  }
  if (URL.parse(url)?.port === "")
    return {
      reason: "NoPort",
      message: `The endpoint ${url} names no port, so clients use 443, and no API server of this cluster answers there. Let port 443 lead to port 6443 of the control planes.`,
    };
  switch (kind) {
    case "refused":
      return {
        reason: "ConnectionRefused",
        message: `The endpoint ${url} refuses connections: ${detail}. Let it lead to port 6443 of the control planes.`,
      };
    case "not-kubernetes":
      return {
        reason: "NotKubernetes",
        message: `No Kubernetes API is at the endpoint ${url}: ${detail}. Let it lead to port 6443 of the control planes.`,
      };
    default:
      return {
        reason: "TimedOut",
        message: `The endpoint ${url} did not answer three times in a row: ${detail}. Check its virtual IP or load balancer, and firewalls. ${OUTSIDE}`,
      };
  }
}

/** The machine whose own address the endpoint is, if it is no control plane of the cluster any more. */
function machineThatLeft({ machines, former }: Observed, facts: ClusterFacts): string | undefined {
  const host = canonicalAddress(endpointHost(facts.endpoint) ?? "");
  const isThere = (address: string): boolean => address !== "" && canonicalAddress(address) === host;
  if (machines.some(({ declared }) => isThere(declared.address))) return undefined;
  return (
    former.find(({ declared }) => isThere(declared.address))?.declared.name ??
    facts.machines.find(({ address, releasedAt }) => releasedAt !== undefined && isThere(address))?.name
  );
}
