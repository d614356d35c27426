// Package kubeconfig turns the kubeconfig in a Secret of a workload cluster into the configuration of a client. Users of a namespace can
// write these Secrets, so that nothing in them may run a program, read a file or use a right of the process that reads them.
package kubeconfig

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RefusedError is returned for a kubeconfig that must not be used. Its text names the field and never contains values of the Secret.
type RefusedError struct {
	// Secret holds the kubeconfig.
	Secret client.ObjectKey
	// Field is the path in the kubeconfig; empty if it can't be read at all.
	Field string
	// Problem describes the field's value, Advice the allowed one.
	Problem, Advice string
}

// Error names the Secret, the field, what was found and what is allowed.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("kubeconfig Secret %s: ", e.Secret)
	if e.Field != "" {
		text += e.Field + " "
	}
	return text + e.Problem + ": " + e.Advice
}

const (
	credentials = "use users[].user.token, or client-certificate-data and client-key-data"
	inline      = "write the content into the kubeconfig, in "
)

// Config returns the configuration of clients of a workload cluster, from the Secret that the management cluster keeps of it.
func Config(ctx context.Context, secrets client.Reader, cluster client.ObjectKey) (*rest.Config, error) {
	data, err := kubeconfig.FromSecret(ctx, secrets, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig Secret of Cluster %s: %w", cluster, err)
	}
	reduced, refused := reduce(data, client.ObjectKey{Namespace: cluster.Namespace, Name: secret.Name(cluster.Name, secret.Kubeconfig)})
	if refused != nil {
		return nil, refused
	}
	config, err := clientcmd.NewDefaultClientConfig(*reduced, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of Cluster %s: %w", cluster, err)
	}
	return config, nil
}

// reduce returns a kubeconfig with the current context of data alone: its server, the CA and the inline credentials. It refuses whatever
// else decides how a client connects. The rest is left out.
func reduce(data []byte, from client.ObjectKey) (*clientcmdapi.Config, *RefusedError) {
	// An error of the parser can hold a part of what it read.
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil, &RefusedError{from, "", "can't be read as a kubeconfig", "write a document of apiVersion v1 and kind Config under key value"}
	}
	current, ok := config.Contexts[config.CurrentContext]
	if !ok {
		return nil, &RefusedError{from, "current-context", "names no context of the kubeconfig", "name one of contexts[].name"}
	}
	cluster, ok := config.Clusters[current.Cluster]
	if !ok {
		return nil, &RefusedError{from, "contexts[].context.cluster", "names no cluster of the kubeconfig", "name one of clusters[].name"}
	}
	user, ok := config.AuthInfos[current.AuthInfo]
	if !ok {
		return nil, &RefusedError{from, "contexts[].context.user", "names no user of the kubeconfig", "name one of users[].name"}
	}
	for _, r := range append(clusterRules(cluster), userRules(user)...) {
		if r.set {
			return nil, &RefusedError{from, r.field, r.problem, r.advice}
		}
	}
	const name = "workload"
	return &clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: cluster.Server, TLSServerName: cluster.TLSServerName,
			CertificateAuthorityData: cluster.CertificateAuthorityData, DisableCompression: cluster.DisableCompression}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {Token: user.Token,
			ClientCertificateData: user.ClientCertificateData, ClientKeyData: user.ClientKeyData}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, nil
}

// rule refuses a field.
type rule struct {
	set                    bool
	field, problem, advice string
}

func clusterRules(c *clientcmdapi.Cluster) []rule {
	problem := serverProblem(c.Server)
	return []rule{
		{problem != "", "clusters[].cluster.server", problem, "write the https:// address of the workload cluster's API server"},
		{c.CertificateAuthority != "", "clusters[].cluster.certificate-authority", "names a file", inline + "certificate-authority-data"},
		{c.ProxyURL != "", "clusters[].cluster.proxy-url", "names a proxy",
			"set HTTPS_PROXY for the manager, or write an address that it reaches"},
		{c.InsecureSkipTLSVerify, "clusters[].cluster.insecure-skip-tls-verify", "accepts any server",
			"write the CA into certificate-authority-data, and the name in its certificate into tls-server-name if it is another"},
	}
}

func userRules(u *clientcmdapi.AuthInfo) []rule {
	const other = "is the identity of another user"
	return []rule{
		{u.Exec != nil, "users[].user.exec", "would run a program", credentials},
		{u.AuthProvider != nil, "users[].user.auth-provider", "names a plugin of the client", credentials},
		{u.TokenFile != "", "users[].user.tokenFile", "names a file", inline + "token"},
		{u.ClientCertificate != "", "users[].user.client-certificate", "names a file", inline + "client-certificate-data"},
		{u.ClientKey != "", "users[].user.client-key", "names a file", inline + "client-key-data"},
		{u.Username != "", "users[].user.username", "is no credential that API servers take", credentials},
		{u.Password != "", "users[].user.password", "is no credential that API servers take", credentials},
		{u.Impersonate != "", "users[].user.as", other, credentials + " of that user"},
		{u.ImpersonateUID != "", "users[].user.as-uid", other, credentials + " of that user"},
		{len(u.ImpersonateGroups) > 0, "users[].user.as-groups", other, credentials + " of that user"},
		{len(u.ImpersonateUserExtra) > 0, "users[].user.as-user-extra", other, credentials + " of that user"},
	}
}

// serverProblem returns why the address of a server is not connected to. Services that need no credentials, such as a cloud's metadata of
// the machine that the process runs on, have link-local addresses and speak no TLS.
func serverProblem(server string) string {
	u, err := url.Parse(server)
	switch {
	case server == "":
		return "is empty"
	case err != nil || u.Hostname() == "":
		return "is no address"
	case !strings.EqualFold(u.Scheme, "https"):
		return "is no https:// address"
	case u.User != nil:
		return "holds a user name"
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && (ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast()) {
		return "is a link-local, unspecified or multicast address"
	}
	return ""
}
