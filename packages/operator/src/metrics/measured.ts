import type { ControllerOptions, MetricsRegistry } from "@talos-operator/kube-runtime";
import type { Tracer } from "@talos-operator/ports";
import type { OperatorFigures } from "./figures.ts";

/** Where the figures and spans of a controller go; without these there are none. */
export interface Measures {
  /** For figures that every controller has. */
  readonly metrics?: MetricsRegistry;
  /** For the operator's own. */
  readonly figures?: OperatorFigures;
  /** Where spans go. */
  readonly tracer?: Tracer;
}

/** The options of a controller that is measured and traced. */
export function measured({ metrics, figures, tracer }: Measures): Pick<ControllerOptions, "metrics" | "onPass" | "tracer"> {
  return {
    ...(tracer === undefined ? {} : { tracer }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(figures === undefined ? {} : { onPass: (controller, tookMs, thrown) => figures.passed(controller, tookMs, thrown) }),
  };
}
