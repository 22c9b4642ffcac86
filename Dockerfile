# syntax=docker/dockerfile:1
# The operator as a bundle on a distroless Node.js: no shell, no package manager, not root. It is in parts, and a command reads those that it needs. Same sources, same layers: every date comes from
# SOURCE_DATE_EPOCH (docker buildx build --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) --output type=image,rewrite-timestamp=true .).
ARG NODE=24.21.0
# Of the drills of backups: at least the storage version that the Talos releases in docs/reference/versions.md run.
ARG ETCD=v3.6.16

# Of addons: the version that hack/tools/k8s/go.mod pins and real tests work with.
ARG HELM=v4.2.4
ARG GO=1.26.8

FROM --platform=$BUILDPLATFORM docker.io/library/node:${NODE}-bookworm-slim AS build
WORKDIR /src
COPY . .
# Exactly what package-lock.json names, without scripts of dependencies.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && node scripts/build.mjs --image

# Genuine, from the project's own images: static binaries for each platform.
FROM gcr.io/etcd-development/etcd:${ETCD} AS etcd

# Genuine, of the sources that hack/tools pins and go.sum holds to their checksums: the project publishes no image. It installs addons.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:${GO}-bookworm AS helm
ARG HELM TARGETOS TARGETARCH
WORKDIR /src
COPY hack/tools/k8s/go.mod hack/tools/k8s/go.sum ./
RUN test "$(go list -m -f '{{.Version}}' helm.sh/helm/v4)" = "$HELM" && \
    CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath \
      -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$HELM" -o /helm helm.sh/helm/v4/cmd/helm

FROM gcr.io/distroless/nodejs24-debian13:nonroot
ARG SOURCE_DATE_EPOCH=0
LABEL org.opencontainers.image.title="talos-operator" \
      org.opencontainers.image.source="https://github.com/vitistack/talos-operator" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build --chown=0:0 --chmod=0444 /src/dist/image/*.mjs /app/
COPY --from=build --chown=0:0 --chmod=0444 /src/LICENSE /app/LICENSE
COPY --from=etcd --chown=0:0 --chmod=0555 /usr/local/bin/etcd /usr/local/bin/etcdutl /usr/local/bin/
COPY --from=helm --chown=0:0 --chmod=0555 /helm /usr/local/bin/helm
USER 65532:65532
# What keeps memory small; docs/operator_manual/README.md has the figures. One arena of malloc: there are few threads, and each would keep its own.
ENV MALLOC_ARENA_MAX=1
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=1", "--semi-space-growth-factor=1", "--heap-growing-percent=25", "--optimize-for-size", "/app/talos-operator.mjs"]
CMD ["manager"]
