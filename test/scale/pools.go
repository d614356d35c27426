package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/seed"
)

const (
	namespace = "default"
	// together is the number of concurrent writes.
	together = 16
	// createLimit bounds the attempts to create an object whose webhook does not respond yet.
	createLimit = time.Minute
)

// kind is a kind of pools, derived from a built-in one.
type kind struct {
	name, builtin, cluster string
	// infrastructure is the kind of the pool's own object.
	infrastructure schema.GroupVersionKind
	// machine is the field that names the size of its machines, and another the size that a change gives them.
	machine []string
	another string
	// most bounds the pools of a cluster. Zero is no limit.
	most int
}

// kinds lists all kinds in the order of the flag mix.
var kinds = []kind{
	{"aws", "capa-mp-0", "capa", infrastructure("v1beta2", "AWSMachinePool"), []string{"spec", "awsLaunchTemplate", "instanceType"},
		"m5.large", 0},
	{"eks", "eks-mmp-0", "eks", infrastructure("v1beta2", "AWSManagedMachinePool"), []string{"spec", "awsLaunchTemplate", "instanceType"},
		"m5.large", 30},
	{"uniform", "capz-mp-0", "capz", infrastructure("v1beta1", "AzureMachinePool"), []string{"spec", "template", "vmSize"},
		"Standard_D4s_v3", 0},
	{"flexible", "capz-flex-0", "capz-flex", infrastructure("v1beta1", "AzureMachinePool"), []string{"spec", "template", "vmSize"},
		"Standard_D4s_v3", 0},
}

func infrastructure(version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: version, Kind: kind}
}

// poolSpec is a pool and how many machines it should have.
type poolSpec struct {
	kind     kind
	name     string
	cluster  string
	replicas int
}

// fleet returns the pools that the options ask for, with kinds alternating.
func (o options) fleet() ([]*poolSpec, error) {
	var all []*poolSpec
	parts := strings.Split(o.mix, ",")
	if len(parts) != len(kinds) {
		return nil, fmt.Errorf("-mix: want %d numbers, got %q", len(kinds), o.mix)
	}
	for i, part := range parts {
		hundredths, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("-mix: %w", err)
		}
		k := kinds[i]
		number := (o.pools*hundredths + 50) / 100
		clusters := min(max(1, o.clusters), number)
		if k.most > 0 {
			clusters = max(clusters, (number+k.most-1)/k.most)
		}
		for n := range number {
			replicas := o.machines
			if replicas == 0 {
				replicas = 1 + n%3
			}
			all = append(all, &poolSpec{kind: k, name: fmt.Sprintf("%s-%04d", k.name, n), cluster: fmt.Sprintf("%s-%d", k.cluster, n%clusters),
				replicas: replicas})
		}
	}
	return all, nil
}

// objects returns the objects of the pool, or those of its cluster, made from the built-in ones.
func (w *poolSpec) objects(ofCluster bool) ([]*unstructured.Unstructured, error) {
	found, err := seed.Builtin(all.Accounts(all.Names()...), []string{w.kind.builtin})
	if err != nil {
		return nil, err
	}
	var made []*unstructured.Unstructured
	for _, o := range found {
		if (o.GetName() != w.kind.builtin) != ofCluster {
			continue
		}
		text, err := json.Marshal(o.Unstructured)
		if err != nil {
			return nil, err
		}
		named := strings.ReplaceAll(string(text), w.kind.builtin, w.name)
		for _, end := range []string{`"`, `-identity"`, `-identity-secret"`, `-control-plane"`} {
			named = strings.ReplaceAll(named, `"`+w.kind.cluster+end, `"`+w.cluster+end)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(named)); err != nil {
			return nil, err
		}
		u.SetNamespace(namespace)
		if u.GetKind() == "MachinePool" {
			if err := unstructured.SetNestedField(u.Object, int64(w.replicas), "spec", "replicas"); err != nil {
				return nil, err
			}
		}
		made = append(made, u)
	}
	return made, nil
}

// createClusters creates the clusters of the pools.
func createClusters(ctx context.Context, c client.Client, pools []*poolSpec) (names []string, err error) {
	known := map[string]bool{}
	for _, w := range pools {
		if known[w.cluster] {
			continue
		}
		known[w.cluster] = true
		names = append(names, w.cluster)
		objects, err := w.objects(true)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if err := create(ctx, c, o); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// each does something for every pool, some at a time.
func each(ctx context.Context, pools []*poolSpec, do func(ctx context.Context, w *poolSpec) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for _, w := range pools {
		group.Go(func() error { return do(ctx, w) })
	}
	return group.Wait()
}

// create creates an object, again as long as its webhook can't be reached.
func create(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	pause := time.NewTicker(time.Second / 2)
	defer pause.Stop()
	for end := time.Now().Add(createLimit); ; {
		err := c.Create(ctx, o)
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		if apierrors.IsInvalid(err) || time.Now().After(end) {
			return fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-pause.C:
		}
	}
}

// createPool creates the pool's objects.
func (w *poolSpec) createPool(ctx context.Context, c client.Client) error {
	objects, err := w.objects(false)
	for _, o := range objects {
		err = errors.Join(err, create(ctx, c, o))
	}
	return err
}

// scale gives the MachinePool another number of replicas.
func (w *poolSpec) scale(ctx context.Context, c client.Client, replicas int) error {
	w.replicas = replicas
	return patch(ctx, c, machinePool, w.name, map[string]any{"spec": map[string]any{"replicas": replicas}})
}

// change gives the pool machines of another size.
func (w *poolSpec) change(ctx context.Context, c client.Client) error {
	var body any = w.kind.another
	for n := range w.kind.machine {
		body = map[string]any{w.kind.machine[len(w.kind.machine)-1-n]: body}
	}
	return patch(ctx, c, w.kind.infrastructure, w.name, body)
}

// remove deletes the MachinePool, and with it everything that belongs to it.
func (w *poolSpec) remove(ctx context.Context, c client.Client) error {
	return client.IgnoreNotFound(c.Delete(ctx, object(machinePool, w.name)))
}

func patch(ctx context.Context, c client.Client, gvk schema.GroupVersionKind, name string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := c.Patch(ctx, object(gvk, name), client.RawPatch("application/merge-patch+json", text)); err != nil {
		return fmt.Errorf("patch %s %s: %w", gvk.Kind, name, err)
	}
	return nil
}

func object(gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
