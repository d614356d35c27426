package servers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	kubeadmv1 "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"
	"k8s.io/kubernetes/cmd/kubeadm/app/componentconfigs"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
	"k8s.io/kubernetes/cmd/kubeadm/app/util"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/apiclient"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/workload"
)

// configReader is the name that kubeadm gives to the role of those who read its configuration, and to the binding of the role.
const configReader = "kubeadm:nodes-kubeadm-config"

// configuration returns the configuration that "kubeadm init" would use. It and storeConfiguration follow kubeadm's util/config and
// phases/uploadconfig. Importing those would link every binary with kubectl's libraries, and by a C compiler.
func configuration(s *apiserver.Server, cluster string) (*kubeadmapi.ClusterConfiguration, error) {
	external := &kubeadmv1.ClusterConfiguration{
		ClusterName: cluster, KubernetesVersion: apiserver.Version(), ControlPlaneEndpoint: fmt.Sprintf("%s:%d", workload.Host, s.Port),
	}
	scheme.Scheme.Default(external)
	c := &kubeadmapi.ClusterConfiguration{}
	if err := scheme.Scheme.Convert(external, c, nil); err != nil {
		return nil, fmt.Errorf("make kubeadm's configuration of %s: %w", cluster, err)
	}
	componentconfigs.Default(c, &kubeadmapi.APIEndpoint{AdvertiseAddress: workload.Host}, &kubeadmapi.NodeRegistrationOptions{})
	return c, nil
}

// storeConfiguration stores the configuration where a joining machine reads it. The components' own are stored apart from it.
func storeConfiguration(c kubernetes.Interface, config *kubeadmapi.ClusterConfiguration) error {
	stored := config.DeepCopy()
	stored.ComponentConfigs = kubeadmapi.ComponentConfigMap{}
	text, err := util.MarshalToYamlForCodecs(stored, kubeadmv1.SchemeGroupVersion, scheme.Codecs)
	if err != nil {
		return err
	}
	if err := apiclient.CreateOrUpdate(c.CoreV1().ConfigMaps(metav1.NamespaceSystem), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: constants.KubeadmConfigConfigMap, Namespace: metav1.NamespaceSystem},
		Data:       map[string]string{constants.ClusterConfigurationConfigMapKey: string(text)},
	}); err != nil {
		return err
	}
	meta := metav1.ObjectMeta{Name: configReader, Namespace: metav1.NamespaceSystem}
	if err := apiclient.CreateOrUpdate(c.RbacV1().Roles(metav1.NamespaceSystem), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{constants.KubeadmConfigConfigMap},
			Verbs: []string{"get"}},
	}}); err != nil {
		return err
	}
	return apiclient.CreateOrUpdate(c.RbacV1().RoleBindings(metav1.NamespaceSystem), &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: configReader},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.GroupKind, Name: constants.NodeBootstrapTokenAuthGroup},
			{Kind: rbacv1.GroupKind, Name: constants.NodesGroup},
		}})
}
