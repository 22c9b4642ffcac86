package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	talosx509 "github.com/siderolabs/crypto/x509"
)

var keyUsages = []struct {
	bit  x509.KeyUsage
	name string
}{
	{x509.KeyUsageDigitalSignature, "digitalSignature"},
	{x509.KeyUsageContentCommitment, "contentCommitment"},
	{x509.KeyUsageKeyEncipherment, "keyEncipherment"},
	{x509.KeyUsageDataEncipherment, "dataEncipherment"},
	{x509.KeyUsageKeyAgreement, "keyAgreement"},
	{x509.KeyUsageCertSign, "keyCertSign"},
	{x509.KeyUsageCRLSign, "cRLSign"},
}

var extKeyUsages = map[x509.ExtKeyUsage]string{x509.ExtKeyUsageServerAuth: "serverAuth", x509.ExtKeyUsageClientAuth: "clientAuth"}

// pairFacts says of a certificate and its key what does not depend on random numbers.
func pairFacts(pair *talosx509.PEMEncodedCertificateAndKey) (map[string]any, error) {
	block, _ := pem.Decode(pair.Crt)
	if block == nil {
		return nil, fmt.Errorf("no PEM block in the certificate")
	}
	crt, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := keyFacts(pair.Key)
	if err != nil {
		return nil, err
	}
	usages, extUsages, extensions, ips := []string{}, []string{}, []string{}, []string{}
	for _, usage := range keyUsages {
		if crt.KeyUsage&usage.bit != 0 {
			usages = append(usages, usage.name)
		}
	}
	for _, usage := range crt.ExtKeyUsage {
		extUsages = append(extUsages, extKeyUsages[usage])
	}
	for _, extension := range crt.Extensions {
		name := extension.Id.String()
		if extension.Critical {
			name += " critical"
		}
		extensions = append(extensions, name)
	}
	for _, ip := range crt.IPAddresses {
		ips = append(ips, ip.String())
	}
	slices.Sort(extensions)
	var issuer any
	if len(crt.Issuer.Organization) > 0 {
		issuer = crt.Issuer.Organization
	}
	return map[string]any{
		"authority_key_id_bytes":    len(crt.AuthorityKeyId),
		"basic_constraints_present": crt.BasicConstraintsValid,
		"dns_sans":                  append([]string{}, crt.DNSNames...),
		"ext_key_usage":             extUsages,
		"extensions":                extensions,
		"ip_sans":                   ips,
		"is_ca":                     crt.IsCA,
		"issuer_cn":                 crt.Issuer.CommonName,
		"issuer_o":                  issuer,
		"key":                       key,
		"key_usage":                 usages,
		"max_path_len":              crt.MaxPathLen,
		"max_path_len_zero":         crt.MaxPathLenZero,
		"not_after":                 crt.NotAfter.UTC().Format(time.RFC3339),
		"not_before":                crt.NotBefore.UTC().Format(time.RFC3339),
		"public_key":                publicKeyName(crt.PublicKey),
		"serial_bits_max":           128,
		"signature_algorithm":       crt.SignatureAlgorithm.String(),
		"subject_cn":                crt.Subject.CommonName,
		"subject_key_id_bytes":      len(crt.SubjectKeyId),
		"subject_o":                 append([]string{}, crt.Subject.Organization...),
		"validity_hours":            crt.NotAfter.Sub(crt.NotBefore).Hours(),
		"version":                   crt.Version,
	}, nil
}

// withoutDates leaves out what depends on the day of the run.
func withoutDates(facts map[string]any) map[string]any {
	for _, key := range []string{"not_after", "not_before", "serial_bits_max"} {
		delete(facts, key)
	}
	return facts
}

func base64PairFacts(crt, key string) (map[string]any, error) {
	crtPEM, err := base64.StdEncoding.DecodeString(crt)
	if err != nil {
		return nil, err
	}
	keyPEM, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, err
	}
	return pairFacts(&talosx509.PEMEncodedCertificateAndKey{Crt: crtPEM, Key: keyPEM})
}

func kubeconfigPairFacts(crt, key []byte) (map[string]any, error) {
	return pairFacts(&talosx509.PEMEncodedCertificateAndKey{Crt: crt, Key: key})
}

func keyFacts(key []byte) (map[string]any, error) {
	block, rest := pem.Decode(key)
	if block == nil {
		return nil, fmt.Errorf("no PEM block in the key")
	}
	facts := map[string]any{"pem_type": block.Type, "trailing_bytes": len(bytes.TrimSpace(rest))}
	if parsed, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		facts["der"], facts["algorithm"] = "PKCS#1", publicKeyName(parsed.Public())
		return facts, nil
	}
	if parsed, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		facts["der"], facts["algorithm"] = "SEC1", publicKeyName(parsed.Public())
		return facts, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	facts["der"] = "PKCS#8"
	switch parsed := parsed.(type) {
	case interface{ Public() any }:
		facts["algorithm"] = publicKeyName(parsed.Public())
	default:
		facts["algorithm"] = "Ed25519"
	}
	return facts, nil
}

func publicKeyName(key any) string {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", key.N.BitLen())
	case *ecdsa.PublicKey:
		return "ECDSA " + key.Curve.Params().Name
	default:
		return "Ed25519"
	}
}
