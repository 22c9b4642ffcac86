package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/bundle"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"go.yaml.in/yaml/v4"
)

// generateOptions names every option of the generator; what is absent is not passed.
type generateOptions struct {
	AdditionalSans                []string          `json:"additional_sans"`
	AllowSchedulingOnControlPlane *bool             `json:"allow_scheduling_on_control_planes"`
	ClusterDiscovery              *bool             `json:"cluster_discovery"`
	Cni                           *cniOption        `json:"cni"`
	Debug                         *bool             `json:"debug"`
	DNSDomain                     *string           `json:"dns_domain"`
	Endpoints                     []string          `json:"endpoints"`
	ForwardKubeDNSToHost          *bool             `json:"hostdns_forward_kube_dns_to_host"`
	InstallDisk                   *string           `json:"install_disk"`
	InstallExtraKernelArgs        []string          `json:"install_extra_kernel_args"`
	InstallImage                  *string           `json:"install_image"`
	KubeprismPort                 *int              `json:"kubeprism_port"`
	Kubespan                      *bool             `json:"kubespan"`
	LocalAPIServerPort            *int              `json:"local_api_server_port"`
	Network                       []networkOption   `json:"network"`
	RegistryCA                    map[string]string `json:"registry_ca"`
	RegistryInsecure              []string          `json:"registry_insecure"`
	RegistryMirrors               []string          `json:"registry_mirrors"`
	Roles                         []string          `json:"roles"`
	Sysctls                       map[string]string `json:"sysctls"`
	UserDisks                     []userDisk        `json:"user_disks"`
}

type cniOption struct {
	Name string   `json:"name"`
	Urls []string `json:"urls"`
}

type networkOption struct {
	Op     string   `json:"op"`
	Iface  string   `json:"iface"`
	Value  string   `json:"value"`
	Values []string `json:"values"`
	Enable bool     `json:"enable"`
	Mtu    int      `json:"mtu"`
}

type userDisk struct {
	Device     string `json:"device"`
	Partitions []struct {
		Mountpoint string `json:"mountpoint"`
		Size       string `json:"size"`
	} `json:"partitions"`
}

var (
	randomLine  = regexp.MustCompile(`(?m)^( *(?:crt|key)): .*$`)
	outputRoles = map[string]machine.Type{"controlplane": machine.TypeControlPlane, "worker": machine.TypeWorker, "init": machine.TypeInit}
)

// answerGenconfig generates configs and a talosconfig as `talosctl gen config --with-docs=false --with-examples=false` does.
func answerGenconfig(in input) (map[string]any, error) {
	generated, err := generateBundle(in)
	if err != nil {
		var wrong *wrongQuestion
		if asWrongQuestion(err, &wrong) {
			return nil, err
		}
		return map[string]any{"error": err.Error()}, nil
	}
	out := map[string]any{}
	for name, kind := range outputRoles {
		if _, isRecorded := in.recorded[name]; name == "init" && in.recorded != nil && !isRecorded {
			continue
		}
		printed, err := generated.Serialize(encoder.CommentsDisabled, kind)
		if err != nil {
			return nil, err
		}
		out[name] = text{name + ".yaml", string(printed)}
	}
	talosconfig, err := yaml.Marshal(generated.TalosConfig())
	if err != nil {
		return nil, err
	}
	context := generated.TalosConfig().Contexts[in.string("cluster_name")]
	out["talosconfig"] = text{"talosconfig", randomLine.ReplaceAllString(string(talosconfig), "$1: <random>")}
	facts, err := base64PairFacts(context.Crt, context.Key)
	if err != nil {
		return nil, err
	}
	out["talosconfig_client_certificate"] = withoutDates(facts)
	return out, nil
}

func generateBundle(in input) (*bundle.Bundle, error) {
	options, err := optionsOf(in)
	if err != nil {
		return nil, err
	}
	given := []bundle.Option{bundle.WithInputOptions(&bundle.InputOptions{
		ClusterName: in.string("cluster_name"),
		Endpoint:    in.string("endpoint"),
		KubeVersion: strings.TrimPrefix(in.string("kubernetes_version"), "v"),
		GenOptions:  options,
	}), bundle.WithVerbose(false)}
	for _, patches := range []struct {
		key string
		add func([]configpatcher.Patch) bundle.Option
	}{{"config_patch", bundle.WithPatch}, {"config_patch_control_plane", bundle.WithPatchControlPlane}, {"config_patch_worker", bundle.WithPatchWorker}} {
		loaded, err := configpatcher.LoadPatches(in.strings(patches.key))
		if err != nil {
			return nil, fmt.Errorf("error parsing config JSON patch: %w", err)
		}
		given = append(given, patches.add(loaded))
	}
	generated, err := bundle.NewBundle(given...)
	if err != nil {
		return nil, fmt.Errorf("failed to generate config bundle: %w", err)
	}
	return generated, nil
}

func optionsOf(in input) ([]generate.Option, error) {
	var given generateOptions
	encoded, err := json.Marshal(in.values["options"])
	if err != nil {
		return nil, wrong(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	// An option that a newer library brought has to be passed, not forgotten.
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return nil, wrong(err)
	}
	secretsText, err := in.bytes("secrets")
	if err != nil {
		return nil, wrong(err)
	}
	keys := &secrets.Bundle{Clock: secrets.NewClock()}
	if err := yaml.Unmarshal(secretsText, keys); err != nil {
		return nil, fmt.Errorf("failed to load secrets bundle: %w", err)
	}
	options := []generate.Option{generate.WithSecretsBundle(keys)}
	if contract := in.string("contract"); contract != "" && contract != "current" {
		parsed, err := config.ParseContractFromVersion(contract)
		if err != nil {
			return nil, fmt.Errorf("invalid talos-version: %w", err)
		}
		options = append(options, generate.WithVersionContract(parsed))
	}
	return append(append(options, simpleOptions(given)...), listedOptions(given)...), nil
}

func simpleOptions(given generateOptions) []generate.Option {
	var options []generate.Option
	options = addIf(options, given.AllowSchedulingOnControlPlane, generate.WithAllowSchedulingOnControlPlanes)
	options = addIf(options, given.ClusterDiscovery, generate.WithClusterDiscovery)
	options = addIf(options, given.Debug, generate.WithDebug)
	options = addIf(options, given.DNSDomain, generate.WithDNSDomain)
	options = addIf(options, given.ForwardKubeDNSToHost, generate.WithHostDNSForwardKubeDNSToHost)
	options = addIf(options, given.InstallDisk, generate.WithInstallDisk)
	options = addIf(options, given.InstallImage, generate.WithInstallImage)
	options = addIf(options, given.KubeprismPort, generate.WithKubePrismPort)
	options = addIf(options, given.Kubespan, generate.WithKubeSpanEnabled)
	return addIf(options, given.LocalAPIServerPort, generate.WithLocalAPIServerPort)
}

func addIf[T any](options []generate.Option, value *T, option func(T) generate.Option) []generate.Option {
	if value == nil {
		return options
	}
	return append(options, option(*value))
}

func listedOptions(given generateOptions) []generate.Option {
	var options []generate.Option
	if given.AdditionalSans != nil {
		options = append(options, generate.WithAdditionalSubjectAltNames(given.AdditionalSans))
	}
	if given.Cni != nil {
		options = append(options, generate.WithClusterCNIConfig(&v1alpha1.CNIConfig{CNIName: given.Cni.Name, CNIUrls: given.Cni.Urls}))
	}
	if given.Endpoints != nil {
		options = append(options, generate.WithEndpointList(given.Endpoints))
	}
	if given.InstallExtraKernelArgs != nil {
		options = append(options, generate.WithInstallExtraKernelArgs(given.InstallExtraKernelArgs))
	}
	if given.Network != nil {
		options = append(options, generate.WithNetworkOptions(networkOptions(given.Network)...))
	}
	for _, host := range slices.Sorted(keysOf(given.RegistryCA)) {
		options = append(options, generate.WithRegistryCACert(host, given.RegistryCA[host]))
	}
	for _, host := range given.RegistryInsecure {
		options = append(options, generate.WithRegistryInsecureSkipVerify(host))
	}
	for _, mirror := range given.RegistryMirrors {
		host, endpoint, _ := strings.Cut(mirror, "=")
		options = append(options, generate.WithRegistryMirror(host, endpoint))
	}
	if given.Roles != nil {
		roles, _ := role.Parse(given.Roles)
		options = append(options, generate.WithRoles(roles))
	}
	if given.Sysctls != nil {
		options = append(options, generate.WithSysctls(given.Sysctls))
	}
	if given.UserDisks != nil {
		options = append(options, generate.WithUserDisks(userDisks(given.UserDisks)))
	}
	return options
}

func networkOptions(given []networkOption) []v1alpha1.NetworkConfigOption {
	var options []v1alpha1.NetworkConfigOption
	for _, option := range given {
		iface := v1alpha1.IfaceByName(option.Iface)
		switch option.Op {
		case "nameservers":
			options = append(options, v1alpha1.WithNetworkNameservers(option.Values...))
		case "cidr":
			options = append(options, v1alpha1.WithNetworkInterfaceCIDR(iface, option.Value))
		case "dhcp":
			options = append(options, v1alpha1.WithNetworkInterfaceDHCP(iface, option.Enable))
		case "dhcpv4":
			options = append(options, v1alpha1.WithNetworkInterfaceDHCPv4(iface, option.Enable))
		case "dhcpv6":
			options = append(options, v1alpha1.WithNetworkInterfaceDHCPv6(iface, option.Enable))
		case "mtu":
			options = append(options, v1alpha1.WithNetworkInterfaceMTU(iface, option.Mtu))
		case "vip":
			options = append(options, v1alpha1.WithNetworkInterfaceVirtualIP(iface, option.Value))
		case "ignore":
			options = append(options, v1alpha1.WithNetworkInterfaceIgnore(iface))
		case "kubespan":
			options = append(options, v1alpha1.WithKubeSpan())
		}
	}
	return options
}

func userDisks(given []userDisk) []*v1alpha1.MachineDisk {
	var disks []*v1alpha1.MachineDisk
	for _, disk := range given {
		made := &v1alpha1.MachineDisk{DeviceName: disk.Device}
		for _, partition := range disk.Partitions {
			size, _ := humanize.ParseBytes(partition.Size)
			made.DiskPartitions = append(made.DiskPartitions, &v1alpha1.DiskPartition{
				DiskSize:       v1alpha1.DiskSize(size),
				DiskMountPoint: partition.Mountpoint,
			})
		}
		disks = append(disks, made)
	}
	return disks
}
