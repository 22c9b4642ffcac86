import type { ControllerOptions, MetricsRegistry } from "@talos-operator/kube-runtime";
import type { OperatorFigures } from "./figures.ts";

/** Where the figures of a controller go; without these none are kept. */
export interface Measures {
  /** For figures that every controller has. */
  readonly metrics?: MetricsRegistry;
  /** For the operator's own. */
  readonly figures?: OperatorFigures;
}

/** The options of a controller that is measured. */
export function measured({ metrics, figures }: Measures): Pick<ControllerOptions, "metrics" | "onPass"> {
  return {
    ...(metrics === undefined ? {} : { metrics }),
    ...(figures === undefined ? {} : { onPass: (controller, tookMs, thrown) => figures.passed(controller, tookMs, thrown) }),
  };
}
