package workload

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

// Operator is the program of a managed cloud that operates on the nodes of a cluster, and lets the cloud's machines join.
type Operator struct {
	// Role is the name of its role in the cluster, Group that of its group, which begins with system:bootstrappers:.
	Role, Group string
	// TokenID is the public half of its token, six letters and digits, the same in every cluster.
	TokenID string
}

// LetIn creates the operator's role in a cluster, and returns the bootstrap token with which it authenticates there: machines request their
// certificates with it, and the operator labels, cordons, drains and deletes their nodes. Both are created once and kept.
func (o Operator) LetIn(ctx context.Context, config *rest.Config) (string, error) {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make a client: %w", err)
	}
	_, err = c.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: o.Role}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch", "patch", "update", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
	}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("make the role %s: %w", o.Role, err)
	}
	_, err = c.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: o.Role},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: o.Role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: o.Group}}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("bind the role %s: %w", o.Role, err)
	}
	return o.token(ctx, c)
}

// token finds the token, or makes it.
func (o Operator) token(ctx context.Context, c kubernetes.Interface) (string, error) {
	secrets := c.CoreV1().Secrets(metav1.NamespaceSystem)
	name := bootstrapapi.BootstrapTokenSecretPrefix + o.TokenID
	found, err := secrets.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		return bootstraputil.TokenFromIDAndSecret(o.TokenID, string(found.Data[bootstrapapi.BootstrapTokenSecretKey])), nil
	}
	if !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("read the token: %w", err)
	}
	fresh, err := bootstraputil.GenerateBootstrapToken()
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	secret := fresh[len(fresh)-bootstrapapi.BootstrapTokenSecretBytes:]
	_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			bootstrapapi.BootstrapTokenIDKey:               []byte(o.TokenID),
			bootstrapapi.BootstrapTokenSecretKey:           []byte(secret),
			bootstrapapi.BootstrapTokenUsageAuthentication: []byte("true"),
			bootstrapapi.BootstrapTokenExtraGroupsKey:      []byte(constants.NodeBootstrapTokenAuthGroup + "," + o.Group),
		}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("write the token: %w", err)
	}
	return bootstraputil.TokenFromIDAndSecret(o.TokenID, secret), nil
}
