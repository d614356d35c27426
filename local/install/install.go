package install

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/foreign"
)

const (
	// fieldOwner of everything that is installed; it is applied again, with force, at every start.
	fieldOwner = client.FieldOwner("muster-up")
	// parallel bounds the concurrent writes.
	parallel = 8
)

// Webhook is the server of conversion and admission webhooks.
type Webhook struct {
	// URL is the address of the server, without a path.
	URL string
	// CA that signed its certificate, PEM.
	CA []byte
}

// Definitions installs the definitions of Muster's own and Cluster API's kinds, and of kinds that others own, and returns when the API
// server serves them. Without a webhook, kinds that have several versions are served in the one that is stored alone.
func Definitions(ctx context.Context, config *rest.Config, webhook *Webhook, others ...foreign.Kind) error {
	c, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	definitions, err := definitions(others)
	if err != nil {
		return err
	}
	for _, d := range definitions {
		if err := convert(d, webhook); err != nil {
			return fmt.Errorf("say how %s is converted: %w", d.GetName(), err)
		}
	}
	if err := each(definitions, func(d *unstructured.Unstructured) error { return Apply(ctx, c, d) }); err != nil {
		return err
	}
	return untilServed(ctx, config, definitions)
}

// Objects installs objects in addition to the definitions, such as the configurations of admission webhooks.
func Objects(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, objects []client.Object) error {
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	return each(objects, func(o client.Object) error {
		gvk, err := c.GroupVersionKindFor(o)
		if err != nil {
			return fmt.Errorf("install %s: %w", o.GetName(), err)
		}
		u := &unstructured.Unstructured{}
		if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o); err != nil {
			return fmt.Errorf("install %s: %w", o.GetName(), err)
		}
		u.SetGroupVersionKind(gvk)
		return Apply(ctx, c, u)
	})
}

// Apply applies one object on the server's side. What was installed before and is unchanged is not written again.
func Apply(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	delete(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), fieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("install %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// each does something with all of them, a few at a time, and returns the first error.
func each[T any](all []T, do func(T) error) error {
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, one := range all {
		g.Go(func() error { return do(one) })
	}
	return g.Wait()
}
