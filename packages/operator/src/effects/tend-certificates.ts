import { canonicalAddress } from "@talos-operator/api";
import { endpointHost } from "../config/endpoint-host.ts";
import { certificateHosts } from "../config/endpoints.ts";
import { EffectError, isEffectError } from "../errors.ts";
import type { CertificateMachine } from "../workload/kubelet-certificates/judge.ts";
import type { Approver } from "../workload/kubelet-certificates/cluster-certificates.ts";
import { approvesCertificates } from "../procedures/certificates/rule.ts";
import { machineFact } from "../record/facts.ts";
import { defineEffect } from "./define.ts";
import { placeOf } from "./tend-nodes.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Effects } from "./ports.ts";

/** Names under which pods and people reach the API: nobody serves under them but the API. */
const apiNames = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"];

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Lists the certificate requests of kubelets beside the passes, and approves what a person lets us and the machines bear out. */
    TendCertificates: { readonly approves: boolean };
  }
}

/** Lists the certificate requests of kubelets beside the passes, and has those approved that may be. */
export const tendCertificates = defineEffect("TendCertificates", {
  inventory: "WL1",
  at: "workload",
  disrupts: "nothing",
  carryOut({ action: { approves }, effects }) {
    const { session, seen, log } = effects;
    if (session.certificates === undefined) throw new EffectError("PRECONDITION_GONE", "there is no client of the cluster's own API");
    const approver = approves && approvesCertificates(seen) ? approverOf(effects) : undefined;
    session.certificates.look(placeOf(effects), approver, log);
  },
  step: () => undefined,
  afterwards: (seen) => ({ ...seen, certificates: { at: seen.now, isAsking: false, pending: seen.certificates?.pending ?? [] } }),
});

function approverOf(effects: Effects): Approver {
  const { seen, guard, session } = effects;
  const facts = effects.facts();
  return {
    machines: certificateMachines(seen, facts),
    reserved: reservedPlaces(seen, facts),
    networks: [...facts.podCIDR, ...facts.serviceCIDR],
    demand: async (machine) => {
      await effects.demandUnpaused(machine);
      try {
        const uuid = machineFact(facts, machine)?.uuid;
        return await guard.check(
          (live) => machineFact(live, machine)?.uuid === uuid && machineFact(live, machine)?.releasedAt === undefined,
        );
      } catch (thrown) {
        // No pass hears of it: the next one reads anew what was remembered wrongly.
        if (isEffectError(thrown, "RECORD_CHANGED")) session.record = undefined;
        throw thrown;
      }
    },
    approved: (machine, request) =>
      effects.tellStep(
        machine,
        "KubeletCertificateApproved",
        `Approved the serving certificate of the kubelet of ${machine} (${request}).`,
      ),
  };
}

/** Machines of the cluster that answer as such, that say which Node they are, and that nobody paused. */
export function certificateMachines({ machines, held }: Observed, facts: ClusterFacts): readonly CertificateMachine[] {
  return machines.flatMap(({ declared, look }): readonly CertificateMachine[] => {
    const fact = machineFact(facts, declared.name);
    if (fact === undefined || fact.releasedAt !== undefined || held?.has(declared.name) === true) return [];
    if (look.kind !== "running" || look.nodeName === undefined) return [];
    return [{ machine: declared.name, uuid: fact.uuid, address: declared.address, nodeName: look.nodeName }];
  });
}

/** Where the cluster's API is reached, and where machines are that do not answer: a kubelet that tells such an address is not believed. */
export function reservedPlaces({ machines, former, controlPlane }: Observed, facts: ClusterFacts): readonly string[] {
  const endpoints = [...certificateHosts(facts), endpointHost(controlPlane.spec?.endpoint ?? "") ?? ""];
  const others = [...machines, ...former].filter(({ look }) => look.kind !== "running").map(({ declared }) => declared.address);
  return [...[...endpoints, ...others].filter((place) => place !== "").map(canonicalAddress), ...apiNames];
}
