package apiserver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/muster-project/muster/local/pki"
)

// Serves reports whether a kubeconfig leads to the server and trusts its authority. Each start of a server issues another
// client certificate; those of earlier starts go on serving.
func (s *Server) Serves(kubeconfig []byte) bool {
	c, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	return err == nil && c.Host == s.URL && bytes.Equal(c.CAData, s.CA.CertPEM)
}

// KeepKubeconfig writes the administrator's kubeconfig to a file, unless the one that is there serves.
func (s *Server) KeepKubeconfig(file string) error {
	if kept, err := os.ReadFile(file); err == nil && s.Serves(kept) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make the directory of a kubeconfig: %w", err)
	}
	return pki.WriteFile(file, s.Kubeconfig)
}
