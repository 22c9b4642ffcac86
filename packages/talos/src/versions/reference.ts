/**
 * The Talos release whose machinery answered the goldens: what commands follow when nobody names a version, as genuine talosctl of that release
 * does.
 */
export const referenceTalosVersion = "v1.13.9";
