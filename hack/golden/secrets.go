package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"
)

const tokenPattern = `^[0-9a-z]{6}\.[0-9a-z]{16}$`

// answerSecrets makes, reads, checks and extracts secrets bundles.
func answerSecrets(in input) (map[string]any, error) {
	switch in.string("op") {
	case "generate":
		return answerGenerated(in)
	case "generate-properties":
		made, err := newBundle(in)
		if err != nil {
			return nil, err
		}
		properties, err := bundleFacts(made)
		return map[string]any{"properties": properties}, err
	case "from-kubernetes-pki":
		return answerKubernetesPki(in)
	case "from-controlplane-config":
		return answerFromConfig(in)
	case "validate":
		source, err := in.bytes("bundle")
		if err != nil {
			return nil, err
		}
		read, err := readBundle(source)
		if err != nil {
			return map[string]any{"load_error": err.Error()}, nil
		}
		return map[string]any{"validate_error": orNull(read.Validate())}, nil
	}
	return nil, fmt.Errorf("no operation %q on secrets", in.string("op"))
}

// answerGenerated keeps the sample that was recorded: its keys are random. Reading and printing it must give its bytes again.
func answerGenerated(in input) (map[string]any, error) {
	sample, err := in.bytesOf(in.recorded["bundle"])
	if err != nil {
		made, err := newBundle(in)
		if err != nil {
			return nil, err
		}
		if sample, err = yaml.Marshal(made); err != nil {
			return nil, err
		}
	}
	read, err := readBundle(sample)
	if err != nil {
		return nil, err
	}
	printed, err := yaml.Marshal(read)
	if err != nil {
		return nil, err
	}
	asJSON, err := json.MarshalIndent(read, "", "  ")
	if err != nil {
		return nil, err
	}
	properties, err := bundleFacts(read)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"bundle":         text{"secrets.yaml", string(printed)},
		"bundle_json":    text{"secrets.json", string(asJSON) + "\n"},
		"properties":     properties,
		"validate_error": orNull(read.Validate()),
	}, nil
}

func newBundle(in input) (*secrets.Bundle, error) {
	contract, err := contractOf(in)
	if err != nil {
		return nil, err
	}
	clock := secrets.NewFixedClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	if at := in.string("clock"); at != "" {
		parsed, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return nil, err
		}
		clock = secrets.NewFixedClock(parsed)
	}
	return secrets.NewBundle(clock, contract)
}

func contractOf(in input) (*config.VersionContract, error) {
	given := in.string("contract")
	if given == "" || given == "current" {
		return config.TalosVersionCurrent, nil
	}
	return config.ParseContractFromVersion(given)
}

func readBundle(source []byte) (*secrets.Bundle, error) {
	read := &secrets.Bundle{Clock: secrets.NewClock()}
	if err := yaml.NewDecoder(bytes.NewReader(source)).Decode(&read); err != nil {
		return nil, err
	}
	return read, nil
}

func bundleFacts(made *secrets.Bundle) (map[string]any, error) {
	facts := map[string]any{
		"bootstrap_token_pattern":      tokenPattern,
		"trustd_token_pattern":         tokenPattern,
		"cluster_id_decoded_bytes":     decodedBytes(made.Cluster.ID),
		"cluster_secret_decoded_bytes": decodedBytes(made.Cluster.Secret),
	}
	maps.Copy(facts, encryptionFacts(made))
	var err error
	for name, pair := range pairsOf(made) {
		if facts["certs_"+name], err = pairFacts(pair); err != nil {
			return nil, err
		}
	}
	facts["certs_k8sserviceaccount"], err = keyFacts(made.Certs.K8sServiceAccount.Key)
	return facts, err
}

func encryptionFacts(made *secrets.Bundle) map[string]any {
	if made.Secrets.SecretboxEncryptionSecret != "" {
		return map[string]any{"encryption": "secretbox", "encryption_secret_decoded_bytes": decodedBytes(made.Secrets.SecretboxEncryptionSecret)}
	}
	return map[string]any{"encryption": "aescbc", "encryption_secret_decoded_bytes": decodedBytes(made.Secrets.AESCBCEncryptionSecret)}
}

func decodedBytes(value string) int {
	decoded, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		decoded, _ = base64.URLEncoding.DecodeString(value)
	}
	return len(decoded)
}

func answerKubernetesPki(in input) (map[string]any, error) {
	folder, err := os.MkdirTemp("", "pki")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	files, _ := in.values["files"].(map[string]any)
	for name, value := range files {
		content, err := in.bytesOf(value)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	contract, err := contractOf(in)
	if err != nil {
		return nil, err
	}
	made, err := secrets.NewBundleFromKubernetesPKI(folder, in.string("bootstrap_token"), contract)
	if err != nil {
		return map[string]any{"error": strings.ReplaceAll(err.Error(), folder, "<pki dir>")}, nil
	}
	return pkiAnswer(in, made)
}

func answerFromConfig(in input) (map[string]any, error) {
	source, err := in.bytes("config")
	if err != nil {
		return nil, err
	}
	provider, err := configloader.NewFromBytes(source)
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	made, err := bundleOf(secrets.NewBundleFromConfig(secrets.NewClock(), provider))
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	printed, err := yaml.Marshal(made)
	if err != nil {
		return nil, err
	}
	return map[string]any{"bundle": text{"expected-secrets.yaml", string(printed)}, "validate_error": orNull(made.Validate())}, nil
}

// bundleOf takes a bundle alone, as Talos 1.13 gives it, or with an error, as Talos 1.14 does.
func bundleOf(results ...any) (*secrets.Bundle, error) {
	if len(results) > 1 && results[1] != nil {
		return nil, results[1].(error)
	}
	return results[0].(*secrets.Bundle), nil
}
