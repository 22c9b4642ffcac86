import type { KubeObject } from "../objects/kube-object.ts";

/** `coordination.k8s.io/v1` Lease, the fields of an election. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** Who holds the lease and how long a silent holder is respected. */
interface LeaseSpec {
  /** Empty or missing: released. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** RFC 3339 with microseconds. Written for people; no candidate compares it with its own clock. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  /** How often the holder changed. */
  readonly leaseTransitions?: number;
}

/** Who stands and for how long it would hold. */
export interface Candidate {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseDurationMs: number;
}

/** The lease as its first holder creates it. */
export function newLease(candidate: Candidate, now: number): Lease {
  return {
    metadata: { namespace: candidate.namespace, name: candidate.name },
    spec: { ...holding(candidate, now), acquireTime: microTime(now), leaseTransitions: 0 },
  };
}

/** The lease as a new holder takes it over. The resourceVersion inside makes the update a compare-and-swap. */
export function takenOver(lease: Lease, candidate: Candidate, now: number): Lease {
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  return { ...lease, spec: { ...lease.spec, ...holding(candidate, now), acquireTime: microTime(now), leaseTransitions } };
}

/** The lease as its holder renews it. */
export function renewed(lease: Lease, candidate: Candidate, now: number): Lease {
  return { ...lease, spec: { ...lease.spec, ...holding(candidate, now) } };
}

/** The lease as its holder gives it back: the next candidate need not wait. */
export function released(lease: Lease, now: number): Lease {
  return { ...lease, spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(now) } };
}

/** True when nobody holds the lease. */
export function isFree(lease: Lease): boolean {
  return (lease.spec?.holderIdentity ?? "") === "";
}

/** True when the lease names the term that began with `acquireTime`. */
export function isTerm(lease: Lease, identity: string, acquireTime: string | undefined): boolean {
  return lease.spec?.holderIdentity === identity && acquireTime !== undefined && lease.spec.acquireTime === acquireTime;
}

function holding(candidate: Candidate, now: number): LeaseSpec {
  return {
    holderIdentity: candidate.identity,
    leaseDurationSeconds: Math.max(1, Math.ceil(candidate.leaseDurationMs / 1000)),
    renewTime: microTime(now),
  };
}

/** RFC 3339 with microseconds, as Kubernetes writes MicroTime. */
export function microTime(at: number): string {
  return new Date(at).toISOString().replace("Z", "000Z");
}
