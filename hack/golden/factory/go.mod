module factory

go 1.26.6

require github.com/siderolabs/image-factory v1.4.0

require (
	github.com/siderolabs/gen v0.8.7 // indirect
	github.com/siderolabs/talos/pkg/machinery v1.14.0-alpha.1 // indirect
	// the recorded texts are those of this release of the YAML library
	go.yaml.in/yaml/v4 v4.0.0-rc.6 // indirect
)
