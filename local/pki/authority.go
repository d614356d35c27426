// Package pki keeps the certificate authorities, keys and kubeconfigs of the local world in files. What it finds there it uses again.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	authorityYears   = 10
	certificateYears = 5
	// clockSkew that certificates forgive between this machine and itself after a sleep.
	clockSkew = time.Hour
)

// Authority is a certificate authority that is kept in two files. Its keys are ECDSA P-256: such a key takes
// microseconds, an RSA key takes seconds.
type Authority struct {
	// CertFile and KeyFile hold CertPEM and KeyPEM.
	CertFile, KeyFile string
	CertPEM, KeyPEM   []byte

	cert *x509.Certificate
	key  crypto.Signer
}

// OpenAuthority finds the authority <name>.crt and <name>.key in dir, or makes it with the common name commonName.
func OpenAuthority(dir, name, commonName string) (*Authority, error) {
	a := &Authority{CertFile: filepath.Join(dir, name+".crt"), KeyFile: filepath.Join(dir, name+".key")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of certificates: %w", err)
	}
	// The key is written first, so that a certificate without its key is never left behind by a crash.
	if _, err := os.Stat(a.CertFile); errors.Is(err, os.ErrNotExist) {
		if err := a.create(commonName); err != nil {
			return nil, fmt.Errorf("make the certificate authority %s: %w", name, err)
		}
	}
	return a, a.load()
}

func (a *Authority) create(commonName string) error {
	key, keyPEM, err := newKey()
	if err != nil {
		return err
	}
	now := time.Now()
	t := &x509.Certificate{
		Subject:   pkix.Name{CommonName: commonName},
		NotBefore: now.Add(-clockSkew), NotAfter: now.AddDate(authorityYears, 0, 0),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return err
	}
	if err := WriteFile(a.KeyFile, keyPEM); err != nil {
		return err
	}
	return WriteFile(a.CertFile, encodeCert(der))
}

func (a *Authority) load() error {
	var err error
	if a.CertPEM, err = os.ReadFile(a.CertFile); err != nil {
		return fmt.Errorf("read the certificate authority: %w", err)
	}
	if a.KeyPEM, err = os.ReadFile(a.KeyFile); err != nil {
		return fmt.Errorf("read the key of the certificate authority: %w", err)
	}
	certs, err := cert.ParseCertsPEM(a.CertPEM)
	if err != nil {
		return fmt.Errorf("read the certificate authority %s: %w", a.CertFile, err)
	}
	key, err := keyutil.ParsePrivateKeyPEM(a.KeyPEM)
	if err != nil {
		return fmt.Errorf("read the key of the certificate authority: want a private key in %s: %w", a.KeyFile, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return fmt.Errorf("read the key of the certificate authority: want a key that signs in %s, found %T", a.KeyFile, key)
	}
	if public, ok := certs[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok || !public.Equal(signer.Public()) {
		return fmt.Errorf("read the certificate authority: want the key of %s in %s, found another; restore it, or remove both files to have "+
			"a new authority", a.CertFile, a.KeyFile)
	}
	a.cert, a.key = certs[0], signer
	return nil
}

// Subject holds the subject and the usage of a certificate.
type Subject struct {
	// CommonName is the user, Organizations are the groups of a client.
	CommonName    string
	Organizations []string
	// Server selects a serving certificate, valid for Hosts and loopback, instead of a client certificate.
	Server bool
	Hosts  []string
}

// Issue makes a key and a certificate for it.
func (a *Authority) Issue(s Subject) (certPEM, keyPEM []byte, err error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	t := &x509.Certificate{
		Subject:   pkix.Name{CommonName: s.CommonName, Organization: s.Organizations},
		NotBefore: now.Add(-clockSkew), NotAfter: now.AddDate(certificateYears, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if s.Server {
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		t.DNSNames = []string{"localhost"}
		t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
		for _, h := range s.Hosts {
			if ip := net.ParseIP(h); ip != nil {
				t.IPAddresses = append(t.IPAddresses, ip)
			} else {
				t.DNSNames = append(t.DNSNames, h)
			}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign a certificate for %s: %w", s.CommonName, err)
	}
	return encodeCert(der), keyPEM, nil
}

// IssueFiles issues a certificate into <name>.crt and <name>.key in the folder of the authority and returns their paths.
func (a *Authority) IssueFiles(name string, s Subject) (certFile, keyFile string, err error) {
	certPEM, keyPEM, err := a.Issue(s)
	if err != nil {
		return "", "", err
	}
	base := filepath.Join(filepath.Dir(a.CertFile), name)
	if err := WriteFile(base+".key", keyPEM); err != nil {
		return "", "", err
	}
	return base + ".crt", base + ".key", WriteFile(base+".crt", certPEM)
}

// OpenKeyPair finds a bare key pair, <name>.key and <name>.pub, in dir, or makes it. It returns the PEM of both halves.
func OpenKeyPair(dir, name string) (private, public []byte, err error) {
	file := filepath.Join(dir, name+".key")
	if private, err = os.ReadFile(file); errors.Is(err, os.ErrNotExist) {
		if _, private, err = newKey(); err == nil {
			err = WriteFile(file, private)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the key %s: %w", file, err)
	}
	key, err := keyutil.ParsePrivateKeyPEM(private)
	if err != nil {
		return nil, nil, fmt.Errorf("open the key %s: %w", file, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, nil, fmt.Errorf("open the key %s: want a key that signs, found %T", file, key)
	}
	der, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("open the key %s: %w", file, err)
	}
	public = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return private, public, WriteFile(filepath.Join(dir, name+".pub"), public)
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode a key: %w", err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func encodeCert(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// WriteFile writes a file that only its owner may read, whole or not at all.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
