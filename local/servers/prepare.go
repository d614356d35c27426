package servers

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/clusterinfo"
	bootstrapnode "k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/node"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/kubelet"

	"github.com/muster-project/muster/local/apiserver"
)

// step is one thing that kubeadm puts into a new cluster.
type step struct {
	what string
	do   func(client kubernetes.Interface) error
}

// prepare puts into an API server what "kubeadm init" puts there for machines that join: who may ask for a certificate
// with a bootstrap token, which requests are approved without asking, cluster-info for everyone, and the two
// configurations that a joining machine reads. It is kubeadm's own code wherever that can be had without kubectl's libraries,
// and may be run again.
func prepare(ctx context.Context, s *apiserver.Server, cluster string) error {
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	config, err := configuration(s, cluster)
	if err != nil {
		return err
	}
	admin, err := clientcmd.Load(s.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig of %s: %w", cluster, err)
	}
	for _, i := range []step{
		{"let bootstrap tokens ask for certificates", bootstrapnode.AllowBootstrapTokensToPostCSRs},
		{"let bootstrap tokens read nodes", bootstrapnode.AllowBootstrapTokensToGetNodes},
		{"approve the requests of bootstrap tokens", bootstrapnode.AutoApproveNodeBootstrapTokens},
		{"approve the renewals of nodes", bootstrapnode.AutoApproveNodeCertificateRotation},
		{"let the API server reach kubelets", bootstrapnode.AllowAPIServerToAccessKubeletAPI},
		{"store kubeadm's configuration", func(c kubernetes.Interface) error { return storeConfiguration(c, config) }},
		{"store the kubelets' configuration", func(c kubernetes.Interface) error { return kubelet.CreateConfigMap(config, c) }},
		{"let everyone read cluster-info", clusterinfo.CreateClusterInfoRBACRules},
		{"publish cluster-info", func(c kubernetes.Interface) error { return clusterinfo.CreateBootstrapConfigMapIfNotExists(c, admin) }},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := i.do(client); err != nil {
			return fmt.Errorf("prepare the cluster %s for machines: %s: %w", cluster, i.what, err)
		}
	}
	return nil
}
