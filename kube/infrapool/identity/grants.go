package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/pool"
)

// The reasons for which grants are not known.
const (
	reasonGrantsForbidden = "GrantsForbidden"
	reasonGrantInvalid    = "GrantInvalid"
)

// +kubebuilder:rbac:groups=muster.dev,resources=adoptiongrants,verbs=get;list;watch

// AdoptionGrants returns the AdoptionGrants that name the namespace of the object, sorted by name. If they can't be read, none applies and
// unread has the reason. A management cluster without the kind has no grants.
func AdoptionGrants(ctx context.Context, from *Credentials) (granted []pool.AdoptionGrant, unread *pool.Cause, err error) {
	of, list := &musterv1.AdoptionGrant{}, &musterv1.AdoptionGrantList{}
	of.SetGroupVersionKind(musterv1.GroupVersion.WithKind(musterv1.AdoptionGrantKind))
	err = from.List(ctx, of, list)
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return nil, nil, nil
	case errors.Is(err, access.ErrForbidden) || apierrors.IsForbidden(err):
		return nil, &pool.Cause{Reason: reasonGrantsForbidden, Message: "there is no right to list and watch adoptiongrants of API group " +
			musterv1.GroupVersion.Group}, nil
	case err != nil:
		return nil, nil, err
	}
	slices.SortFunc(list.Items, func(a, b musterv1.AdoptionGrant) int { return cmp.Compare(a.Name, b.Name) })
	for i := range list.Items {
		grant := &list.Items[i]
		admits, err := from.Admits(ctx, grant.Spec.Namespaces, from.Namespace)
		var invalid *Error
		switch {
		case errors.As(err, &invalid):
			unread = &pool.Cause{Reason: reasonGrantInvalid, Message: fmt.Sprintf("AdoptionGrant %s: spec.namespaces.%s", grant.Name,
				invalid.Cause.Message)}
		case err != nil:
			return nil, nil, err
		case admits:
			granted = append(granted, translate(grant))
		}
	}
	return granted, unread, nil
}

// translate returns a grant in terms of the domain.
func translate(grant *musterv1.AdoptionGrant) pool.AdoptionGrant {
	out := pool.AdoptionGrant{Name: grant.Name}
	for _, account := range grant.Spec.Accounts {
		out.Accounts = append(out.Accounts, string(account))
	}
	for _, pattern := range grant.Spec.Groups {
		out.Groups = append(out.Groups, string(pattern))
	}
	return out
}
