package main

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"time"

	talosx509 "github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"go.yaml.in/yaml/v4"
)

func pairsOf(made *secrets.Bundle) map[string]*talosx509.PEMEncodedCertificateAndKey {
	return map[string]*talosx509.PEMEncodedCertificateAndKey{
		"etcd": made.Certs.Etcd, "k8s": made.Certs.K8s, "k8saggregator": made.Certs.K8sAggregator, "os": made.Certs.OS,
	}
}

// pkiAnswer leaves out what is made anew.
func pkiAnswer(in input, made *secrets.Bundle) (map[string]any, error) {
	kept, err := yaml.Marshal(map[string]any{
		"etcd": made.Certs.Etcd, "k8s": made.Certs.K8s, "k8saggregator": made.Certs.K8sAggregator, "k8sserviceaccount": made.Certs.K8sServiceAccount,
	})
	if err != nil {
		return nil, err
	}
	authority, err := pairFacts(made.Certs.OS)
	if err != nil {
		return nil, err
	}
	token := made.Secrets.BootstrapToken
	if in.string("bootstrap_token") == "" {
		token = "random, pattern " + tokenPattern
	}
	return map[string]any{
		"bootstrap_token":  token,
		"certs":            text{"expected-certs.yaml", string(kept)},
		"encryption":       encryptionFacts(made)["encryption"],
		"os_ca_properties": withoutDates(authority),
		"validate_error":   orNull(made.Validate()),
	}, nil
}

// answerPki says what certificates look like and which keys are read.
func answerPki(in input) (map[string]any, error) {
	switch in.string("op") {
	case "talos-client-cert":
		return answerClientCertificate(in)
	case "chain":
		return answerChain(in)
	case "fingerprints":
		return answerFingerprints(in)
	case "parse-key":
		key, err := in.bytes("key")
		if err != nil {
			return nil, err
		}
		_, serviceAccount := (&talosx509.PEMEncodedKey{Key: key}).GetKey()
		_, authority := (&talosx509.PEMEncodedCertificateAndKey{Key: key}).GetKey()
		return map[string]any{"ca_key_error": orNull(authority), "service_account_key_error": orNull(serviceAccount)}, nil
	}
	return nil, fmt.Errorf("no operation %q on keys", in.string("op"))
}

// answerClientCertificate keeps the recorded sample beside the properties of a new one.
func answerClientCertificate(in input) (map[string]any, error) {
	crt, err := in.bytes("ca_crt")
	if err != nil {
		return nil, err
	}
	key, err := in.bytes("ca_key")
	if err != nil {
		return nil, err
	}
	now, err := time.Parse(time.RFC3339, in.string("now"))
	if err != nil {
		return nil, err
	}
	ttl, err := time.ParseDuration(in.string("ttl"))
	if err != nil {
		return nil, err
	}
	roles, unknown := role.Parse(in.strings("roles"))
	made, err := secrets.NewAdminCertificateAndKey(now, &talosx509.PEMEncodedCertificateAndKey{Crt: crt, Key: key}, roles, ttl)
	if err != nil {
		return nil, err
	}
	properties, err := pairFacts(made)
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"properties":    properties,
		"role_strings":  roles.Strings(),
		"unknown_roles": append([]string{}, unknown...),
		"sample_crt":    text{"sample.crt", string(made.Crt)},
		"sample_key":    text{"sample.key", string(made.Key)},
	}
	keepRecorded(out, in, "sample_crt", "sample_key")
	return out, nil
}

// answerChain looks at the recorded chain: all of it is random, what it says of itself is not.
func answerChain(in input) (map[string]any, error) {
	if in.recorded == nil {
		return nil, fmt.Errorf("a chain needs its recorded certificates")
	}
	out := maps.Clone(in.recorded)
	for _, name := range []string{"ca", "leaf", "csr_signed"} {
		crt, err := in.bytesOf(in.recorded[name+"_crt"])
		if err != nil {
			return nil, err
		}
		keyName := name + "_key"
		if name == "csr_signed" {
			keyName = "csr_key"
		}
		key, err := in.bytesOf(in.recorded[keyName])
		if err != nil {
			return nil, err
		}
		properties, err := pairFacts(&talosx509.PEMEncodedCertificateAndKey{Crt: crt, Key: key})
		if err != nil {
			return nil, err
		}
		out[name+"_properties"] = properties
		if name == "ca" {
			facts, err := fingerprintsOf(crt)
			if err != nil {
				return nil, err
			}
			out["ca_hash"], out["ca_spki_fingerprint"] = facts["hash_hex"], facts["spki_sha256_base64"]
		}
	}
	return out, nil
}

func answerFingerprints(in input) (map[string]any, error) {
	source, err := in.bytes("bundle")
	if err != nil {
		return nil, err
	}
	read, err := readBundle(source)
	if err != nil {
		return nil, err
	}
	fingerprints := map[string]any{}
	for name, pair := range pairsOf(read) {
		if fingerprints[name], err = fingerprintsOf(pair.Crt); err != nil {
			return nil, err
		}
	}
	return map[string]any{"fingerprints": fingerprints}, nil
}

func fingerprintsOf(crtPEM []byte) (map[string]any, error) {
	block, _ := pem.Decode(crtPEM)
	if block == nil {
		return nil, fmt.Errorf("no PEM block in the certificate")
	}
	crt, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(crt.RawSubjectPublicKeyInfo)
	return map[string]any{
		"hash_hex":           "sha256:" + hex.EncodeToString(sum[:]),
		"spki_sha256_base64": base64.StdEncoding.EncodeToString(sum[:]),
		"serial_hex":         crt.SerialNumber.Text(16),
		"subject_key_id":     hex.EncodeToString(crt.SubjectKeyId),
	}, nil
}

// keepRecorded puts what was recorded in the place of new random values.
func keepRecorded(out map[string]any, in input, keys ...string) {
	for _, key := range keys {
		if value, ok := in.recorded[key]; ok {
			out[key] = value
		}
	}
}
