package main

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/siderolabs/go-kubernetes/kubernetes/upgrade"
	"github.com/siderolabs/talos/pkg/images"
	"github.com/siderolabs/talos/pkg/kubeconfig"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"k8s.io/client-go/tools/clientcmd"
)

// answerContract says what contracts can do, how they are read and ordered.
func answerContract(in input) (map[string]any, error) {
	switch in.string("op") {
	case "features":
		table := map[string]any{}
		recorded, _ := in.recorded["table"].(map[string]any)
		for version := range keysOf(recorded) {
			contract, err := contractOf(input{values: map[string]any{"contract": version}})
			if err != nil {
				return nil, err
			}
			table[version] = featuresOf(contract)
		}
		return map[string]any{"table": table}, nil
	case "parse":
		results := []any{}
		for _, version := range in.strings("versions") {
			parsed, err := config.ParseContractFromVersion(version)
			if err != nil {
				results = append(results, map[string]any{"in": version, "error": err.Error()})
				continue
			}
			results = append(results, map[string]any{"in": version, "error": nil, "major": parsed.Major, "minor": parsed.Minor, "string": parsed.String()})
		}
		return map[string]any{"results": results}, nil
	case "greater":
		return rows(in, "results", func(row map[string]any) error {
			a, err := contractOf(input{values: map[string]any{"contract": row["a"]}})
			if err != nil {
				return err
			}
			b, err := contractOf(input{values: map[string]any{"contract": row["b"]}})
			if err != nil {
				return err
			}
			row["a_greater_than_b"] = a.Greater(b)
			return nil
		})
	}
	return nil, fmt.Errorf("no operation %q on contracts", in.string("op"))
}

// featuresOf calls every method of a contract that takes nothing and gives a boolean.
func featuresOf(contract *config.VersionContract) map[string]any {
	features := map[string]any{}
	value := reflect.ValueOf(contract)
	for index := range value.NumMethod() {
		method := value.Method(index)
		if method.Type().NumIn() == 0 && method.Type().NumOut() == 1 && method.Type().Out(0).Kind() == reflect.Bool {
			features[value.Type().Method(index).Name] = method.Call(nil)[0].Bool()
		}
	}
	return features
}

// rows answers every row of a recorded table, or of one that is asked about: the columns that are asked about stay.
func rows(in input, key string, fill func(row map[string]any) error) (map[string]any, error) {
	recorded, isRecorded := in.recorded[key].([]any)
	if !isRecorded {
		recorded, _ = in.values[key].([]any)
	}
	filled := []any{}
	for _, entry := range recorded {
		row := entry.(map[string]any)
		if err := fill(row); err != nil {
			return nil, err
		}
		filled = append(filled, row)
	}
	return map[string]any{key: filled}, nil
}

// answerKubernetes says which Talos runs which Kubernetes, which may become which, and what an admin kubeconfig looks like.
func answerKubernetes(in input) (map[string]any, error) {
	switch in.string("op") {
	case "summary":
		return answerSummary(in)
	case "kubernetes-supported-with-talos":
		return rows(in, "rows", func(row map[string]any) error {
			row["error"] = orNull(supported(row["kubernetes"].(string), row["talos"].(string)))
			return nil
		})
	case "talos-upgradeable":
		return rows(in, "rows", func(row map[string]any) error {
			row["error"] = orNull(upgradeable(row["host"].(string), row["target"].(string)))
			return nil
		})
	case "admin-kubeconfig":
		return answerKubeconfig(in)
	case "upgrade-k8s-path":
		return rows(in, "rows", func(row map[string]any) error {
			path, err := upgrade.NewPath(row["from"].(string), row["to"].(string))
			if err != nil {
				return err
			}
			row["path"], row["supported"] = path.String(), path.IsSupported()
			return nil
		})
	}
	return nil, fmt.Errorf("no operation %q on Kubernetes", in.string("op"))
}

func supported(kubernetes, talos string) error {
	version, err := compatibility.ParseKubernetesVersion(strings.TrimPrefix(kubernetes, "v"))
	if err != nil {
		return err
	}
	target, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: talos})
	if err != nil {
		return err
	}
	return version.SupportedWith(target)
}

func upgradeable(host, target string) error {
	from, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: host})
	if err != nil {
		return err
	}
	to, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: target})
	if err != nil {
		return err
	}
	return to.UpgradeableFrom(from)
}

// answerSummary asks about every pair of minors of the recorded table, and of Kubernetes minors up to the fiftieth.
func answerSummary(in input) (map[string]any, error) {
	recorded, _ := in.recorded["table"].(map[string]any)
	minors := slices.SortedFunc(keysOf(recorded), func(a, b string) int { return minorOf(a) - minorOf(b) })
	table := map[string]any{}
	for _, minor := range minors {
		row := map[string]any{"can_move_to": []string{}, "installable_from_host": []string{}}
		for _, other := range minors {
			if upgradeable("v"+minor+".0", "v"+other+".0") == nil {
				row["can_move_to"] = append(row["can_move_to"].([]string), other)
			}
			if upgradeable("v"+other+".0", "v"+minor+".0") == nil {
				row["installable_from_host"] = append(row["installable_from_host"].([]string), other)
			}
		}
		for kubernetes := range 50 {
			if supported(fmt.Sprintf("1.%d.0", kubernetes), "v"+minor+".0") != nil {
				continue
			}
			name := fmt.Sprintf("1.%d", kubernetes)
			if row["min_kubernetes"] == nil {
				row["min_kubernetes"] = name
			}
			row["max_kubernetes"] = name
		}
		row["supported"] = row["min_kubernetes"] != nil
		table[minor] = row
	}
	return map[string]any{"table": table}, nil
}

func minorOf(version string) int {
	var major, minor int
	_, _ = fmt.Sscanf(version, "%d.%d", &major, &minor)
	return major*1000 + minor
}

var randomData = regexp.MustCompile(`(?m)^( *client-(?:certificate|key)-data): .*$`)

func answerKubeconfig(in input) (map[string]any, error) {
	source, err := in.bytes("config")
	if err != nil {
		return nil, err
	}
	provider, err := configloader.NewFromBytes(source)
	if err != nil {
		return map[string]any{"load_error": err.Error()}, nil
	}
	var out bytes.Buffer
	if err := kubeconfig.GenerateAdmin(provider.Cluster(), &out); err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	parsed, err := clientcmd.Load(out.Bytes())
	if err != nil {
		return nil, err
	}
	answered := map[string]any{"kubeconfig": text{"kubeconfig", randomData.ReplaceAllString(out.String(), "$1: <random>")}}
	for _, user := range parsed.AuthInfos {
		facts, err := kubeconfigPairFacts(user.ClientCertificateData, user.ClientKeyData)
		if err != nil {
			return nil, err
		}
		answered["client_certificate"] = withoutDates(facts)
	}
	return answered, nil
}

// answerImages names the images of Talos and of what it runs.
func answerImages(in input) (map[string]any, error) {
	switch in.string("op") {
	case "constants":
		return map[string]any{"table": map[string]any{
			"coredns_image":                 constants.CoreDNSImage,
			"coredns_version":               constants.DefaultCoreDNSVersion,
			"default_kubernetes_version":    constants.DefaultKubernetesVersion,
			"etcd_image":                    constants.EtcdImage,
			"etcd_version":                  constants.DefaultEtcdVersion,
			"flannel_version":               constants.FlannelVersion,
			"kube_apiserver_image":          constants.KubernetesAPIServerImage,
			"kube_controller_manager_image": constants.KubernetesControllerManagerImage,
			"kube_proxy_image":              constants.KubeProxyImage,
			"kube_scheduler_image":          constants.KubernetesSchedulerImage,
			"kubelet_image":                 constants.KubeletImage,
		}}, nil
	case "talos-bundle":
		return map[string]any{"images": namesOf(images.ListSourcesFor(in.string("tag")))}, nil
	case "images-of-config":
		source, err := in.bytes("config")
		if err != nil {
			return nil, err
		}
		provider, err := configloader.NewFromBytes(source)
		if err != nil {
			return nil, err
		}
		overrides, _ := in.values["overrides"].(map[string]any)
		given := func(key string) string { value, _ := overrides[key].(string); return value }
		return map[string]any{"images": namesOf(images.ListWithOptions(provider, images.VersionsListOptions{
			KubernetesVersion: given("kubernetes"), CoreDNSVersion: given("coredns"), EtcdVersion: given("etcd"),
			FlannelVersion: given("flannel"), PauseVersion: given("pause"), KubeNetworkPoliciesVersion: given("kube_network_policies"),
		}))}, nil
	}
	return nil, fmt.Errorf("no operation %q on images", in.string("op"))
}

var wordStart = regexp.MustCompile(`([a-z])([A-Z])|([A-Z]+)([A-Z][a-z])`)

// namesOf gives the fields of a struct of image references in snake case.
func namesOf(list any) map[string]any {
	names := map[string]any{}
	value := reflect.ValueOf(list)
	for index := range value.NumField() {
		field := strings.ReplaceAll(value.Type().Field(index).Name, "CoreDNS", "Coredns")
		name := strings.ToLower(wordStart.ReplaceAllString(strings.ReplaceAll(field, "APIServer", "Apiserver"), "${1}${3}_${2}${4}"))
		names[name] = fmt.Sprint(value.Field(index).Interface())
	}
	return names
}
