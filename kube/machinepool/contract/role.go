package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicontract "sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrOutside is returned for a kind that does not follow the contract of the field that refers to it. A controller that followed
// the reference would make the pool the owner of such an object, and delete it with the pool.
var ErrOutside = errors.New("outside the contract")

// Role is the contract that an object has to follow to which a field of a MachinePool refers.
type Role struct {
	// path of the field that refers to the object, name of the contract, and an example of a kind that follows it, for messages.
	path, name, example string
	// prefix is the first label of the API groups of its providers.
	prefix string
	// field is one that the contract requires, and that no other kind of the same API group has.
	field []string
	// others are the suffixes of kinds of the same API group that follow other contracts.
	others []string
}

// InfraMachinePool is the role of spec.template.spec.infrastructureRef.
func InfraMachinePool() Role {
	return Role{path: "spec.template.spec.infrastructureRef", name: "InfraMachinePool", example: "AWSMachinePool",
		prefix: "infrastructure", field: []string{"spec", "providerIDList"},
		others: []string{templateSuffix, "Cluster", "ControlPlane", "Machine", "Identity"}}
}

// BootstrapConfig is the role of spec.template.spec.bootstrap.configRef.
func BootstrapConfig() Role {
	return Role{path: "spec.template.spec.bootstrap.configRef", name: "BootstrapConfig", example: "KubeadmConfig",
		prefix: "bootstrap", field: []string{"status", "dataSecretName"},
		others: []string{templateSuffix}}
}

// Path returns the path of the field in a MachinePool that refers to the object.
func (r Role) Path() string { return r.path }

// templateSuffix is the suffix of the kinds from which MachineDeployments and ClusterClasses create their objects.
const templateSuffix = "Template"

// contractGroups are the first labels of the API groups of Cluster API's contracts.
var contractGroups = []string{"infrastructure", "bootstrap", "controlplane", "addons", "ipam", "runtime", "cluster"}

// reservedDomains are the domains of API groups of Kubernetes and its SIGs: the API group of a provider is not below them.
var reservedDomains = []string{"k8s.io", "x-k8s.io", "kubernetes.io"}

// Names returns an error that wraps ErrOutside if the API group or the kind is not that of a provider of the role. It reads nothing. A
// provider may have an API group of its own, outside the reserved domains.
func (r Role) Names(gk schema.GroupKind) error {
	own := r.prefix + "." + clusterv1.GroupVersion.Group
	if gk.Group != own && !strings.HasSuffix(gk.Group, "."+own) {
		label, domain, _ := strings.Cut(gk.Group, ".")
		reserved := slices.ContainsFunc(reservedDomains, func(d string) bool { return gk.Group == d || strings.HasSuffix(gk.Group, "."+d) })
		if domain == "" || reserved || (label != r.prefix && slices.Contains(contractGroups, label)) {
			return r.outside(gk, "its API group is not that of a provider")
		}
	}
	for _, ending := range r.others {
		if kind, ok := strings.CutSuffix(gk.Kind, ending); ok && ending == templateSuffix {
			return r.outside(gk, fmt.Sprintf("a MachinePool has one object for all its machines and creates none from templates; refer to a %s",
				kind))
		} else if ok {
			return r.outside(gk, "its name is that of a "+ending)
		}
	}
	return nil
}

// outside returns an error with what was found and what is allowed.
func (r Role) outside(gk schema.GroupKind, why string) error {
	group := gk.Group
	if group == "" {
		group = "core"
	}
	return fmt.Errorf("kind %s of API group %s is %w %s: %s; allowed are kinds such as %s of %s.%s, or of a provider's own API group, with "+
		"the field %s",
		gk.Kind, group, ErrOutside, r.name, why, r.example, r.prefix, clusterv1.GroupVersion.Group, strings.Join(r.field, "."))
}

// Follows returns an error that wraps ErrOutside if a kind does not follow the contract of the role by its names, or by the schema of its
// CustomResourceDefinition. It reads the whole definition, so the reader should not be a cached one. Other errors are those of GVK.
func (r Role) Follows(ctx context.Context, live client.Reader, gk schema.GroupKind) error {
	if err := r.Names(gk); err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	name := capicontract.CalculateCRDName(gk.Group, gk.Kind)
	if err := live.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		if apierrors.IsNotFound(err) {
			return noKind(gk, name)
		}
		return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	chosen := newest(crd.Labels)
	if chosen == "" {
		return noVersion(gk, name)
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Name == chosen && v.Schema != nil && !has(v.Schema.OpenAPIV3Schema, r.field) {
			return r.outside(gk, "its schema has no "+strings.Join(r.field, "."))
		}
	}
	return nil
}

// Kinds caches which kinds follow which role, so that the schema of a CustomResourceDefinition is read once for each of its
// versions. The zero value is ready for use, also by several goroutines.
type Kinds struct {
	mu    sync.Mutex
	known map[string]known
}

// known caches the result of Follows for one state of a CustomResourceDefinition.
type known struct {
	state string
	err   error
}

// GVK returns the version in which a kind is read, as the function GVK does, if the kind follows the role. Otherwise the error wraps
// ErrOutside.
func (k *Kinds) GVK(ctx context.Context, cached, live client.Reader, role Role, gk schema.GroupKind) (schema.GroupVersionKind, error) {
	if err := role.Names(gk); err != nil {
		return schema.GroupVersionKind{}, err
	}
	gvk, crd, err := resolve(ctx, cached, gk)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	key, state := role.name+" "+crd.Name, string(crd.UID)+" "+crd.ResourceVersion
	k.mu.Lock()
	found, ok := k.known[key]
	k.mu.Unlock()
	if !ok || found.state != state {
		found = known{state: state, err: role.Follows(ctx, live, gk)}
		if found.err != nil && !errors.Is(found.err, ErrOutside) {
			return schema.GroupVersionKind{}, found.err
		}
		k.mu.Lock()
		if k.known == nil {
			k.known = map[string]known{}
		}
		k.known[key] = found
		k.mu.Unlock()
	}
	return gvk, found.err
}

// has reports whether objects of a schema may have a field. A schema with unknown fields preserved may have any.
func has(s *apiextensionsv1.JSONSchemaProps, path []string) bool {
	for _, name := range path {
		if s == nil || (s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields) {
			return true
		}
		next, ok := s.Properties[name]
		if !ok {
			return false
		}
		s = &next
	}
	return true
}
