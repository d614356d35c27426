package standintest_test

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/util/cert"

	"github.com/muster-project/muster/local/pki"
)

// TestOpenAuthority: what a crash or a person may have left must never end in a second authority of one name, nor in one
// whose key does not fit.
func TestOpenAuthority(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		damage  func(t *testing.T, a *pki.Authority)
		same    bool
		wantErr string
	}{
		{reason: "an ordinary restart", damage: func(*testing.T, *pki.Authority) {}, same: true},
		{reason: "killed between the key and the certificate", damage: func(t *testing.T, a *pki.Authority) { removeFile(t, a.CertFile) }},
		{reason: "the key is lost", damage: func(t *testing.T, a *pki.Authority) { removeFile(t, a.KeyFile) }, wantErr: "read the key"},
		{reason: "the certificate is damaged", damage: func(t *testing.T, a *pki.Authority) { overwrite(t, a.CertFile, "x") },
			wantErr: "ca.crt"},
		{reason: "the key is another authority's", damage: func(t *testing.T, a *pki.Authority) {
			other, err := pki.OpenAuthority(t.TempDir(), "ca", "kubernetes")
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, a.KeyFile, string(other.KeyPEM))
		}, wantErr: "found another"},
		{reason: "the key is damaged", damage: func(t *testing.T, a *pki.Authority) { overwrite(t, a.KeyFile, "x") }, wantErr: "ca.key"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			dir := t.TempDir()
			first, err := pki.OpenAuthority(dir, "ca", "kubernetes")
			if err != nil {
				t.Fatal(err)
			}
			tc.damage(t, first)
			again, err := pki.OpenAuthority(dir, "ca", "kubernetes")
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("want an error about %q, got %v", tc.wantErr, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if same := bytes.Equal(first.CertPEM, again.CertPEM); same != tc.same {
				t.Errorf("the same authority: want %v, got %v", tc.same, same)
			}
			verify(t, again)
		})
	}
}

// verify issues a certificate and verifies it with the authority's own.
func verify(t *testing.T, a *pki.Authority) {
	t.Helper()
	issued, _, err := a.Issue(pki.Subject{CommonName: "s", Server: true, Hosts: []string{"kubernetes.default.svc", "10.96.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	certs, err := cert.ParseCertsPEM(issued)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.CertPEM)
	for _, host := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc", "10.96.0.1"} {
		if _, err := certs[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("a server called %s: %v", host, err)
		}
	}
}

// TestWriteFile holds that keys and kubeconfigs are readable only by their owner, and that no temporary file is left.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secret")
	overwrite(t, file, "old")
	if err := pki.WriteFile(file, []byte("new")); err != nil {
		t.Fatal(err)
	}
	i, err := os.Stat(file)
	if err != nil || i.Mode().Perm() != 0o600 {
		t.Fatalf("want mode 0600, got %v, %v", i.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("want the file alone, got %v, %v", entries, err)
	}
}

func removeFile(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
