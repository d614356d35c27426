package identity

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/muster-project/muster/api/common"
)

// The flags that name the namespaces which may use the manager's own credentials, and the value that stands for all of them.
const (
	OwnFlag         = "credentials-namespaces"
	OwnSelectorFlag = "credentials-namespace-selector"
	EveryNamespace  = "*"
)

// ParseOwn returns the namespaces that the values of the two flags name; nil is every namespace, as without both flags. list is nil if its
// flag is not set.
func ParseOwn(list []string, selector string) (*common.AllowedNamespaces, error) {
	every := slices.Contains(list, EveryNamespace)
	switch {
	case list == nil && selector == "", every && len(list) == 1 && selector == "":
		return nil, nil
	case every:
		return nil, fmt.Errorf("--%s: %s is every namespace: remove it, or the others and --%s", OwnFlag, EveryNamespace, OwnSelectorFlag)
	}
	for _, name := range list {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return nil, fmt.Errorf("--%s: want names of namespaces, or %s, found %q: %s", OwnFlag, EveryNamespace, name, problems[0])
		}
	}
	allowed := &common.AllowedNamespaces{List: append([]string{}, list...)}
	if selector == "" {
		return allowed, nil
	}
	var err error
	if allowed.Selector, err = metav1.ParseToLabelSelector(selector); err != nil {
		return nil, fmt.Errorf("--%s: want a label selector, found %q: %w", OwnSelectorFlag, selector, err)
	}
	return allowed, nil
}

// Own returns an Error unless a namespace may have the cloud called with what the manager alone has: its own credentials, or what proves an
// identity that has no secret of its own. It is the namespace of the cluster, or that of the identity. field names the identity, or where
// one would be named.
func (c *Credentials) Own(ctx context.Context, namespace, field string) error {
	if c.sources.OwnCredentials == nil {
		return nil
	}
	allowed, err := c.Admits(ctx, c.sources.OwnCredentials, namespace)
	if err != nil || allowed {
		return err
	}
	return Errorf(ReasonNotAllowed, "%s: namespace %s may not use the manager's own credentials: name an identity with credentials of its "+
		"own, or have the operator add the namespace to --%s", field, namespace, OwnFlag)
}
