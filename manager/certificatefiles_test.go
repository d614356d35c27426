package manager

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
)

func TestWriteCertificateFiles(t *testing.T) {
	t.Parallel()
	first, second := pair(t), pair(t)
	f := &certificateFiles{dir: t.TempDir(), certName: "tls.crt", keyName: "tls.key"}
	for _, tc := range []struct {
		reason     string
		data, want map[string][]byte
	}{
		{"the secret is created empty and filled later", nil, map[string][]byte{"tls.crt": nil, "tls.key": nil}},
		{"the first certificate is served at once", first, first},
		{"a key that does not match is not served", map[string][]byte{"tls.crt": first["tls.crt"], "tls.key": second["tls.key"]}, first},
		{"a renewed certificate replaces the one before", second, second},
	} {
		if err := f.write(tc.data); err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		for _, name := range []string{"tls.crt", "tls.key"} {
			got, err := os.ReadFile(filepath.Join(f.dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if string(got) != string(tc.want[name]) {
				t.Errorf("%s: %s: want %q, got %q", tc.reason, name, tc.want[name], got)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(f.dir, "ca.*")); left != nil {
			t.Errorf("%s: the authority's key stays in the secret, got %v", tc.reason, left)
		}
	}
}

// pair returns a certificate, its key and their authority, as the rotation writes them into the secret.
func pair(t *testing.T) map[string][]byte {
	t.Helper()
	begin := time.Now()
	r := &rotator.CertRotator{CAName: certificateAuthority, DNSName: "webhooks", ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	ca, err := r.CreateCACert(begin, begin.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := r.CreateCertPEM(ca, begin, begin.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": ca.CertPEM, authorityKey: ca.KeyPEM}
}
