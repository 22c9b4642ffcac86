/** What only a person or another chart changes is tried again so rarely. Milliseconds. */
export const HOPELESS_RETRY_MS = 30 * 60_000;

/** How often a run is looked at. Milliseconds. */
export const LOOK_MS = 2_000;

/** How often what is waited for is looked at. Milliseconds. */
export const WAIT_MS = 10_000;
