package memapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Op is one request to a server: a write, or a read that no cache answers.
type Op struct {
	// Verb is get, list, create, update, patch, delete or deletecollection.
	Verb, Subresource, Kind string
	// Key of a list holds the namespace alone; that of a create may lack a name that the server generates.
	Key   client.ObjectKey
	Write bool
	// Body is the JSON of the object, the patch or the options that were sent. It may hold secrets.
	Body string
}

// Gate carries a request from a process to the server. It calls do and returns its error; or returns another error without a call (refused,
// or the process is dead); or calls do and hides the response behind an error (lost), in which case the caller's object is not updated. A
// nil Gate just calls.
type Gate func(ctx context.Context, op Op, do func() error) error

var (
	errNotCarried = errors.New(
		"the gate said that a request succeeded that it did not carry: it must call do or give an error")
	errNoApply                           = errors.New("server-side apply is not supported by the server in memory: use a merge patch")
	errDryRun                            = errors.New("dry runs are not supported by the server in memory")
	errOnlyMeta                          = errors.New("objects can't be created or updated from their metadata alone: use a patch")
	noKind                               = schema.GroupVersionKind{}
	_           client.Client            = &conn{}
	_           client.SubResourceClient = &subresource{}
)

// conn is one client. Without a cache it reads from the server.
type conn struct {
	server *Server
	cache  *Cache
	gate   Gate
}

// send carries a request through the gate.
func (c *conn) send(ctx context.Context, op Op, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.gate == nil {
		return do()
	}
	carried := false
	err := c.gate(ctx, op, func() error {
		carried = true
		return do()
	})
	if err == nil && !carried {
		return fmt.Errorf("%s %s %s: %w", op.Verb, op.Kind, op.Key, errNotCarried)
	}
	return err
}

// write carries a request that is answered with an object, and sets what the caller holds to it.
func (c *conn) write(ctx context.Context, op Op, out client.Object, do func() (*entry, error)) error {
	op.Write = true
	var reply *entry
	if err := c.send(ctx, op, func() (err error) {
		reply, err = do()
		return err
	}); err != nil {
		return err
	}
	return c.answer(reply, out, false)
}

// answer sets what the caller holds to a copy of an entry.
func (c *conn) answer(e *entry, out client.Object, named bool) error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	o, err := e.shape(formOf(out), false, named)
	if err != nil {
		return err
	}
	return assign(out, o)
}

// target returns the kind of an object and where it is kept.
func (c *conn) target(o client.Object) (*kind, client.ObjectKey, error) {
	k, err := c.server.find(o)
	if err != nil {
		return nil, client.ObjectKey{}, err
	}
	return k, k.key(client.ObjectKeyFromObject(o)), nil
}

// body returns the JSON of a whole object that is sent.
func body(o client.Object) ([]byte, error) {
	if formOf(o) == metadata {
		return nil, errOnlyMeta
	}
	return json.Marshal(o)
}

func (c *conn) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	k, key, err := c.target(o)
	if err != nil {
		return err
	}
	if len((&client.CreateOptions{}).ApplyOptions(opts).DryRun) > 0 {
		return errDryRun
	}
	data, err := body(o)
	if err != nil {
		return err
	}
	return c.write(ctx, Op{Verb: "create", Kind: k.gvk.Kind, Key: key, Body: string(data)}, o, func() (*entry, error) {
		return c.server.create(k, key, data)
	})
}

func (c *conn) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return c.update(ctx, o, o, "", opts...)
}

// update sends a body for an object; the two differ only for a subresource with a separate body.
func (c *conn) update(ctx context.Context, o, sent client.Object, sub string, opts ...client.UpdateOption) error {
	k, key, err := c.target(o)
	if err != nil {
		return err
	}
	if len((&client.UpdateOptions{}).ApplyOptions(opts).DryRun) > 0 {
		return errDryRun
	}
	data, err := body(sent)
	if err != nil {
		return err
	}
	return c.write(ctx, Op{Verb: "update", Subresource: sub, Kind: k.gvk.Kind, Key: key, Body: string(data)}, sent, func() (*entry, error) {
		return c.server.update(k, key, sub, data)
	})
}

func (c *conn) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return c.patch(ctx, o, o, "", p, opts...)
}

func (c *conn) patch(ctx context.Context, o, sent client.Object, sub string, p client.Patch, opts ...client.PatchOption) error {
	k, key, err := c.target(o)
	if err != nil {
		return err
	}
	if len((&client.PatchOptions{}).ApplyOptions(opts).DryRun) > 0 {
		return errDryRun
	}
	data, err := p.Data(sent)
	if err != nil {
		return err
	}
	return c.write(ctx, Op{Verb: "patch", Subresource: sub, Kind: k.gvk.Kind, Key: key, Body: string(data)}, sent, func() (*entry, error) {
		return c.server.patch(k, key, sub, p.Type(), data)
	})
}

func (c *conn) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	k, key, err := c.target(o)
	if err != nil {
		return err
	}
	options := (&client.DeleteOptions{}).ApplyOptions(opts).AsDeleteOptions()
	if len(options.DryRun) > 0 {
		return errDryRun
	}
	data, err := json.Marshal(options)
	if err != nil {
		return err
	}
	return c.send(ctx, Op{Verb: "delete", Kind: k.gvk.Kind, Key: key, Write: true, Body: string(data)}, func() error {
		return c.server.delete(k, key, options)
	})
}

func (c *conn) DeleteAllOf(ctx context.Context, o client.Object, opts ...client.DeleteAllOfOption) error {
	k, _, err := c.target(o)
	if err != nil {
		return err
	}
	options := (&client.DeleteAllOfOptions{}).ApplyOptions(opts)
	deletion := options.AsDeleteOptions()
	if len(deletion.DryRun) > 0 {
		return errDryRun
	}
	op := Op{Verb: "deletecollection", Kind: k.gvk.Kind, Key: client.ObjectKey{Namespace: options.Namespace}, Write: true}
	return c.send(ctx, op, func() error {
		return c.server.deleteAll(k, &options.ListOptions, deletion)
	})
}

func (c *conn) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errNoApply
}

func (c *conn) Scheme() *runtime.Scheme { return c.server.options.Scheme }

// RESTMapper returns an empty mapper: scopes and kinds are looked up by the other methods.
func (c *conn) RESTMapper() meta.RESTMapper { return meta.NewDefaultRESTMapper(nil) }

func (c *conn) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, c.server.options.Scheme)
}

func (c *conn) IsObjectNamespaced(o runtime.Object) (bool, error) {
	k, err := c.server.find(o)
	if err != nil {
		return false, err
	}
	return k.namespaced, nil
}

func (c *conn) Status() client.SubResourceWriter { return c.SubResource("status") }

func (c *conn) SubResource(name string) client.SubResourceClient { return &subresource{c, name} }
