package controlplane

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
)

// keepKubeconfig writes the file that people use, unless it serves already.
func (r *Reconciler) keepKubeconfig(namespace, cluster string, s *server) error {
	if r.KubeconfigFile == nil {
		return nil
	}
	return s.KeepKubeconfig(r.KubeconfigFile(types.NamespacedName{Namespace: namespace, Name: cluster}))
}

// dropKubeconfig removes the file of a cluster whose API server is gone.
func (r *Reconciler) dropKubeconfig(lcp *localv1.LocalControlPlane) error {
	if r.KubeconfigFile == nil {
		return nil
	}
	err := os.Remove(r.KubeconfigFile(types.NamespacedName{Namespace: lcp.Namespace, Name: clusterName(lcp)}))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the kubeconfig of a cluster that is gone: %w", err)
	}
	return nil
}

// clusterName of a control plane, also when the Cluster is gone.
func clusterName(lcp *localv1.LocalControlPlane) string {
	for _, o := range lcp.OwnerReferences {
		if o.Kind == "Cluster" {
			return o.Name
		}
	}
	if name := lcp.Labels[clusterv1.ClusterNameLabel]; name != "" {
		return name
	}
	return lcp.Name
}
