package kubeadm

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"k8s.io/cluster-bootstrap/token/jws"

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

// callTimeout bounds one request; minRetry and maxRetry the wait between tries (kubeadm's is always five seconds; the first tries
// come sooner here, so that a machine of a fast world does not lose what its speed gained).
const (
	callTimeout = 10 * time.Second
	minRetry    = 500 * time.Millisecond
	maxRetry    = 5 * time.Second
)

// Host gives a join access to the machine that it runs on.
type Host struct {
	// Print writes a line to the console.
	Print func(format string, args ...any)
	// Read reads a file of the machine.
	Read func(path string) ([]byte, bool)
	// Dial opens connections; nil means the network.
	Dial apiclient.DialFunc
}

// Discover finds the cluster, verifies it, and gives the access that the TLS bootstrap uses.
func Discover(ctx context.Context, j *Join, m Host) (apiclient.Access, error) {
	ctx, cancel := context.WithTimeout(ctx, j.DiscoveryTimeout)
	defer cancel()
	var a apiclient.Access
	var err error
	if j.File != "" {
		a, err = byFile(ctx, j, m)
	} else {
		a, err = byToken(ctx, j, m)
	}
	if err != nil {
		return a, fmt.Errorf("couldn't validate the identity of the API Server: %w", err)
	}
	if j.TLSToken != "" {
		a.Token, a.Cert, a.Key = j.TLSToken, nil, nil
	}
	if a.Token == "" && len(a.Cert) == 0 {
		return a, fmt.Errorf("could not find authentication credentials for the TLS bootstrap process: use Token discovery, a discovery file " +
			"with embedded credentials, or tlsBootstrapToken")
	}
	return a, nil
}

// byToken reads cluster-info without trusting the server, has the token's signature vouch for it, compares the CA with the pins and
// reads it once more trusting only that CA.
func byToken(ctx context.Context, j *Join, m Host) (apiclient.Access, error) {
	a := apiclient.Access{Server: "https://" + j.Endpoint, Insecure: true}
	id, secret := SplitToken(j.Token)
	info, err := clusterInfo(ctx, a, id, m)
	if err != nil {
		return a, err
	}
	kubeconfig := info[bootstrapapi.KubeConfigKey]
	if kubeconfig == "" {
		return a, fmt.Errorf("there is no %s key in the %s ConfigMap. This API Server isn't set up for token bootstrapping, can't connect",
			bootstrapapi.KubeConfigKey, bootstrapapi.ConfigMapClusterInfo)
	}
	if !jws.DetachedTokenIsValid(info[bootstrapapi.JWSSignatureKeyPrefix+id], kubeconfig, id, secret) {
		return a, fmt.Errorf("failed to verify JWS signature of received cluster info object with token ID %q, can't trust this API Server", id)
	}
	config, err := clientcmd.Load([]byte(kubeconfig))
	if err != nil {
		return a, fmt.Errorf("couldn't parse the kubeconfig file in the %s ConfigMap: %w", bootstrapapi.ConfigMapClusterInfo, err)
	}
	cluster := onlyCluster(config)
	if cluster == nil {
		return a, fmt.Errorf("malformed kubeconfig in the %s ConfigMap: it names no cluster", bootstrapapi.ConfigMapClusterInfo)
	}
	trusted := apiclient.Access{Server: cluster.Server, CA: cluster.CertificateAuthorityData, Token: j.Token}
	if len(j.CAHashes) == 0 {
		return trusted, nil
	}
	if err := checkPins(trusted.CA, j.CAHashes); err != nil {
		return a, err
	}
	again, err := clusterInfo(ctx, apiclient.Access{Server: a.Server, CA: trusted.CA}, id, m)
	if err != nil {
		return a, err
	}
	if again[bootstrapapi.KubeConfigKey] != kubeconfig {
		return a, fmt.Errorf("the second kubeconfig from the %s ConfigMap (using validated TLS) was different from the first",
			bootstrapapi.ConfigMapClusterInfo)
	}
	return trusted, nil
}

// clusterInfo reads the ConfigMap until it holds a signature for the token, or the time is over.
func clusterInfo(ctx context.Context, a apiclient.Access, tokenID string, m Host) (map[string]string, error) {
	c, err := apiclient.Open(a, m.Dial)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var data map[string]string
	err = retry(ctx, m, "discovery", func(ctx context.Context) error {
		cm, err := c.Core.ConfigMaps(metav1.NamespacePublic).Get(ctx, bootstrapapi.ConfigMapClusterInfo, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("failed to request the cluster-info ConfigMap: %w", err)
		}
		if _, ok := cm.Data[bootstrapapi.JWSSignatureKeyPrefix+tokenID]; !ok {
			return fmt.Errorf("could not find a JWS signature in the cluster-info ConfigMap for token ID %q: the token is invalid for this "+
				"cluster or it has expired", tokenID)
		}
		data = cm.Data
		return nil
	})
	return data, err
}

// byFile takes a kubeconfig of the machine and proves the connection with it.
func byFile(ctx context.Context, j *Join, m Host) (apiclient.Access, error) {
	b, ok := m.Read(j.File)
	if !ok {
		return apiclient.Access{}, fmt.Errorf("open %s: no such file or directory", j.File)
	}
	config, err := clientcmd.Load(b)
	if err != nil {
		return apiclient.Access{}, fmt.Errorf("couldn't parse the discovery kubeconfig %s", j.File)
	}
	cluster := onlyCluster(config)
	if cluster == nil {
		return apiclient.Access{}, fmt.Errorf("the provided kubeconfig file %s must have at least one Cluster defined", j.File)
	}
	a := apiclient.Access{Server: cluster.Server, CA: cluster.CertificateAuthorityData, Insecure: cluster.InsecureSkipTLSVerify}
	if err := authenticate(&a, config, m); err != nil {
		return a, err
	}
	if len(a.CA) == 0 && cluster.CertificateAuthority != "" {
		a.CA, _ = m.Read(cluster.CertificateAuthority)
	}
	c, err := apiclient.Open(a, m.Dial)
	if err != nil {
		return a, err
	}
	defer c.Close()
	err = retry(ctx, m, "discovery", func(ctx context.Context) error {
		_, err := c.Core.ConfigMaps(metav1.NamespacePublic).Get(ctx, bootstrapapi.ConfigMapClusterInfo, metav1.GetOptions{})
		if apierrors.IsForbidden(err) {
			return nil // The request only serves to verify the server's certificate.
		}
		return err
	})
	return a, err
}

// onlyCluster is the cluster of the current context, or the one that has no name as in cluster-info.
func onlyCluster(c *clientcmdapi.Config) *clientcmdapi.Cluster {
	if context := c.Contexts[c.CurrentContext]; context != nil {
		return c.Clusters[context.Cluster]
	}
	if cluster := c.Clusters[""]; cluster != nil {
		return cluster
	}
	for _, cluster := range c.Clusters {
		if len(c.Clusters) == 1 {
			return cluster
		}
	}
	return nil
}

// authenticate takes the credentials of the current context's user. Programs that fetch credentials cannot run on a simulated machine.
func authenticate(a *apiclient.Access, c *clientcmdapi.Config, m Host) error {
	context := c.Contexts[c.CurrentContext]
	if context == nil || c.AuthInfos[context.AuthInfo] == nil {
		return nil
	}
	user := c.AuthInfos[context.AuthInfo]
	if user.Exec != nil || user.AuthProvider != nil {
		return fmt.Errorf("the discovery kubeconfig fetches its credentials with a program or a provider, which a simulated machine cannot " +
			"run: use a token or a client certificate")
	}
	a.Token, a.Cert, a.Key = user.Token, user.ClientCertificateData, user.ClientKeyData
	if user.TokenFile != "" {
		b, _ := m.Read(user.TokenFile)
		a.Token = string(b)
	}
	return nil
}

// finalError is an error that no retry can resolve.
type finalError struct{ error }

// Unwrap returns the underlying error.
func (f finalError) Unwrap() error { return f.error }

func final(format string, args ...any) error { return finalError{fmt.Errorf(format, args...)} }

// retry calls do until it succeeds, returns a finalError or ctx ends, and prints each new error once. It returns the last error.
func retry(ctx context.Context, m Host, stage string, do func(context.Context) error) error {
	b := apiclient.Backoff{Min: minRetry, Max: maxRetry}
	printed := ""
	for {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		err := do(call)
		cancel()
		if err == nil || errors.As(err, new(finalError)) {
			return err
		}
		if s := err.Error(); s != printed && ctx.Err() == nil {
			printed = s
			m.Print("[%s] Retrying due to error: %v", stage, err)
		}
		if !b.Wait(ctx) {
			return fmt.Errorf("timed out: %w", err)
		}
	}
}
