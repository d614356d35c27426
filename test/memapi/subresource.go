package memapi

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subresource is a client of one subresource. Status is updated and patched; what Options.Subresources names is created.
type subresource struct {
	conn *conn
	name string
}

func (r *subresource) Get(_ context.Context, o client.Object, _ client.Object, _ ...client.SubResourceGetOption) error {
	return fmt.Errorf("get subresource %s of %T: not supported by the server in memory", r.name, o)
}

func (r *subresource) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errNoApply
}

func (r *subresource) Create(ctx context.Context, o, sub client.Object, opts ...client.SubResourceCreateOption) error {
	do := r.conn.server.options.Subresources[r.name]
	if do == nil {
		return fmt.Errorf("create subresource %s of %T: not supported, name what it does in Options.Subresources", r.name, o)
	}
	k, key, err := r.conn.target(o)
	if err != nil {
		return err
	}
	if len((&client.SubResourceCreateOptions{}).ApplyOptions(opts).DryRun) > 0 {
		return errDryRun
	}
	data, err := json.Marshal(sub)
	if err != nil {
		return err
	}
	op := Op{Verb: "create", Subresource: r.name, Kind: k.gvk.Kind, Key: key, Write: true, Body: string(data)}
	return r.conn.send(ctx, op, func() error {
		stored, err := r.conn.server.stored(k, key)
		if err != nil {
			return err
		}
		return do(ctx, stored, sub)
	})
}

func (r *subresource) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if r.name != "status" {
		return fmt.Errorf("update subresource %s of %T: not supported by the server in memory", r.name, o)
	}
	options := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
	sent := o
	if options.SubResourceBody != nil {
		sent = options.SubResourceBody
	}
	return r.conn.update(ctx, o, sent, r.name, &options.UpdateOptions)
}

func (r *subresource) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	if r.name != "status" {
		return fmt.Errorf("patch subresource %s of %T: not supported by the server in memory", r.name, o)
	}
	options := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
	sent := o
	if options.SubResourceBody != nil {
		sent = options.SubResourceBody
	}
	return r.conn.patch(ctx, o, sent, r.name, p, &options.PatchOptions)
}
