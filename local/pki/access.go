package pki

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Access holds the address of an API server on this machine and administrator credentials.
type Access struct {
	// URL is its address, Port the port in it.
	URL  string
	Port int
	// Kubeconfig and Config hold the credentials of the administrator.
	Kubeconfig []byte
	Config     *rest.Config
	// CA signs its certificate and those of its clients.
	CA *Authority
	// ServiceAccountKey signs the tokens of service accounts and ServiceAccountPub verifies them, both as PEM.
	ServiceAccountKey, ServiceAccountPub []byte
}

// Serves reports whether a kubeconfig leads to the server and trusts its authority. Each start of a server issues another
// client certificate; those of earlier starts go on serving.
func (a *Access) Serves(kubeconfig []byte) bool {
	c, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	return err == nil && c.Host == a.URL && bytes.Equal(c.CAData, a.CA.CertPEM)
}

// KeepKubeconfig writes the administrator's kubeconfig to a file, unless the one that is there serves.
func (a *Access) KeepKubeconfig(file string) error {
	if kept, err := os.ReadFile(file); err == nil && a.Serves(kept) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("create the folder of a kubeconfig: %w", err)
	}
	return WriteFile(file, a.Kubeconfig)
}
