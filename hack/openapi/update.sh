#!/usr/bin/env bash
# Refreshes packages/apiserver/src/builtin/gen from a genuine kube-apiserver: schemas of built-in kinds (shape only, no texts), names and
# printer columns. Needs etcd, kube-apiserver and kubectl of hack/tools/build.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=${TALOS_OPERATOR_TOOLS:-$HOME/.cache/talos-operator/tools}
dir=$(mktemp -d)
trap 'hack/tools/stop-apiserver.sh "$dir" > /dev/null; rm -rf "$dir"' EXIT
BIN=$tools hack/tools/start-apiserver.sh "$dir" > /dev/null
module() { (cd hack/tools/k8s && go list -m -f '{{.Dir}}' "$1"); }
node scripts/launch/run.cjs packages/apiserver/scripts/extract-openapi.ts "$tools/kubectl" "$dir/kubeconfig" packages/apiserver/src/builtin/gen
node scripts/launch/run.cjs packages/apiserver/scripts/extract-protobuf.ts "$(module k8s.io/api)" "$(module k8s.io/apimachinery)" packages/apiserver/src/request/gen
