package toy

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

// desired is the pool that the specification asks for, compared with the one that exists.
type desired struct {
	// doc is the pool after the next step.
	doc     *poolDoc
	upgrade pool.Upgrade
	// next and launched are the configurations of new nodes after the next step and now.
	next, launched pool.Template
	// ahead is true if the pool has a newer version than the specification asks for.
	ahead bool
	// rolling and drift are the fields that differ and that replace nodes or are changed in place, unchangeable those that can't be changed.
	rolling, drift list
	unchangeable   []string
}

// desire translates the specification.
func (r *reader) desire() (desired, error) {
	read := r.memory.read
	want := desired{doc: r.t.document()}
	asked, valid := pool.ParseVersion(r.t.KubernetesVersion)
	if r.t.KubernetesVersion != "" && !valid {
		want.compare(read.pool)
		return want, cloud.Invalidf(rows.SpecOf("version"), "%q is no Kubernetes version of the form v1.36.3", r.t.KubernetesVersion)
	}
	var controlPlane pool.Version
	if read.cluster != nil {
		controlPlane = versionOf(read.cluster.Version)
	}
	current := read.pool.version()
	want.upgrade = pool.UpgradeOf(current, asked, controlPlane)
	want.ahead = asked.Known() && current.Known() && asked.Compare(current) < 0
	if want.doc.Version = want.upgrade.Next.String(); want.upgrade.Next == current && read.pool != nil {
		want.doc.Version = read.pool.Version
	}
	want.compare(read.pool)
	return want, nil
}

// compare fills in the differences from the pool that exists.
func (d *desired) compare(is *poolDoc) {
	d.next = templateOf(rows.Rolling(d.doc, d.doc))
	if is == nil {
		return
	}
	d.launched = templateOf(rows.Rolling(d.doc, is))
	d.rolling, d.drift = rows.Differing(d.doc, is, fields.Rolls), rows.Differing(d.doc, is, fields.InPlace)
	d.unchangeable = rows.Differing(d.doc, is, fields.Fixed).Specs()
}

// configurationOf returns the configuration of a node, as far as the specification names it.
func (d *desired) configurationOf(n *nodeDoc) pool.Template {
	return templateOf(rows.Rolling(d.doc, &poolDoc{Version: n.Version, MachineType: n.MachineType, Image: n.Image}))
}

const (
	// algorithm and contentLength are those of contents. A new algorithm is added beside this one, never in its place.
	algorithm     = "v1"
	contentLength = 16
)

// templateOf returns a configuration as a template, which the cloud makes of the fields of the pool.
func templateOf(values map[string]any) pool.Template {
	text, err := json.Marshal(values)
	if err != nil || len(values) == 0 {
		return pool.Template{} // texts can always be encoded
	}
	ref := "toy"
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value, ok := values[name].(string); ok {
			ref += "/" + value
		}
	}
	return pool.Template{Ref: ref, Content: algorithm + ":" + cloud.Digest(text, contentLength), UserManaged: true, ByCloud: true}
}

// observeCapacity adds what a node of the machine type offers. A pool that exists is observed without it, and one is created without the
// permission to look it up.
func (r *reader) observeCapacity(ctx context.Context, out *pool.Observed) error {
	look := &cache.Resolver{Place: r.c.o.Endpoint, Shared: r.lookups, Now: r.now, Remembered: r.t.Remembered, Remember: map[string]string{}}
	out.ResolvedLookups = look.Remember
	is, err := r.machineType(ctx, look)
	if err == nil {
		out.Capacity = &pool.NodeCapacity{CPUs: is.CPUs, MemoryMiB: is.MemoryMiB, Pods: is.Pods, Architecture: is.Architecture,
			OperatingSystem: "linux"}
		return nil
	}
	look.Keep()
	if waits := r.memory.read.pool == nil && cloud.KindOf(err) != cloud.Denied; waits || cloud.KindOf(err) == cloud.Invalid {
		return err
	}
	if failed := r.memory.tolerance.Tolerate(r.now, err); failed != nil {
		return failed
	}
	out.Issues = append(out.Issues, driverkit.CauseOf(err))
	return nil
}

// machineType looks up the machine type, once for each that a specification names.
func (r *reader) machineType(ctx context.Context, look *cache.Resolver) (is machineTypeDoc, err error) {
	name := r.t.Spec.Pool.MachineType
	text, err := look.Resolve(ctx, cache.Question{
		Kind: "machine-type", Inputs: name, Good: func(answer string) bool { return json.Valid([]byte(answer)) },
		Ask: func(ctx context.Context) (string, error) {
			var reply json.RawMessage
			_, err := r.c.do(ctx, request{operation: "GetMachineType", method: http.MethodGet, path: "/v1/machine-types/" + url.PathEscape(name)},
				&reply)
			return string(reply), cloud.InField(err, rows.SpecOf("machineType"))
		},
	})
	if err != nil {
		return is, err
	}
	return is, json.Unmarshal([]byte(text), &is)
}
