#!/usr/bin/env bash
# update.sh            regenerates all recorded answers of packages/talos/testdata/golden with the pinned Talos machinery (go.mod)
# update.sh v1.14.0    moves to that release first: this module, and the shapes of documents in hack/config-schema
# Needs Go and the module proxy. The diff is read like code: docs/howto/new-talos-release.md says how.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0
if [ $# -gt 0 ]; then
  for module in . ../config-schema; do
    (cd "$module" && go get "github.com/siderolabs/talos/pkg/machinery@$1")
  done
  go get "github.com/siderolabs/talos@$1" && go mod tidy
  (cd ../config-schema && go mod tidy && ./update.sh)
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
BIN=$bin ../tools/build.sh golden golden-factory
GOLDEN_FACTORY=$bin/golden-factory "$bin/golden" write ../../packages/talos/testdata/golden
git -C ../.. --no-pager diff --stat -- packages/talos/testdata packages/talos/src/config/schema hack
