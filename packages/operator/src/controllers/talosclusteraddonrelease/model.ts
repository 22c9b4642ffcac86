import type {
  AddonRun,
  ConditionInput,
  ReadyReason,
  TalosClusterAddonRelease,
  TalosClusterAddonReleaseStatus,
  EventReason,
  Finding,
} from "@talos-operator/api";
import type { AddonRunState } from "../../addons/runner.ts";
import type { ManifestsWish } from "../../addons/manifests-wish.ts";
import type { ReleaseWish } from "../../addons/wish.ts";
import type { Dependency } from "./dependencies.ts";
import type { SeenHealth } from "./health.ts";
import type { Turns } from "./turns.ts";

/** The cluster of a release. */
export type SeenCluster =
  | { readonly kind: "absent"; readonly message: string }
  /** It is being deleted, or an object of another UID has its name by now. */
  | { readonly kind: "going"; readonly name: string }
  /** Nothing can be installed yet. */
  | { readonly kind: "waiting"; readonly name: string; readonly message: string }
  /** By a person's word nothing is done in it. */
  | { readonly kind: "paused"; readonly name: string; readonly message: string }
  | { readonly kind: "present"; readonly name: string };

/** What should be installed, and whether all that it is made of could be read. */
export type SeenWish =
  | { readonly kind: "not-asked" }
  | { readonly kind: "there"; readonly wish: ReleaseWish | ManifestsWish; readonly isSetSyntax: boolean }
  | { readonly kind: "missing"; readonly reason: ReadyReason; readonly message: string };

/** Everything that one pass over a release looks at. */
export interface ReleaseSeen extends Turns {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly release: TalosClusterAddonRelease;
  readonly problems: readonly Finding[];
  /** Its namespace is going away. */
  readonly isTerminating: boolean;
  readonly cluster: SeenCluster;
  readonly wish: SeenWish;
  /** Releases of `spec.dependsOn` that are not Ready. */
  readonly unready: readonly Dependency[];
  /** Why there is no Helm; `undefined` = there is one, or nobody can tell from here. */
  readonly withoutHelm: string | undefined;
  /** The run that status names; `undefined` where it names none. */
  readonly run: AddonRunState | undefined;
  /** Of what the newest revision runs; `undefined` = nobody looked. */
  readonly health: SeenHealth | undefined;
}

/** What is done, at most one thing in a pass. */
export type ReleaseAct =
  | { readonly kind: "none" }
  | { readonly kind: "add-finalizer" }
  | { readonly kind: "remove-finalizer" }
  /** Say it in the status, then start. */
  | { readonly kind: "begin"; readonly run: AddonRun }
  /** Status names it, and nobody has started it, or nobody knows it any more. */
  | { readonly kind: "start"; readonly run: AddonRun };

/** Something for people, once the status is stored. */
export interface ReleaseNews {
  readonly reason: EventReason;
  readonly note: string;
}

/** `status` without its conditions; `undefined` takes a field away. */
export type ReleaseFields = {
  readonly [K in keyof Omit<TalosClusterAddonReleaseStatus, "conditions">]?: TalosClusterAddonReleaseStatus[K] | undefined;
};

/** What a pass does and says. A run that the status does not name any more is ended by every pass. */
export interface ReleaseDecision {
  readonly act: ReleaseAct;
  readonly fields: ReleaseFields;
  readonly conditions: readonly ConditionInput[];
  /** A run goes on, or is about to. */
  readonly isBusy: boolean;
  readonly news: readonly ReleaseNews[];
  readonly requeueAfterMs?: number;
}
