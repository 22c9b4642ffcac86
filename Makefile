# One-line aliases for the habits of the field; everything is an npm script.
.PHONY: help start test test-real manifests generate lint build run all
help: ## show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'
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
