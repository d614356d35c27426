// Package contract finds the version in which a provider's kind is read. References of the core types contain only a group and a kind; the
// labels of the CustomResourceDefinition list which of its versions follow which version of the Cluster API contract.
package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicontract "sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// versions are the supported versions of the contract, the preferred one first.
var versions = []string{"v1beta2", "v1beta1"}

// ErrNoKind is returned for a kind without a CustomResourceDefinition in the management cluster: no object of it can exist.
var ErrNoKind = errors.New("no CustomResourceDefinition")

// ErrNoVersion is returned for a CustomResourceDefinition that names no version that follows a supported contract.
var ErrNoVersion = errors.New("no contract version label")

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch

// GVK returns the kind in the newest version that follows the newest contract. The reader should be a cached one: the metadata of one
// CustomResourceDefinition is read. Errors wrap ErrNoKind, ErrNoVersion, or the reader's own.
func GVK(ctx context.Context, r client.Reader, gk schema.GroupKind) (schema.GroupVersionKind, error) {
	gvk, _, err := resolve(ctx, r, gk)
	return gvk, err
}

// resolve does the same as GVK, and also returns the metadata of the CustomResourceDefinition.
func resolve(ctx context.Context, r client.Reader, gk schema.GroupKind) (schema.GroupVersionKind, *metav1.PartialObjectMetadata, error) {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	name := capicontract.CalculateCRDName(gk.Group, gk.Kind)
	if err := r.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		if apierrors.IsNotFound(err) {
			return schema.GroupVersionKind{}, nil, noKind(gk, name)
		}
		return schema.GroupVersionKind{}, nil, fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	chosen := newest(crd.GetLabels())
	if chosen == "" {
		return schema.GroupVersionKind{}, nil, noVersion(gk, name)
	}
	return gk.WithVersion(chosen), crd, nil
}

func noKind(gk schema.GroupKind, crd string) error {
	return fmt.Errorf("kind %s of group %s: %w %s", gk.Kind, gk.Group, ErrNoKind, crd)
}

func noVersion(gk schema.GroupKind, crd string) error {
	return fmt.Errorf("kind %s of group %s: CustomResourceDefinition %s: %w %s/<%s>",
		gk.Kind, gk.Group, crd, ErrNoVersion, clusterv1.GroupVersion.Group, strings.Join(versions, " or "))
}

// APIVersion returns group and version of GVK, as references of older API versions contain them.
func APIVersion(ctx context.Context, r client.Reader, gk schema.GroupKind) (string, error) {
	gvk, err := GVK(ctx, r, gk)
	if err != nil {
		return "", err
	}
	return gvk.GroupVersion().String(), nil
}

// newest returns the newest version that the labels of a CustomResourceDefinition name for the newest contract; empty if there is none.
func newest(labels map[string]string) string {
	for _, contract := range versions {
		value := labels[clusterv1.GroupVersion.Group+"/"+contract]
		if value == "" {
			continue
		}
		return slices.MaxFunc(strings.Split(value, "_"), version.CompareKubeAwareVersionStrings)
	}
	return ""
}
