package contract

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api/util/secret"
)

// credentials are the suffixes of the names of secrets with the credentials of a Cluster, and what each contains. The name is the name of
// the Cluster, a dash, and the suffix.
var credentials = map[secret.Purpose]string{
	secret.Kubeconfig:          "an administrator's kubeconfig",
	"user-kubeconfig":          "a user's kubeconfig",
	secret.ClusterCA:           "the certificate authority",
	secret.EtcdCA:              "etcd's certificate authority",
	secret.FrontProxyCA:        "the front proxy's certificate authority",
	secret.ServiceAccount:      "the service account key",
	secret.APIServerEtcdClient: "the API server's key for etcd",
}

// ClustersOf returns the names of the Clusters whose credentials a secret of this name contains, if they exist.
func ClustersOf(secretName string) []string {
	var all []string
	for purpose := range credentials {
		if cluster, ok := strings.CutSuffix(secretName, "-"+string(purpose)); ok && cluster != "" {
			all = append(all, cluster)
		}
	}
	slices.Sort(all)
	return all
}

// CredentialsText returns why a secret with the credentials of a Cluster is rejected as bootstrap data. It is empty if the secret has
// another name.
func CredentialsText(secretName, cluster string) string {
	holds, ok := credentials[secret.Purpose(strings.TrimPrefix(secretName, cluster+"-"))]
	if !ok || !strings.HasPrefix(secretName, cluster+"-") {
		return ""
	}
	return fmt.Sprintf("secret %s holds %s of Cluster %s, which would become user data of the machines; name a secret with bootstrap data",
		secretName, holds, cluster)
}
