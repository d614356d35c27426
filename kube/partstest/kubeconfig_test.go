package partstest

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	kc "github.com/muster-project/muster/kube/kubeconfig"
)

var tenant = client.ObjectKey{Namespace: "team", Name: "c"}

const canary = "canary-7f1e"

// edit changes a kubeconfig, its cluster or its user.
type edit = func(c *clientcmdapi.Config, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo)

// tenantSecrets holds the kubeconfig Secret of a tenant's cluster.
func tenantSecrets(t *testing.T, edit edit) client.Client {
	t.Helper()
	cluster := &clientcmdapi.Cluster{Server: "https://api.c.example:6443/k8s", CertificateAuthorityData: []byte("ca"), TLSServerName: "c"}
	user := &clientcmdapi.AuthInfo{Token: canary}
	c := &clientcmdapi.Config{Clusters: map[string]*clientcmdapi.Cluster{"c": cluster}, CurrentContext: "c",
		Contexts:  map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u", Namespace: "x"}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": user, "other": {Exec: &clientcmdapi.ExecConfig{Command: "other"}}}}
	edit(c, cluster, user)
	data, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}
	return secretsWith(data)
}

func secretsWith(data []byte) client.Client {
	return fake.NewClientBuilder().WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenant.Namespace, Name: "c-kubeconfig"},
		Data: map[string][]byte{"value": data}}).Build()
}

// TestKubeconfigsOfTenants refuses each field that would lend the tenant a right of the process that reads the kubeconfig.
func TestKubeconfigsOfTenants(t *testing.T) {
	t.Parallel()
	onCluster := func(f func(c *clientcmdapi.Cluster)) edit {
		return func(_ *clientcmdapi.Config, cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { f(cluster) }
	}
	onUser := func(f func(u *clientcmdapi.AuthInfo)) edit {
		return func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) { f(user) }
	}
	server := func(s string) edit { return onCluster(func(c *clientcmdapi.Cluster) { c.Server = s }) }
	for name, tc := range map[string]struct {
		reason, field string
		edit          edit
	}{
		"exec": {"it runs a program", "users[].user.exec", onUser(func(u *clientcmdapi.AuthInfo) {
			u.Exec = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: canary, InteractiveMode: "Never"}
		})},
		"auth-provider": {"it runs a plugin", "users[].user.auth-provider",
			onUser(func(u *clientcmdapi.AuthInfo) { u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: canary} })},
		"tokenFile": {"the process's own token would be sent", "users[].user.tokenFile",
			onUser(func(u *clientcmdapi.AuthInfo) { u.TokenFile = "/" + canary })},
		"client-certificate": {"a file of the process", "users[].user.client-certificate",
			onUser(func(u *clientcmdapi.AuthInfo) { u.ClientCertificate = "/" + canary })},
		"client-key": {"a file of the process", "users[].user.client-key",
			onUser(func(u *clientcmdapi.AuthInfo) { u.ClientKey = canary })},
		"certificate-authority": {"a file of the process", "clusters[].cluster.certificate-authority",
			onCluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthority = "../" + canary })},
		"proxy-url": {"another party sees what is sent", "clusters[].cluster.proxy-url",
			onCluster(func(c *clientcmdapi.Cluster) { c.ProxyURL = "http://" + canary })},
		"insecure": {"any server on the way is believed", "clusters[].cluster.insecure-skip-tls-verify",
			onCluster(func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify, c.CertificateAuthorityData = true, nil })},
		"username": {"no API server takes it", "users[].user.username", onUser(func(u *clientcmdapi.AuthInfo) { u.Username = canary })},
		"password": {"no API server takes it", "users[].user.password", onUser(func(u *clientcmdapi.AuthInfo) { u.Password = canary })},
		"as":       {"another identity", "users[].user.as", onUser(func(u *clientcmdapi.AuthInfo) { u.Impersonate = canary })},
		"as-uid": {"another identity", "users[].user.as-uid",
			onUser(func(u *clientcmdapi.AuthInfo) { u.ImpersonateUID = canary })},
		"as-groups": {"another identity", "users[].user.as-groups",
			onUser(func(u *clientcmdapi.AuthInfo) { u.ImpersonateGroups = []string{canary} })},
		"as-user-extra": {"another identity", "users[].user.as-user-extra",
			onUser(func(u *clientcmdapi.AuthInfo) { u.ImpersonateUserExtra = map[string][]string{canary: {canary}} })},
		"no server":   {"clients have a default of their own", "clusters[].cluster.server", server("")},
		"http":        {"metadata services speak it", "clusters[].cluster.server", server("http://" + canary)},
		"no host":     {"clients have a default of their own", "clusters[].cluster.server", server("https:///x")},
		"link-local":  {"the machine's metadata", "clusters[].cluster.server", server("https://169.254.169.254/")},
		"link-local6": {"the machine's metadata", "clusters[].cluster.server", server("https://[fe80::a9fe:a9fe]:443")},
		"mapped":      {"the machine's metadata", "clusters[].cluster.server", server("https://[::ffff:169.254.169.254]")},
		"any address": {"connects to the process's own machine", "clusters[].cluster.server", server("https://0.0.0.0:10250")},
		"user name":   {"credentials in an address", "clusters[].cluster.server", server("https://" + canary + ":x@api.example")},
		"no context": {"clients have a default of their own", "current-context",
			func(c *clientcmdapi.Config, _ *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				c.CurrentContext = canary
			}},
		"no cluster": {"clients have a default of their own", "contexts[].context.cluster",
			func(c *clientcmdapi.Config, _ *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				c.Contexts["c"].Cluster = canary
			}},
		"no user": {"clients ask at the terminal", "contexts[].context.user",
			func(c *clientcmdapi.Config, _ *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				c.Contexts["c"].AuthInfo = canary
			}},
	} {
		secrets := tenantSecrets(t, tc.edit)
		_, ofConfig := kc.Config(t.Context(), secrets, tenant)
		_, ofSecret := kubeconfig.FromSecret(t.Context(), kc.NewGuard().Secrets(secrets), tenant)
		for use, err := range map[string]error{"Config": ofConfig, "Secrets": ofSecret} {
			var refused *kc.RefusedError
			if !errors.As(err, &refused) || refused.Field != tc.field {
				t.Errorf("%s, %s: %s: want %s refused, got %v", name, use, tc.reason, tc.field, err)
				continue
			}
			if text := err.Error(); !strings.Contains(text, "kubeconfig Secret team/c-kubeconfig: "+tc.field+" ") ||
				strings.Contains(text, canary) {
				t.Errorf("%s, %s: want the Secret and the field named, and nothing of its content, got %s", name, use, text)
			}
		}
	}
}

// TestKubeconfigsThatPass have nothing but a server, a CA and inline credentials, whatever stands beside the current context.
func TestKubeconfigsThatPass(t *testing.T) {
	t.Parallel()
	secrets := tenantSecrets(t, func(*clientcmdapi.Config, *clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {})
	config, err := kc.Config(t.Context(), secrets, tenant)
	if err != nil || config.Host != "https://api.c.example:6443/k8s" || config.BearerToken != canary || string(config.CAData) != "ca" ||
		config.ServerName != "c" {
		t.Errorf("want server, CA, name and token, got %+v, %v", config, err)
	}
	data, err := kubeconfig.FromSecret(t.Context(), kc.NewGuard().Secrets(secrets), tenant)
	if err != nil || strings.Contains(string(data), "exec") || !strings.Contains(string(data), canary) {
		t.Errorf("want the other user left out, got %v\n%s", err, data)
	}
}

// TestGuardExplains returns the refusal with the error of a missing connection, until the Secret is mended.
func TestGuardExplains(t *testing.T) {
	t.Parallel()
	guard := kc.NewGuard()
	clusters := guard.Clusters(clustercache.NewFakeEmptyClusterCache())
	refused := func() bool {
		_, err := clusters.GetClient(t.Context(), tenant)
		if !errors.Is(err, clustercache.ErrClusterNotConnected) {
			t.Errorf("want the cache's own error kept, got %v", err)
		}
		return errors.As(err, new(*kc.RefusedError))
	}
	read := func(c client.Client) {
		_, _ = kubeconfig.FromSecret(t.Context(), guard.Secrets(c), tenant)
	}
	steps := []struct {
		reason  string
		secrets client.Client
		want    bool
	}{
		{"it runs a program", tenantSecrets(t, func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Exec = &clientcmdapi.ExecConfig{Command: "x"}
		}), true},
		{"mended", tenantSecrets(t, func(*clientcmdapi.Config, *clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}), false},
		{"no kubeconfig at all", secretsWith([]byte("{" + canary)), true},
		{"deleted", fake.NewClientBuilder().Build(), false},
	}
	for _, s := range steps {
		read(s.secrets)
		if got := refused(); got != s.want {
			t.Errorf("%s: want refused %v, got %v", s.reason, s.want, got)
		}
	}
	other := secretsWith([]byte("x"))
	if err := guard.Secrets(other).Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "c-ca"}, &corev1.Secret{}); err == nil ||
		errors.As(err, new(*kc.RefusedError)) {
		t.Errorf("want other Secrets read as they are, got %v", err)
	}
}
