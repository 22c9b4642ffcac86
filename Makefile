# One-line aliases for the habits of the field. What needs only Node is an npm script; install, deploy and undeploy call kubectl,
# docker-build calls a container tool.
IMG ?= ghcr.io/vitistack/talos-operator:0.1.0
KUBECTL ?= kubectl
CONTAINER_TOOL ?= docker
.PHONY: help start test test-real manifests generate lint build docker-build run install deploy undeploy all
help: ## show this help
	@grep -E '^[a-z -]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'
start: ## simulated machines, embedded Kubernetes API and operator in one process
	npm start
test: ## tests that need only Node
	npm test
test-real: ## tests against genuine kube-apiserver, kubectl and talosctl
	npm run test:real
manifests generate: ## write CRDs, stubs and reference pages
	npm run generate
lint: ## linters and formatter
	npm run lint
build: ## one bundled file in dist/
	npm run build
run: ## the operator against the cluster of your kubeconfig
	npm run talos-operator -- manager --kubeconfig $${KUBECONFIG:-$$HOME/.kube/config}
all: ## generate, lint, typecheck, test, build
	npm run all
docker-build: ## the image IMG
	$(CONTAINER_TOOL) build -t $(IMG) .
install: ## the CRDs into the cluster of your kubeconfig
	$(KUBECTL) apply --server-side --force-conflicts -k config/crd
deploy: ## CRDs, roles and the operator as image IMG
	$(KUBECTL) kustomize config/default | sed -e 's|image: ghcr.io/vitistack/talos-operator:.*|image: $(IMG)|' -e 's|"image":"ghcr.io/vitistack/talos-operator:[^"]*"|"image":"$(IMG)"|' | $(KUBECTL) apply --server-side --force-conflicts -f -
undeploy: ## remove the operator and its roles; CRDs, clusters and their namespaces stay
	$(KUBECTL) delete --ignore-not-found -n talos-operator-system deployment/talos-operator
	$(KUBECTL) delete --ignore-not-found -k config/rbac
