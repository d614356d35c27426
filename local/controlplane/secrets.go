package controlplane

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

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
)

// secrets are what others need to reach the cluster and to let machines join it, as kubeadm's control plane keeps them.
func (s *server) secrets() map[secret.Purpose]map[string][]byte {
	pair := func(crt, key []byte) map[string][]byte {
		return map[string][]byte{secret.TLSCrtDataName: crt, secret.TLSKeyDataName: key}
	}
	return map[secret.Purpose]map[string][]byte{
		secret.ClusterCA:      pair(s.CA.CertPEM, s.CA.KeyPEM),
		secret.EtcdCA:         pair(s.etcdCA.CertPEM, s.etcdCA.KeyPEM),
		secret.FrontProxyCA:   pair(s.proxyCA.CertPEM, s.proxyCA.KeyPEM),
		secret.ServiceAccount: pair(s.ServiceAccountPub, s.ServiceAccountKey),
		secret.Kubeconfig:     {secret.KubeconfigDataName: s.Kubeconfig},
	}
}

// publish writes the secrets of a cluster that do not exist or no longer fit.
func (r *Reconciler) publish(ctx context.Context, lcp *localv1.LocalControlPlane, cluster string, s *server) error {
	for purpose, data := range s.secrets() {
		want := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: lcp.Namespace, Name: secret.Name(cluster, purpose),
				Labels:          map[string]string{clusterv1.ClusterNameLabel: cluster},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(lcp, localv1.GroupVersion.WithKind("LocalControlPlane"))},
			},
			Type: clusterv1.ClusterSecretType,
			Data: data,
		}
		if err := r.publishOne(ctx, lcp, want, purpose, s); err != nil {
			return fmt.Errorf("write the secret %s: %w", want.Name, err)
		}
	}
	return nil
}

func (r *Reconciler) publishOne(ctx context.Context, lcp *localv1.LocalControlPlane, want *corev1.Secret, purpose secret.Purpose, s *server) error {
	found := &corev1.Secret{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(want), found)
	if apierrors.IsNotFound(err) {
		return r.Client.Create(ctx, want)
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(found, lcp) {
		return fmt.Errorf("found one that the control plane %s does not own; delete it, or give the cluster another name", lcp.Name)
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
	return r.Client.Patch(ctx, changed, client.MergeFrom(found))
}

// fits reports whether a secret still serves. A kubeconfig is not compared as a whole, for each start issues another
// client certificate; it serves when it leads to the server and trusts its authority.
func fits(found, want *corev1.Secret, purpose secret.Purpose, s *server) bool {
	if found.Labels[clusterv1.ClusterNameLabel] != want.Labels[clusterv1.ClusterNameLabel] {
		return false
	}
	if purpose != secret.Kubeconfig {
		return equality.Semantic.DeepEqual(found.Data, want.Data)
	}
	return s.Serves(found.Data[secret.KubeconfigDataName])
}
