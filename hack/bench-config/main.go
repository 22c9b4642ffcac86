// Makes machine configs with the Go machinery, as `npm run bench -- config` does with ours: same inputs, one core, hash over all that comes out.
//
//	bench-config INPUTS BUNDLE COUNT
//
// Prints one line of JSON. Both sides count the hash in: it is a hundredth of the whole.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
)

// The inputs stand in packages/testkit/src/bench/config-inputs.json; both sides read them there.
type inputs struct {
	Contract          string              `json:"contract"`
	KubernetesVersion string              `json:"kubernetesVersion"`
	Endpoint          string              `json:"endpoint"`
	InstallDisk       string              `json:"installDisk"`
	InstallImage      string              `json:"installImage"`
	Clusters          int                 `json:"clusters"`
	Patches           map[string][]string `json:"patches"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-config:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: bench-config INPUTS BUNDLE COUNT")
	}

	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}

	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}

	var in inputs
	if err = json.Unmarshal(text, &in); err != nil {
		return err
	}

	bundle, err := secrets.LoadBundle(args[1])
	if err != nil {
		return err
	}

	contract, err := config.ParseContractFromVersion("v" + in.Contract)
	if err != nil {
		return err
	}

	runtime.GOMAXPROCS(1)

	hash := sha256.New()

	before, err := cpuTime()
	if err != nil {
		return err
	}

	start := time.Now()

	size := 0

	for i := range count {
		out, err := makeConfig(in, bundle, contract, i)
		if err != nil {
			return err
		}

		size += len(out)
		hash.Write(out)
	}

	elapsed := time.Since(start)

	after, err := cpuTime()
	if err != nil {
		return err
	}

	var usage syscall.Rusage
	if err = syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}

	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"configs":    count,
		"seconds":    elapsed.Seconds(),
		"cpuSeconds": (after - before).Seconds(),
		"bytes":      size,
		"sha256":     hex.EncodeToString(hash.Sum(nil)),
		"peakRssKib": usage.Maxrss,
	})
}

// cpuTime is user and system time of the process so far.
func cpuTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

func makeConfig(in inputs, bundle *secrets.Bundle, contract *config.VersionContract, number int) ([]byte, error) {
	role := machine.TypeControlPlane
	if number%2 == 1 {
		role = machine.TypeWorker
	}

	input, err := generate.NewInput(
		"cluster-"+strconv.Itoa(number%in.Clusters), in.Endpoint, in.KubernetesVersion,
		generate.WithVersionContract(contract),
		generate.WithSecretsBundle(bundle),
		generate.WithInstallDisk(in.InstallDisk),
		generate.WithInstallImage(in.InstallImage),
	)
	if err != nil {
		return nil, err
	}

	generated, err := input.Config(role)
	if err != nil {
		return nil, err
	}

	texts := in.Patches[role.String()]
	patches := make([]configpatcher.Patch, 0, len(texts))

	for _, text := range texts {
		patch, err := configpatcher.LoadPatch([]byte(strings.ReplaceAll(text, "NUMBER", strconv.Itoa(number))))
		if err != nil {
			return nil, err
		}

		patches = append(patches, patch)
	}

	patched, err := configpatcher.Apply(configpatcher.WithConfig(generated), patches)
	if err != nil {
		return nil, err
	}

	cfg, err := patched.Config()
	if err != nil {
		return nil, err
	}

	return cfg.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
}
