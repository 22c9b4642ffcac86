import type { EndpointAnswer } from "@talos-operator/ports";

/** What is known of the endpoint of a cluster. */
export type SeenEndpoint =
  /** A person says that it is reached from outside only: nobody asks. */
  | { readonly kind: "outside" }
  /** No answer of this process counts yet. `isAwaited`: one is on its way; otherwise no control plane serves the API yet. */
  | { readonly kind: "not-asked"; readonly isAwaited: boolean }
  /** `isSure` is false while it was silent too few times to be called out of reach. */
  | { readonly kind: "answered"; readonly answer: EndpointAnswer; readonly isSure: boolean };

/** Another endpoint that the spec asks for, and what is known of it. */
export interface SeenNextEndpoint {
  readonly url: string;
  readonly seen: SeenEndpoint;
}
