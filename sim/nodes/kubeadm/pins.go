package kubeadm

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	certutil "k8s.io/client-go/util/cert"
)

// checkPins verifies that one certificate of a CA bundle has one of the pinned public keys.
func checkPins(ca []byte, pins []string) error {
	for i, p := range pins {
		kind, value, ok := strings.Cut(p, ":")
		if !ok || !strings.EqualFold(kind, "sha256") {
			return fmt.Errorf("invalid discovery token CA certificate hash: unknown hash format of caCertHashes[%d]: known format(s) are: sha256", i)
		}
		if b, err := hex.DecodeString(value); err != nil || len(b) != sha256.Size {
			return fmt.Errorf("invalid discovery token CA certificate hash: caCertHashes[%d]: expected %d bytes in hex", i, sha256.Size)
		}
	}
	certs, err := certutil.ParseCertsPEM(ca)
	if err != nil {
		return fmt.Errorf("failed to parse cluster CA from the cluster-info ConfigMap: %w", err)
	}
	var found []string
	for _, c := range certs {
		h := Pin(c)
		if slices.ContainsFunc(pins, func(p string) bool { return strings.EqualFold(p, h) }) {
			return nil
		}
		found = append(found, h)
	}
	return fmt.Errorf("cluster CA found in cluster-info ConfigMap is invalid: none of the public keys %q are pinned", strings.Join(found, ":"))
}

// Pin is the hash of a certificate's public key in the form of caCertHashes.
func Pin(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:])
}
