package workload

import (
	"errors"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keepKubeconfig writes the file that people use, unless it serves already.
func (p *Publisher) keepKubeconfig(cluster client.ObjectKey, s *Server) error {
	if p.KubeconfigFile == nil {
		return nil
	}
	return s.KeepKubeconfig(p.KubeconfigFile(cluster))
}

// Withdraw removes the kubeconfig for people of a cluster whose API server is gone. Its secrets go with their owner.
func (p *Publisher) Withdraw(owner metav1.Object) error {
	if p.KubeconfigFile == nil {
		return nil
	}
	err := os.Remove(p.KubeconfigFile(client.ObjectKey{Namespace: owner.GetNamespace(), Name: clusterName(owner)}))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the kubeconfig of a cluster that is gone: %w", err)
	}
	return nil
}

// clusterName of a control plane, also when the Cluster is gone.
func clusterName(owner metav1.Object) string {
	for _, o := range owner.GetOwnerReferences() {
		if o.Kind == "Cluster" {
			return o.Name
		}
	}
	if name := owner.GetLabels()[clusterv1.ClusterNameLabel]; name != "" {
		return name
	}
	return owner.GetName()
}
