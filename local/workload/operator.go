package eks

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	bootstraputil "k8s.io/cluster-bootstrap/token/util"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
)

const (
	// tokenID is the public half of EKS's token, the same in every cluster.
	tokenID = "eksnod"
	// managers is the group of a client with the token, beside that of machines which join.
	managers = "system:bootstrappers:eks:node-manager"
	// roleName is the role that EKS has in every cluster.
	roleName = "eks:node-manager"
)

// letIn gives EKS its place in a cluster, and the token that stands for it. Both stay as they are once they are there.
func letIn(ctx context.Context, config *rest.Config) (string, error) {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make a client: %w", err)
	}
	_, err = c.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: roleName}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch", "patch", "update"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
	}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("make the role %s: %w", roleName, err)
	}
	_, err = c.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: roleName},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: roleName},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: managers}}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("bind the role %s: %w", roleName, err)
	}
	return tokenOf(ctx, c)
}

// tokenOf finds the token, or makes it.
func tokenOf(ctx context.Context, c kubernetes.Interface) (string, error) {
	secrets := c.CoreV1().Secrets(metav1.NamespaceSystem)
	name := bootstrapapi.BootstrapTokenSecretPrefix + tokenID
	found, err := secrets.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		return bootstraputil.TokenFromIDAndSecret(tokenID, string(found.Data[bootstrapapi.BootstrapTokenSecretKey])), nil
	}
	if !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("read the token: %w", err)
	}
	fresh, err := bootstraputil.GenerateBootstrapToken()
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	secret := fresh[len(fresh)-bootstrapapi.BootstrapTokenSecretBytes:]
	_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeBootstrapToken, Data: map[string][]byte{
		bootstrapapi.BootstrapTokenIDKey:               []byte(tokenID),
		bootstrapapi.BootstrapTokenSecretKey:           []byte(secret),
		bootstrapapi.BootstrapTokenUsageAuthentication: []byte("true"),
		bootstrapapi.BootstrapTokenExtraGroupsKey:      []byte(constants.NodeBootstrapTokenAuthGroup + "," + managers),
	}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("write the token: %w", err)
	}
	return bootstraputil.TokenFromIDAndSecret(tokenID, secret), nil
}
