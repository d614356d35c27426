package commands

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/util/cert"

	"github.com/muster-project/muster/local/clouds/all"
)

// certificateAge is the validity of the certificate of a simulator that is stored in a folder.
const certificateAge = 10 * 365 * 24 * time.Hour

// fixedNames returns the hosts that clients of the clouds reach when their endpoints cannot be changed.
func fixedNames() []string {
	var names []string
	for _, c := range all.Clouds() {
		names = append(names, c.Clients.Hosts...)
	}
	return names
}

// authorities returns the variables that name the file of the CA to clients of any cloud.
func authorities() []string {
	var names []string
	for _, c := range all.Clouds() {
		names = append(names, c.Clients.Authorities...)
	}
	return append(names, "SSL_CERT_FILE")
}

// certificates are the certificate of the simulators and the CA that issued it, in PEM.
type certificates struct {
	certificate tls.Certificate
	ca          []byte
}

// loadCertificates returns the certificates that are kept in dir, or new ones for the names, which are kept there. An empty dir keeps
// nothing.
func loadCertificates(dir string, names []string) (*certificates, error) {
	if dir == "" {
		chain, key, err := issue(names)
		if err != nil {
			return nil, err
		}
		return readCertificates(chain, key)
	}
	chain, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err == nil {
		key, err := os.ReadFile(filepath.Join(dir, "tls.key"))
		if err != nil {
			return nil, err
		}
		i, err := readCertificates(chain, key)
		if err != nil || i.serves(names) {
			return i, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return keepCertificates(dir, names)
}

// keepCertificates makes a certificate and keeps it in dir.
func keepCertificates(dir string, names []string) (*certificates, error) {
	chain, key, err := issue(names)
	if err != nil {
		return nil, err
	}
	i, err := readCertificates(chain, key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return i, errors.Join(os.WriteFile(filepath.Join(dir, "tls.crt"), chain, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
}

// issue makes a CA and a certificate of it for the names and for this machine.
func issue(names []string) (chain, key []byte, err error) {
	chain, key, err = cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{
		Host: "localhost", AlternateIPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, AlternateDNS: names, MaxAge: certificateAge,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	return chain, key, nil
}

// readCertificates reads a certificate that is followed by the one of its CA.
func readCertificates(chain, key []byte) (*certificates, error) {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("read the simulators' certificate: %w", err)
	}
	_, rest := pem.Decode(chain)
	if block, _ := pem.Decode(rest); block == nil {
		return nil, errors.New("read the simulators' certificate: want it followed by the one of its CA, found nothing")
	}
	return &certificates{certificate: pair, ca: rest}, nil
}

// serves reports whether the certificate is valid now, for all of the names.
func (i *certificates) serves(names []string) bool {
	leaf, err := x509.ParseCertificate(i.certificate.Certificate[0])
	if err != nil || time.Now().After(leaf.NotAfter) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool { return leaf.VerifyHostname(strings.Replace(name, "*", "any", 1)) != nil })
}

// over returns the listener with TLS on top.
func (i *certificates) over(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{i.certificate}, MinVersion: tls.VersionTLS12})
}
