package workload

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Publisher gives the management cluster, and people, what they need to reach workload clusters.
type Publisher struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// KubeconfigFile is where to keep an administrator's kubeconfig of a cluster for people; nil keeps none.
	KubeconfigFile func(cluster client.ObjectKey) string
}

// Publish writes the secrets of a cluster that do not exist or no longer fit, as owner's, and the kubeconfig for people.
func (p *Publisher) Publish(ctx context.Context, owner client.Object, cluster string, s *Server) error {
	if err := p.keepKubeconfig(client.ObjectKey{Namespace: owner.GetNamespace(), Name: cluster}, s); err != nil {
		return err
	}
	gvk, err := p.Client.GroupVersionKindFor(owner)
	if err != nil {
		return fmt.Errorf("publish the secrets of %s: %w", cluster, err)
	}
	for purpose, data := range s.secrets() {
		want := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: owner.GetNamespace(), Name: secret.Name(cluster, purpose),
				Labels:          map[string]string{clusterv1.ClusterNameLabel: cluster},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, gvk)},
			},
			Type: clusterv1.ClusterSecretType,
			Data: data,
		}
		if err := p.publishOne(ctx, owner, want, purpose, s); err != nil {
			return fmt.Errorf("write the secret %s: %w", want.Name, err)
		}
	}
	return nil
}

// secrets returns the secrets with which clients reach the cluster and machines join it, as kubeadm's control plane stores them.
func (s *Server) secrets() map[secret.Purpose]map[string][]byte {
	pair := func(crt, key []byte) map[string][]byte {
		return map[string][]byte{secret.TLSCrtDataName: crt, secret.TLSKeyDataName: key}
	}
	return map[secret.Purpose]map[string][]byte{
		secret.ClusterCA:      pair(s.CA.CertPEM, s.CA.KeyPEM),
		secret.EtcdCA:         pair(s.EtcdCA.CertPEM, s.EtcdCA.KeyPEM),
		secret.FrontProxyCA:   pair(s.ProxyCA.CertPEM, s.ProxyCA.KeyPEM),
		secret.ServiceAccount: pair(s.ServiceAccountPub, s.ServiceAccountKey),
		secret.Kubeconfig:     {secret.KubeconfigDataName: s.Kubeconfig},
	}
}

func (p *Publisher) publishOne(ctx context.Context, owner client.Object, want *corev1.Secret, purpose secret.Purpose, s *Server) error {
	found := &corev1.Secret{}
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(want), found)
	if apierrors.IsNotFound(err) {
		return p.Client.Create(ctx, want)
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(found, owner) {
		return fmt.Errorf("found one that the control plane %s does not own; delete it, or give the cluster another name", owner.GetName())
	}
	if fits(found, want, purpose, s) {
		return nil
	}
	changed := found.DeepCopy()
	changed.Data = want.Data
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	maps.Copy(changed.Labels, want.Labels)
	return p.Client.Patch(ctx, changed, client.MergeFrom(found))
}

// fits reports whether a secret still serves. A kubeconfig is not compared as a whole, for each start issues another
// client certificate; it serves when it leads to the server and trusts its authority.
func fits(found, want *corev1.Secret, purpose secret.Purpose, s *Server) bool {
	if found.Labels[clusterv1.ClusterNameLabel] != want.Labels[clusterv1.ClusterNameLabel] {
		return false
	}
	if purpose != secret.Kubeconfig {
		return equality.Semantic.DeepEqual(found.Data, want.Data)
	}
	return s.Serves(found.Data[secret.KubeconfigDataName])
}
