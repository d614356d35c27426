package ociidentity

import (
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/infrapool"
)

// ClusterIdentifier is spec.ociResourceIdentifier, which the ecosystem's provider sets to a random UUID where a user gives none. of returns
// the one of a specification.
func ClusterIdentifier[S any](of func(S) string) *infrapool.ClusterIdentifier[S] {
	return &infrapool.ClusterIdentifier[S]{Kinds: []string{ociv1.ClusterKind, ociv1.ManagedClusterKind},
		Path: []string{"spec", "ociResourceIdentifier"}, Of: of}
}
