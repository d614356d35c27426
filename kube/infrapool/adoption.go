package infrapool

import (
	"context"
	"fmt"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/grants"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/pool"
)

// adoption returns which group of another tool the object, or its MachinePool, asks to adopt, and whether the driver is to adopt it. Once
// the pool has owned the group, the annotation has no effect and can be removed: the name is stored.
func adoption[O Object](s scope[O], values map[string]string) (pool.Adoption, bool) {
	asked, adopted := s.object.GetAnnotations()[pool.AdoptAnnotation], values[pool.AdoptedKey]
	if asked == "" && s.machinePool != nil {
		asked = s.machinePool.GetAnnotations()[pool.AdoptAnnotation]
	}
	return pool.Adoption{Name: asked, Done: asked != "" && asked == adopted}, asked != "" && asked != adopted && !s.deleting()
}

// consents completes what the object asks to adopt by what decides whether it may: the Clusters of the same name, and the operator's
// grants, which are read only for an object that asks.
func consents[O Object](ctx context.Context, c client.Client, s scope[O], from *identity.Credentials, asked pool.Adoption,
	adopts bool) (pool.Adoption, error) {
	var err error
	if asked.SameNamed, err = sameNamed(ctx, c, s, asked); err != nil || !adopts || from == nil {
		return asked, err
	}
	asked.Namespace = s.object.GetNamespace()
	asked.Grants, asked.GrantsUnread, err = grants.Adoptions(ctx, from)
	return asked, err
}

// sameNamed returns the Clusters of other namespaces that have the name of the pool's, while the pool may adopt a group: it asks for one,
// or owns none yet.
func sameNamed[O Object](ctx context.Context, c client.Reader, s scope[O], asked pool.Adoption) ([]string, error) {
	if s.clusterName() == "" || s.deleting() || asked.Done || asked.Name == "" && s.object.GetProviderID() != "" {
		return nil, nil
	}
	list := &clusterv1.ClusterList{}
	if err := c.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("look for other Clusters named %s: %w", s.clusterName(), err)
	}
	var out []string
	for _, of := range list.Items {
		if of.Name == s.clusterName() && of.Namespace != s.object.GetNamespace() {
			out = append(out, of.Namespace+"/"+of.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// adopted returns what to store of an adoption that this pass has found done.
func (f facts[S]) adopted(o pool.Observed) map[string]string {
	asked := f.input.Desired.Adopt
	if asked.Name == "" || asked.Done || o.Group == nil || f.groupName.Name != asked.Name {
		return nil
	}
	return map[string]string{pool.AdoptedKey: asked.Name}
}
