package pki

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig returns a kubeconfig for the API server at url, with a new client certificate for the subject. Its context,
// cluster and user carry name, so that several can be merged.
func (a *Authority) Kubeconfig(url, name string, s Subject) ([]byte, error) {
	certPEM, keyPEM, err := a.Issue(s)
	if err != nil {
		return nil, err
	}
	user := name + "-" + s.CommonName
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: a.CertPEM}
	c.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: certPEM, ClientKeyData: keyPEM}
	c.Contexts[user+"@"+name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	c.CurrentContext = user + "@" + name
	b, err := clientcmd.Write(*c)
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig of %s: %w", name, err)
	}
	return b, nil
}

// Admin returns the subject of a cluster administrator.
func Admin() Subject {
	return Subject{CommonName: "admin", Organizations: []string{"system:masters"}}
}
