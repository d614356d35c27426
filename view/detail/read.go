package detail

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/view"
)

// maxEvents bounds the events that are shown, and the events that are read of one object.
const maxEvents = 100

// Read reads the objects of a pool. What may not be read, except the pool itself, is listed in Facts.Unread.
func Read(ctx context.Context, c client.Client, key client.ObjectKey) (Facts, error) {
	f := Facts{Pool: &clusterv1.MachinePool{}}
	if err := c.Get(ctx, key, f.Pool); err != nil {
		return f, fmt.Errorf("read MachinePool %s: %w", key, err)
	}
	var err error
	if f.Infra, err = view.Infrastructure(ctx, c, c.RESTMapper(), f.Pool); err != nil {
		f.Infra = nil
		f.Unread = append(f.Unread, err.Error())
	}
	f.Cluster = &clusterv1.Cluster{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: f.Pool.Spec.ClusterName}, f.Cluster); err != nil {
		f.Cluster = nil
		if !apierrors.IsNotFound(err) {
			f.Unread = append(f.Unread, err.Error())
		}
	}
	f.readPolicies(ctx, c, time.Now())
	objects := []view.Reference{{Kind: "MachinePool", Name: key.Name}}
	if ref := f.Pool.Spec.Template.Spec.InfrastructureRef; ref.Name != "" {
		objects = append(objects, view.Reference{Kind: ref.Kind, Name: ref.Name})
	}
	for _, o := range objects {
		list, err := events(ctx, c, key.Namespace, o)
		if err != nil {
			f.Unread = append(f.Unread, err.Error())
		}
		f.Events = append(f.Events, list...)
	}
	slices.SortStableFunc(f.Events, func(a, b Event) int { return b.At.Compare(a.At) })
	f.Events = f.Events[:min(len(f.Events), maxEvents)]
	return f, nil
}

// events reads the events of one object.
func events(ctx context.Context, c client.Client, namespace string, of view.Reference) ([]Event, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "EventList"})
	selector := fields.Set{"involvedObject.kind": of.Kind, "involvedObject.name": of.Name}.AsSelector()
	// An API server returns events in no order, so that a limit might leave out the newest: the whole list is read, of one object.
	if err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("read the events of %s %s: %w", of.Kind, of.Name, err)
	}
	var out []Event
	for k := range list.Items {
		out = append(out, eventOf(&list.Items[k], of.Kind))
	}
	return out, nil
}

// eventOf reads an event, in the form of either API.
func eventOf(u *unstructured.Unstructured, kind string) Event {
	text := func(path ...string) string { s, _, _ := unstructured.NestedString(u.Object, path...); return s }
	count, _, _ := unstructured.NestedInt64(u.Object, "series", "count")
	old, _, _ := unstructured.NestedInt64(u.Object, "count")
	e := Event{Kind: kind, Warning: text("type") == "Warning", Reason: text("reason"), Message: view.OneLine(text("message")),
		Count: int(max(count, old, 1))}
	for _, at := range []string{text("series", "lastObservedTime"), text("lastTimestamp"), text("eventTime"), text("firstTimestamp"),
		u.GetCreationTimestamp().UTC().Format(time.RFC3339)} {
		if when, err := time.Parse(time.RFC3339Nano, cmp.Or(at, "-")); err == nil {
			e.At = when
			break
		}
	}
	return e
}
