import type { SentEffect } from "../../model/observation.ts";

/**
 * Why an installer is not on a machine, without a full stop. Talos asks a registry again for twenty minutes unless it says that it has no such image, and tells why in its
 * kernel log alone.
 *
 * @see siderolabs/talos v1.13.9 `internal/pkg/containers/image/image.go` Pull
 */
export function pullWords(image: string, { outcome, detail }: Pick<SentEffect, "outcome" | "detail">): string {
  const why =
    outcome !== "refused"
      ? "the machine goes on asking, and talosctl dmesg says why. Often it does not reach the registry, or the schematic has an extension that this Talos lacks (the Image Factory answers 400)"
      : detail.includes("no match for platform")
        ? "it is not built for the processor of this machine"
        : detail.includes("not found")
          ? "the registry has none of that name and version"
          : "";
  return `the installer ${image} could not be pulled: ${why === "" ? detail : `${why} (${detail})`}`;
}

/**
 * The image that was pulled is not in the machine's store any more: its disk was replaced, or images were cleaned up. That is no fault of the image.
 *
 * @param ended how the installation ended; names of images are long, and what is said of them may be cut off
 * @see siderolabs/talos v1.13.9 `internal/app/lifecycle/lifecycle.go` Upgrade
 */
export function isImageGone(ended: SentEffect | undefined): boolean {
  return ended?.outcome === "refused" && /^(?:upgrade|installation) failed: installer image /.test(ended.detail);
}
